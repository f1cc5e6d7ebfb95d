// What is shown of a conversation: the same words, whichever way they came.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { GatewayEvent, SessionRecord, TurnEvent } from "../src/api/types.ts";
import { afterGap, apply, type Conversation, EMPTY, withHistory, withPending } from "../src/state/conversation.ts";
import { type Entry, readEntries } from "../src/state/entries.ts";

let seq = 0;
const told = (event: TurnEvent, jobId = "job"): GatewayEvent => ({ seq: (seq += 1), at: 0, sessionKey: "agent:main:main", jobId, kind: "turn", event });
const REST = { running: false, waiting: 0, hasOlder: false };
const RUNS = { ...REST, running: true };

const records: SessionRecord[] = [
  { type: "model_change", id: "m" },
  { type: "message", id: "u1", timestamp: "2026-11-16T15:16:47.942Z", message: { role: "user", content: [{ type: "text", text: "[Mon 2026-11-16 15:16 UTC] What boats?" }], idempotencyKey: "job" } },
  { type: "message", id: "a1", message: { role: "assistant", content: [{ type: "thinking", thinking: "A file." }, { type: "text", text: "Let me look." }, { type: "toolCall", id: "c1", name: "read", arguments: { path: "boats.md" } }] } },
  { type: "message", id: "r1", message: { role: "toolResult", toolCallId: "c1", content: [{ type: "text", text: "Four." }] } },
  { type: "message", id: "a2", message: { role: "assistant", content: [{ type: "text", text: "There are four." }] } },
];

/** The same turn as it is told. */
const events: TurnEvent[] = [
  { type: "turn-started" },
  { type: "thinking-delta", delta: "A file." },
  { type: "text-delta", delta: "Let me " },
  { type: "text-delta", delta: "look." },
  { type: "stored", entryId: "u1", kind: "message:user" },
  { type: "stored", entryId: "a1", kind: "message:assistant" },
  { type: "said", text: "Let me look." },
  { type: "tool-started", callId: "c1", name: "read", arguments: { path: "boats.md" } },
  { type: "stored", entryId: "r1", kind: "message:toolResult" },
  { type: "tool-finished", callId: "c1", name: "read", isError: false, summary: "Four.", runtimeMs: 3 },
  { type: "text-delta", delta: "There are " },
  { type: "text-delta", delta: "four." },
  { type: "stored", entryId: "a2", kind: "message:assistant" },
  { type: "said", text: "There are four." },
];

const play = (from: Conversation, some: TurnEvent[]): Conversation => some.reduce((now, event) => apply(now, told(event)).next, from);
const answers = (now: Conversation): string[] =>
  [...now.entries, ...now.live].filter((entry) => entry.role === "agent").map((entry) => entry.pieces.map((piece) => (piece.kind === "tool" ? `${piece.name}:${piece.state}` : "text" in piece ? piece.text : "")).join("|"));
const WHOLE = ["A file.|Let me look.|read:done", "There are four."];

test("records are read: the time before words is taken off, results stand with their calls", () => {
  const entries = readEntries(records, false);
  assert.deepEqual(entries.map((entry) => entry.role), ["user", "agent", "agent"]);
  assert.deepEqual(entries[0]?.pieces, [{ kind: "text", text: "What boats?" }]);
  const call = entries[1]?.pieces[2];
  assert.ok(call?.kind === "tool" && call.state === "done" && call.result === "Four.");
});

test("what the runtime tells the agent is not shown as words of a person", () => {
  const note: SessionRecord = { type: "message", id: "n", message: { role: "user", content: "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\ntask: lanterns" } };
  assert.equal(readEntries([note], false)[0]?.role, "runtime");
});

test("what the runtime adds to a message is not shown as part of it", () => {
  const content = "Who tunes it?\n\n<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n## Memory Search Results\n- a.md#L1-L1 (score 0.90)\n  > Gudrun.\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>";
  const entry = readEntries([{ type: "message", id: "r", message: { role: "user", content } }], false)[0];
  assert.equal(entry?.role, "user");
  assert.deepEqual(entry?.pieces, [{ kind: "text", text: "Who tunes it?" }]);
});

test("only pictures become pictures", () => {
  const one = (mimeType: string): Entry | undefined => readEntries([{ type: "message", id: "p", message: { role: "user", content: [{ type: "image", data: "AAAA", mimeType }] } }], false)[0];
  assert.equal(one("image/png")?.pieces[0]?.kind, "picture");
  for (const type of ["image/svg+xml", "text/html", "image/png;x", ""]) assert.equal(one(type)?.pieces[0]?.kind, "text");
});

test("a turn that is heard says the same as its records", () => {
  assert.deepEqual(answers(play(EMPTY, events)), WHOLE);
  assert.deepEqual(answers(withHistory(EMPTY, readEntries(records, false), REST)), WHOLE);
});

test("wherever the records are fetched in the middle of a turn, nothing is lost or said twice", () => {
  for (let cut = 0; cut <= events.length; cut += 1) {
    const stored = new Set(events.slice(0, cut).filter((event) => event.type === "stored").map((event) => event.entryId));
    const kept = records.filter((record) => stored.has(record.id ?? ""));
    // The records may be older than the last events, and the first events after them may tell of what they hold already.
    for (const back of [0, 1, 2, 3]) {
      const before = play(EMPTY, events.slice(0, cut));
      const fetched = withHistory(before, readEntries(kept, true), RUNS);
      const done = withHistory(play(fetched, events.slice(cut)), readEntries(records, false), REST);
      assert.deepEqual(answers(done), WHOLE);
      const gone = withHistory(afterGap(before), readEntries(kept, true), RUNS);
      const resumed = play(gone, events.slice(Math.max(0, cut - back)));
      assert.deepEqual(answers(withHistory(resumed, readEntries(records, false), REST)), WHOLE);
    }
  }
});

test("after a gap, the whole text takes the place of the half that was heard", () => {
  const half = play(afterGap(EMPTY), [{ type: "text-delta", delta: "four." }, { type: "stored", entryId: "a2", kind: "message:assistant" }, { type: "said", text: "There are four." }]);
  assert.deepEqual(answers(half), ["There are four."]);
});

test("a message is pending until its record is there, and stays when it was not sent", () => {
  const message = { key: "k", text: "What boats?", pictures: [], state: "runs" as const, jobId: "job" };
  const failed = { key: "f", text: "Lost?", pictures: [], state: "failed" as const };
  const now = withPending(withPending(EMPTY, message), failed);
  const after = withHistory(now, readEntries(records, false), REST);
  assert.deepEqual(after.pending.map((one) => one.key), ["f"]);
});

test("a turn that failed says why", () => {
  const { next, stale } = apply(EMPTY, { seq: 1, at: 0, sessionKey: "s", jobId: "j", kind: "finished", outcome: { status: "failed", error: "No key.", text: "", inputTokens: 0, outputTokens: 0, runtimeMs: 0 } });
  assert.deepEqual(next.notes, [{ kind: "failed", text: "No key." }]);
  assert.equal(stale, true);
});
