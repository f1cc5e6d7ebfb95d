// What the server says, as docs/reference/http.md describes it. Fields that a release may lack are optional.

export interface Me {
  csrf: string;
  version?: string;
  contract?: string;
}

export interface Agent {
  id: string;
  workspace?: string;
  isDefault?: boolean;
  name?: string;
}

export type SessionState = "idle" | "running" | "waiting";

export interface TreeSession {
  key: string;
  agentId: string;
  parent?: string;
  label?: string;
  kind?: string;
  channel?: string;
  state: SessionState;
  jobId?: string;
  updatedAt?: number;
  title?: string;
  status?: string;
  tokens?: number;
}

/** Something that happened, as the socket tells it. */
export interface Happening {
  type?: string;
  seq: number;
  at: number;
  sessionKey: string;
  jobId: string;
  kind: "accepted" | "turn" | "delivered" | "not-delivered" | "merged" | "dropped" | "spawned" | "finished";
  place?: "runs" | "waits" | "steers" | "known";
  event?: TurnEvent;
  child?: string;
  into?: string;
  reason?: string;
  outcome?: { status: string; text?: string; error?: string };
}

export interface TurnEvent {
  type: string;
  delta?: string;
  text?: string;
  callId?: string;
  name?: string;
  arguments?: unknown;
  isError?: boolean;
  summary?: string;
  runtimeMs?: number;
  entryId?: string;
  kind?: string;
  reason?: string;
  error?: string;
  model?: string;
  what?: string;
  tokensBefore?: number;
  tokensAfter?: number;
}

/** A record of a session file. */
export interface SessionRecord {
  type: string;
  id?: string;
  timestamp?: string;
  summary?: string;
  tokensBefore?: number;
  message?: RecordMessage;
}

export interface RecordMessage {
  role: string;
  content?: string | RecordBlock[];
  timestamp?: number;
  idempotencyKey?: string;
  provenance?: { kind?: string; sourceSessionKey?: string; sourceTool?: string };
  toolCallId?: string;
  toolName?: string;
  isError?: boolean;
  errorMessage?: string;
  stopReason?: string;
  model?: string;
  provider?: string;
  usage?: { input?: number; output?: number; cacheRead?: number; totalTokens?: number; cost?: { total?: number } };
}

export interface RecordBlock {
  type: string;
  text?: string;
  thinking?: string;
  redacted?: boolean;
  data?: string;
  mimeType?: string;
  id?: string;
  name?: string;
  arguments?: unknown;
}

export interface SessionShown {
  key: string;
  agentId: string;
  label?: string;
  model?: string;
  modelProvider?: string;
  totalTokens?: number;
  contextTokens?: number;
  estimatedCostUsd?: number;
  busy?: { jobId?: string; waiting?: number } | null;
  history: SessionRecord[];
  hasOlder: boolean;
}

export interface Turn {
  id: string;
  at?: number | string;
  model?: string;
  trigger?: string;
  systemChars?: number;
  messages?: number;
  status?: string;
  costUsd?: number;
  /** All that was sent, whether a cache had it or not. */
  inputTokens?: number;
  outputTokens?: number;
  cacheRead?: number;
}

export interface LensPiece {
  text: string;
  kind: string;
  line?: number;
}

export interface Fragment {
  name: string;
  origin?: string;
  role?: string;
  cache?: string;
  rawChars?: number;
  chars: number;
  tokens: number;
  decision?: string;
  cause?: string;
  pieces?: LensPiece[];
  cutText?: { fromLine: number; toLine: number; text: string; why?: string; shortened?: boolean }[];
}

export interface LensFile {
  path: string;
  rawChars?: number;
  chars?: number;
  tokens?: number;
  state: string;
  limit?: number;
  cause?: string;
}

export interface DiffLine {
  op: "same" | "add" | "remove" | "skip";
  text?: string;
  lines?: number;
}

export interface Lens {
  turn: { id: string; at?: number | string; model?: string; recorded?: boolean };
  window?: number;
  /** The whole request; `complete` is false when a part of it is unknown. */
  totals: { chars: number; tokens: number; costUsd?: number; complete?: boolean; system?: { chars: number; tokens: number } };
  toolDefinitions?: {
    shape: string;
    count: number;
    chars: number;
    tokens: number;
    tools?: { name: string; chars: number; tokens: number }[];
    unknown?: string[];
    mcpServers?: number;
  };
  history?: { state: "new" | "expired" | "kept" | "unknown"; messages: number; turns?: number; chars: number | null; tokens: number | null; compactionDue?: boolean };
  message?: { chars: number; tokens: number };
  fragments: Fragment[];
  boundary?: { afterFragment: number };
  files?: LensFile[];
  budget?: Budget;
  before?: {
    turnId: string;
    same: boolean;
    firstDifference?: { fragment: string; line: number; offset: number };
    lostTokens?: number;
    lostCostUsd?: number;
    cause?: string;
    diff?: DiffLine[];
    shortened?: boolean;
  };
}

export interface Budget {
  perFile?: number | null;
  total?: number | null;
  used?: number;
  unit?: string;
}

export interface WorkspaceFile {
  path: string;
  state: string;
  bytes?: number;
  chars?: number;
  kind?: string;
  editable?: boolean;
  reason?: string;
}

export interface FileText {
  path: string;
  text: string;
  version: string | null;
  bytes?: number;
  editable?: boolean;
  reason?: string;
}

export interface Preview {
  file: {
    rawChars: number;
    chars: number;
    tokens: number;
    limit?: number;
    state?: string;
    cause?: string;
    cut?: { fromLine: number; toLine: number; chars: number }[];
  };
  total: { chars: number; limit?: number; tokens: number; before?: { chars: number; tokens: number } };
  effects?: { path: string; before: number; after: number }[];
}

export interface Skill {
  name: string;
  description?: string;
  source?: string;
  path?: string;
  eligible?: boolean;
  why?: string[];
  inPrompt?: boolean;
}

export interface Finding {
  severity: string;
  code: string;
  path?: string;
  line?: number;
  message: string;
  remedy?: string;
}

export interface Trace {
  id: string;
  sessionKey?: string;
  at?: number | string;
  turns?: number;
  bytes?: number;
}

export interface PairingRequest {
  channel: string;
  code?: string;
  senderId?: string;
  senderName?: string;
  expiresAt?: number | string;
  [more: string]: unknown;
}
