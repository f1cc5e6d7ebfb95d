// What was said in a session: the records that the server keeps, and what happens right now. Values in, new values out.

import type { GatewayEvent, TurnEvent } from "../api/types.ts";
import type { Entry, Piece } from "./entries.ts";

/** A message that this page sent and that is not in the records yet. */
export interface Pending {
  /** Its name, so that sending it again does not say it twice. */
  key: string;
  jobId?: string;
  text: string;
  pictures: { data: string; mimeType: string }[];
  state: "sending" | "waits" | "steers" | "runs" | "failed";
  reason?: string;
}

export interface Conversation {
  entries: readonly Entry[];
  /** Answers of the turn that runs; each becomes a record, and then leaves this list. */
  live: readonly Entry[];
  pending: readonly Pending[];
  running: boolean;
  waiting: number;
  hasOlder: boolean;
  /** What the runtime says of the turn: a retry, a note, a failure. */
  notes: readonly { kind: "note" | "failed"; text: string }[];
  /** Whether the last thing stored is among the entries already, so that words about it change nothing. */
  covered: boolean;
}

export const EMPTY: Conversation = { entries: [], live: [], pending: [], running: false, waiting: 0, hasOlder: false, notes: [], covered: false };

/** Takes what the server keeps. Answers that it has are live no more; messages that it has are pending no more. */
export function withHistory(
  now: Conversation,
  entries: readonly Entry[],
  session: { running: boolean; waiting: number; hasOlder: boolean },
): Conversation {
  const ids = new Set(entries.map((entry) => entry.id));
  const jobs = new Set(entries.map((entry) => entry.jobId).filter(Boolean));
  const live = session.running ? now.live.filter((entry) => !ids.has(entry.id)) : [];
  const pending = now.pending.filter((message) => !message.jobId || !jobs.has(message.jobId));
  return { ...now, ...session, entries, live, pending, covered: live.length === 0 };
}

/** Answers that still grow are cut off from their beginning when the line was lost; the whole text comes at their end. */
export function afterGap(now: Conversation): Conversation {
  return { ...now, live: [], covered: false };
}

export function withPending(now: Conversation, message: Pending): Conversation {
  const others = now.pending.filter((one) => one.key !== message.key);
  return { ...now, pending: [...others, message] };
}

export function withoutPending(now: Conversation, key: string): Conversation {
  return { ...now, pending: now.pending.filter((one) => one.key !== key) };
}

/** Changes the conversation by what happened; `stale` says that the records must be asked for again. */
export function apply(now: Conversation, happening: GatewayEvent): { next: Conversation; stale: boolean } {
  switch (happening.kind) {
    case "accepted":
      return { next: { ...now, waiting: happening.place === "waits" ? now.waiting + 1 : now.waiting }, stale: false };
    case "turn":
      return happening.event ? applyTurn(now, happening.event, happening.jobId) : { next: now, stale: false };
    case "finished": {
      const failed = happening.outcome && !["ok", "stopped"].includes(happening.outcome.status);
      const notes = failed ? [{ kind: "failed" as const, text: happening.outcome?.error || `The turn ended: ${happening.outcome?.status}.` }] : [];
      return { next: { ...now, running: false, notes }, stale: true };
    }
    case "dropped":
      return { next: { ...now, notes: [{ kind: "failed", text: happening.reason ?? "The message was let go." }] }, stale: true };
    case "merged":
      return { next: now, stale: true };
    default:
      return { next: now, stale: false };
  }
}

function applyTurn(now: Conversation, event: TurnEvent, jobId: string): { next: Conversation; stale: boolean } {
  const same = (next: Conversation): { next: Conversation; stale: boolean } => ({ next, stale: false });
  const note = (text: string): { next: Conversation; stale: boolean } => same({ ...now, notes: [...now.notes.slice(-4), { kind: "note", text }] });
  switch (event.type) {
    case "turn-started": {
      const pending = now.pending.map((one) => (one.jobId === jobId ? { ...one, state: "runs" as const } : one));
      return same({ ...now, pending, running: true, waiting: Math.max(0, now.waiting - 1), notes: [], live: now.live.map(close) });
    }
    case "text-delta":
      return same(grow({ ...now, running: true }, "text", event.delta ?? ""));
    case "thinking-delta":
      return same(grow({ ...now, running: true }, "thinking", event.delta ?? ""));
    case "stored":
      if (event.kind === "message:user") return { next: now, stale: true };
      return event.kind === "message:assistant" ? same(stored(now, event.entryId ?? "")) : same(now);
    case "said":
      return now.covered ? same(now) : same(said(now, event.text ?? ""));
    case "tool-started":
      return same(toolStarted(now, event));
    case "tool-progress":
      return same(changeTool(now, event.callId, { progress: event.text ?? "" }));
    case "tool-finished":
      return same(
        changeTool(now, event.callId, {
          state: event.isError ? "failed" : "done",
          summary: event.summary ?? "",
          ...(event.runtimeMs === undefined ? {} : { ms: event.runtimeMs }),
        }),
      );
    case "retrying":
      return note(`Asking the model again: ${event.reason ?? ""}`);
    case "note":
      return note(event.text ?? "");
    case "compacted":
      return { next: now, stale: true };
    default:
      return same(now);
  }
}

function close(entry: Entry): Entry {
  return entry.growing ? { ...entry, growing: false } : entry;
}

let made = 0;
/** The live answer that still grows, or a new one. */
function growing(now: Conversation): { entry: Entry; others: readonly Entry[] } {
  const last = now.live.at(-1);
  if (last?.growing) return { entry: last, others: now.live.slice(0, -1) };
  made += 1;
  return { entry: { id: `live-${made}`, role: "agent", pieces: [], growing: true }, others: now.live };
}

function grow(now: Conversation, kind: "text" | "thinking", delta: string): Conversation {
  const { entry, others } = growing(now);
  const last = entry.pieces.at(-1);
  const pieces: Piece[] =
    last?.kind === kind ? [...entry.pieces.slice(0, -1), { kind, text: last.text + delta }] : [...entry.pieces, { kind, text: delta }];
  return { ...now, live: [...others, { ...entry, pieces }], covered: false };
}

function stored(now: Conversation, id: string): Conversation {
  if (now.entries.some((entry) => entry.id === id)) return { ...now, live: now.live.filter((entry) => !entry.growing), covered: true };
  const { entry, others } = growing(now);
  return { ...now, live: [...others, { ...entry, id, growing: false }], covered: false };
}

/** The whole of an answer takes the place of what was heard of it. */
function said(now: Conversation, text: string): Conversation {
  const last = now.live.at(-1);
  if (!last || !text) return now;
  const heard = last.pieces.filter((piece) => piece.kind === "text").map((piece) => piece.text).join("");
  if (heard === text) return now;
  const others = last.pieces.filter((piece) => piece.kind !== "text");
  return { ...now, live: [...now.live.slice(0, -1), { ...last, pieces: [...others, { kind: "text", text }] }] };
}

function toolStarted(now: Conversation, event: TurnEvent): Conversation {
  const callId = event.callId ?? "";
  const known = [...now.entries, ...now.live].some((entry) => entry.pieces.some((piece) => piece.kind === "tool" && piece.callId === callId));
  if (known) return now;
  const piece: Piece = { kind: "tool", callId, name: event.name ?? "tool", arguments: event.arguments, state: "running" };
  const last = now.live.at(-1);
  if (!last) return { ...now, running: true, live: [{ id: `live-call-${callId}`, role: "agent", pieces: [piece] }] };
  return { ...now, running: true, live: [...now.live.slice(0, -1), { ...last, pieces: [...last.pieces, piece] }] };
}

function changeTool(now: Conversation, callId: string | undefined, change: Partial<Extract<Piece, { kind: "tool" }>>): Conversation {
  const touch = (entry: Entry): Entry =>
    entry.pieces.some((piece) => piece.kind === "tool" && piece.callId === callId)
      ? { ...entry, pieces: entry.pieces.map((piece) => (piece.kind === "tool" && piece.callId === callId ? { ...piece, ...change } : piece)) }
      : entry;
  return { ...now, entries: now.entries.map(touch), live: now.live.map(touch) };
}
