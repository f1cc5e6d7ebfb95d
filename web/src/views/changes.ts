// What each turn changed in the workspace, line by line, and taking it back.

import { html, nothing } from "lit";
import { explain, path, query } from "../api/http.ts";
import type { ChangedFile, ChangedTurn, ChangeList, TurnDiff, UndoReport } from "../api/types.ts";
import { compared } from "../parts/compare.ts";
import { pickAgent } from "../parts/pick.ts";
import { Asked, empty, head, sentence, View } from "../parts/view.ts";
import { client, defaultAgent, gaps, live, route } from "../state/app.ts";
import { routeTo } from "../state/route.ts";
import { clock, many } from "../text/format.ts";

const VERBS = { added: "added", removed: "removed", changed: "changed", mode: "permissions" } as const;

class Changes extends View {
  private agent = "";
  private readonly list = new Asked<ChangeList>(this);
  private readonly shown = new Asked<TurnDiff>(this);
  private readonly plan = new Asked<UndoReport>(this);
  private open: number | null = null;
  private asked: number | null = null;
  private force = false;
  private said = "";

  constructor() {
    super();
    this.watch(live);
    this.while(() => route.subscribe(() => this.choose()));
    this.while(() => gaps.subscribe(() => this.load()));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.choose();
  }

  private choose(): void {
    if (route.value.view !== "changes") return;
    const agent = route.value.rest[0] ?? defaultAgent();
    if (agent !== this.agent) {
      this.list.forget();
      this.close();
      this.said = "";
    }
    this.agent = agent;
    this.load();
  }

  private load(): void {
    const { agent } = this;
    void this.list.ask(() => client.get(path`/api/agents/${agent}/changes`));
  }

  private close(): void {
    this.open = null;
    this.asked = null;
    this.shown.forget();
    this.plan.forget();
  }

  private show(turn: number): void {
    const isOpen = this.open === turn;
    this.close();
    if (!isOpen) {
      this.open = turn;
      const address = query(path`/api/agents/${this.agent}/turn-changes`, { turn });
      void this.shown.ask(() => client.get(address));
    }
    this.requestUpdate();
  }

  /** Asks what an undo would do, and lets the user say yes. */
  private async prepare(turn: number): Promise<void> {
    this.plan.forget();
    this.asked = turn;
    this.force = false;
    this.said = "";
    const address = query(path`/api/agents/${this.agent}/undo`, { turn });
    await this.plan.ask(() => client.get(address));
    await this.updateComplete;
    this.querySelector<HTMLElement>(".undo-plan")?.focus();
  }

  private async undo(turn: number): Promise<void> {
    try {
      const report = await client.send<UndoReport>("POST", path`/api/agents/${this.agent}/undo`, { turn, force: this.force });
      const left = report.leftAlone.length;
      const alone = left > 0 ? ` ${many(left, "file")} left alone.` : "";
      this.said = report.number ? `Restored ${many(report.restored.length, "file")}. Change ${report.number} takes this back.${alone}` : `Nothing was changed.${alone}`;
    } catch (error) {
      this.said = explain(error).message;
    }
    this.close();
    this.load();
  }

  protected override render(): unknown {
    return html`
      ${head("Changes", "What each turn changed in the workspace; all of it can be taken back", pickAgent(this.agent, (agent) => (location.hash = routeTo("changes", agent))))}
      <p class="notice" role="status" ?hidden=${!this.said}>${this.said}</p>
      ${this.list.show((list) => this.drawList(list))}`;
  }

  private drawList({ turns, older }: ChangeList): unknown {
    if (turns.length === 0) return empty("No turn changed anything.", "Turns that write to the workspace are recorded before and after.");
    return html`<ul class="cards changes">${turns.map((turn) => this.drawTurn(turn))}</ul>
      ${older > 0 ? html`<p class="quiet">${many(older, "older turn")}: \`chitin changes\` lists them.</p>` : nothing}`;
  }

  private drawTurn(turn: ChangedTurn): unknown {
    const isOpen = this.open === turn.number;
    const title = turn.undoOf ? `Undo to before turn ${turn.undoOf}` : turn.message || "(no words)";
    return html`<li class="card" data-turn=${turn.number} data-off=${turn.undoneBy !== undefined || nothing}>
      <p><span class="tag">${turn.number}</span> <strong>${title}</strong>
        ${turn.undoneBy === undefined ? nothing : html`<span class="tag">undone by ${turn.undoneBy}</span>`}
        ${turn.interrupted ? html`<span class="tag">interrupted</span>` : nothing}</p>
      <p class="quiet small">${clock(turn.beganMs)}${turn.session ? html` · <a href=${routeTo("chat", turn.session)}>${turn.session}</a>` : nothing}</p>
      ${turn.togetherWith.length > 0 ? html`<p class="small warn-text">Turn ${turn.togetherWith.join(", ")} was writing at the same time: changes may be of either.</p>` : nothing}
      <ul class="changed-files">${turn.files.map((file) => this.drawFile(file))}</ul>
      <p class="buttons">
        <button type="button" class="button small" aria-expanded=${isOpen} @click=${() => this.show(turn.number)}>${isOpen ? "Hide lines" : "Show lines"}</button>
        <button type="button" class="button small" @click=${() => this.prepare(turn.number)}>Undo …</button></p>
      ${this.asked === turn.number ? this.plan.show((plan) => this.drawPlan(turn.number, plan)) : nothing}
      ${isOpen ? this.shown.show((diff) => this.drawDiff(diff)) : nothing}</li>`;
  }

  private drawFile(file: ChangedFile): unknown {
    const lines = file.added === undefined ? nothing : html` <span class="good-text">+${file.added}</span> <span class="bad-text">−${file.removed}</span>`;
    return html`<li><span class="quiet small">${VERBS[file.kind]}</span> <code>${file.path}</code>${lines}</li>`;
  }

  private drawPlan(turn: number, plan: UndoReport): unknown {
    const canForce = plan.leftAlone.some((one) => one.canBeForced);
    const count = plan.restored.length + (this.force ? plan.leftAlone.filter((one) => one.canBeForced).length : 0);
    return html`<div class="undo-plan" role="alertdialog" tabindex="-1" aria-labelledby="undo-title">
      <p id="undo-title"><strong>Take back ${plan.turns.length === 1 ? `turn ${plan.turns[0]}` : `turns ${plan.turns.join(", ")}`}?</strong></p>
      <ul class="changed-files">${plan.restored.map((name) => html`<li><span class="quiet small">restored</span> <code>${name}</code></li>`)}
        ${plan.leftAlone.map((one) => html`<li><span class="warn-text small">left alone</span> <code>${one.path}</code> <span class="quiet small">${sentence(one.reason)}</span></li>`)}</ul>
      ${canForce ? html`<label><input type="checkbox" .checked=${this.force} @change=${(event: Event) => this.setForce((event.target as HTMLInputElement).checked)}> Also take back what was changed since. What it holds now is recorded.</label>` : nothing}
      <p class="buttons"><button type="button" class="button small danger" ?disabled=${count === 0} @click=${() => this.undo(turn)}>Undo ${many(count, "file")}</button>
        <button type="button" class="button small" @click=${() => { this.asked = null; this.requestUpdate(); }}>Cancel</button></p></div>`;
  }

  private setForce(force: boolean): void {
    this.force = force;
    this.requestUpdate();
  }

  private drawDiff({ files }: TurnDiff): unknown {
    return files.map((file) => html`<h3 class="small"><code>${file.path}</code></h3>
      ${file.diff.length > 0 ? compared(file.diff, `Lines of ${file.path} that changed`) : html`<p class="quiet small">Not compared line by line.</p>`}
      ${file.shortened ? html`<p class="quiet small">There are more lines than are shown.</p>` : nothing}`);
  }
}
customElements.define("chitin-changes", Changes);
