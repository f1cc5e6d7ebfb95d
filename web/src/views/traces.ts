// What turns left behind, event by event.

import { html, nothing } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { path, query } from "../api/http.ts";
import type { TraceList } from "../api/types.ts";
import { Asked, empty, head, View } from "../parts/view.ts";
import { client, gaps, route } from "../state/app.ts";
import { routeTo } from "../state/route.ts";
import { bytes, clock, many, moment, sessionName, short } from "../text/format.ts";

type Event = Record<string, unknown> & { type?: string; ts?: string; seq?: number; data?: unknown };

class Traces extends View {
  private chosen = "";
  private sought = "";
  private readonly opened = new Set<Event>();
  private readonly list = new Asked<TraceList>(this);
  private readonly trace = new Asked<{ events: Event[]; truncated?: boolean }>(this);

  constructor() {
    super();
    this.while(() => route.subscribe(() => this.choose()));
    this.while(() => gaps.subscribe(() => this.choose()));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.choose();
  }

  private choose(): void {
    if (route.value.view !== "traces") return;
    this.chosen = route.value.rest[0] ?? "";
    this.trace.forget();
    this.opened.clear();
    const id = this.chosen;
    if (id) void this.trace.ask(() => client.get(path`/api/traces/${id}`));
    else void this.list.ask(() => client.get(query("/api/traces", { limit: 200 })));
    this.requestUpdate();
  }

  protected override render(): unknown {
    if (this.chosen) return this.one();
    return html`${head("Traces", "Every turn is recorded; secrets are taken out")}
      ${this.list.show(({ traces }) => traces.length === 0
        ? empty("Nothing is recorded yet.", "A turn leaves its trace by itself, unless `CHITIN_TRAJECTORY=0` says otherwise.")
        : html`<div class="table-scroll" role="group" tabindex="0" aria-label="Traces"><table class="list"><thead><tr><th scope="col">Session</th><th scope="col">Last</th><th scope="col" class="number">Turns</th><th scope="col" class="number">Size</th></tr></thead>
            <tbody>${traces.map((trace) => html`<tr><th scope="row"><a href=${routeTo("traces", trace.id)}>${sessionName({ key: trace.sessionKey ?? trace.id })}</a> <code class="quiet small">${trace.sessionKey ?? ""}</code></th>
              <td>${clock(trace.at)}</td><td class="number">${trace.turns ?? "–"}</td><td class="number">${bytes(trace.bytes)}</td></tr>`)}</tbody></table></div>`)}`;
  }

  private one(): unknown {
    const events = this.trace.value?.events ?? [];
    const found = events.filter((event) => !this.sought || JSON.stringify(event).toLowerCase().includes(this.sought.toLowerCase()));
    return html`${head("Trace", html`<code>${this.chosen}</code>`, html`<a class="button small" href=${routeTo("traces")}>All traces</a>
        <label class="field inline"><span>Find</span><input type="search" data-search .value=${this.sought} @input=${this.seek} /></label>`)}
      ${this.trace.show(({ truncated }) => html`
        <p class="quiet" role="status">${many(found.length, "event")}${truncated ? "; there are more than are shown here, `chitin trace` has them all" : ""}</p>
        <ol class="events">${repeat(found, (event) => event, (event) => this.event(event))}</ol>`)}`;
  }

  /** An event may be as long as a prompt: it is written out when it is opened. */
  private event(event: Event): unknown {
    const date = moment(event.ts);
    const toggled = (change: ToggleEvent): void => {
      if ((change.target as HTMLDetailsElement).open) this.opened.add(event);
      else this.opened.delete(event);
      this.requestUpdate();
    };
    return html`<li><details @toggle=${toggled}><summary><code>${event.type ?? "event"}</code>
      ${date ? html`<time class="quiet small" datetime=${date.toISOString()}>${date.toISOString().slice(11, 23)}</time>` : nothing}
      <span class="quiet small event-about">${short(JSON.stringify(event.data ?? "").slice(0, 400), 110)}</span></summary>
      ${this.opened.has(event) ? html`<pre role="group" tabindex="0" aria-label="Event">${JSON.stringify(event.data ?? event, null, 2)}</pre>` : nothing}</details></li>`;
  }

  private readonly seek = (event: InputEvent): void => {
    this.sought = (event.target as HTMLInputElement).value;
    this.requestUpdate();
  };
}
customElements.define("chitin-traces", Traces);
