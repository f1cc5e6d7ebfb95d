// Where one writes. What is typed is kept for the tab until it is sent.

import { html, nothing, type PropertyValues } from "lit";
import { drafts } from "../state/app.ts";
import { many } from "../text/format.ts";
import { View } from "./view.ts";

interface Picture {
  name: string;
  data: string;
  mimeType: string;
}

const MOST_PICTURES = 16;
const LARGEST_PICTURE = 5 * 1024 * 1024;
const LONGEST_TEXT = 1024 * 1024;

class Composer extends View {
  static override properties = { session: {}, running: {}, waiting: {} };
  declare session: string;
  declare running: boolean;
  declare waiting: number;
  submit: (text: string, pictures: { data: string; mimeType: string }[]) => void = () => {};
  stop: () => void = () => {};
  private text = "";
  private pictures: Picture[] = [];
  private complaint = "";

  protected override willUpdate(changed: PropertyValues): void {
    if (!changed.has("session")) return;
    this.text = drafts.get(this.session) ?? "";
    this.pictures = [];
  }

  protected override render(): unknown {
    const waits = this.waiting ? `${many(this.waiting, "message")} waiting` : "";
    return html`<form class="composer" @submit=${this.send} @dragover=${(event: Event) => event.preventDefault()} @drop=${this.dropped}>
      ${this.pictures.length
        ? html`<ul class="pictures">${this.pictures.map((picture, index) => html`<li>
            <img src=${`data:${picture.mimeType};base64,${picture.data}`} alt=${picture.name} />
            <button type="button" class="link" @click=${() => this.discard(index)}>Remove<span class="hidden"> ${picture.name}</span></button></li>`)}</ul>`
        : nothing}
      ${this.complaint ? html`<p class="turn-note" data-kind="failed" role="alert">${this.complaint}</p>` : nothing}
      <label class="hidden" for="composer">Message</label>
      <textarea id="composer" rows="1" placeholder="Write to the agent" maxlength=${LONGEST_TEXT} .value=${this.text}
        aria-describedby="composer-help" @input=${this.typed} @keydown=${this.pressed} @paste=${this.pasted}></textarea>
      <div class="composer-row">
        <span id="composer-help" class="quiet small">${waits || (this.running ? "A turn runs; what you send is heard by it or waits." : html`<span class="hint">Enter sends, Shift+Enter is a new line</span>`)}</span>
        <label class="button small file-button">Picture<input class="hidden" type="file" accept="image/png,image/jpeg,image/gif,image/webp" multiple @change=${this.chosen} /></label>
        ${this.running ? html`<button type="button" class="button small" @click=${() => this.stop()}>Stop</button>` : nothing}
        <button class="button small primary" ?disabled=${!this.text.trim() && !this.pictures.length}>Send</button>
      </div>
    </form>`;
  }

  protected override updated(): void {
    const area = this.querySelector<HTMLTextAreaElement>("#composer");
    if (!area) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight + 2, innerHeight * 0.4)}px`;
  }

  /** Puts words back that could not be sent. */
  giveBack(text: string): void {
    this.keep(this.text ? `${text}\n${this.text}` : text);
  }

  private keep(text: string): void {
    this.text = text;
    drafts.set(this.session, text);
    this.requestUpdate();
  }

  private readonly typed = (event: Event): void => this.keep((event.target as HTMLTextAreaElement).value);

  private readonly pressed = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.send(event);
    } else if (event.key === "Escape" && this.running) {
      this.stop();
    }
  };

  private readonly send = (event: Event): void => {
    event.preventDefault();
    const text = this.text.trim();
    if (!text && !this.pictures.length) return;
    const pictures = this.pictures.map(({ data, mimeType }) => ({ data, mimeType }));
    this.pictures = [];
    this.complaint = "";
    this.keep("");
    this.submit(text, pictures);
  };

  private readonly chosen = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    void this.add([...(input.files ?? [])]);
    input.value = "";
  };

  private readonly pasted = (event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length) {
      event.preventDefault();
      void this.add(files);
    }
  };

  private readonly dropped = (event: DragEvent): void => {
    event.preventDefault();
    void this.add([...(event.dataTransfer?.files ?? [])]);
  };

  private async add(files: File[]): Promise<void> {
    this.complaint = "";
    for (const file of files) {
      if (!/^image\/(png|jpeg|gif|webp)$/.test(file.type)) this.complaint = `\`${file.name}\` is no picture that a model reads.`;
      else if (file.size > LARGEST_PICTURE) this.complaint = `\`${file.name}\` is larger than 5 MiB.`;
      else if (this.pictures.length >= MOST_PICTURES) this.complaint = `A message has at most ${MOST_PICTURES} pictures.`;
      else this.pictures = [...this.pictures, { name: file.name, mimeType: file.type, data: await base64(file) }];
    }
    this.requestUpdate();
  }

  private discard(index: number): void {
    this.pictures = this.pictures.filter((_, at) => at !== index);
    this.requestUpdate();
  }
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1] ?? "");
    reader.onerror = () => reject(reader.error ?? new Error("The file cannot be read."));
    reader.readAsDataURL(file);
  });
}
customElements.define("chitin-composer", Composer);
