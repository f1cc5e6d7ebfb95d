// Two texts, line by line.

import { html, type TemplateResult } from "lit";
import type { DiffLine } from "../api/types.ts";
import { many } from "../text/format.ts";

const SIGNS = { same: " ", add: "+", remove: "−", skip: "" } as const;
const WORDS = { add: "Added: ", remove: "Removed: " } as const;

/** Draws a comparison. Signs and hidden words say what colours say. */
export function compared(lines: readonly DiffLine[], label: string): TemplateResult {
  return html`<div class="diff" role="group" tabindex="0" aria-label=${label}>
    ${lines.map((line) =>
      line.op === "skip"
        ? html`<div class="diff-skip">${many(line.lines ?? 0, "line")} the same</div>`
        : html`<div class="diff-line" data-op=${line.op}><span class="diff-sign" aria-hidden="true">${SIGNS[line.op]}</span><span class="diff-text">${
            line.op === "same" ? "" : html`<span class="hidden">${WORDS[line.op]}</span>`
          }${line.text || " "}</span></div>`,
    )}
  </div>`;
}
