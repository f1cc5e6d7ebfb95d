// Keys, and the dialog that lists them.

import { html, type TemplateResult } from "lit";
import { routeTo, VIEWS } from "../state/route.ts";

const KEYS: [string[], string][] = [
  [["g", "1 … 8"], "go to a view, counted from the top"],
  [["c"], "write a message"],
  [["/"], "to the search or list of the view"],
  [["Enter"], "send a message"],
  [["Shift", "Enter"], "a new line in a message"],
  [["Ctrl", "S"], "save the file"],
  [["Esc"], "stop the turn, when the cursor is in the message"],
  [["← ↑ ↓ →"], "move between the tiles of the lens"],
  [["?"], "this list"],
];

export function helpDialog(): TemplateResult {
  return html`<dialog id="help" aria-labelledby="help-title">
    <form method="dialog">
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        ${KEYS.map(([keys, meaning]) => html`<div><dt>${keys.map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${meaning}</dd></div>`)}
      </dl>
      <button class="button" autofocus>Close</button>
    </form>
  </dialog>`;
}

let wentTo = 0;

/** Does what a key stands for, unless somebody types. */
export function keyPressed(event: KeyboardEvent, page: { help(): void; querySelector(what: string): Element | null }): void {
  const target = event.target as HTMLElement;
  const types = target.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");
  if (types || event.ctrlKey || event.metaKey || event.altKey || page.querySelector("dialog[open]")) return;
  const now = Date.now();
  const view = VIEWS[Number.parseInt(event.key, 10) - 1];
  if (event.key === "g") {
    wentTo = now;
  } else if (view && now - wentTo < 1500) {
    location.hash = routeTo(view);
  } else if (event.key === "?") {
    page.help();
  } else if (event.key === "c" || event.key === "/") {
    const place = page.querySelector(event.key === "c" ? "#composer" : "[data-search]");
    if (!(place instanceof HTMLElement)) return;
    event.preventDefault();
    place.focus();
  }
}
