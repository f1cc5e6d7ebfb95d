// What all elements of the page have in common.

import { html, LitElement, nothing, type TemplateResult } from "lit";
import { explain } from "../api/http.ts";
import type { Signal } from "../state/signal.ts";

/**
 * An element without a shadow: names and references reach across the whole page, which is what screen readers need, and one
 * style sheet covers it, which is what the content policy wants.
 */
export abstract class View extends LitElement {
  private readonly watched: Signal<never>[] = [];
  private stops: (() => void)[] = [];

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** Draws again whenever a value changes. Called in the constructor. */
  protected watch(...signals: Signal<never>[] | Signal<any>[]): void {
    this.watched.push(...(signals as Signal<never>[]));
  }

  /** Does something as long as the element is shown; `begin` returns what ends it. */
  protected while(begin: () => () => void): void {
    this.begins.push(begin);
  }
  private readonly begins: (() => () => void)[] = [];

  override connectedCallback(): void {
    super.connectedCallback();
    for (const signal of this.watched) this.stops.push(signal.subscribe(() => this.requestUpdate()));
    for (const begin of this.begins) this.stops.push(begin());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const stop of this.stops) stop();
    this.stops = [];
  }

  protected abstract override render(): unknown;
}

/** Something that is asked for: not there yet, there, or refused. */
export class Asked<T> {
  value: T | undefined;
  error: unknown;
  busy = false;
  private turn = 0;

  constructor(private readonly host: LitElement) {}

  /** Asks; an answer that was overtaken by a later question is dropped. What was there stays until the answer comes. */
  async ask(question: () => Promise<T>): Promise<T | undefined> {
    this.turn += 1;
    const turn = this.turn;
    this.busy = true;
    this.host.requestUpdate();
    try {
      const value = await question();
      if (turn !== this.turn) return undefined;
      this.value = value;
      this.error = undefined;
      return value;
    } catch (error) {
      if (turn === this.turn) this.error = error;
      return undefined;
    } finally {
      if (turn === this.turn) this.busy = false;
      this.host.requestUpdate();
    }
  }

  forget(): void {
    this.turn += 1;
    this.value = undefined;
    this.error = undefined;
    this.busy = false;
  }

  /** Shows what is there, or says why nothing is. */
  show(draw: (value: T) => unknown): unknown {
    if (this.value !== undefined) return html`${this.error === undefined ? nothing : problem(this.error)}${draw(this.value)}`;
    if (this.error !== undefined) return problem(this.error);
    return this.busy ? html`<p class="quiet loading">Loading …</p>` : nothing;
  }
}

/** A sentence of the server, with what stands in backticks as code. */
export function sentence(text: string): unknown {
  return text.split("`").map((part, index, all) => (index % 2 === 1 && index < all.length - 1 ? html`<code>${part}</code>` : index % 2 === 1 ? `\`${part}` : part));
}

/** A pattern of commands is one piece of code; names of files stand in backticks already. */
export function patternOf(pattern: string): unknown {
  return pattern.includes("`") ? sentence(pattern) : html`<code>${pattern}</code>`;
}

/** What went wrong, and what to do about it. */
export function problem(error: unknown): TemplateResult {
  const { message, hint } = explain(error);
  return html`<div class="problem" role="alert"><strong>${sentence(message)}</strong>${hint ? html`<span>${sentence(hint)}</span>` : nothing}</div>`;
}

/** The head of a view: its name, what it shows, and what can be done there. */
export function head(title: string, about: unknown, tools: unknown = nothing): TemplateResult {
  return html`<header class="view-head">
    <div><h1 tabindex="-1">${title}</h1>${about ? html`<p class="quiet">${about}</p>` : nothing}</div>
    ${tools === nothing ? nothing : html`<div class="tools">${tools}</div>`}
  </header>`;
}

/** Nothing is there, and that is all right. */
export function empty(title: string, text: unknown): TemplateResult {
  return html`<div class="empty"><p class="empty-title">${title}</p><p class="quiet">${text}</p></div>`;
}

/** Waits until nobody has called for a while. */
export function debounced(run: () => void, ms: number): { call: () => void; cancel: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = (): void => clearTimeout(timer);
  return {
    call: () => {
      cancel();
      timer = setTimeout(run, ms);
    },
    cancel,
  };
}
