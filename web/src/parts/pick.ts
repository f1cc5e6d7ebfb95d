// Choosing an agent or a session.

import { html, nothing, type TemplateResult } from "lit";
import type { TreeSession } from "../api/types.ts";
import { agents, tree } from "../state/app.ts";
import { asTree, rows } from "../state/tree.ts";
import { sessionName } from "../text/format.ts";

/** A list of agents; not shown when there is only one. */
export function pickAgent(chosen: string, change: (agent: string) => void): TemplateResult | typeof nothing {
  if (agents.value.length < 2) return nothing;
  return html`<label class="field inline"><span>Agent</span>
    <select .value=${chosen} @change=${(event: Event) => change((event.target as HTMLSelectElement).value)}>
      ${agents.value.map((agent) => html`<option value=${agent.id} ?selected=${agent.id === chosen}>${agent.name ?? agent.id}</option>`)}
    </select></label>`;
}

/** A list of sessions, children under those that began them. */
export function pickSession(chosen: string, change: (key: string) => void): TemplateResult {
  const listed = rows(asTree(tree.value));
  const known = listed.some((row) => row.session.key === chosen);
  const name = (session: TreeSession, depth: number): string => {
    const state = session.state === "idle" ? "" : session.state === "running" ? " · running" : " · waiting";
    return `${"\u2003".repeat(depth)}${sessionName(session)}${state}`;
  };
  const several = new Set(listed.map((row) => row.session.agentId)).size > 1;
  const option = (session: TreeSession, depth: number): TemplateResult =>
    html`<option value=${session.key} ?selected=${session.key === chosen}>${several && depth === 0 ? `${session.agentId} / ` : ""}${name(session, depth)}</option>`;
  return html`<label class="field inline"><span>Session</span>
    <select @change=${(event: Event) => change((event.target as HTMLSelectElement).value)}>
      ${known ? nothing : html`<option value=${chosen} selected>${sessionName({ key: chosen })} (new)</option>`}
      ${listed.map((row) => option(row.session, row.depth))}
    </select></label>`;
}
