// Talking with an agent: what was said, what it does right now, and what one wants to say.

import { html, nothing, type PropertyValues } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { ApiError, explain, path, query } from "../api/http.ts";
import type { Accepted, SessionShown } from "../api/types.ts";
import "../parts/composer.ts";
import { drawApproval } from "../parts/approval.ts";
import { drawEntries, drawPending } from "../parts/entry.ts";
import { pickSession } from "../parts/pick.ts";
import { Asked, empty, head, sentence, View } from "../parts/view.ts";
import { approvals, chosenSession, client, defaultAgent, drafts, gaps, hear, route, spoken, tree } from "../state/app.ts";
import { waiting } from "../state/approvals.ts";
import { afterGap, apply, type Conversation, EMPTY, type Pending, withHistory, withoutPending, withPending } from "../state/conversation.ts";
import { readEntries } from "../state/entries.ts";
import { routeTo } from "../state/route.ts";
import { count, money, sessionName, short } from "../text/format.ts";

/** How many records are asked for first, and how many more each time. */
const SHOWN = 100;
const MOST_SHOWN = 1000;

class Chat extends View {
  private key = "";
  private now: Conversation = EMPTY;
  private limit = SHOWN;
  private readonly session = new Asked<SessionShown | null>(this);
  private again = false;
  private frame = 0;
  private atEnd = true;

  constructor() {
    super();
    this.watch(tree, approvals);
    this.while(() => route.subscribe(() => this.choose()));
    this.while(() => gaps.subscribe(() => {
      this.now = afterGap(this.now);
      void this.load();
    }));
    this.while(() => hear((happening) => {
      if (happening.sessionKey !== this.key) return;
      const { next, stale } = apply(this.now, happening);
      this.announce(this.now, next);
      this.now = next;
      if (stale) void this.load();
      this.draw();
    }));
    this.while(() => {
      const scrolled = (): void => {
        this.atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 120;
      };
      const leaving = (): void => this.keepUnsent();
      addEventListener("scroll", scrolled, { passive: true });
      addEventListener("pagehide", leaving);
      return () => {
        removeEventListener("scroll", scrolled);
        removeEventListener("pagehide", leaving);
      };
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.choose();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.keepUnsent();
  }

  /** Words that could not be sent go back to the draft before this conversation is put away. */
  private keepUnsent(): void {
    const unsent = this.now.pending.filter((message) => message.state === "failed" || message.state === "sending");
    if (unsent.length === 0) return;
    drafts.set(this.key, [...unsent.map((message) => message.text), drafts.get(this.key) ?? ""].join("\n").trim());
    for (const message of unsent) this.now = withoutPending(this.now, message.key);
  }

  private choose(): void {
    if (route.value.view !== "chat") return;
    const key = chosenSession();
    if (key === this.key) return;
    this.keepUnsent();
    this.key = key;
    this.now = EMPTY;
    this.limit = SHOWN;
    this.atEnd = true;
    this.session.forget();
    void this.load();
    this.requestUpdate();
  }

  /** Asks for the records; while one question is open, the next waits, and there is never more than one waiting. */
  private async load(): Promise<void> {
    if (this.session.busy) {
      this.again = true;
      return;
    }
    const key = this.key;
    const shown = await this.session.ask(async () => {
      try {
        return await client.get<SessionShown>(query(path`/api/sessions/${key}`, { limit: this.limit }));
      } catch (error) {
        // A session begins with its first message.
        if (error instanceof ApiError && error.code === "unknown_session") return null;
        throw error;
      }
    });
    if (key === this.key && shown !== undefined) {
      const running = Boolean(shown?.busy?.jobId);
      const entries = readEntries(shown?.history ?? [], running);
      this.now = withHistory(this.now, entries, { running, waiting: shown?.busy?.waiting ?? 0, hasOlder: shown?.hasOlder ?? false });
      this.draw();
    }
    if (this.again) {
      this.again = false;
      void this.load();
    }
  }

  /** Words come faster than eyes and screens: at most one drawing for each picture of the screen. */
  private draw(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.requestUpdate();
    });
  }

  /** Tells a screen reader what matters, and not every word as it comes. */
  private announce(before: Conversation, after: Conversation): void {
    if (!before.running && after.running) spoken.value = "The agent is working.";
    const failed = after.notes.find((note) => note.kind === "failed");
    if (before.running && !after.running) {
      const said = after.live.at(-1)?.pieces.findLast((piece) => piece.kind === "text");
      spoken.value = failed ? `The turn failed: ${failed.text}` : said?.kind === "text" ? `The agent said: ${short(said.text, 300)}` : "The turn is over.";
    }
  }

  protected override render(): unknown {
    const { entries, live, pending, running, notes, hasOlder } = this.now;
    const about = tree.value.find((session) => session.key === this.key);
    const shown = this.session.value;
    const said = [...entries, ...live];
    const asked = approvals.value.filter((one) => one.asked.sessionKey === this.key);
    const waits = waiting(asked).length > 0;
    const drawn = drawEntries(said);
    const nothingThere = this.session.value !== undefined && entries.length + live.length + pending.length === 0;
    return html`
      ${head(about ? sessionName(about) : sessionName({ key: this.key }), this.about(shown ?? null), html`
        ${pickSession(this.key, (key) => (location.hash = routeTo("chat", key)))}
        <a class="button small" href=${routeTo("lens", this.key)}>Context</a>
        <button class="button small" @click=${this.begin}>New session</button>`)}
      ${this.session.value === undefined ? this.session.show(() => nothing) : nothing}
      ${nothingThere ? empty("Nothing was said here yet.", "Write below; the agent has its workspace before it.") : nothing}
      ${hasOlder ? html`<p class="older"><button class="button small" @click=${this.older}>Show what was said before</button></p>` : nothing}
      <div class="log" role="log" aria-live="off" aria-label="Conversation" aria-busy=${running}>
        ${repeat(drawn, (_, index) => said[index]?.id, (entry) => entry)}
        ${repeat(pending, (message) => message.key, (message) => drawPending(message, () => void this.send(message), () => this.drop(message)))}
        ${running && !waits && !live.some((entry) => entry.growing) ? html`<p class="working"><span class="pulse" aria-hidden="true"></span>Working …</p>` : nothing}
        ${repeat(asked, (one) => one.asked.id, drawApproval)}
        ${notes.map((note) => html`<p class="turn-note" data-kind=${note.kind}>${sentence(note.text)}</p>`)}
      </div>
      <chitin-composer .session=${this.key} .running=${running} .waiting=${this.now.waiting} .submit=${this.submit} .stop=${this.stop}></chitin-composer>`;
  }

  private about(shown: SessionShown | null): unknown {
    const parts = [html`<code>${this.key}</code>`];
    if (shown?.model) parts.push(html`${shown.modelProvider ? `${shown.modelProvider}/` : ""}${shown.model}`);
    if (shown?.totalTokens) parts.push(html`${count(shown.totalTokens)} tokens in the window`);
    if (shown?.estimatedCostUsd) parts.push(html`${money(shown.estimatedCostUsd)}`);
    return parts.map((part, index) => html`${index ? " · " : nothing}${part}`);
  }

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    if (this.atEnd) scrollTo({ top: document.documentElement.scrollHeight });
  }

  private readonly older = (): void => {
    this.limit = Math.min(MOST_SHOWN, this.limit + SHOWN);
    this.atEnd = false;
    void this.load();
  };

  private readonly begin = (): void => {
    const name = `page-${Date.now().toString(36)}`;
    location.hash = routeTo("chat", `agent:${this.key.split(":")[1] ?? defaultAgent()}:${name}`);
    queueMicrotask(() => document.querySelector<HTMLElement>("#composer")?.focus());
  };

  private readonly submit = (text: string, pictures: Pending["pictures"]): void => {
    this.atEnd = true;
    void this.send({ key: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`, text, pictures, state: "sending" });
  };

  private change(key: string, message: Pending): void {
    if (key === this.key) this.now = withPending(this.now, message);
    this.draw();
  }

  /** Sends a message. Its name goes along, so that sending it again after a lost line says it once. */
  private async send(message: Pending): Promise<void> {
    const key = this.key;
    this.change(key, { ...message, state: "sending" });
    try {
      const body = { text: message.text, session: key, ...(message.pictures.length ? { images: message.pictures } : {}) };
      const taken = await client.send<Accepted>("POST", "/api/messages", body, { "idempotency-key": message.key });
      const state = taken.place === "waits" || taken.place === "steers" ? taken.place : "runs";
      this.change(key, { ...message, jobId: taken.jobId, state });
      void this.load();
    } catch (error) {
      const { message: reason, hint } = explain(error);
      this.change(key, { ...message, state: "failed", reason: `${reason} ${hint}`.trim() });
      spoken.value = `Not sent: ${reason}`;
    }
  }

  private drop(message: Pending): void {
    this.now = withoutPending(this.now, message.key);
    const composer = this.querySelector("chitin-composer") as (HTMLElement & { giveBack(text: string): void }) | null;
    composer?.giveBack(message.text);
    this.requestUpdate();
  }

  private readonly stop = async (): Promise<void> => {
    try {
      await client.send("POST", path`/api/sessions/${this.key}/stop`, {});
      spoken.value = "Stopped.";
    } catch (error) {
      this.now = { ...this.now, notes: [{ kind: "failed", text: explain(error).message }] };
      this.requestUpdate();
    }
  };
}
customElements.define("chitin-chat", Chat);
