// Why a message goes where it goes.

import { html, nothing } from "lit";
import type { Explanation } from "../api/types.ts";
import { routeTo } from "../state/route.ts";

const FATES: Record<string, string> = { chosen: "chosen", outranked: "holds, another is stronger", no: "does not hold" };

export function drawExplanation(explanation: Explanation): unknown {
  const { route, bindings = [] } = explanation;
  const key = explanation.key ?? route?.sessionKey;
  return html`<div class="answer">
    ${route ? html`<p>Agent <strong>${route.agentId}</strong>, session ${key ? html`<a href=${routeTo("chat", key)}><code>${key}</code></a>` : "unknown"}, by ${explanation.choice?.matchedBy ?? route.matchedBy ?? "default"}.</p>` : html`<p>Nobody would get it.</p>`}
    ${bindings.length ? html`<div class="table-scroll" role="group" tabindex="0" aria-label="Each binding and its fate"><table class="list wide">
      <thead><tr><th scope="col">Binding</th><th scope="col">Agent</th><th scope="col">Asks for</th><th scope="col">Fate</th></tr></thead>
      <tbody>${bindings.map((one) => html`<tr><th scope="row"><code>${one.path}</code></th><td>${one.agentId}</td><td>${one.asks}</td>
        <td>${FATES[one.verdict ?? ""] ?? one.verdict}${one.mismatch ? html` <span class="quiet small">${Object.values(one.mismatch).map(String).join(" ")}</span>` : nothing}</td></tr>`)}</tbody></table></div>` : nothing}
  </div>`;
}
