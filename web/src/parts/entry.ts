// One message of a conversation.

import { html, nothing, type TemplateResult } from "lit";
import { guard } from "lit/directives/guard.js";
import type { Pending } from "../state/conversation.ts";
import type { Entry, Piece } from "../state/entries.ts";
import { clock, count, money, moment, short } from "../text/format.ts";
import { prose } from "./prose.ts";
import { sentence } from "./view.ts";

/** Longer results are cut for the eye; the file of the session has all of it. */
const LONGEST_RESULT = 20_000;

const WHO = { user: "You", agent: "Agent", runtime: "Runtime, to the agent", summary: "Summary of what was said before" } as const;

/** What an answer took, over all calls of the model between two messages. */
interface Took {
  input: number;
  cacheRead: number;
  output: number;
  cost: number;
}

/** Draws entries. Answers that follow each other have one name above them and one sum below. */
export function drawEntries(entries: readonly Entry[]): TemplateResult[] {
  let took: Took | null = null;
  return entries.map((entry, index) => {
    const follows = entry.role === "agent" && entries[index - 1]?.role === "agent";
    if (!follows) took = null;
    if (entry.tokens) {
      const so: Took = took ?? { input: 0, cacheRead: 0, output: 0, cost: 0 };
      took = {
        input: so.input + entry.tokens.input,
        cacheRead: so.cacheRead + entry.tokens.cacheRead,
        output: so.output + entry.tokens.output,
        cost: so.cost + (entry.cost ?? 0),
      };
    }
    const last = entries[index + 1]?.role !== "agent";
    return drawEntry(entry, follows, last ? took : null);
  });
}

function drawEntry(entry: Entry, follows: boolean, took: Took | null): TemplateResult {
  const folded = entry.role === "runtime" || entry.role === "summary";
  const text = entry.pieces.find((piece) => piece.kind === "text");
  return html`<article class="entry" data-role=${entry.role} ?data-growing=${entry.growing} ?data-follows=${follows}>
    ${folded
      ? html`<details><summary>${WHO[entry.role]}<span class="quiet"> ${text?.kind === "text" ? topic(text.text) : ""}</span>${time(entry)}</summary>
          <pre class="raw" role="group" tabindex="0" aria-label="Text">${entry.pieces.map((piece) => (piece.kind === "text" ? piece.text : ""))}</pre></details>`
      : html`<header class=${follows ? "hidden" : ""}><span class="who">${WHO[entry.role]}</span>${time(entry)}</header>
          ${entry.pieces.map((piece) => guard([piece], () => drawPiece(piece, entry.role === "user")))}`}
    ${entry.failed ? html`<p class="turn-note" data-kind="failed">${sentence(entry.failed)}</p>` : nothing}
    ${took
      ? html`<footer class="quiet small">${entry.model ? html`${entry.model} · ` : nothing}${count(took.input + took.cacheRead)} in${
          took.cacheRead ? html` (${count(took.cacheRead)} cached)` : nothing
        }, ${count(took.output)} out${took.cost ? html` · ${money(took.cost)}` : nothing}</footer>`
      : nothing}
  </article>`;
}

function topic(text: string): string {
  const task = /^task: (.+)$/m.exec(text)?.[1];
  const status = /^status: (.+)$/m.exec(text)?.[1];
  return task ? short(`${task}${status ? `: ${status}` : ""}`, 90) : short(text, 90);
}

function time(entry: Entry): unknown {
  const date = moment(entry.at);
  return date ? html`<time datetime=${date.toISOString()} title=${date.toLocaleString()}>${clock(entry.at)}</time>` : nothing;
}

function drawPiece(piece: Piece, asWritten: boolean): unknown {
  switch (piece.kind) {
    case "text":
      return asWritten ? html`<p class="written">${piece.text}</p>` : prose(piece.text);
    case "thinking":
      return html`<details class="thinking"><summary>Thoughts <span class="quiet">${short(piece.text, 80)}</span></summary><div class="thought">${piece.text}</div></details>`;
    case "picture":
      return html`<img class="picture" src=${piece.source} alt="A picture of the conversation" loading="lazy" />`;
    case "tool":
      return drawTool(piece);
  }
}

const STATES = { running: "runs", done: "done", failed: "failed", unanswered: "no result" } as const;

function drawTool(tool: Extract<Piece, { kind: "tool" }>): TemplateResult {
  const given = tool.arguments === undefined || tool.arguments === null ? "" : JSON.stringify(tool.arguments, null, 2);
  const result = tool.result ?? tool.summary ?? "";
  const cut = result.length > LONGEST_RESULT;
  return html`<details class="tool" data-state=${tool.state}>
    <summary><span class="tool-name">${tool.name}</span><span class="tool-about quiet">${about(tool.arguments)}</span>
      <span class="tool-state">${STATES[tool.state]}${tool.ms !== undefined && tool.ms >= 1000 ? ` · ${(tool.ms / 1000).toFixed(1)} s` : ""}</span></summary>
    ${given && given !== "{}" ? html`<p class="label">Given</p><pre role="group" tabindex="0" aria-label="Arguments">${given}</pre>` : nothing}
    ${tool.progress && tool.state === "running" ? html`<p class="label">So far</p><pre role="group" tabindex="0" aria-label="Progress">${tool.progress}</pre>` : nothing}
    ${result ? html`<p class="label">${tool.state === "failed" ? "Failed with" : "Result"}</p><pre role="group" tabindex="0" aria-label="Result">${cut ? result.slice(0, LONGEST_RESULT) : result}</pre>` : nothing}
    ${cut ? html`<p class="quiet small">${count(result.length - LONGEST_RESULT)} characters more</p>` : nothing}
    ${(tool.pictures ?? []).map((source) => html`<img class="picture" src=${source} alt="A picture that the tool gave" loading="lazy" />`)}
  </details>`;
}

/** The first words of what a tool is given. */
function about(given: unknown): string {
  if (typeof given !== "object" || given === null) return "";
  const words = Object.values(given).find((value) => typeof value === "string");
  return typeof words === "string" ? short(words, 70) : "";
}

const PENDING = { sending: "is being sent", waits: "waits for the turn before it", steers: "is put into the turn that runs", runs: "", failed: "was not sent" } as const;

export function drawPending(message: Pending, again: () => void, drop: () => void): TemplateResult {
  return html`<article class="entry" data-role="user" data-pending=${message.state}>
    <header><span class="who">You</span><span class="quiet">${PENDING[message.state]}</span></header>
    <p class="written">${message.text}</p>
    ${message.pictures.map((picture) => html`<img class="picture" src=${`data:${picture.mimeType};base64,${picture.data}`} alt="A picture that you send" />`)}
    ${message.state === "failed"
      ? html`<p class="turn-note" data-kind="failed" role="alert">${sentence(message.reason ?? "")}</p>
          <p class="buttons"><button class="button small" @click=${again}>Send again</button> <button class="button small" @click=${drop}>Back to the editor</button></p>`
      : nothing}
  </article>`;
}
