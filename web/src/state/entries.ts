// Records of a session file, as people read them.

import type { RecordBlock, RecordMessage, SessionRecord } from "../api/types.ts";

export type Piece =
  | { kind: "text"; text: string }
  | { kind: "thinking"; text: string }
  | { kind: "picture"; source: string }
  | {
      kind: "tool";
      callId: string;
      name: string;
      arguments: unknown;
      state: "running" | "done" | "failed" | "unanswered";
      progress?: string;
      summary?: string;
      result?: string;
      pictures?: string[];
      ms?: number;
    };

/** Somebody's words, an answer, or what the runtime told the agent. */
export interface Entry {
  id: string;
  role: "user" | "agent" | "runtime" | "summary";
  pieces: Piece[];
  at?: number | string;
  jobId?: string;
  model?: string;
  tokens?: { input: number; output: number; cacheRead: number };
  cost?: number;
  failed?: string;
  growing?: boolean;
}

/** The time that stands before words; people see it beside them. */
const STAMP = /^\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]{0,40}\] /;
const INTERNAL = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>";
/** What the runtime put after somebody's text, such as recalled memory; people wrote what stands before it. */
const ADDED = /\n\n<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n[^]*?\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>(?=\n|$)/g;

/** Reads records, the oldest first. Results of tools are put to their calls. */
export function readEntries(records: readonly SessionRecord[], running: boolean): Entry[] {
  const entries: Entry[] = [];
  for (const record of records) {
    if (record.type === "compaction") {
      entries.push({ id: record.id ?? `summary-${entries.length}`, role: "summary", pieces: [{ kind: "text", text: record.summary ?? "" }], ...at(record) });
    }
    const message = record.type === "message" ? record.message : undefined;
    if (!message) continue;
    if (message.role === "toolResult") putResult(entries, message);
    else if (message.role === "user") entries.push(readUser(record, message));
    else if (message.role === "assistant") entries.push(readAgent(record, message));
  }
  return running ? entries : entries.map(unanswered);
}

function at(record: SessionRecord): { at?: number | string } {
  const time = record.message?.timestamp ?? record.timestamp;
  return time === undefined ? {} : { at: time };
}

function blocks(message: RecordMessage): RecordBlock[] {
  if (typeof message.content === "string") return [{ type: "text", text: message.content }];
  return Array.isArray(message.content) ? message.content : [];
}

function readUser(record: SessionRecord, message: RecordMessage): Entry {
  const pieces = blocks(message).flatMap(readBlock);
  const first = pieces.find((piece) => piece.kind === "text");
  if (first) first.text = first.text.replace(STAMP, "").replace(ADDED, "");
  const internal = Boolean(message.provenance && message.provenance.kind !== "external_user") || first?.text.startsWith(INTERNAL) === true;
  return {
    id: record.id ?? "",
    role: internal ? "runtime" : "user",
    pieces,
    ...at(record),
    ...(message.idempotencyKey ? { jobId: message.idempotencyKey } : {}),
  };
}

function readAgent(record: SessionRecord, message: RecordMessage): Entry {
  const entry: Entry = { id: record.id ?? "", role: "agent", pieces: blocks(message).flatMap(readBlock), ...at(record) };
  if (message.model) entry.model = message.provider ? `${message.provider}/${message.model}` : message.model;
  if (message.usage) {
    const { input = 0, output = 0, cacheRead = 0 } = message.usage;
    entry.tokens = { input, output, cacheRead };
    if (message.usage.cost?.total) entry.cost = message.usage.cost.total;
  }
  if (message.errorMessage) entry.failed = message.errorMessage;
  else if (message.stopReason === "aborted") entry.failed = "Stopped.";
  return entry;
}

function readBlock(block: RecordBlock): Piece[] {
  switch (block.type) {
    case "text":
      return block.text ? [{ kind: "text", text: block.text }] : [];
    case "thinking":
      return block.thinking || block.redacted ? [{ kind: "thinking", text: block.thinking || "The provider keeps these thoughts to itself." }] : [];
    case "image": {
      const source = picture(block);
      return source ? [{ kind: "picture", source }] : [{ kind: "text", text: "[a picture that cannot be shown]" }];
    }
    case "toolCall":
      return [{ kind: "tool", callId: block.id ?? "", name: block.name ?? "tool", arguments: block.arguments, state: "running" }];
    default:
      return [];
  }
}

/** Only kinds that a browser shows as a picture and never as a document. */
function picture(block: RecordBlock): string | null {
  const type = block.mimeType ?? "";
  return block.data && /^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(type) ? `data:${type};base64,${block.data}` : null;
}

function putResult(entries: Entry[], message: RecordMessage): void {
  const pieces = blocks(message).flatMap(readBlock);
  const result = pieces.map((piece) => (piece.kind === "text" ? piece.text : "")).filter(Boolean).join("\n");
  const pictures = pieces.flatMap((piece) => (piece.kind === "picture" ? [piece.source] : []));
  for (const entry of entries.toReversed()) {
    const call = entry.pieces.find((piece) => piece.kind === "tool" && piece.callId === message.toolCallId);
    if (call?.kind !== "tool") continue;
    call.state = message.isError ? "failed" : "done";
    call.result = result;
    call.pictures = pictures;
    return;
  }
}

/** A call without a result in a session that rests will never have one. */
function unanswered(entry: Entry): Entry {
  const open = (piece: Piece): boolean => piece.kind === "tool" && piece.state === "running";
  if (!entry.pieces.some(open)) return entry;
  return { ...entry, pieces: entry.pieces.map((piece) => (piece.kind === "tool" && piece.state === "running" ? { ...piece, state: "unanswered" } : piece)) };
}
