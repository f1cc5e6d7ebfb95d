// How channels stand, and who was not heard on them.

import { html, nothing } from "lit";
import type { Channels } from "../api/types.ts";
import { clock, many } from "../text/format.ts";
import { sentence } from "./view.ts";

const STANDING: Record<string, string> = { idle: "not tried yet", connecting: "connecting", connected: "connected", failed: "failed" };

export function drawChannels({ channels = [] }: Channels): unknown {
  if (channels.length === 0) return html`<p class="quiet">No chat networks are configured. This page and the HTTP interface are always there.</p>`;
  return html`<ul class="cards">${channels.map((account) => html`<li class="card">
    <p><strong>${account.channel}</strong> ${account.accountId ? html`<code>${account.accountId}</code>` : nothing} <span class="tag" data-standing=${account.connection ?? ""}>${STANDING[account.connection ?? ""] ?? account.connection ?? "unknown"}</span></p>
    ${account.name ? html`<p class="small">as ${account.name}</p>` : nothing}
    ${account.reason ? html`<p class="small warn-text">${sentence(account.reason)}</p>` : nothing}${account.hint ? html`<p class="small">${sentence(account.hint)}</p>` : nothing}</li>`)}</ul>`;
}

export function drawTurnedAway({ turnedAway = [] }: Channels): unknown {
  if (turnedAway.length === 0) return html`<p class="quiet">Nobody.</p>`;
  return html`<div class="table-scroll" role="group" tabindex="0" aria-label="Turned away"><table class="list wide"><thead><tr><th scope="col">Who</th><th scope="col">Where</th><th scope="col">Why</th><th scope="col">How often</th><th scope="col">Last</th></tr></thead>
    <tbody>${turnedAway.map((one) => html`<tr><th scope="row">${one.senderName ?? one.sender} <code class="quiet small">${one.sender}</code></th><td>${one.room ?? one.place}</td><td>${sentence(one.reason ?? "")}</td>
      <td>${many(one.count ?? 1, "message")}</td><td>${clock(one.lastAt)}</td></tr>`)}</tbody></table></div>`;
}
