// One fragment: what of it is sent, and what was cut.

import { html, nothing, type TemplateResult } from "lit";
import type { Fragment, LensPiece } from "../api/types.ts";
import { count, many } from "../text/format.ts";
import { sentence } from "./view.ts";

const KINDS: Record<string, string> = { ours: "written by the runtime", value: "filled in", file: "from a file", "cut-marker": "says that something was cut" };

export function drawFragment(fragment: Fragment): TemplateResult {
  const kinds = [...new Set((fragment.pieces ?? []).map((piece) => piece.kind))];
  return html`<section class="fragment" aria-label="Fragment">
    <h2>${fragment.name}</h2>
    <dl class="facts">
      ${fact("Origin", fragment.origin)}${fact("Role", fragment.role)}${fact("Cache", fragment.cache)}
      ${fact("Sent", `${many(fragment.chars, "character")}, ${many(fragment.tokens, "token")}`)}
      ${fragment.rawChars !== undefined && fragment.rawChars !== fragment.chars ? fact("On disk", many(fragment.rawChars, "character")) : nothing}
      ${fact("Fate", fragment.decision)}${fragment.cause ? fact("Why", sentence(fragment.cause)) : nothing}
    </dl>
    ${kinds.length > 1 ? html`<p class="legend small quiet">${kinds.map((kind) => html`<span class="piece" data-kind=${kind}>${KINDS[kind] ?? kind}</span> `)}</p>` : nothing}
    <div class="fragment-text" tabindex="0" role="group" aria-label="Text that is sent">${(fragment.pieces ?? []).map(drawPiece)}${
      fragment.pieces?.length ? nothing : html`<span class="quiet">The text is not recorded.</span>`
    }</div>
    ${(fragment.cutText ?? []).filter((cut) => cut.text?.trim()).map((cut) => html`<div class="cut"><p class="label">Cut: lines ${count(cut.fromLine)} to ${count(cut.toLine)}${cut.why ? html`; ${sentence(cut.why)}` : nothing}${cut.shortened ? " (the beginning of it)" : ""}</p><pre role="group" tabindex="0" aria-label="Text that was cut">${cut.text}</pre></div>`)}
  </section>`;
}

function fact(name: string, value: unknown): unknown {
  return value ? html`<div><dt>${name}</dt><dd>${value}</dd></div>` : nothing;
}

function drawPiece(piece: LensPiece): TemplateResult {
  return html`<span class="piece" data-kind=${piece.kind}>${piece.text}</span>`;
}
