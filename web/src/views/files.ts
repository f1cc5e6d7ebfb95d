// The files of a workspace, and an editor for them.

import { html, nothing } from "lit";
import { ApiError, path, query } from "../api/http.ts";
import type { FileConflict, FileList, FileText, OpenFile, SavedFile, WorkspaceFile } from "../api/types.ts";
import "../parts/editor.ts";
import { pickAgent } from "../parts/pick.ts";
import { Asked, empty, head, problem, View } from "../parts/view.ts";
import { client, defaultAgent, gaps, route, spoken } from "../state/app.ts";
import { conflicted, draftOf, type Editing, isDirty, open, saved, settle, typed } from "../state/editing.ts";
import { Keep } from "../state/keep.ts";
import { routeTo } from "../state/route.ts";
import { bytes, count } from "../text/format.ts";

const KINDS: [string, string][] = [["bootstrap", "In every prompt"], ["memory", "Memory"], ["skill", "Skills"], ["other", "Other files"]];
const drafts = new Keep("file", () => sessionStorage);

class Files extends View {
  private agent = "";
  private path = "";
  private sought = "";
  private readonly list = new Asked<FileList>(this);
  private readonly file = new Asked<OpenFile>(this);
  private editing: Editing | null = null;
  private saving = false;
  private error: unknown = null;

  constructor() {
    super();
    this.while(() => route.subscribe(() => this.choose()));
    this.while(() => gaps.subscribe(() => void this.load()));
    this.while(() => {
      const leaving = (event: BeforeUnloadEvent): void => {
        if (this.editing && isDirty(this.editing)) event.preventDefault();
      };
      addEventListener("beforeunload", leaving);
      return () => removeEventListener("beforeunload", leaving);
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.choose();
  }

  private choose(): void {
    if (route.value.view !== "files") return;
    const [agent, ...rest] = route.value.rest;
    const next = agent ?? defaultAgent();
    if (next !== this.agent) {
      this.agent = next;
      this.list.forget();
      this.path = "";
    }
    void this.load();
    if (rest.join("/") !== this.path) void this.open(rest.join("/"));
    this.requestUpdate();
  }

  private async load(): Promise<void> {
    const agent = this.agent;
    await this.list.ask(() => client.get(path`/api/agents/${agent}/files`));
  }

  private async open(name: string): Promise<void> {
    this.path = name;
    this.editing = null;
    this.error = null;
    this.file.forget();
    if (!name) return;
    const agent = this.agent;
    const file = await this.file.ask(async () => {
      try {
        return await client.get<FileText>(query(path`/api/agents/${agent}/file`, { path: name }));
      } catch (error) {
        // A file that is not there yet can be written.
        if (error instanceof ApiError && error.status === 404 && error.code !== "unknown_agent") return { path: name, text: "", version: null, editable: true };
        throw error;
      }
    });
    if (!file || this.path !== name || this.agent !== agent) return;
    this.editing = open(file, drafts.get(`${agent}:${name}`));
    this.requestUpdate();
    if (isDirty(this.editing)) spoken.value = "Changes that were not saved are back.";
  }

  protected override render(): unknown {
    const budget = this.list.value?.budget;
    return html`
      ${head("Files", budget?.total ? `Prompts take ${count(budget.used)} of ${count(budget.total)} characters of files` : "The workspace of the agent", html`
        ${pickAgent(this.agent, (agent) => (location.hash = routeTo("files", agent)))}
        <label class="field inline"><span>Find</span><input type="search" data-search .value=${this.sought} @input=${this.seek} /></label>`)}
      <div class="files" ?data-open=${Boolean(this.path)}>
        <div class="file-list">${this.list.show((list) => this.groups(list.files))}</div>
        <div class="file-pane">${this.pane()}</div>
      </div>`;
  }

  private groups(files: WorkspaceFile[]): unknown {
    const found = files.filter((file) => file.path.toLowerCase().includes(this.sought.toLowerCase()));
    const kind = (file: WorkspaceFile): string => (KINDS.some(([name]) => name === file.kind) ? (file.kind ?? "other") : "other");
    const groups = KINDS.map(([name, title]) => ({ title, files: found.filter((file) => kind(file) === name) }));
    if (found.length === 0) return empty("No such file.", "");
    return groups.map((group) => group.files.length
      ? html`<h2 class="group">${group.title}</h2><ul>${group.files.map((file) => this.row(file))}</ul>`
      : nothing);
  }

  private row(file: WorkspaceFile): unknown {
    const dirty = drafts.get(`${this.agent}:${file.path}`) !== null;
    const size = file.state === "present" ? bytes(file.bytes) : file.state;
    return html`<li><a class="file-row" href=${routeTo("files", this.agent, ...file.path.split("/"))} aria-current=${file.path === this.path ? "true" : nothing} data-state=${file.state} title=${file.reason ?? ""}>
      <span class="file-name">${file.path}${dirty ? html`<span class="dirty"> · not saved</span>` : nothing}</span><span class="quiet small">${size}</span></a></li>`;
  }

  private pane(): unknown {
    if (!this.path) return empty("No file is open.", "Choose one; what you type shows at once what it does to the prompt.");
    const back = html`<a class="back button small" href=${routeTo("files", this.agent)}>All files</a>`;
    if (!this.editing) return html`${back}${this.file.show(() => nothing)}`;
    return html`${back}${this.error ? problem(this.error) : nothing}
      <chitin-editor .agent=${this.agent} .editing=${this.editing} .saving=${this.saving} .change=${this.change} .save=${this.save} .settle=${this.settle} .discard=${this.discard}></chitin-editor>`;
  }

  private keep(editing: Editing): void {
    this.editing = editing;
    drafts.set(`${this.agent}:${editing.path}`, draftOf(editing));
    this.requestUpdate();
  }

  private readonly change = (text: string): void => {
    if (this.editing) this.keep(typed(this.editing, text));
  };

  private readonly discard = (): void => {
    if (this.editing) this.keep(typed(this.editing, this.editing.base));
    void this.open(this.path);
  };

  private readonly settle = (whose: "disk" | "ours", andSave: boolean): void => {
    if (!this.editing) return;
    this.keep(settle(this.editing, whose));
    if (andSave) void this.save();
  };

  /** Saves what is in the editor. The server refuses when the disk has something else than what was read. */
  private readonly save = async (): Promise<void> => {
    const editing = this.editing;
    if (!editing || this.saving) return;
    this.saving = true;
    this.error = null;
    this.requestUpdate();
    const { text } = editing;
    try {
      const address = query(path`/api/agents/${this.agent}/file`, { path: editing.path });
      const { version } = await client.send<SavedFile>("PUT", address, { text, version: editing.version });
      if (this.editing?.path === editing.path) this.keep(saved(this.editing, text, version));
      spoken.value = `${editing.path} is saved.`;
      void this.load();
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) {
        const body = error.body as Partial<FileConflict> | null;
        this.keep(conflicted(this.editing ?? editing, body?.current));
        spoken.value = "Not saved: the file was changed by somebody else.";
      } else {
        this.error = error;
      }
    } finally {
      this.saving = false;
      this.requestUpdate();
    }
  };

  private readonly seek = (event: Event): void => {
    this.sought = (event.target as HTMLInputElement).value;
    this.requestUpdate();
  };
}
customElements.define("chitin-files", Files);
