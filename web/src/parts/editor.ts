// An editor for one file, with what it does to the prompt beside it.

import { html, nothing, type PropertyValues } from "lit";
import { path } from "../api/http.ts";
import type { Preview } from "../api/types.ts";
import { client } from "../state/app.ts";
import { type Editing, isDirty } from "../state/editing.ts";
import { diffText, foldSame } from "../text/diff.ts";
import { count, many } from "../text/format.ts";
import { compared } from "./compare.ts";
import { Asked, debounced, sentence, View } from "./view.ts";

/** The largest file that the server takes. */
const LARGEST = 2 * 1024 * 1024;
const PREVIEW_AFTER = 200;

class Editor extends View {
  static override properties = { agent: {}, editing: {}, saving: {} };
  declare agent: string;
  declare editing: Editing;
  declare saving: boolean;
  change: (text: string) => void = () => {};
  save: () => void = () => {};
  discard: () => void = () => {};
  settle: (whose: "disk" | "ours", andSave: boolean) => void = () => {};
  private readonly effect = new Asked<Preview>(this);
  private readonly soon = debounced(() => this.ask(), PREVIEW_AFTER);
  private shownFor = "";

  protected override willUpdate(changed: PropertyValues): void {
    const name = `${this.agent}:${this.editing.path}`;
    if (name !== this.shownFor) {
      this.shownFor = name;
      this.effect.forget();
      this.ask();
    } else if (changed.has("editing") && (changed.get("editing") as Editing | undefined)?.text !== this.editing.text) {
      this.soon.call();
    }
  }

  /** Whoever works by ear hears of a conflict by being taken to it. */
  protected override updated(changed: PropertyValues): void {
    const before = changed.get("editing") as Editing | undefined;
    if (before && !before.conflict && this.editing.conflict) this.querySelector<HTMLElement>(".conflict")?.focus();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.soon.cancel();
  }

  private ask(): void {
    const { path: file, text } = this.editing;
    void this.effect.ask(() => client.send<Preview>("POST", path`/api/agents/${this.agent}/preview`, { path: file, text }));
  }

  protected override render(): unknown {
    const { editing } = this;
    const dirty = isDirty(editing);
    const tooLarge = editing.text.length > LARGEST;
    return html`<section class="editor" aria-label=${`Editor for ${editing.path}`}>
      <div class="editor-head">
        <h2>${editing.path}${dirty ? html` <span class="dirty">not saved</span>` : nothing}</h2>
        <div class="tools">
          ${dirty ? html`<button class="button small" @click=${() => this.discard()}>Discard changes</button>` : nothing}
          <button class="button small primary" id="save" ?disabled=${!dirty || this.saving || !editing.editable || tooLarge} @click=${() => this.save()}>${this.saving ? "Saving …" : "Save"}</button>
        </div>
      </div>
      ${editing.editable ? nothing : html`<p class="notice">This file can be read here, not written. ${sentence(editing.reason)}</p>`}
      ${tooLarge ? html`<p class="notice warn" role="alert">A file may have at most 2 MiB.</p>` : nothing}
      ${editing.conflict ? this.conflict(editing.conflict) : nothing}
      ${this.figures()}
      <div class="code">
        <pre class="gutter" aria-hidden="true">${numbers(editing.text)}</pre>
        <textarea id="file-text" aria-label=${`Text of ${editing.path}`} spellcheck="false" wrap="off" .value=${editing.text} ?readonly=${!editing.editable}
          @input=${this.typed} @scroll=${this.scrolled} @keydown=${this.pressed}></textarea>
      </div>
    </section>`;
  }

  /** What the next turn would hold if the file were saved as it is. */
  private figures(): unknown {
    const preview = this.effect.value;
    if (!preview) return html`<div class="effect">${this.effect.error ? html`<p class="quiet small">What it does to the prompt is not known: ${String((this.effect.error as Error).message)}</p>` : html`<p class="quiet small">Counting …</p>`}</div>`;
    const { file, total, effects = [] } = preview;
    const more = total.before ? total.tokens - total.before.tokens : 0;
    return html`<div class="effect" aria-label="Effect on the prompt" role="group">
      ${file.state === "not-in-prompt"
        ? html`<p class="small quiet">This file is not in the prompt; the agent reads it when it needs it. ${count(file.rawChars)} characters.</p>`
        : meter("This file", file.rawChars, file.limit, `${many(file.tokens, "token")}${file.state && file.state !== "kept" ? `, ${file.state}` : ""}`)}
      ${meter("All files", total.chars, total.limit, html`<span id="budget-tokens">${many(total.tokens, "token")}</span>${more ? html` <span class="delta" data-sign=${more > 0 ? "more" : "less"}>${more > 0 ? "+" : "−"}${count(Math.abs(more))} by this change</span>` : nothing}`)}
      ${file.cause ? html`<p class="small">${sentence(file.cause)}</p>` : nothing}
      ${(file.state === "cut" ? (file.cut ?? []) : []).map((cut) => html`<p class="small warn-text">Lines ${count(cut.fromLine)} to ${count(cut.toLine)} (${count(cut.chars)} characters) would not be sent.</p>`)}
      ${effects.filter((one) => one.path !== this.editing.path && one.before !== one.after).map((one) => html`<p class="small">${one.path}: ${count(one.before)} → ${count(one.after)} characters</p>`)}
    </div>`;
  }

  private conflict(theirs: { text: string }): unknown {
    return html`<div class="conflict" role="alertdialog" tabindex="-1" aria-labelledby="conflict-title" aria-describedby="conflict-text">
      <h3 id="conflict-title">Not saved: the file was changed meanwhile</h3>
      <p id="conflict-text">Somebody, or the agent itself, wrote it after you opened it. Lines with − are on the disk, lines with + are yours.</p>
      ${compared(foldSame(diffText(theirs.text, this.editing.text), 3), "The disk's text against yours")}
      <p class="buttons">
        <button class="button small" @click=${() => this.settle("disk", false)}>Take the disk's text</button>
        <button class="button small" @click=${() => this.settle("ours", true)}>Overwrite with mine</button>
        <button class="button small" @click=${() => this.settle("ours", false)}>Go on by hand</button>
      </p></div>`;
  }

  private readonly typed = (event: Event): void => this.change((event.target as HTMLTextAreaElement).value);

  private readonly scrolled = (event: Event): void => {
    const gutter = this.querySelector<HTMLElement>(".gutter");
    if (gutter) gutter.scrollTop = (event.target as HTMLElement).scrollTop;
  };

  private readonly pressed = (event: KeyboardEvent): void => {
    if (event.key.toLowerCase() === "s" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (isDirty(this.editing)) this.save();
    }
  };
}

function numbers(text: string): string {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return Array.from({ length: lines }, (_, index) => index + 1).join("\n");
}

function meter(name: string, used: number, limit: number | null, more: unknown): unknown {
  const over = limit !== null && used > limit;
  return html`<div class="meter-row"><span class="meter-name">${name}</span>
    ${limit ? html`<meter min="0" max=${limit} high=${limit * 0.9} .value=${Math.min(used, limit)} aria-label=${`${name}: ${count(used)} of ${count(limit)} characters`}></meter>` : nothing}
    <span class="small">${count(used)}${limit ? ` of ${count(limit)}` : ""} characters${over ? html` <strong class="warn-text">too long</strong>` : nothing} · ${more}</span></div>`;
}
customElements.define("chitin-editor", Editor);
