// What the model got, or would get next: every fragment with its size and its fate.

import { html, nothing } from "lit";
import { path, query } from "../api/http.ts";
import type { Lens, Turn, TurnList } from "../api/types.ts";
import { compared } from "../parts/compare.ts";
import { drawFragment } from "../parts/fragment.ts";
import { pickSession } from "../parts/pick.ts";
import "../parts/treemap.ts";
import { Asked, debounced, empty, head, sentence, View } from "../parts/view.ts";
import { chosenSession, client, gaps, hear, route, tree } from "../state/app.ts";
import { routeTo } from "../state/route.ts";
import { clock, count, many, money, percent, short } from "../text/format.ts";

type Tab = "map" | "files" | "before";
const TABS: [Tab, string][] = [["map", "Fragments"], ["files", "Files and budget"], ["before", "Against the turn before"]];

function largest(lens: Lens): number {
  return lens.fragments.reduce((best, fragment, index) => (fragment.tokens > (lens.fragments[best]?.tokens ?? -1) ? index : best), 0);
}

type History = NonNullable<Lens["history"]>;

function historyNote(history: History): string {
  if (history.state === "new") return "no history";
  if (history.state === "expired") return "the session expired";
  if (history.state === "unknown") return "it could not be read";
  return many(history.messages, "message") + (history.compactionDue ? ", compacted before the next turn" : "");
}

class LensView extends View {
  private key = "";
  private turn = "next";
  private tab: Tab = "map";
  /** The fragment that is looked at; by itself the largest. */
  private chosen: number | null = null;
  private readonly turns = new Asked<TurnList>(this);
  private readonly lens = new Asked<Lens>(this);
  private readonly soon = debounced(() => this.load(), 400);

  constructor() {
    super();
    this.watch(tree);
    this.while(() => route.subscribe(() => this.choose()));
    this.while(() => gaps.subscribe(() => this.load()));
    this.while(() => hear((happening) => {
      if (happening.sessionKey === this.key && happening.kind === "finished") this.soon.call();
    }));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.choose();
  }

  private choose(): void {
    if (route.value.view !== "lens") return;
    const [key, turn] = [chosenSession(), route.value.rest[1] ?? "next"];
    if (key === this.key && turn === this.turn && this.lens.value) return;
    if (key !== this.key) this.turns.forget();
    this.lens.forget();
    this.key = key;
    this.turn = turn;
    this.chosen = null;
    this.load();
  }

  private load(): void {
    const [key, turn] = [this.key, this.turn];
    void this.turns.ask(() => client.get(path`/api/sessions/${key}/turns`));
    void this.lens.ask(() => client.get<Lens>(query(path`/api/sessions/${key}/lens`, { turn })));
  }

  protected override render(): unknown {
    return html`
      ${head("Context lens", "What the model gets, fragment by fragment", html`
        ${pickSession(this.key, (key) => (location.hash = routeTo("lens", key)))}
        ${this.pickTurn()}`)}
      ${this.turns.value?.hint ? html`<p class="quiet small">${this.turns.value.hint}</p>` : nothing}
      ${this.lens.show((lens) => this.draw(lens))}`;
  }

  private pickTurn(): unknown {
    const turns = this.turns.value?.turns ?? [];
    const name = (turn: Turn): string => {
      const parts = [clock(turn.at), turn.trigger ?? "", turn.status && !["ok", "success"].includes(turn.status) ? turn.status : "", turn.costUsd ? money(turn.costUsd) : ""];
      return parts.filter(Boolean).join(" · ") || short(turn.id, 12);
    };
    return html`<label class="field inline"><span>Turn</span>
      <select @change=${(event: Event) => (location.hash = routeTo("lens", this.key, (event.target as HTMLSelectElement).value))}>
        <option value="next" ?selected=${this.turn === "next"}>the next one</option>
        ${turns.map((turn) => html`<option value=${turn.id} ?selected=${turn.id === this.turn}>${name(turn)}</option>`)}
      </select></label>`;
  }

  private draw(lens: Lens): unknown {
    return html`
      ${this.totals(lens)}
      ${this.origins(lens)}
      ${this.broken(lens)}
      <div class="tabs" role="tablist" aria-label="Ways to look at it" @keydown=${this.tabKey}>
        ${TABS.map(([tab, name]) => html`<button role="tab" id=${`tab-${tab}`} aria-controls="lens-panel" aria-selected=${tab === this.tab}
          tabindex=${tab === this.tab ? 0 : -1} @click=${() => this.show(tab)}>${name}</button>`)}
      </div>
      <div id="lens-panel" role="tabpanel" aria-labelledby=${`tab-${this.tab}`}>${this.panel(lens)}</div>`;
  }

  private panel(lens: Lens): unknown {
    if (this.tab === "files") return this.files(lens);
    if (this.tab === "before") return this.against(lens);
    const chosen = this.chosen ?? largest(lens);
    const fragment = lens.fragments[chosen];
    return html`
      <div class="lens-grid">
        <div class="lens-map">
          <chitin-treemap .lens=${lens} .chosen=${chosen} .choose=${this.pick}></chitin-treemap>
          ${this.list(lens, chosen)}
        </div>
        ${fragment ? drawFragment(fragment) : nothing}
      </div>`;
  }

  private totals(lens: Lens): unknown {
    const { totals, window: room, budget } = lens;
    const figure = (value: string, label: string): unknown => html`<div class="figure"><strong>${value}</strong><span>${label}</span></div>`;
    return html`<div class="figures">
      ${figure(`${totals.complete === false ? "≥ " : ""}${count(totals.tokens)}`, room ? `tokens, ${percent(totals.tokens, room)} of ${count(room)}` : "tokens, window unknown")}
      ${totals.system ? figure(count(totals.system.tokens), "tokens of system prompt") : nothing}
      ${lens.toolDefinitions ? figure(count(lens.toolDefinitions.tokens), `tokens of ${many(lens.toolDefinitions.count, "tool definition")}`) : nothing}
      ${lens.history ? figure(lens.history.tokens === null ? "unknown" : count(lens.history.tokens), `tokens of history (${historyNote(lens.history)})`) : nothing}
      ${figure(totals.costUsd === undefined ? "unknown" : money(totals.costUsd), "to send it once, uncached")}
      ${figure(count(lens.fragments.length), "fragments")}
      ${budget?.total ? figure(percent(budget.used ?? 0, budget.total), `of the budget for files (${count(budget.total)})`) : nothing}
    </div>`;
  }

  /** Which texts are not the owner's, and what needs the owner because of them. */
  private origins(lens: Lens): unknown {
    const origins = lens.origins;
    if (!origins || origins.untrusted.length === 0) return nothing;
    return html`<details class="notice" role="note"><summary><strong>${many(origins.untrusted.length, "text")} in this context ${origins.untrusted.length === 1 ? "is" : "are"} not the owner's.</strong></summary>
      <ul>${origins.untrusted.map((untrusted) => html`<li>${untrusted.text}</li>`)}</ul>
      ${origins.takenAway.length === 0 ? nothing : html`<p>Because of that, the agent needs the owner to</p>
      <ul>${origins.takenAway.map((taken) => html`<li>${taken.what} (<code>access.untrusted.allow</code>: <code>${taken.allow}</code>)</li>`)}</ul>`}</details>`;
  }

  /** Where the cache broke, and what that cost: the first thing that anybody with a bill wants to see. */
  private broken(lens: Lens): unknown {
    const before = lens.before;
    if (!before) return nothing;
    if (before.same) return html`<p class="notice good">The same as in the turn before, as far as that went: the cache holds.</p>`;
    const at = before.firstDifference;
    const difference = html`<button class="link" @click=${() => this.show("before")}>Show the difference</button>`;
    if (!before.lostTokens) {
      return html`<p class="notice">Other than in the turn before${at ? html` from <code>${at.fragment}</code> on, line ${count(at.line)} of the prompt` : nothing}; nothing that was cached is lost.
        ${before.cause ? sentence(before.cause) : nothing} ${difference}</p>`;
    }
    return html`<div class="notice warn" role="note"><strong>The cache breaks${at ? html` in <code>${at.fragment}</code>, line ${count(at.line)} of the prompt` : nothing}.</strong>
      ${many(before.lostTokens, "token")} behind it must be read again${before.lostCostUsd ? html`, which costs ${money(before.lostCostUsd)}` : nothing}.
      ${before.cause ? html` ${sentence(before.cause)}` : nothing}
      ${difference}</div>`;
  }

  private list(lens: Lens, chosen: number): unknown {
    const total = lens.totals.tokens;
    return html`<table class="list"><caption class="hidden">Fragments in their order</caption>
      <thead><tr><th scope="col">Fragment</th><th scope="col">Fate</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Share</th></tr></thead>
      <tbody>${lens.fragments.map((fragment, index) => html`
        <tr ?data-chosen=${index === chosen}>
          <th scope="row"><span class="swatch" data-cache=${fragment.cache ?? ""} aria-hidden="true"></span><button class="link" aria-pressed=${index === chosen} @click=${() => this.pick(index)}>${fragment.name}</button></th>
          <td><span class="fate" data-fate=${fragment.decision ?? "kept"}>${fragment.decision ?? "kept"}</span></td>
          <td class="number">${count(fragment.tokens)}</td>
          <td class="number">${percent(fragment.tokens, total)}</td>
        </tr>
        ${lens.boundary?.afterFragment === index ? html`<tr class="boundary"><td colspan="4">Cache boundary: what stands above is cached, what stands below is read anew</td></tr>` : nothing}`)}
        ${this.beside(lens, total)}
      </tbody></table>`;
  }

  /** What is sent besides the system prompt. */
  private beside(lens: Lens, total: number): unknown {
    const row = (name: string, note: string, tokens: number | null): unknown => html`<tr>
      <th scope="row"><span class="swatch" aria-hidden="true"></span>${name}</th><td>${note}</td>
      <td class="number">${tokens === null ? "unknown" : count(tokens)}</td>
      <td class="number">${tokens === null ? "" : percent(tokens, total)}</td></tr>`;
    const { toolDefinitions: tools, history, message } = lens;
    return html`
      ${tools ? row("tool definitions", many(tools.count, "tool") + (tools.mcpServers ? `, without those of ${many(tools.mcpServers, "MCP server")}` : ""), tools.tokens) : nothing}
      ${history ? row("history", historyNote(history), history.tokens) : nothing}
      ${message ? row("message", "", message.tokens) : nothing}`;
  }

  private files(lens: Lens): unknown {
    const files = lens.files ?? [];
    if (files.length === 0) return empty("No files.", "This turn has no files of the workspace in its context, or they were not recorded.");
    return html`<div class="table-scroll" role="group" tabindex="0" aria-label="Files"><table class="list wide"><thead><tr><th scope="col">File</th><th scope="col">State</th><th scope="col" class="number">On disk</th>
      <th scope="col" class="number">Sent</th><th scope="col" class="number">Limit</th><th scope="col" class="number">Tokens</th><th scope="col">Why</th></tr></thead>
      <tbody>${files.map((file) => html`<tr>
        <th scope="row"><a href=${routeTo("files", this.key.split(":")[1] ?? "main", file.path)}>${file.path}</a></th>
        <td><span class="fate" data-fate=${file.state}>${file.state}</span></td><td class="number">${count(file.rawChars)}</td><td class="number">${count(file.chars)}</td>
        <td class="number">${count(file.limit)}</td><td class="number">${count(file.tokens)}</td><td>${sentence(file.cause ?? "")}</td></tr>`)}</tbody></table></div>`;
  }

  private against(lens: Lens): unknown {
    const before = lens.before;
    if (!before) return empty("There is no turn before.", "The first turn of a session has nothing to be compared with, or the turn before it was not recorded.");
    if (before.same && !before.diff?.some((line) => line.op === "add" || line.op === "remove")) return empty("Nothing changed.", "What was sent before is sent again, byte by byte.");
    return html`${compared(before.diff ?? [], "Difference with the turn before")}
      ${before.shortened ? html`<p class="quiet small">There are more differences than are shown here.</p>` : nothing}`;
  }

  private readonly pick = (index: number): void => {
    this.chosen = index;
    this.requestUpdate();
  };

  private show(tab: Tab): void {
    this.tab = tab;
    this.requestUpdate();
  }

  private readonly tabKey = async (event: KeyboardEvent): Promise<void> => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const at = TABS.findIndex(([tab]) => tab === this.tab);
    this.show(TABS[(at + step + TABS.length) % TABS.length]?.[0] ?? "map");
    await this.updateComplete;
    this.querySelector<HTMLElement>(`#tab-${this.tab}`)?.focus();
  };
}
customElements.define("chitin-lens", LensView);
