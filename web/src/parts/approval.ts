// A question for permission: what is to be done and why it is asked, the four answers, and what was decided.

import { html, nothing, type TemplateResult } from "lit";
import { ApiError, explain, path } from "../api/http.ts";
import type { ApprovalAnswer, DiffLine, ResolvedApproval } from "../api/types.ts";
import { approvals, client, spoken } from "../state/app.ts";
import { type SeenApproval, withResolved } from "../state/approvals.ts";
import { clock } from "../text/format.ts";
import { compared } from "./compare.ts";
import { patternOf, sentence, View } from "./view.ts";

const OUTCOMES = {
  once: "Allowed once",
  session: "Allowed for this session",
  always: "Allowed always",
  no: "Refused",
  expired: "Refused, because nobody answered in time",
  withdrawn: "Not needed any more: the turn is over",
} as const;
const BY = { page: "on the page", token: "with the token" } as const;

class Approval extends View {
  static override properties = { seen: { attribute: false } };
  declare seen: SeenApproval;
  private busy = false;
  private problem = "";

  protected override render(): unknown {
    const { asked, resolved } = this.seen;
    const title = `asked-${asked.id}`;
    return html`<section class="approval" data-state=${resolved ? stateOf(resolved) : "waits"} aria-labelledby=${title}>
      <p id=${title}><strong class="tool-name">${asked.tool}</strong> ${resolved ? "asked" : "asks"} for your permission <time class="quiet small">${clock(asked.askedAt)}</time></p>
      <pre class="approval-what" role="group" tabindex="0" aria-label="What it would do">${asked.what}</pre>
      ${asked.diff ? html`${compared(lines(asked.diff), "The change")}${asked.diffTruncated ? html`<p class="warn-text small">The change is longer than is shown.</p>` : nothing}` : nothing}
      ${asked.why ? html`<p class="small">${sentence(asked.why)}</p>` : nothing}
      ${resolved ? this.drawResolved(resolved) : this.drawAnswers()}
      ${this.problem ? html`<p class="bad-text small" role="alert">${this.problem}</p>` : nothing}
    </section>`;
  }

  private drawResolved(resolved: ResolvedApproval): TemplateResult {
    const by = resolved.by ? ` ${BY[resolved.by]}` : "";
    return html`<p class="approval-outcome"><strong>${OUTCOMES[resolved.outcome]}</strong>${by}${resolved.why ? html`: ${resolved.why}` : nothing}</p>`;
  }

  private drawAnswers(): TemplateResult {
    const { asked } = this.seen;
    const covers = asked.exact ? "exactly this" : patternOf(asked.pattern ?? "");
    return html`
      <p class="buttons">
        <button type="button" class="button small primary" ?disabled=${this.busy} @click=${() => this.answer("once")}>Allow once</button>
        ${asked.pattern
          ? html`<button type="button" class="button small" ?disabled=${this.busy} @click=${() => this.answer("session")}>This session</button>
              <button type="button" class="button small" ?disabled=${this.busy} @click=${() => this.answer("always")}>Always</button>`
          : nothing}
      </p>
      ${asked.pattern ? html`<p class="quiet small"><em>This session</em> and <em>Always</em> allow ${covers}.</p>` : nothing}
      <form class="approval-no" @submit=${this.refuse}>
        <label class="field grow"><span>Why not (the agent reads it)</span><input name="why" maxlength="2000" autocomplete="off" ?disabled=${this.busy} /></label>
        <button class="button small danger" ?disabled=${this.busy}>Refuse</button>
      </form>
      <p class="quiet small">Without an answer it is refused at ${clock(asked.expiresAt)}.</p>`;
  }

  private readonly refuse = (event: SubmitEvent): void => {
    event.preventDefault();
    const why = String(new FormData(event.target as HTMLFormElement).get("why") ?? "").trim();
    void this.answer("no", why);
  };

  private async answer(answer: ApprovalAnswer, why = ""): Promise<void> {
    if (this.busy) return;
    const { id } = this.seen.asked;
    this.busy = true;
    this.problem = "";
    this.requestUpdate();
    try {
      const resolved = await client.send<ResolvedApproval>("POST", path`/api/approvals/${id}`, { answer, ...(why ? { why } : {}) });
      this.settle(resolved);
    } catch (error) {
      this.problem = explain(error).message;
      const body = error instanceof ApiError ? (error.body as { resolved?: ResolvedApproval } | null) : null;
      if (body?.resolved) this.settle(body.resolved);
    } finally {
      this.busy = false;
      this.requestUpdate();
    }
  }

  private settle(resolved: ResolvedApproval): void {
    approvals.value = withResolved(approvals.value, resolved);
    spoken.value = `${OUTCOMES[resolved.outcome]}.`;
  }
}
customElements.define("chitin-approval", Approval);

function stateOf({ outcome }: ResolvedApproval): "allowed" | "refused" {
  return outcome === "once" || outcome === "session" || outcome === "always" ? "allowed" : "refused";
}

/** Reads a unified diff; what is neither added nor removed is the same. */
function lines(diff: string): DiffLine[] {
  return diff
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      if (line.startsWith("+")) return { op: "add", text: line.slice(1) };
      if (line.startsWith("-")) return { op: "remove", text: line.slice(1) };
      return { op: "same", text: line.startsWith(" ") ? line.slice(1) : line };
    });
}

export function drawApproval(seen: SeenApproval): TemplateResult {
  return html`<chitin-approval .seen=${seen}></chitin-approval>`;
}
