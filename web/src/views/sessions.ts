// All sessions, and the runs that they began, as they go.

import { html, nothing } from "lit";
import { path } from "../api/http.ts";
import type { TreeSession } from "../api/types.ts";
import { empty, head, View } from "../parts/view.ts";
import { beyond, client, loadMoreOfTree, loadTree, trouble, tree } from "../state/app.ts";
import { explain } from "../api/http.ts";
import { routeTo } from "../state/route.ts";
import { asTree, type Node, rows } from "../state/tree.ts";
import { clock, count, moment, sessionName } from "../text/format.ts";

const STATES = { idle: "at rest", running: "running", waiting: "waiting" } as const;

class Sessions extends View {
  private sought = "";

  constructor() {
    super();
    this.watch(tree);
    this.watch(beyond);
    this.while(() => {
      void loadTree();
      return () => {};
    });
  }

  protected override render(): unknown {
    const busy = tree.value.filter((session) => session.state !== "idle").length;
    const found = tree.value.filter((session) => `${session.key} ${session.label ?? ""} ${session.title ?? ""}`.toLowerCase().includes(this.sought.toLowerCase()));
    const listed = this.sought ? found.map((session): Node => ({ session, depth: 0, children: [] })) : rows(asTree(tree.value));
    return html`
      ${head("Sessions", `${count(Math.max(beyond.value.total, tree.value.length))} in all, ${busy ? `${count(busy)} busy` : "none busy"}`, html`
        <label class="field inline"><span>Find</span><input type="search" data-search .value=${this.sought} @input=${this.seek} /></label>`)}
      ${listed.length === 0
        ? empty(this.sought ? "No session is called so." : "There are no sessions yet.", html`One begins with the first message: <a href=${routeTo("chat")}>say something</a>.`)
        : html`<ul class="tree" aria-label="Sessions">${listed.map((row) => this.row(row))}</ul>`}
      ${beyond.value.next
        ? html`<p class="quiet">These are the ${count(tree.value.length)} that were used last${this.sought ? ", and only they are looked through" : ""}.
            <button class="button small" data-more @click=${() => void loadMoreOfTree()}>Show more</button></p>`
        : nothing}`;
  }

  private row({ session, depth, children }: Node): unknown {
    const deep = Math.min(depth, 6);
    return html`<li class="tree-row" data-depth=${deep} data-state=${session.state} data-key=${session.key}>
      <span class="tree-state"><span class="dot" aria-hidden="true"></span><span class="hidden">${depth > 0 ? `Begun by ${session.parent}; ` : ""}</span>${STATES[session.state] ?? session.state}</span>
      <a class="tree-name" href=${routeTo("chat", session.key)}>${sessionName(session)}</a>
      <span class="tree-about quiet small">${this.about(session, children.length)}</span>
      <span class="tree-tools">
        ${session.state === "idle" ? nothing : html`<button class="button small" @click=${() => void this.stop(session)}>Stop<span class="hidden"> ${sessionName(session)}</span></button>`}
        <a class="button small" href=${routeTo("lens", session.key)}>Context<span class="hidden"> of ${sessionName(session)}</span></a>
      </span>
    </li>`;
  }

  private about(session: TreeSession, children: number): unknown {
    const parts: unknown[] = [];
    if (session.kind) parts.push(session.kind);
    if (session.channel) parts.push(session.channel);
    if (session.status && session.state === "idle") parts.push(html`<span class="outcome" data-status=${session.status}>${session.status}</span>`);
    if (session.tokens) parts.push(`${count(session.tokens)} tokens`);
    if (children) parts.push(`${count(children)} begun here`);
    const date = moment(session.updatedAt);
    if (date) parts.push(html`<time datetime=${date.toISOString()}>${clock(session.updatedAt)}</time>`);
    parts.push(html`<code>${session.key}</code>`);
    return parts.map((part, index) => html`${index ? " · " : nothing}${part}`);
  }

  private readonly seek = (event: Event): void => {
    this.sought = (event.target as HTMLInputElement).value;
    this.requestUpdate();
  };

  private async stop(session: TreeSession): Promise<void> {
    try {
      await client.send("POST", path`/api/sessions/${session.key}/stop`, {});
    } catch (error) {
      trouble.value = explain(error);
    }
  }
}
customElements.define("chitin-sessions", Sessions);
