// Agents, who gets what, how channels stand, and who may talk.

import { html, nothing } from "lit";
import { explain, query } from "../api/http.ts";
import type { ApprovalList, BindingList, Channels, Explanation, KeptApproval, ListedBinding, PairingList, PairingRequest } from "../api/types.ts";
import { Asked, empty, head, patternOf, problem, View } from "../parts/view.ts";
import { drawChannels, drawTurnedAway } from "../parts/channels.ts";
import { drawExplanation } from "../parts/explanation.ts";
import { agents, client, gaps, spoken } from "../state/app.ts";
import { routeTo } from "../state/route.ts";
import { clock, span } from "../text/format.ts";

const FIELDS: [string, string, string][] = [
  ["channel", "Channel", "discord"],
  ["account", "Account", "default"],
  ["peer", "Place", "channel:123"],
  ["parent", "Parent place", "channel:42"],
  ["guild", "Guild", "42"],
  ["team", "Team", "T1"],
  ["role", "Role", "admin"],
  ["thread", "Thread", "7"],
  ["sender", "Sender", "ada"],
];

/** Who is named by a channel's id. */
type Known = Pick<PairingRequest, "channel" | "senderId" | "senderName">;

class Agents extends View {
  private readonly routes = new Asked<BindingList>(this);
  private readonly channels = new Asked<Channels>(this);
  private readonly pairing = new Asked<PairingList>(this);
  private readonly approvals = new Asked<ApprovalList>(this);
  private readonly explanation = new Asked<Explanation>(this);
  private error: unknown = null;

  constructor() {
    super();
    this.watch(agents);
    this.while(() => gaps.subscribe(() => this.load()));
    // Requests to talk come at any time and are no happening of a session.
    this.while(() => {
      const timer = setInterval(() => document.visibilityState === "visible" && this.load(), 15_000);
      return () => clearInterval(timer);
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.load();
  }

  private load(): void {
    void this.routes.ask(() => client.get("/api/routes"));
    void this.channels.ask(() => client.get("/api/channels"));
    void this.pairing.ask(() => client.get("/api/pairing"));
    void this.approvals.ask(() => client.get("/api/approvals"));
  }

  protected override render(): unknown {
    return html`
      ${head("Agents & routes", "Who gets a message, and who may send one")}
      ${this.error ? problem(this.error) : nothing}
      <section class="section"><h2>Agents</h2><ul class="cards">${agents.value.map((agent) => html`<li class="card">
        <p><strong>${agent.name ?? agent.id}</strong> ${agent.isDefault ? html`<span class="tag">default</span>` : nothing}</p>
        <p class="quiet small"><code>${agent.workspace ?? ""}</code></p>
        <p class="small"><a href=${routeTo("files", agent.id)}>Files</a> · <a href=${routeTo("skills", agent.id)}>Skills</a> · <a href=${routeTo("memory", agent.id)}>Memory</a></p></li>`)}</ul></section>
      <section class="section"><h2>Who asks to talk</h2>${this.pairing.show((pairing) => this.drawPairing(pairing))}</section>
      <section class="section"><h2>Allowed always</h2>${this.approvals.show(({ remembered }) => this.drawRemembered(remembered))}</section>
      <section class="section"><h2>Channels</h2>${this.channels.show(drawChannels)}</section>
      <section class="section"><h2>Bindings</h2>${this.routes.show(({ bindings }) => this.drawBindings(bindings ?? []))}${this.form()}</section>
      <section class="section"><h2>Turned away</h2>${this.channels.show(drawTurnedAway)}</section>`;
  }

  private drawPairing({ pending = [], paired = [] }: PairingList): unknown {
    const name = (who: Known): unknown => html`<strong>${who.senderName ?? who.senderId}</strong> <code class="quiet small">${who.channel}:${who.senderId}</code>`;
    const left = (who: PairingRequest): string => (typeof who.expiresAt === "number" ? `, for another ${span(who.expiresAt - Date.now())}` : "");
    return html`
      ${pending.length === 0 ? html`<p class="quiet">Nobody waits.</p>` : html`<ul class="cards">${pending.map((who) => html`<li class="card pairing">
        <p>${name(who)}</p><p class="small">The code that they were told: <code class="pair-code">${who.code}</code>${left(who)}. Let them in only if they say the same.</p>
        <p class="buttons"><button class="button small primary" @click=${() => this.decide("approve", who, false)}>Let in<span class="hidden"> ${who.senderId}</span></button>
          <button class="button small" @click=${() => this.decide("approve", who, true)}>As owner<span class="hidden">: ${who.senderId}</span></button>
          <button class="button small" @click=${() => this.decide("reject", who, false)}>Refuse<span class="hidden"> ${who.senderId}</span></button></p></li>`)}</ul>`}
      ${paired.length === 0 ? nothing : html`<h3>Let in</h3><ul class="cards">${paired.map((who) => html`<li class="card pairing">
        <p>${name(who)} ${who.owner ? html`<span class="tag">owner</span>` : nothing}</p><p class="quiet small">since ${clock(who.since)}</p>
        <p class="buttons"><button class="button small" @click=${() => this.revoke(who)}>Take back<span class="hidden"> ${who.senderId}</span></button></p></li>`)}</ul>`}`;
  }

  private drawRemembered(remembered: KeptApproval[]): unknown {
    if (remembered.length === 0) return html`<p class="quiet">Nothing. What you answer with <em>Always</em> is listed here.</p>`;
    return html`<ul class="cards">${remembered.map((one) => html`<li class="card approval-kept" data-approval=${one.id}>
      <p><strong>${one.tool}</strong> ${patternOf(one.pattern)}${one.exact ? html` <span class="tag">exactly this</span>` : nothing}</p>
      <p class="quiet small">for <code>${one.agentId}</code> since ${clock(one.allowedAt)}</p>
      <p class="buttons"><button class="button small" @click=${() => this.forget(one)}>Revoke<span class="hidden"> ${one.pattern}</span></button></p></li>`)}</ul>`;
  }

  private async forget(one: KeptApproval): Promise<void> {
    await this.change("/api/approvals/revoke", { id: one.id });
    spoken.value = `${one.pattern} is asked about again.`;
  }

  private drawBindings(bindings: ListedBinding[]): unknown {
    if (bindings.length === 0) return html`<p class="quiet">None: everything goes to the default agent.</p>`;
    return html`<div class="table-scroll" role="group" tabindex="0" aria-label="Bindings"><table class="list wide">
      <thead><tr><th scope="col">Binding</th><th scope="col">Agent</th><th scope="col">Asks for</th><th scope="col">Rank</th></tr></thead>
      <tbody>${bindings.map((one) => html`<tr><th scope="row"><code>${one.path}</code></th><td>${one.agentId}</td><td>${one.asks}</td><td>${one.tier}</td></tr>`)}</tbody></table></div>`;
  }

  private form(): unknown {
    return html`<form class="explain" @submit=${this.ask}>
      <h3>Who would get a message?</h3>
      <div class="fields">${FIELDS.map(([name, label, example]) => html`<label class="field"><span>${label}</span><input name=${name} placeholder=${example} autocomplete="off" maxlength="200" /></label>`)}</div>
      <button class="button">Explain</button>
      <div role="status">${this.explanation.show(drawExplanation)}</div>
    </form>
    ${agents.value.length === 0 ? empty("No agents.", "") : nothing}`;
  }

  private readonly ask = (event: SubmitEvent): void => {
    event.preventDefault();
    const words = Object.fromEntries([...new FormData(event.target as HTMLFormElement)].map(([name, value]) => [name, String(value).trim()]));
    void this.explanation.ask(() => client.get(query("/api/route", words)));
  };

  private async decide(what: "approve" | "reject", who: PairingRequest, owner: boolean): Promise<void> {
    await this.change(`/api/pairing/${what}`, { channel: who.channel, code: who.code, ...(what === "approve" ? { owner } : {}) });
    spoken.value = what === "approve" ? `${who.senderId} is let in.` : `${who.senderId} is refused.`;
  }

  private async revoke(who: Known): Promise<void> {
    await this.change("/api/pairing/revoke", { channel: who.channel, senderId: who.senderId });
    spoken.value = `${who.senderId} is no longer let in.`;
  }

  private async change(address: string, body: unknown): Promise<void> {
    this.error = null;
    try {
      await client.send("POST", address, body);
    } catch (error) {
      this.error = error;
      spoken.value = explain(error).message;
    }
    this.load();
  }
}
customElements.define("chitin-agents", Agents);
