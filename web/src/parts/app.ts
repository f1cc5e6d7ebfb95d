// The frame around all views: where one can go, what the connection does, keys.

import { html, nothing, type PropertyValues } from "lit";
import { approvals, chosenSession, farewell, line, live, me, route, signOut, spoken, tree, trouble } from "../state/app.ts";
import { waiting } from "../state/approvals.ts";
import { routeTo, VIEWS, type ViewName } from "../state/route.ts";
import { nextTheme, theme } from "../state/theme.ts";
import { sessionName } from "../text/format.ts";
import { View } from "./view.ts";
import { helpDialog, keyPressed } from "./keys.ts";
import { icon } from "./icons.ts";
import "../views/login.ts";
import "../views/chat.ts";

const NAMES: Record<ViewName, string> = {
  chat: "Chat",
  sessions: "Sessions",
  lens: "Context lens",
  files: "Files",
  changes: "Changes",
  skills: "Skills & findings",
  memory: "Memory",
  traces: "Traces",
  agents: "Agents & routes",
};

/** How many sessions that wait are named. */
const MOST_NAMED = 5;

/** Views that are loaded when they are first opened. */
const LOAD: Record<ViewName, () => Promise<unknown>> = {
  chat: () => Promise.resolve(),
  sessions: () => import("../views/sessions.ts"),
  lens: () => import("../views/lens.ts"),
  files: () => import("../views/files.ts"),
  changes: () => import("../views/changes.ts"),
  skills: () => import("../views/skills.ts"),
  memory: () => import("../views/memory.ts"),
  traces: () => import("../views/traces.ts"),
  agents: () => import("../views/agents.ts"),
};

const DRAW: Record<ViewName, () => unknown> = {
  chat: () => html`<chitin-chat></chitin-chat>`,
  sessions: () => html`<chitin-sessions></chitin-sessions>`,
  lens: () => html`<chitin-lens></chitin-lens>`,
  files: () => html`<chitin-files></chitin-files>`,
  changes: () => html`<chitin-changes></chitin-changes>`,
  skills: () => html`<chitin-skills></chitin-skills>`,
  memory: () => html`<chitin-memory></chitin-memory>`,
  traces: () => html`<chitin-traces></chitin-traces>`,
  agents: () => html`<chitin-agents></chitin-agents>`,
};

class App extends View {
  private readonly loaded = new Set<ViewName>(["chat"]);
  private failed = false;
  private menuOpen = false;
  private shown: ViewName | null = null;

  constructor() {
    super();
    this.watch(me, live, route, approvals, theme, spoken, trouble, tree, farewell);
    this.while(() => {
      const press = (event: KeyboardEvent): void => keyPressed(event, this);
      addEventListener("keydown", press);
      return () => removeEventListener("keydown", press);
    });
  }

  private load(view: ViewName): boolean {
    if (this.loaded.has(view)) return true;
    LOAD[view]().then(
      () => {
        this.loaded.add(view);
        this.failed = false;
        this.requestUpdate();
      },
      () => {
        this.failed = true;
        this.requestUpdate();
      },
    );
    return false;
  }

  protected override render(): unknown {
    const who = me.value;
    if (who === undefined) return html`<p class="quiet loading alone">Loading …</p>`;
    if (who === null) return html`<chitin-login></chitin-login>${this.announcer()}`;
    const { view } = route.value;
    const ready = this.load(view);
    return html`
      <a class="skip" href="#main" @click=${this.skip}>To the content</a>
      <div class="shell" ?data-menu=${this.menuOpen}>
        <div class="side">
          <div class="brand-row">
            <span class="brand"><span class="brand-mark" aria-hidden="true"></span>Chitin</span>
            <button class="icon-button menu-button" aria-expanded=${this.menuOpen} aria-controls="menu" @click=${this.toggleMenu}>
              ${icon("menu")}<span class="hidden">Menu</span>
            </button>
          </div>
          <div id="menu" class="menu">
            <nav aria-label="Views">${VIEWS.map((name, index) => this.link(name, index))}</nav>
            ${this.foot(who.version, who.contract)}
          </div>
        </div>
        <main id="main" data-view=${view}>
          ${this.banner()}
          ${ready ? DRAW[view]() : this.failed ? this.notLoaded() : html`<p class="quiet loading">Loading …</p>`}
        </main>
      </div>
      ${helpDialog()}${this.announcer()}`;
  }

  private link(name: ViewName, index: number): unknown {
    const busy = name === "sessions" ? tree.value.filter((session) => session.state !== "idle").length : 0;
    const asked = name === "chat" ? waiting(approvals.value).length : 0;
    const current = route.value.view === name;
    return html`<a href=${routeTo(name)} aria-current=${current ? "page" : nothing} title=${`${NAMES[name]} (g ${index + 1})`}
      @click=${() => this.setMenu(false)}>${icon(name)}<span>${NAMES[name]}</span>${
        busy ? html`<span class="badge" aria-label=${`${busy} busy`}>${busy}</span>` : nothing
      }${asked ? html`<span class="badge asks" aria-label=${`${asked} waiting for your permission`}>${asked}</span>` : nothing}</a>`;
  }

  private foot(version?: string, contract?: string): unknown {
    const words = { off: "Not connected", connecting: "Connecting …", open: "Connected", waiting: "Connection lost" };
    return html`<div class="side-foot">
      <p class="status" data-state=${live.value} role="status"><span class="dot" aria-hidden="true"></span>${words[live.value]}</p>
      <p class="quiet small">${version ? `Chitin ${version}` : nothing}${contract ? ` · contract ${contract}` : nothing}</p>
      <div class="side-buttons">
        <button class="icon-button" @click=${nextTheme} title="Light, dark, or as the system">${icon(theme.value)}<span class="hidden">Colours: ${theme.value}. Change.</span></button>
        <button class="icon-button" @click=${() => this.help()} title="Keys (?)">${icon("help")}<span class="hidden">Keys and help</span></button>
        <button class="icon-button" @click=${() => void signOut()} title="Sign out">${icon("leave")}<span class="hidden">Sign out</span></button>
      </div>
    </div>`;
  }

  /** Says that the line is lost only when it stays lost: a short gap heals before anybody reads of it. */
  private banner(): unknown {
    const lost = (live.value === "waiting" || live.value === "connecting") && line.failures > 1;
    return html`${lost
        ? html`<div class="banner" role="status"><span>The connection is lost. What you type stays here; it goes on when the server is back.</span>
            <button class="button small" @click=${() => line.retry()}>Try now</button></div>`
        : nothing}
      ${this.asked()}
      ${trouble.value
        ? html`<div class="banner bad" role="alert"><span><strong>${trouble.value.message}</strong> ${trouble.value.hint}</span>
            <button class="button small" @click=${() => (trouble.value = null)}>Close</button></div>`
        : nothing}`;
  }

  /** Names the sessions that wait for permission and are not before one's eyes. */
  private asked(): unknown {
    const shown = route.value.view === "chat" ? chosenSession() : null;
    const keys = new Set(waiting(approvals.value).map((one) => one.asked.sessionKey));
    const others = [...keys].filter((key) => key !== shown);
    if (others.length === 0) return nothing;
    const links = others.slice(0, MOST_NAMED).map((key) => html` <a href=${routeTo("chat", key)}>${sessionName(tree.value.find((one) => one.key === key) ?? { key })}</a>`);
    return html`<div class="banner" role="status"><span>Waiting for your permission:${links}${others.length > MOST_NAMED ? ` and ${others.length - MOST_NAMED} more` : nothing}</span></div>`;
  }

  private notLoaded(): unknown {
    return html`<div class="problem" role="alert"><strong>This part of the page could not be loaded.</strong>
      <span>The server may have been replaced by another version. <button class="link" @click=${() => location.reload()}>Load the page again</button></span></div>`;
  }

  private announcer(): unknown {
    return html`<div class="hidden" role="status" aria-live="polite" id="spoken">${spoken.value}</div>`;
  }

  help(): void {
    this.querySelector<HTMLDialogElement>("#help")?.showModal();
  }

  private readonly toggleMenu = (): void => this.setMenu(!this.menuOpen);

  private setMenu(open: boolean): void {
    this.menuOpen = open;
    this.requestUpdate();
  }

  private skip(event: Event): void {
    event.preventDefault();
    document.querySelector<HTMLElement>("main h1")?.focus();
  }

  /** A new view begins at its heading, for eyes and for screen readers. */
  protected override updated(_changed: PropertyValues): void {
    const view = me.value ? route.value.view : null;
    // A view that is still being loaded has no heading yet.
    if (view === this.shown || (view && !this.loaded.has(view))) return;
    const first = this.shown === null;
    this.shown = view;
    document.title = view ? `${NAMES[view]} · Chitin` : "Chitin";
    if (!first && view) {
      scrollTo(0, 0);
      queueMicrotask(() => this.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true }));
    }
  }
}

export type { App };
customElements.define("chitin-app", App);
