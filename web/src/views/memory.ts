// What an agent remembers, and why it finds what it finds.

import { html, nothing } from "lit";
import { path, query } from "../api/http.ts";
import type { FoundMemory, MemoryOverview, MemoryResults } from "../api/types.ts";
import { pickAgent } from "../parts/pick.ts";
import { Asked, empty, head, View } from "../parts/view.ts";
import { client, defaultAgent, route } from "../state/app.ts";
import { routeTo } from "../state/route.ts";
import { bytes, count, many } from "../text/format.ts";

/** What the parts of a score stand for. */
const PARTS: Record<string, string> = { overlap: "same words", text: "text rank", vector: "meaning", decay: "age", recency: "age", source: "where it stands" };

class Memory extends View {
  private agent = "";
  private sought = "";
  private readonly status = new Asked<MemoryOverview>(this);
  private readonly found = new Asked<MemoryResults>(this);

  constructor() {
    super();
    this.while(() => route.subscribe(() => this.choose()));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.choose();
  }

  private choose(): void {
    if (route.value.view !== "memory") return;
    const agent = route.value.rest[0] ?? defaultAgent();
    if (agent === this.agent) return;
    this.agent = agent;
    this.found.forget();
    void this.status.ask(() => client.get(path`/api/agents/${agent}/memory`));
  }

  protected override render(): unknown {
    return html`
      ${head("Memory", this.status.value ? this.about(this.status.value) : "What the agent can find again", pickAgent(this.agent, (agent) => (location.hash = routeTo("memory", agent))))}
      <form class="search-row" role="search" @submit=${this.search}>
        <label class="field grow"><span>Question</span><input type="search" data-search name="q" maxlength="400" required .value=${this.sought} placeholder="larch for hull 43" /></label>
        <button class="button primary">Search</button>
      </form>
      ${this.status.error ? this.status.show(() => nothing) : nothing}
      ${this.found.show(({ results, mode }) => results.length === 0
        ? empty("Nothing is remembered of that.", "Other words may find it.")
        : html`<p class="quiet" role="status">${many(results.length, "piece")} found${mode ? `, ${mode} search` : ""}</p>
            <ol class="cards">${results.map((piece) => this.piece(piece, Math.max(...results.map((one) => one.score))))}</ol>`)}`;
  }

  private about(status: MemoryOverview): string {
    if (status.enabled === false) return "Memory is switched off.";
    const figures = status.index?.figures;
    return `${many(status.files ?? 0, "file")}, ${bytes(status.bytes ?? 0)}, ${many(status.conversations ?? 0, "conversation")}${figures ? `; ${count(figures.pieces)} pieces in the index` : ""}`;
  }

  private piece(piece: FoundMemory, best: number): unknown {
    const parts = Object.entries(piece.parts ?? {}).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const place = html`${piece.path}:${piece.startLine}–${piece.endLine}`;
    return html`<li class="card">
      <p class="found-head">${piece.source === "sessions" ? html`<strong>${place}</strong>` : html`<a href=${routeTo("files", this.agent, ...piece.path.split("/"))}><strong>${place}</strong></a>`}
        <span class="quiet small">${piece.source ?? ""}</span>
        <meter min="0" max=${Math.max(best, 0.001)} .value=${piece.score} aria-label=${`Score ${piece.score.toFixed(3)}`}></meter><span class="number">${piece.score.toFixed(3)}</span></p>
      <pre class="snippet" role="group" tabindex="0" aria-label="Text">${piece.snippet.trimEnd()}</pre>
      ${parts.length ? html`<p class="small quiet">Score: ${parts.map(([name, value], index) => html`${index ? " " : nothing}<span class="score-part">${value < 0 ? "− " : index ? "+ " : ""}${Math.abs(value).toFixed(3)} ${PARTS[name] ?? name}</span>`)}</p>` : nothing}
    </li>`;
  }

  private readonly search = (event: SubmitEvent): void => {
    event.preventDefault();
    this.sought = String(new FormData(event.target as HTMLFormElement).get("q") ?? "").trim();
    const { agent, sought } = this;
    if (sought) void this.found.ask(() => client.get(query(path`/api/agents/${agent}/memory`, { q: sought, limit: 20 })));
  };
}
customElements.define("chitin-memory", Memory);
