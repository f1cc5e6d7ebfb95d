// Made of docs/reference/openapi.json: `UPDATE_REFERENCE=1 cargo test -p chitin-server openapi`. Not edited by hand.

/** A message that was taken in. */
export interface Accepted {
  /** The job. */
  jobId: string;
  /** The session. */
  sessionKey: string;
  /** The agent. */
  agentId: string;
  /** What becomes of it first. */
  place: JobPlacement;
}

/** How an account stands. */
export type Account = ({
  connection: "idle";
} | {
  connection: "connecting";
  /** What went wrong last. */
  reason?: string;
} | {
  connection: "connected";
} | {
  connection: "failed";
  /** Why. */
  reason: string;
  /** What to do about it. */
  hint?: string;
}) & {
  /** The surface. */
  channel: string;
  /** The account. */
  accountId: string;
  /** Who we are there, once that is known. */
  name?: string;
};

/** A place on a surface. */
export interface Address {
  /** The surface, such as `discord`. */
  channel: string;
  /** The account on it; none is the only one. */
  accountId?: string;
  /** The person, group or channel. */
  peer: Peer;
  /** The thread. */
  threadId?: string;
}

/** A normalised agent id: never empty, at most 64 units. */
export type AgentId = string;

/** The agents. */
export interface AgentList {
  /** The agents. */
  agents: AgentSummary[];
}

/** An agent, for lists. */
export interface AgentSummary {
  /** Its id. */
  id: string;
  /** What it is called. */
  name: string;
  /** Its workspace. */
  workspace: string;
  /** Whether it is the default one. */
  isDefault: boolean;
}

/** An answer to a question. */
export interface AnswerApproval {
  /** The answer. */
  answer: ApprovalAnswer;
  /** The reason for a no, which the model reads. */
  why?: string | null;
}

/** Where an answer came from. */
export type AnsweredBy = "page" | "token";

/** An answer of the owner. */
export type ApprovalAnswer = "once" | "session" | "always" | "no";

/** The body of an answer that came too late: what went wrong, and what became of the question. */
export interface ApprovalConflict {
  /** What went wrong. */
  error: ErrorDetails;
  /** What became of the question. */
  resolved: ResolvedApproval;
}

/** Questions that wait, and what was allowed always. */
export interface ApprovalList {
  /** The questions that wait for an answer, the oldest first. */
  pending: PendingApproval[];
  /** What was allowed always. */
  remembered: KeptApproval[];
}

/** What became of a question. */
export type ApprovalOutcome = "once" | "session" | "always" | "no" | "expired" | "withdrawn";

/** The model's answer. */
export interface AssistantMessage {
  /** The blocks, in the order in which they came. */
  content: Content;
  /** The wire format, such as `anthropic-messages`. */
  api?: string;
  /** The provider. */
  provider?: string;
  /** The model. */
  model?: string;
  /** What it took. */
  usage?: Usage;
  /** Why it ended. */
  stopReason?: StopReason;
  /** What went wrong, when it ended in an error. */
  errorMessage?: string;
  /** When, in milliseconds since 1970. */
  timestamp?: number;
  /** The provider's name for the answer. */
  responseId?: string;
}

/** The bindings of the configuration. */
export interface BindingList {
  /** The bindings, in the order of the configuration. */
  bindings: ListedBinding[];
  /** The channels that this server has. */
  channels: string[];
  /** The agent that gets what no binding matches; null if there is none. */
  defaultAgent: string | null;
}

/** What became of a binding. */
export type BindingVerdict = "chosen" | "outranked" | "no";

/** One block of a message. */
export type Block = TextBlock | ThinkingBlock | ImageBlock | ToolCallBlock;

/** A session that has something to do. */
export interface BusySession {
  /** The session. */
  sessionKey: string;
  /** The job whose turn runs. */
  jobId?: string;
  /** Since when, in milliseconds since 1970. */
  sinceMs?: number;
  /** How many jobs wait. */
  waiting: number;
  /** The job that waits for the end of an outage; the others wait for it. */
  delayed?: DelayedJob;
}

/** The turns that changed something, the newest first. */
export interface ChangeList {
  /** The turns. */
  turns: ChangedTurn[];
  /** How many older turns there are. */
  older: number;
}

/** A file that a turn changed. */
export interface ChangedFile {
  /** Its path below the workspace. */
  path: string;
  /** What became of it. */
  kind: FileChangeKind;
  /** How many lines came; nothing if it is not compared line by line. */
  added?: number;
  /** How many lines went. */
  removed?: number;
}

/** A turn, or an undo, that changed something. */
export interface ChangedTurn {
  /** Its number. */
  number: number;
  /** Its session key; empty for an undo. */
  session: string;
  /** The beginning of its message. */
  message: string;
  /** When it began to write, in milliseconds since 1970. */
  beganMs: number;
  /** For an undo, the turn to whose beginning it led. */
  undoOf?: number;
  /** The undo that took it back. */
  undoneBy?: number;
  /** Whether the process ended before the turn did. */
  interrupted: boolean;
  /** Other turns that were writing at the same time. */
  togetherWith: number[];
  /** The files. */
  files: ChangedFile[];
}

/** The chat channels, and refused messages. */
export interface ChannelList {
  /** Every account of every channel. */
  channels: Account[];
  /** Who was turned away lately. */
  turnedAway: TurnedAway[];
}

/** A reply in OpenAI's shape. */
export interface ChatCompletion {
  /** Its id. */
  id: string;
  /** Always `chat.completion`. */
  object: string;
  /** When it was made, in seconds since 1970. */
  created: number;
  /** The model, as it was asked for. */
  model: string;
  /** The one reply. */
  choices: CompletionChoice[];
  /** Tokens. */
  usage: CompletionUsage;
}

/** A chunk of a streamed reply. */
export interface ChatCompletionChunk {
  /** The id of the reply. */
  id: string;
  /** Always `chat.completion.chunk`. */
  object: string;
  /** When the reply began, in seconds since 1970. */
  created: number;
  /** The model, as it was asked for. */
  model: string;
  /** The one reply; empty in the chunk that counts tokens. */
  choices: ChunkChoice[];
  /** Tokens: null until the last chunk, and absent unless they were asked for. */
  usage?: ChunkUsage;
}

/** A message in OpenAI's shape. What an agent decides itself, such as the temperature, is ignored. */
export interface ChatCompletionRequest {
  /** The agent: `chitin`, or `chitin/` and its id. */
  model: string;
  /** The messages. The last one of the user is the message; those before it are for a session that has none. */
  messages: CompletionMessage[];
  /** Whether the reply is streamed. */
  stream?: boolean | null;
  /** Settings of the stream. */
  stream_options?: StreamOptions | null;
  /** Selects a persistent session. */
  user?: string | null;
  /** The number of replies: 1. */
  n?: number | null;
  /** Refused unless `tool_choice` is `none`: the agent uses its own tools. */
  tools?: unknown[] | null;
  /** Refused like `tools`. */
  functions?: unknown[] | null;
  /** `none`, if there are tools. */
  tool_choice?: unknown;
  /** Only text. */
  response_format?: unknown;
}

/** Who reads along in a chat. */
export type ChatType = "direct" | "group" | "channel";

/** Who was chosen, and by what. */
export interface Choice {
  /** What made the choice. */
  matchedBy: MatchedBy;
  /** The binding's place in the configuration; none for the default agent. */
  binding?: string;
  /** Whom the binding names, as spelled. */
  named?: string;
  /** Whether the default agent stands in for an agent that is not configured. */
  standIn: boolean;
}

/** The one reply of a chunk. */
export interface ChunkChoice {
  /** Always 0. */
  index: number;
  /** What is new. */
  delta: CompletionDelta;
  /** Always null. */
  logprobs: null;
  /** Why it ended; null until the end. */
  finish_reason: FinishReason | null;
}

/** The tokens of a chunk. */
export type ChunkUsage = null | CompletionUsage;

/** What came before was put into a summary (C33). */
export interface Compaction {
  /** The summary. */
  summary: string;
  /** The first record that is still shown to the model. */
  firstKeptEntryId: string;
  /** How many tokens there were before. */
  tokensBefore: number;
  /** Files that were read and changed, and the like. */
  details?: unknown;
  /** Whether somebody else than us made the summary. */
  fromHook?: boolean;
}

/** The one reply. */
export interface CompletionChoice {
  /** Always 0. */
  index: number;
  /** The reply. */
  message: CompletionReply;
  /** Always null. */
  logprobs: null;
  /** Why it ended. */
  finish_reason: FinishReason;
}

/** A text, or parts. */
export type CompletionContent = string | CompletionPart[];

/** What is new in a chunk. */
export interface CompletionDelta {
  /** `assistant`, in the first chunk. */
  role?: string;
  /** More of the text. */
  content?: string;
}

/** An image as a `data:` URL. Nothing is fetched. */
export type CompletionImage = {
  /** The URL. */
  url: string;
} | string;

/** A message of the conversation. */
export interface CompletionMessage {
  /** `system`, `developer`, `user`, `assistant`, `tool` or `function`. */
  role: string;
  /** Its text and images. */
  content?: CompletionContent | null;
}

/** A part of a message. */
export interface CompletionPart {
  /** `text`, `input_text`, `output_text`, `refusal`, `image_url` or `input_image`. */
  type: string;
  /** A text. */
  text?: string | null;
  /** A refusal. */
  refusal?: string | null;
  /** An image as a `data:` URL. */
  image_url?: CompletionImage | null;
}

/** What the agent replied. */
export interface CompletionReply {
  /** Always `assistant`. */
  role: string;
  /** The text. */
  content: string;
  /** Always null. */
  refusal: null;
}

/** Tokens, in OpenAI's shape. */
export interface CompletionUsage {
  /** Tokens sent, including cached ones. */
  prompt_tokens: number;
  /** Tokens received. */
  completion_tokens: number;
  /** Both. */
  total_tokens: number;
  /** More about the tokens sent. */
  prompt_tokens_details: PromptTokens;
}

/** What became of one binding. */
export interface Considered {
  /** The place in the configuration. */
  path: string;
  /** The agent that it names, as spelled. */
  agentId: string;
  /** What it asks for, in short. */
  asks: string;
  /** What it would be worth, or is. */
  tier: MatchedBy;
  /** What became of it. */
  verdict: BindingVerdict;
  /** Why it does not hold. */
  mismatch?: Mismatch;
}

/** What a message says: plain text, or blocks. */
export type Content = string | Block[];

/** Where the texts of a context come from, and what is taken away because of it. */
export interface ContextOrigins {
  /** Texts of the owner, in words. */
  trusted: string[];
  /** Texts that are not the owner's. */
  untrusted: UntrustedText[];
  /** What needs the owner because of them. */
  takenAway: TakenAway[];
}

/** What the model would get in the next turn: what `chitin context --json` prints. */
export type ContextReport = Record<string, unknown>;

/** US dollars, by kind of token. */
export interface CostShares {
  /** For what was sent fresh. */
  input: number;
  /** For what was answered. */
  output: number;
  /** For what came from the cache. */
  cacheRead: number;
  /** For what was put into the cache. */
  cacheWrite: number;
  /** All together. */
  total: number;
}

/** A file as it is, when it is not what its author read. */
export interface CurrentFile {
  /** Its version; null if it was deleted. */
  version: string | null;
  /** Its text; null if it was deleted. */
  text: string | null;
}

/** A part of a file that is not in the prompt. */
export interface CutText {
  /** Its first line, from 1. */
  fromLine: number;
  /** Its last line. */
  toLine: number;
  /** Its length in UTF-16 units. */
  chars: number;
  /** Why it is missing. */
  why: string;
  /** Its text; absent in a preview. */
  text?: string;
  /** Whether only the beginning of the text is given. */
  shortened?: boolean;
}

/** A job that waits for the end of an outage. */
export interface DelayedJob {
  /** The job. */
  jobId: string;
  /** Why its turn failed the last time. */
  reason: string;
  /** Since when it is delayed, in milliseconds since 1970. */
  sinceMs: number;
  /** When it is tried again at the latest, in milliseconds since 1970. */
  nextMs: number;
  /** How often it was tried. */
  tries: number;
}

/** How a session is deleted. */
export interface DeleteSession {
  /** Whether its turn is stopped and what waits is dropped; otherwise either is a conflict. */
  stop?: boolean;
  /** Whether it is only said what would be deleted. */
  dryRun?: boolean;
}

/** A line of a comparison. */
export type DiffLine = {
  op: "same";
  /** The line. */
  text: string;
} | {
  op: "add";
  /** The line. */
  text: string;
} | {
  op: "remove";
  /** The line. */
  text: string;
} | {
  op: "skip";
  /** How many. */
  lines: number;
};

/** How much room is left on the disk of Chitin's home. */
export interface DiskFigures {
  /** Bytes that are free; nothing if the disk cannot be looked at. */
  freeBytes: number | null;
  /** Whether turns are recorded. They are again when there is room. */
  records: boolean;
  /** Whether messages are accepted. They are again when there is room. */
  accepts: boolean;
  /** Below so many free bytes turns are not recorded. */
  recordsAbove: number;
  /** Below so many free bytes messages are refused. */
  acceptsAbove: number;
}

/** How far direct messages share a session (`session.dmScope`). */
export type DmScope = "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer";

/** The server is shutting down. */
export type Ending = Record<string, unknown>;

/** The body of a failed request. */
export interface ErrorBody {
  /** What went wrong. */
  error: ErrorDetails;
}

/** What went wrong. */
export interface ErrorDetails {
  /** A word for programs. */
  code: string;
  /** What happened, as a sentence. */
  message: string;
  /** What can be done about it. */
  hint?: string;
}

/** What became of a file. */
export type FileChangeKind = "added" | "removed" | "changed" | "mode";

/** The body of a refused write: what went wrong, and the file as it is. */
export interface FileConflict {
  /** What went wrong. */
  error: ErrorDetails;
  /** The file as it is. */
  current: CurrentFile;
}

/** The lines that a turn changed in a file. */
export interface FileDiff {
  /** The path of the file below the workspace. */
  path: string;
  /** The lines; none if it is not compared line by line. */
  diff: DiffLine[];
  /** Whether there are more lines. */
  shortened: boolean;
}

/** A file of which the model would get more or less. */
export interface FileEffect {
  /** The path below the workspace. */
  path: string;
  /** What the model gets of it now. */
  before: number;
  /** What it would get. */
  after: number;
  /** What budgets and rules would make of it. */
  state: PromptState;
}

/** What a file is for. */
export type FileKind = "bootstrap" | "memory" | "skill" | "other";

/** The files of a workspace. */
export interface FileList {
  /** The files: those of the prompt first, in their order. */
  files: WorkspaceFile[];
  /** What files may take of the prompt, and what they take. */
  budget: PromptBudget;
  /** Whether there are more files than are listed. */
  truncated: boolean;
}

/** Why a file is not the owner's. */
export type FileOrigin = "received" | "written" | "outside" | "other";

/** What the next turn would hold if a file had another text. */
export interface FilePreview {
  /** The file itself. */
  file: PreviewFile;
  /** All files together. */
  total: PreviewTotals;
  /** Other files of which the model would get more or less. */
  effects: FileEffect[];
}

/** Whether a file can be read. */
export type FileState = "present" | "missing" | "refused";

/** A file with its text. */
export interface FileText {
  /** The path below the workspace. */
  path: string;
  /** Its length in bytes. */
  bytes: number;
  /** The SHA-256 of its text, in hexadecimal. */
  version: string;
  /** Its text. */
  text: string;
  /** Whether it can be written here. */
  editable: boolean;
}

/** How many findings there are. */
export interface FindingCounts {
  /** Errors. */
  errors: number;
  /** Warnings. */
  warnings: number;
  /** Things to know. */
  infos: number;
  /** Findings that a comment in the file allows. */
  suppressed: number;
  /** The texts that were checked. */
  files: number;
  /** Their length together, in bytes. */
  bytes: number;
}

/** A change that `chitin check --fix` makes. */
export type FindingFix = {
  action: "strip-byte-order-mark";
} | {
  action: "remove-permissions";
  /** The bits. */
  bits: number;
};

/** What is wrong with a workspace: what `chitin check --json` prints. */
export interface FindingList {
  /** The findings. */
  findings: WorkspaceFinding[];
  /** How many of each kind. */
  summary: FindingCounts;
}

/** Where in a file. Lines and columns count from 1, columns in characters; `start` and `end` are bytes. */
export interface FindingPlace {
  /** The line of the first byte. */
  line: number;
  /** The column of the first byte. */
  column: number;
  /** The line just after the last byte. */
  end_line: number;
  /** The column just after the last byte. */
  end_column: number;
  /** The first byte. */
  start: number;
  /** The byte after the last one. */
  end: number;
}

/** How bad a finding is. */
export type FindingSeverity = "error" | "warning" | "info";

/** Why a reply ended. */
export type FinishReason = "stop" | "length" | "content_filter";

/** A job that had finished before its message was sent again. */
export interface FinishedBefore {
  /** The session. */
  sessionKey: string;
  /** The job. */
  jobId: string;
  /** Always `finished`. */
  kind: string;
  /** How its turn ended. */
  outcome: JobOutcome;
}

/** Where two prompts begin to differ. */
export interface FirstDifference {
  /** The fragment. */
  fragment: string;
  /** The line of the system prompt, from 1. */
  line: number;
  /** The byte of the system prompt. */
  offset: number;
}

/** What was forgotten, or would be. */
export interface ForgetReport {
  /** Whether nothing was changed. */
  dryRun: boolean;
  /** The sessions. */
  sessions: ForgottenSession[];
  /** What the recordings had of them. */
  recordings: RemovedRecordings;
  /** What the record of changes had of their turns. */
  turns: RemovedTurns;
  /** What the job log had of them. */
  jobs: RemovedJobs;
  /** How many pieces the memory indexes had of them. */
  memoryPieces: number;
  /** How many memory indexes were thrown away because they could not be cleaned. They are made again when they are needed. */
  memoryIndexesDiscarded: number;
  /** How many lines the terminal remembered. */
  typedLines: number;
  /** What was searched afterwards; absent where nothing was changed. */
  searched?: Searched;
  /** Where something of them was found afterwards. */
  left: LeftTrace[];
  /** What lies elsewhere and is not touched. */
  notes: string[];
}

/** A session that was forgotten. */
export interface ForgottenSession {
  /** Its key. */
  key: string;
  /** The session that began it, which is forgotten too. */
  beganBy?: string;
  /** How many transcripts it had, those in the archive included. */
  transcripts: number;
  /** How many files. */
  files: number;
  /** How many bytes these had. */
  bytes: number;
}

/** A piece of memory that fits. */
export interface FoundMemory {
  /** The file. */
  path: string;
  /** Its first line. */
  startLine: number;
  /** Its last line. */
  endLine: number;
  /** `memory` or `sessions`. */
  source: string;
  /** How well it fits. */
  score: number;
  /** Its text, as far as it is shown. */
  snippet: string;
  /** What each part adds to the score or takes off it. */
  parts: Record<string, number>;
  /** The score of the words alone. */
  textScore: number | null;
  /** The score of the vectors alone. */
  vectorScore: number | null;
}

/** Something that happened. */
export type GatewayEvent = ({
  kind: "accepted";
  /** What becomes of it first. */
  place: JobPlacement;
} | {
  kind: "turn";
  /** What. */
  event: TurnEvent;
} | {
  kind: "delivered";
  /** The place. */
  to: string;
  /** The surface's name for the message. */
  messageId: string;
  /** What was sent, without format. */
  text: string;
} | {
  kind: "not-delivered";
  /** The place. */
  to: string;
  /** Why. */
  reason: string;
} | {
  kind: "merged";
  /** That one. */
  into: string;
} | {
  kind: "dropped";
  /** Why. */
  reason: string;
} | {
  kind: "delayed";
  /** The job. */
  jobId: string;
  /** Why its turn failed the last time. */
  reason: string;
  /** Since when it is delayed, in milliseconds since 1970. */
  sinceMs: number;
  /** When it is tried again at the latest, in milliseconds since 1970. */
  nextMs: number;
  /** How often it was tried. */
  tries: number;
} | {
  kind: "spawned";
  /** The session of the run. */
  child: string;
} | {
  kind: "approval-requested";
  /** The question. */
  approval: PendingApproval;
} | {
  kind: "approval-resolved";
  /** What became of it. */
  approval: ResolvedApproval;
} | {
  kind: "finished";
  /** How. */
  outcome: JobOutcome;
}) & {
  /** The how manieth since the gateway began. */
  seq: number;
  /** When, in milliseconds since 1970. */
  at: number;
  /** The session. */
  sessionKey: string;
  /** The job. */
  jobId: string;
};

/** How far groups share a session (`session.groupScope`); only the [`KeyGrammar::Exact`] releases know it. */
export type GroupScope = "per-group" | "main";

/** Whether the server is running. */
export interface Health {
  /** `ok` or `draining`. */
  status: string;
  /** The server's version. */
  version: string;
}

/** Whether a session has history. */
export type HistoryState = "new" | "expired" | "kept" | "unknown";

/** A picture. */
export interface ImageBlock {
  /** The bytes, in base 64. */
  data: string;
  /** Such as `image/png`. */
  mimeType: string;
}

/** What a message says of the place that it comes from (R11). */
export interface Inbound {
  /** The channel, such as `discord`. */
  channel: string;
  /** The account on the channel that got it; none is `default`. */
  accountId?: string;
  /** The person, group or channel that it was written in. */
  peer?: Peer;
  /** The channel above, when it was written in a thread. */
  parentPeer?: Peer;
  /** The guild. */
  guildId?: string;
  /** The team. */
  teamId?: string;
  /** The roles of the sender in the guild. */
  memberRoleIds?: string[];
  /** The thread. */
  threadId?: string;
  /** The sender. */
  senderId?: string;
}

/** What a message says of the place that it comes from (R11). */
export interface InboundInput {
  /** The channel, such as `discord`. */
  channel?: string;
  /** The account on the channel that got it; none is `default`. */
  accountId?: string | null;
  /** The person, group or channel that it was written in. */
  peer?: Peer | null;
  /** The channel above, when it was written in a thread. */
  parentPeer?: Peer | null;
  /** The guild. */
  guildId?: string | null;
  /** The team. */
  teamId?: string | null;
  /** The roles of the sender in the guild. */
  memberRoleIds?: string[];
  /** The thread. */
  threadId?: string | null;
  /** The sender. */
  senderId?: string | null;
}

/** How a job ended. */
export interface JobOutcome {
  /** How. */
  status: JobStatus;
  /** The last answer's text. */
  text: string;
  /** What went wrong, if something did. */
  error?: string;
  /** Tokens sent, whether a cache had them or not. */
  inputTokens: number;
  /** Tokens answered. */
  outputTokens: number;
  /** How long it took, in milliseconds. */
  runtimeMs: number;
  /** Where texts of the session come from that are not the owner's. */
  origins?: Origin[];
  /** The rule of the workspace that refused the message, or the last reply. */
  refused?: RefusedOutcome;
}

/** What becomes of a job first. */
export type JobPlacement = "runs" | "waits" | "steers" | "known";

/** How a job ended, in a word. */
export type JobStatus = "ok" | "timedOut" | "stopped" | "failed" | "dropped";

/** Something that was allowed always, and whose it is. */
export interface KeptApproval {
  /** Its id, to revoke it. */
  id: string;
  /** The agent. */
  agentId: string;
  /** The tool. */
  tool: string;
  /** What it allows. */
  pattern: string;
  /** Whether the pattern stands for exactly this and nothing else. */
  exact?: boolean;
  /** When it was allowed, in milliseconds since 1970. */
  allowedAt: number;
}

/** What keeps something of a forgotten session. */
export type KeptPlace = "session" | "job" | "changes" | "recording" | "memory" | "artifact" | "backup" | "plugin" | "schedule" | "export" | "other";

/** A file that an undo leaves alone. */
export interface LeftAlone {
  /** Its path below the workspace. */
  path: string;
  /** Why, as the end of a sentence. */
  reason: string;
  /** Whether it is taken back if that is asked for. */
  canBeForced: boolean;
}

/** A file in which something of a forgotten session was found. */
export interface LeftTrace {
  /** The file. */
  path: string;
  /** Whether the id of a session stands there; otherwise words of it do. */
  isId: boolean;
  /** What keeps it. */
  keptBy: KeptPlace;
}

/** What the model gets in a turn. */
export interface Lens {
  /** The turn. */
  turn: LensTurn;
  /** The fragments of the system prompt and the notices beside the message, in order. */
  fragments: LensFragment[];
  /** What became of each workspace file. */
  files: LensFile[];
  /** What files may take of the prompt, and what they take. */
  budget: PromptBudget;
  /** Where the texts of the next turn come from, and what is taken away because of it; none of a recorded turn. */
  origins?: ContextOrigins;
  /** Notes for people. */
  notes?: string[];
  /** The whole request. */
  totals: LensTotals;
  /** The tool definitions. */
  toolDefinitions: LensTools;
  /** The messages of earlier turns that are sent again. */
  history: LensHistory;
  /** The message, of a recorded turn. */
  message?: LensSize;
  /** The model's window in tokens, if it is known. */
  window?: number;
  /** Up to where the prompt is cached. */
  boundary?: LensBoundary;
  /** What changed since the turn before. */
  before?: LensDiff;
}

/** Up to where the prompt is cached. */
export interface LensBoundary {
  /** The last fragment that is cached, by its position. */
  afterFragment: number;
}

/** What changed since the turn before. */
export interface LensDiff {
  /** The turn before. */
  turnId: string;
  /** Whether both prompts are the same. */
  same: boolean;
  /** How many cached tokens the change loses. */
  lostTokens: number;
  /** The changed lines, with some around them. */
  diff: DiffLine[];
  /** What caching them again costs, in US dollars; absent when the price is not known. */
  lostCostUsd?: number;
  /** Where the prompts begin to differ. */
  firstDifference?: FirstDifference;
  /** What changed, as a sentence. */
  cause?: string;
  /** Whether there are more changed lines than are given. */
  shortened?: boolean;
}

/** A workspace file of the lens. */
export interface LensFile {
  /** The path below the workspace. */
  path: string;
  /** Its length before budgets, in UTF-16 units. */
  rawChars: number;
  /** Its length in the prompt. */
  chars: number;
  /** The tokens of that. */
  tokens: number;
  /** What budgets and rules made of it. */
  state: PromptState;
  /** The limit that holds for it. */
  limit?: number;
  /** Why it is not there whole. */
  cause?: string;
}

/** A part of the prompt. */
export interface LensFragment {
  /** Its key, or its path below the workspace. */
  name: string;
  /** Where in the request it stands: `system`, `conversation`, `before-user`, `after-user` or `first-message`. */
  role: string;
  /** How long it stays the same: `stable`, `session` or `dynamic`. */
  cache: string;
  /** Its length before budgets, in UTF-16 units. */
  rawChars: number;
  /** Its length in the prompt. */
  chars: number;
  /** The tokens of that. */
  tokens: number;
  /** What budgets and rules made of it. */
  decision: PromptState;
  /** Its text, each piece with its source. */
  pieces: LensPiece[];
  /** The file that it comes from. */
  origin?: string;
  /** Why it is not there whole. */
  cause?: string;
  /** What is missing of it. */
  cutText?: CutText[];
}

/** The messages of earlier turns that are sent again. */
export interface LensHistory {
  /** Whether there are any. */
  state: HistoryState;
  /** How many messages. */
  messages: number;
  /** How many of them are the user's. */
  turns: number;
  /** How many images they hold. */
  images: number;
  /** Whether they are so long that they are compacted before the next turn. */
  compactionDue: boolean;
  /** Their length; null when it is not known. */
  chars: number | null;
  /** Their tokens; null when they are not known. */
  tokens: number | null;
}

/** A run of text with one source. */
export interface LensPiece {
  /** The text. */
  text: string;
  /** Where it comes from. */
  kind: PieceKind;
  /** The line of the file that it begins in, from 1. */
  line?: number;
}

/** The size of a part of the request. */
export interface LensSize {
  /** Its length in UTF-16 units. */
  chars: number;
  /** Its tokens. */
  tokens: number;
}

/** The size of a tool definition. */
export interface LensTool {
  /** The tool. */
  name: string;
  /** The length of its definition. */
  chars: number;
  /** The tokens of its definition. */
  tokens: number;
}

/** The tool definitions of a request. */
export interface LensTools {
  /** The wire format in whose shape they are counted. */
  shape: string;
  /** How many there are. */
  count: number;
  /** Their length together. */
  chars: number;
  /** Their tokens together. */
  tokens: number;
  /** Each of them. */
  tools: LensTool[];
  /** Tools that are offered and whose definitions are not known. */
  unknown: string[];
  /** How many MCP servers are configured whose tools are not known. */
  mcpServers: number;
}

/** The size of the whole request. */
export interface LensTotals {
  /** Its length in UTF-16 units. */
  chars: number;
  /** Its tokens. */
  tokens: number;
  /** Whether every part is known and counted. */
  complete: boolean;
  /** The system prompt alone. */
  system: LensSize;
  /** What sending it costs, in US dollars; absent when the price is not known. */
  costUsd?: number;
}

/** A turn of the lens. */
export interface LensTurn {
  /** Its id, or `next`. */
  id: string;
  /** When it began, as an ISO instant. */
  at?: string;
  /** The model, as `provider/name`. */
  model: string;
  /** Whether it was recorded; the next turn is not. */
  recorded: boolean;
}

/** A binding in the list. */
export interface ListedBinding {
  /** Where it is in the configuration. */
  path: string;
  /** The agent that it names. */
  agentId: string;
  /** What it asks for, in short. */
  asks: string;
  /** How strong it is. */
  tier: MatchedBy;
}

/** A session in a list. */
export interface ListedSession {
  /** Its key. */
  key: string;
  /** Its agent. */
  agentId: string;
  /** The session's id. */
  sessionId: string;
  /** When it was last used, in milliseconds since 1970. */
  updatedAt: number;
  /** Where the transcript is. */
  sessionFile?: string;
  /** The provider. */
  modelProvider?: string;
  /** The model. */
  model?: string;
  /** The model's window. */
  contextTokens?: number;
  /** Tokens sent in the last turn. */
  inputTokens?: number;
  /** Tokens answered in the last turn. */
  outputTokens?: number;
  /** Tokens in the model's window after the last turn. */
  totalTokens?: number;
  /** Whether `total_tokens` is of the last turn. */
  totalTokensFresh?: boolean;
  /** Tokens read from the cache in the last turn. */
  cacheRead?: number;
  /** Tokens written to the cache in the last turn. */
  cacheWrite?: number;
  /** What the session has cost so far, in US dollars; nothing where a price is unknown. */
  estimatedCostUsd?: number;
  /** What all turns together took. */
  totals?: SessionTotals;
  /** Whether the last turn was stopped. */
  abortedLastRun?: boolean;
  /** How many times the session was put into a summary. */
  compactionCount?: number;
  /** When the agent last wrote down what it would forget, in milliseconds since 1970. */
  memoryFlushAt?: number;
  /** How many times the session had been put into a summary then. */
  memoryFlushCompactionCount?: number;
  /** The same as later releases keep it: how it went, and how often the session had been put into a summary. */
  memoryFlush?: unknown;
  /** What people call it. */
  label?: string;
  /** The channel that it began on. */
  channel?: string;
  /** The channel that it was last used on. */
  lastChannel?: string;
  /** Where answers go. */
  deliveryContext?: unknown;
  /** The session that it was spawned by. */
  spawnedBy?: string;
  /** The workspace that it was spawned for. */
  spawnedWorkspaceDir?: string;
  /** How many spawns lie between it and a person. */
  spawnDepth?: number;
  /** Whether it may spawn: `orchestrator` or `leaf`. */
  subagentRole?: string;
  /** Whom it may steer: `children` or `none`. */
  subagentControlScope?: string;
  /** Whether it began with a copy of its parent's conversation. */
  forkedFromParent?: boolean;
  /** How its last run goes or went. */
  status?: string;
  /** When its last run began, in milliseconds since 1970. */
  startedAt?: number;
  /** When its last run ended, in milliseconds since 1970. */
  endedAt?: number;
  /** How long its last run took, in milliseconds. */
  runtimeMs?: number;
}

/** Signed in. */
export interface LoginReply {
  /** The value for the header `x-chitin-csrf`. */
  csrf: string;
}

/** Who signs in. */
export interface LoginRequest {
  /** The server's token. */
  token: string;
}

/** What made the choice of an agent; the earlier one wins. */
export type MatchedBy = "binding.peer" | "binding.peer.parent" | "binding.peer.wildcard" | "binding.guild+roles" | "binding.guild" | "binding.team" | "binding.account" | "binding.channel" | "default";

/** Who is signed in. */
export interface Me {
  /** The server's version. */
  version: string;
  /** The contract. */
  contract: string;
  /** The value for the header `x-chitin-csrf`; absent for whoever sent the token. */
  csrf?: string;
}

/** The index of an agent's memory. */
export interface MemoryIndex {
  /** Its file. */
  path: string;
  /** What is in it; null before the first search. */
  figures: MemoryIndexFigures | null;
}

/** What is in an index. */
export interface MemoryIndexFigures {
  /** How many files. */
  files: number;
  /** How many pieces of files. */
  pieces: number;
  /** How many pieces have a vector. */
  vectors: number;
  /** Its length in bytes. */
  bytes: number;
}

/** What an agent remembers: what `chitin memory status --json` prints. */
export interface MemoryOverview {
  /** The agent's id. */
  agent: string;
  /** The contract. */
  contract: string;
  /** The workspace. */
  workspace: string;
  /** Whether the agent has tools to search its memory. */
  enabled: boolean;
  /** How many memory files there are. */
  files: number;
  /** Their length together, in bytes. */
  bytes: number;
  /** How many transcripts are searched; null if none are. */
  conversations: number | null;
  /** The index. */
  index: MemoryIndex;
  /** What makes vectors; null if only words are searched. */
  embeddings: string | null;
  /** What is searched for every message; null if only the model searches. */
  recall: MemoryRecall | null;
}

/** What is searched for every message. */
export interface MemoryRecall {
  /** The maximum number of results. */
  results: number;
  /** The maximum number of tokens. */
  tokens: number;
  /** How well a result must fit. */
  minScore: number;
}

/** An overview of an agent's memory, or the results of a search. */
export type MemoryReply = MemoryResults | MemoryOverview;

/** What a search found: what `chitin memory search --json` prints. */
export interface MemoryResults {
  /** What was searched for. */
  question: string;
  /** `lexical` or `hybrid`. */
  mode: string;
  /** What makes vectors; null if only words are searched. */
  embeddings: string | null;
  /** What was found, best first. */
  results: FoundMemory[];
  /** Notes for people. */
  notes: string[];
}

/** One message of a conversation. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** The shape of a message's record, for the schema: what a record says stands beside its name and time, but a message is nested. */
export interface MessageRecord {
  message: Message;
}

/** Why a binding does not hold: the first thing that it asks for and a message has not. */
export interface Mismatch {
  /** The place in the configuration, such as `bindings[2].match.peer.id`. */
  path: string;
  /** What the binding asks for. */
  wanted: string;
  /** What the message has; none when it has nothing of the kind. */
  found?: string;
}

/** The client was too slow and lost events. */
export interface MissedEvents {
  /** How many. */
  count: number;
}

/** An agent as a model. */
export interface Model {
  /** `chitin`, or `chitin/` and the agent's id. */
  id: string;
  /** Always `model`. */
  object: string;
  /** Always 0. */
  created: number;
  /** Always `chitin`. */
  owned_by: string;
}

/** The agents as models. */
export interface ModelList {
  /** Always `list`. */
  object: string;
  /** The models. */
  data: Model[];
}

/** Why the server cannot be used. */
export interface NotReady {
  /** `draining`, `channel_failed`, `job_log_failing`, `disk_full` or, when degraded, `job_log_damaged`, `disk_low`. */
  reason: string;
  /** The channel that failed. */
  channel?: string;
  /** Its account. */
  accountId?: string;
}

/** The body of a failed request below `/v1`. */
export interface OpenAiErrorBody {
  /** What went wrong. */
  error: OpenAiErrorDetails;
}

/** What went wrong, as OpenAI's clients read it. */
export interface OpenAiErrorDetails {
  /** What happened, and what can be done about it. */
  message: string;
  /** The kind of error. */
  type: string;
  /** The part of the request that is wrong. */
  param: string | null;
  /** A word for programs. */
  code: string;
}

/** Where a text comes from that is not the owner's. */
export type Origin = {
  kind: "guest";
  /** Who, or where it was written. */
  sender: string;
} | {
  kind: "web";
  /** Its address. */
  url: string;
} | {
  kind: "command";
  /** Its command line. */
  command: string;
} | {
  kind: "mcpServer";
  /** The server. */
  name: string;
} | {
  kind: "file";
  /** Its path as it was named, or its name. */
  path: string;
  /** Why it is not the owner's. */
  why: FileOrigin;
} | {
  kind: "session";
  /** The session. */
  key: string;
};

/** Somebody who was let in. */
export interface Paired {
  /** The channel. */
  channel: string;
  /** The account on it. */
  account: string;
  /** Who. */
  senderId: string;
  /** How they were called when they asked. */
  senderName?: string;
  /** Whether they own the agent. */
  owner: boolean;
  /** Since when, in milliseconds since 1970. */
  since: number;
  /** Where they are still to be told that they were let in. */
  toGreet?: Address;
}

/** The pairing request that is meant. */
export interface PairingCodeRequest {
  /** The channel. */
  channel: string;
  /** The pairing code. */
  code: string;
  /** Whether the sender owns the agent from now on. Only for an approval. */
  owner?: boolean;
}

/** Pending pairing requests and approved senders. */
export interface PairingList {
  /** Who asks. */
  pending: PendingPairing[];
  /** Who was approved. */
  paired: Paired[];
}

/** A person, group or channel. */
export interface Peer {
  /** The kind of chat. */
  kind: ChatType;
  /** The id on the channel. */
  id: string;
}

/** A question for permission that waits for an answer. */
export interface PendingApproval {
  /** Its id. */
  id: string;
  /** The agent. */
  agentId: string;
  /** The session. */
  sessionKey: string;
  /** The job whose turn waits. */
  jobId: string;
  /** The tool. */
  tool: string;
  /** What is to be done, in one line: a command, or which files change. */
  what: string;
  /** Why it is asked, and what the command does. */
  why: string;
  /** What would change, where it is a change of files. */
  diff?: string;
  /** Whether the diff is longer than this. */
  diffTruncated?: boolean;
  /** What `session` and `always` allow; without it, only `once` and `no` can be answered. */
  pattern?: string;
  /** Whether the pattern stands for exactly this and nothing else. */
  exact?: boolean;
  /** When it was asked, in milliseconds since 1970. */
  askedAt: number;
  /** When it becomes a refusal, in milliseconds since 1970. */
  expiresAt: number;
}

/** Somebody who waits to be let in. */
export interface PendingPairing {
  /** The channel. */
  channel: string;
  /** The account on it. */
  account: string;
  /** Who asks. */
  senderId: string;
  /** How they are called. They chose the name. */
  senderName?: string;
  /** The pairing code. */
  code: string;
  /** When they first asked, in milliseconds since 1970. */
  askedAt: number;
  /** Until when the code counts, in milliseconds since 1970. */
  expiresAt: number;
  /** When they were last told, in milliseconds since 1970. */
  toldAt: number;
  /** Where they write. */
  place: Address;
}

/** Where a piece of text comes from. */
export type PieceKind = "ours" | "value" | "file" | "cut-marker";

/** The file of a preview. */
export interface PreviewFile {
  /** Its length in UTF-16 units. */
  rawChars: number;
  /** What the model would get of it. */
  chars: number;
  /** The tokens of that, estimated. */
  tokens: number;
  /** Its own tokens, estimated. */
  rawTokens: number;
  /** The limit that holds for it; null if there is none. */
  limit: number | null;
  /** What budgets and rules would make of it. */
  state: PromptState;
  /** What would be truncated, without its text. */
  cut: CutText[];
  /** Why it would not be there whole. */
  cause?: string;
}

/** All files of a preview together. */
export interface PreviewTotals {
  /** What all files would take, in the unit of the budget. */
  chars: number;
  /** What they may take; null if there is no limit. */
  limit: number | null;
  /** The tokens of the system prompt, estimated. */
  tokens: number;
  /** The length of the system prompt. */
  systemChars: number;
  /** The same without the change. */
  before: PromptSize;
}

/** What files may take of the prompt, and what they take. */
export interface PromptBudget {
  /** The limit of one file; null if there is none, or if it is not known. */
  perFile: number | null;
  /** The limit of all files together; null if there is none, or if it is not known. */
  total: number | null;
  /** What all files take. */
  used: number;
  /** What the limits are counted in: `characters` or `tokens`. Absent for recorded turns, like the rest. */
  unit?: string;
  /** The length of the system prompt. */
  systemChars?: number;
  /** The tokens of the system prompt. */
  systemTokens?: number;
}

/** The size of a prompt. */
export interface PromptSize {
  /** What all files take. */
  chars: number;
  /** The tokens of the system prompt, estimated. */
  tokens: number;
  /** The length of the system prompt. */
  systemChars: number;
}

/** What budgets and rules made of a file or fragment. */
export type PromptState = "kept" | "cut" | "missing" | "refused" | "left-out" | "not-in-prompt";

/** More about the tokens sent. */
export interface PromptTokens {
  /** Those that were read from the cache. */
  cached_tokens: number;
}

/** How many jobs there are. */
export interface QueueFigures {
  /** Jobs whose turns are running. */
  running: number;
  /** Jobs that wait. */
  waiting: number;
  /** Jobs that are tried again when an outage of the machine or the model is over. */
  delayed: number;
}

/** What happens to a message if a turn is running: a queue mode, or more. */
export type QueueOption = string | QueueOptions;

/** How a message is queued. */
export interface QueueOptions {
  /** The queue mode: `steer`, `followup`, `collect` or `interrupt`. */
  mode?: string | null;
  /** How long to wait for more messages, in milliseconds. */
  debounceMs?: number | null;
  /** How many messages wait at most. */
  cap?: number | null;
  /** Which message is dropped when there are more: `old`, `new` or `summarize`. */
  drop?: string | null;
}

/** Whether the server can be used. */
export interface Readiness {
  /** `ready`, `degraded` or `not_ready`. A degraded server accepts messages, and something needs attention. */
  status: string;
  /** Why it is not ready, or degraded. */
  reasons?: NotReady[];
}

/** A message that was accepted. */
export interface ReceivedMessage {
  /** The job. */
  jobId: string;
  /** The session. */
  sessionKey: string;
  /** The agent. */
  agentId: string;
  /** What becomes of it first. */
  place: JobPlacement;
  /** Why its turn is delayed, and when it is tried again. Send the message again under its key to ask for the outcome. */
  delayed?: DelayedJob;
}

/** A recorded session. */
export interface RecordedSession {
  /** The session's id. */
  id: string;
  /** The session's key. */
  sessionKey: string;
  /** When the last event was recorded, as an ISO instant. */
  at: string;
  /** When the first turn began, as an ISO instant. */
  started: string;
  /** How many turns there are. */
  turns: number;
  /** The length of the recording in bytes. */
  bytes: number;
  /** The model of the last turn, as `provider/name`. */
  model: string;
  /** How the last turn ended; null while it is running, or when it was broken off. */
  status: string | null;
  /** All tokens, cached ones included. */
  tokens: number;
  /** Whether the provider did not count the tokens of some reply. */
  tokensUnknown: boolean;
  /** What it cost, in US dollars; null when a price is not known. */
  costUsd: number | null;
}

/** What a rule of the workspace refused in a turn. */
export interface RefusedOutcome {
  /** What was refused. */
  part: RefusedPart;
  /** The file, such as `PERMISSIONS.md`; of a workspace that is not the agent's own with its directory. */
  file: string;
  /** The rule, as the file spells it, such as `deny`. */
  rule: string;
  /** The policy's name, such as `workspace-deny-main`. */
  policy?: string;
  /** The line of the rule, counted from one. */
  line?: number;
  /** The column, where the file itself is broken. */
  column?: number;
  /** Why, without saying what the rule looks for. */
  reason: string;
}

/** What a rule of a workspace refused. */
export type RefusedPart = "message" | "reply" | "tool-call";

/** What the job log had. */
export interface RemovedJobs {
  /** How many outcomes of messages. */
  outcomes: number;
  /** How many messages that were not answered. */
  open: number;
  /** How many damaged logs that were kept. */
  damagedLogs: number;
}

/** What recordings had. */
export interface RemovedRecordings {
  /** How many files went. */
  files: number;
  /** How many lines of logs went. */
  lines: number;
}

/** What the record of changes had. */
export interface RemovedTurns {
  /** How many turns. */
  turns: number;
  /** How many contents of files that nothing else needs. */
  contents: number;
  /** How many bytes these took. */
  bytes: number;
}

/** A question that needs no answer any more. */
export interface ResolvedApproval {
  /** Its id. */
  id: string;
  /** What became of it. */
  outcome: ApprovalOutcome;
  /** The reason that was given for a no. */
  why?: string;
  /** Where the answer came from. */
  by?: AnsweredBy;
  /** When, in milliseconds since 1970. */
  at: number;
}

/** What is not allowed any more. */
export interface RevokeApproval {
  /** The id. */
  id: string;
}

/** The sender that is meant. */
export interface RevokeRequest {
  /** The channel. */
  channel: string;
  /** The sender's id on the channel. */
  senderId: string;
}

/** Where a message goes (R14). */
export interface Route {
  /** The agent. */
  agentId: AgentId;
  /** The channel, in lower case. */
  channel: string;
  /** The account. */
  accountId: string;
  /** How far direct messages share a session, where the contract says so. */
  dmScope?: DmScope;
  /** How far groups share a session, where the contract says so. */
  groupScope?: GroupScope;
  /** The session of the peer, whatever thread it is. */
  sessionKey: string;
  /** The agent's main conversation. */
  mainSessionKey: string;
  /** Which session remembers where the last message came from. */
  lastRoutePolicy: RoutePolicy;
  /** What made the choice. */
  matchedBy: MatchedBy;
  /** The session of the thread, in a thread. */
  threadSessionKey?: string;
  /** The session above the thread's, in a thread. */
  parentSessionKey?: string;
}

/** How a message found its agent and its session. */
export interface RouteExplanation {
  /** The message, with spellings made one. */
  inbound: Inbound;
  /** Every binding, in the order of the configuration. */
  bindings: Considered[];
  /** Who was chosen, and by what. */
  choice: Choice;
  /** How far direct messages share a session. */
  dmScope: DmScope;
  /** How far groups share a session. */
  groupScope: GroupScope;
  /** The one name of the sender, when `session.identityLinks` gives one. */
  person?: string;
  /** How a thread shows in the key on this channel. */
  threadSuffix: ThreadSuffix;
  /** Where the message goes; none when it goes to nobody. */
  route?: Route;
  /** The session that the message is a turn of; none when it goes to nobody. */
  key?: string;
  /** Why it goes to nobody. */
  problem?: string;
  /** What can be done about it. */
  hint?: string;
}

/** Which session remembers where the last message came from. */
export type RoutePolicy = "main" | "session";

/** A file as its author wants it. */
export interface SaveFile {
  /** The new text. */
  text: string;
  /** The version that its author read; null for a new file. */
  version?: string | null;
}

/** A file that was written. */
export interface SavedFile {
  /** Its new version. */
  version: string;
}

/** What was searched. */
export interface Searched {
  /** How many files. */
  files: number;
  /** How many bytes, as they are when they are unpacked. */
  bytes: number;
  /** For how many ids and passages. */
  words: number;
}

/** A message, as a client sends it. */
export interface SendMessage {
  /** The message. It may be empty if there are images. */
  text?: string;
  /** Up to 16 images. */
  images?: SentImage[];
  /** The agent; by default the bindings decide. */
  agent?: string | null;
  /** The session; by default derived from `from`, and without `from` the agent's main session. */
  session?: string | null;
  /** Where it comes from, and where replies go. Without it, replies are only events. */
  from?: InboundInput | null;
  /** The sender's name. */
  senderName?: string | null;
  /** The model, as `provider/name`. */
  model?: string | null;
  /** What happens to it if a turn is running. */
  queue?: QueueOption | null;
  /** Whether to respond when the turn has finished, or is delayed by an outage. */
  wait?: boolean;
  /** For how many seconds the turn is tried again if the machine or the model fails; by default `server.retrySeconds`. 0 is not at all. */
  retrySeconds?: number | null;
}

/** An image of a message. */
export interface SentImage {
  /** Its bytes, in base 64. */
  data: string;
  /** Its media type, such as `image/png`. */
  mimeType: string;
}

/** A message whose turn has finished. */
export interface SentMessage {
  /** The job. */
  jobId: string;
  /** The session. */
  sessionKey: string;
  /** The agent. */
  agentId: string;
  /** What becomes of it first. */
  place: JobPlacement;
  /** How. */
  status: JobStatus;
  /** The last answer's text. */
  text: string;
  /** What went wrong, if something did. */
  error?: string;
  /** Tokens sent, whether a cache had them or not. */
  inputTokens: number;
  /** Tokens answered. */
  outputTokens: number;
  /** How long it took, in milliseconds. */
  runtimeMs: number;
  /** Where texts of the session come from that are not the owner's. */
  origins?: Origin[];
  /** The rule of the workspace that refused the message, or the last reply. */
  refused?: RefusedOutcome;
}

/** What the gateway does. */
export interface ServerStatus {
  /** The server's version. */
  version: string;
  /** How long it has been running, in milliseconds. */
  uptimeMs: number;
  /** The contract. */
  contract: string;
  /** The agents. */
  agents: AgentSummary[];
  /** The channels. */
  surfaces: string[];
  /** How many jobs there are. */
  queue: QueueFigures;
  /** How much room is left on the disk of Chitin's home. */
  disk: DiskFigures;
  /** The sessions with open jobs. */
  busy: BusySession[];
  /** How many connections are open. */
  connections: number;
  /** How many streams are open. */
  streams: number;
}

/** A session with its last records. */
export interface SessionDetails {
  /** Its key. */
  key: string;
  /** Its agent. */
  agentId: string;
  /** The session's id. */
  sessionId?: string;
  /** When it was last used, in milliseconds since 1970. */
  updatedAt?: number;
  /** Where the transcript is. */
  sessionFile?: string;
  /** The provider. */
  modelProvider?: string;
  /** The model. */
  model?: string;
  /** The model's window. */
  contextTokens?: number;
  /** Tokens sent in the last turn. */
  inputTokens?: number;
  /** Tokens answered in the last turn. */
  outputTokens?: number;
  /** Tokens in the model's window after the last turn. */
  totalTokens?: number;
  /** Whether `total_tokens` is of the last turn. */
  totalTokensFresh?: boolean;
  /** Tokens read from the cache in the last turn. */
  cacheRead?: number;
  /** Tokens written to the cache in the last turn. */
  cacheWrite?: number;
  /** What the session has cost so far, in US dollars; nothing where a price is unknown. */
  estimatedCostUsd?: number;
  /** What all turns together took. */
  totals?: SessionTotals;
  /** Whether the last turn was stopped. */
  abortedLastRun?: boolean;
  /** How many times the session was put into a summary. */
  compactionCount?: number;
  /** When the agent last wrote down what it would forget, in milliseconds since 1970. */
  memoryFlushAt?: number;
  /** How many times the session had been put into a summary then. */
  memoryFlushCompactionCount?: number;
  /** The same as later releases keep it: how it went, and how often the session had been put into a summary. */
  memoryFlush?: unknown;
  /** What people call it. */
  label?: string;
  /** The channel that it began on. */
  channel?: string;
  /** The channel that it was last used on. */
  lastChannel?: string;
  /** Where answers go. */
  deliveryContext?: unknown;
  /** The session that it was spawned by. */
  spawnedBy?: string;
  /** The workspace that it was spawned for. */
  spawnedWorkspaceDir?: string;
  /** How many spawns lie between it and a person. */
  spawnDepth?: number;
  /** Whether it may spawn: `orchestrator` or `leaf`. */
  subagentRole?: string;
  /** Whom it may steer: `children` or `none`. */
  subagentControlScope?: string;
  /** Whether it began with a copy of its parent's conversation. */
  forkedFromParent?: boolean;
  /** How its last run goes or went. */
  status?: string;
  /** When its last run began, in milliseconds since 1970. */
  startedAt?: number;
  /** When its last run ended, in milliseconds since 1970. */
  endedAt?: number;
  /** How long its last run took, in milliseconds. */
  runtimeMs?: number;
  /** What it is doing; null if it does nothing. */
  busy: BusySession | null;
  /** Its last records, as in the transcript. */
  history: TranscriptEntry[];
  /** Whether there are older records. */
  hasOlder: boolean;
}

/** What kind of session it is. */
export type SessionKind = "main" | "direct" | "group" | "channel" | "thread" | "subagent" | "cron" | "heartbeat" | "other";

/** The sessions. */
export interface SessionList {
  /** The sessions, the most recently used first. */
  sessions: ListedSession[];
  /** How many there are, listed or not. */
  total: number;
  /** Where the list goes on: `after` of the next request. Absent when these are the last ones. */
  next?: string;
}

/** What a session is doing. */
export type SessionState = "idle" | "running" | "waiting";

/** What all turns of a session together took. */
export interface SessionTotals {
  /** How many turns there were. */
  turns: number;
  /** Tokens sent, and neither read from nor written to a cache. */
  input: number;
  /** Tokens answered. */
  output: number;
  /** Tokens read from the cache. */
  cacheRead: number;
  /** Tokens written to the cache. */
  cacheWrite: number;
  /** Whether the provider did not say how many tokens some answer took: then there were more. */
  tokensUnknown?: boolean;
}

/** The tree of sessions. */
export interface SessionTree {
  /** The sessions: busy ones first, then the most recently used. */
  sessions: TreeSession[];
  /** How many sessions there are, told or not. */
  total: number;
  /** Where the list goes on: `after` of the next request. Absent when these are the last ones. */
  next?: string;
}

/** The skills of an agent. */
export interface SkillList {
  /** The skills. */
  skills: SkillSummary[];
}

/** Where a skill comes from. */
export type SkillSource = "openclaw-extra" | "openclaw-bundled" | "openclaw-custodian" | "openclaw-workshop" | "openclaw-managed" | "agents-skills-personal" | "agents-skills-project" | "openclaw-workspace";

/** A skill in the list. */
export interface SkillSummary {
  /** Its name. */
  name: string;
  /** What the model reads about it. */
  description: string;
  /** Where it comes from. */
  source: SkillSource;
  /** Its `SKILL.md`: below the workspace, or absolute. */
  path: string;
  /** Whether it can be used. */
  eligible: boolean;
  /** Why it cannot. */
  why: string[];
  /** Whether the model sees it. */
  inPrompt: boolean;
}

/** A message of a client. `id` is the client's own name for it, and is repeated in the reply. */
export type SocketCommand = {
  type: "message";
  /** The client's name for this. */
  id?: unknown;
  /** A name for the message: the same name is the same message. */
  idempotencyKey?: string | null;
  /** The message. */
  message: SendMessage;
} | {
  type: "subscribe";
  /** The client's name for this. */
  id?: unknown;
  /** Those of this session. */
  session?: string | null;
  /** Those of this job. */
  job?: string | null;
  /** All. */
  all?: boolean;
  /** Whether this client can answer questions for permission. They are asked as long as somebody listens who can. */
  answers?: boolean;
} | {
  type: "unsubscribe";
  /** The client's name for this. */
  id?: unknown;
  /** Those of this session. */
  session?: string | null;
  /** Those of this job. */
  job?: string | null;
  /** All. */
  all?: boolean;
} | {
  type: "stop";
  /** The client's name for this. */
  id?: unknown;
  /** The session. */
  session: string;
} | {
  type: "ping";
  /** The client's name for this. */
  id?: unknown;
};

/** A message of the server. */
export type SocketMessage = (Accepted & {
  type: "accepted";
} | {
  type: "subscribed";
} | {
  type: "unsubscribed";
} | {
  type: "stopped";
  /** The session. */
  sessionKey: string;
  /** How many jobs were stopped or dropped. */
  stopped: number;
} | {
  type: "pong";
} | {
  type: "error";
  /** What went wrong. */
  error: ErrorDetails;
} | GatewayEvent & {
  type: "happening";
} | FinishedBefore & {
  type: "happening";
} | {
  type: "missed";
  /** How many. */
  count: number;
} | {
  type: "draining";
}) & {
  /** The name of the client's message that it answers. */
  id?: unknown;
};

/** Why an answer ended. */
export type StopReason = "stop" | "toolUse" | "length" | "aborted" | "error" | string;

/** A stopped session. */
export interface StopReply {
  /** The session's key. */
  sessionKey: string;
  /** How many jobs were stopped or dropped. */
  stopped: number;
}

/** The data of a server-sent event, by the event's name: `missed`, `draining`, `closing`, or one of the gateway's. */
export type StreamEvent = GatewayEvent | FinishedBefore | MissedEvents | Ending;

/** Settings of a stream. */
export interface StreamOptions {
  /** Whether the last chunk counts tokens. */
  include_usage?: boolean | null;
}

/** What was asked for is done. */
export interface Success {
  /** Always true. */
  ok: boolean;
}

/** Something that needs the owner's approval while there is untrusted text. */
export interface TakenAway {
  /** What it is, as the end of "needs the owner to …". */
  what: string;
  /** The entry of `access.untrusted.allow` that allows it. */
  allow: string;
}

/** Text. */
export interface TextBlock {
  /** The text. */
  text: string;
  /** What the provider wants back with it. */
  textSignature?: string;
}

/** What the model thought. */
export interface ThinkingBlock {
  /** The thoughts; empty when the provider keeps them to itself. */
  thinking: string;
  /** What the provider wants back with it. */
  thinkingSignature?: string;
  /** Whether the provider keeps the thoughts to itself; the signature then holds them, sealed. */
  redacted?: boolean;
}

/** How a thread shows in the key of its session. */
export type ThreadSuffix = "lower-case" | "as-spelled" | "off";

/** A call of a tool. */
export interface ToolCallBlock {
  /** The provider's name for the call. */
  id: string;
  /** The tool. */
  name: string;
  /** What the tool is given. Absent in damaged records. */
  arguments?: unknown;
}

/** What a tool gave back. */
export interface ToolResultMessage {
  /** The call that it answers. */
  toolCallId: string;
  /** The tool; old records may lack it. */
  toolName?: string;
  /** What the model sees. */
  content: Content;
  /** What only people and programs see. */
  details?: unknown;
  /** Whether it failed. */
  isError: boolean;
  /** When, in milliseconds since 1970. */
  timestamp?: number;
}

/** The recorded sessions. */
export interface TraceList {
  /** The sessions, the newest first. */
  traces: RecordedSession[];
}

/** A recorded session, event by event. */
export interface TraceReply {
  /** The newest events, in the order in which they were recorded. Their shape is that of the recording. */
  events: unknown[];
  /** Whether there are older events than are given. */
  truncated: boolean;
  /** How many events there are. */
  total: number;
  /** How many lines of the recording could not be read. */
  damaged: number;
}

/** Any line of a transcript but the first. Reading and writing is lossless. */
export type TranscriptEntry = (MessageRecord | {
  /** The provider. */
  provider: string;
  /** The model. */
  modelId: string;
} | {
  /** Such as `off` or `high`. */
  thinkingLevel: string;
} | {
  /** What kind of note. */
  customType: string;
  /** The note. */
  data: unknown;
} | Compaction) & ({
  /** The record's own name, unique in its file. */
  id: string;
  /** The record before it on its branch; the first has none. */
  parentId: string | null;
  /** When, as an ISO instant. */
  timestamp: string;
});

/** A session of the tree. */
export interface TreeSession {
  /** Its key. */
  key: string;
  /** Its agent. */
  agentId: string;
  /** The session that started it, or the room of a thread. */
  parent?: string;
  /** Its label. */
  label?: string;
  /** What kind of session it is. */
  kind: SessionKind;
  /** The channel that it was last used on. */
  channel?: string;
  /** What it is doing. */
  state: SessionState;
  /** The job whose turn is running. */
  jobId?: string;
  /** When it was last used, in milliseconds since 1970. */
  updatedAt: number;
  /** Its name on the channel. */
  title?: string;
  /** How its last run ended. */
  status?: string;
  /** Tokens in the model's window after the last turn. */
  tokens?: number;
}

/** A turn with the lines that it changed. */
export interface TurnDiff {
  /** The turn. */
  turn: ChangedTurn;
  /** The difference of each of its files. */
  files: FileDiff[];
}

/** One thing that happened in a turn. */
export type TurnEvent = {
  type: "turn-started";
  /** The turn's own name. */
  runId: string;
  /** The session. */
  sessionKey: string;
  /** The session's id. */
  sessionId: string;
  /** The model, as `provider/name`. */
  model: string;
  /** The contract. */
  contract: string;
} | {
  type: "note";
  /** The note. */
  text: string;
} | {
  type: "request-sent";
  /** Which call of the turn, from 1. */
  call: number;
  /** The wire format. */
  api: string;
  /** The length of the body, in bytes. */
  bytes: number;
  /** The SHA-256 of the body, in hexadecimal. */
  digest: string;
  /** How many bytes of the body are the same as in the session's last request; none for the first. */
  samePrefix?: number;
} | {
  type: "retrying";
  /** Which try comes next, from 2. */
  attempt: number;
  /** How long to wait first, in milliseconds. */
  waitMs: number;
  /** What went wrong. */
  reason: string;
  /** The model that is asked next, as `provider/name`. */
  model: string;
} | {
  type: "text-delta";
  /** The text. */
  delta: string;
} | {
  type: "said";
  /** Which answer of the turn, from 0. */
  index: number;
  /** The text. */
  text: string;
} | {
  type: "steered";
  /** The name under which they were handed in. */
  key?: string;
} | {
  type: "thinking-delta";
  /** The text. */
  delta: string;
} | {
  type: "tool-started";
  /** The provider's name for the call. */
  callId: string;
  /** The tool. */
  name: string;
  /** What it is given. */
  arguments: unknown;
} | {
  type: "tool-progress";
  /** The provider's name for the call. */
  callId: string;
  /** What it says. */
  text: string;
} | {
  type: "approval-needed";
  /** The provider's name for the call. */
  callId: string;
  /** The tool. */
  name: string;
  /** What is to be allowed. */
  what: string;
} | {
  type: "tool-finished";
  /** The provider's name for the call. */
  callId: string;
  /** The tool. */
  name: string;
  /** Whether it failed. */
  isError: boolean;
  /** What the model is told, shortened for people. */
  summary: string;
  /** How long it took, in milliseconds. */
  runtimeMs: number;
} | {
  type: "refused";
  /** What was refused. */
  part: RefusedPart;
  /** The file, such as `PERMISSIONS.md`; of a workspace that is not the agent's own with its directory. */
  file: string;
  /** The rule, as the file spells it, such as `deny`. */
  rule: string;
  /** The policy's name, such as `workspace-deny-main`. */
  policy?: string;
  /** The line of the rule, counted from one. */
  line?: number;
  /** The column, where the file itself is broken. */
  column?: number;
  /** Why, without saying what the rule looks for. */
  reason: string;
  /** What the sender reads in place of it. */
  text: string;
  /** The name under which the message was handed in, or the provider's name for the call. */
  key?: string;
} | {
  type: "stored";
  /** The record's id. */
  entryId: string;
  /** Its type, such as `message:user`. */
  kind: string;
} | {
  type: "compacted";
  /** Tokens before. */
  tokensBefore: number;
  /** Tokens after, estimated. */
  tokensAfter: number;
  /** Why. */
  reason: string;
} | {
  type: "turn-finished";
  /** Why it ended. */
  stopReason: StopReason;
  /** The last answer's text. */
  text: string;
  /** Tokens and cost of all calls of this turn. */
  usage: Usage;
  /** Whether the provider did not say how many tokens some answer took. */
  tokensUnknown?: boolean;
  /** Whether the cost of some answer is unknown. */
  costUnknown?: boolean;
  /** How many times the model was asked. */
  calls: number;
  /** How many tokens the last request had. */
  contextTokens?: number;
  /** How many tokens the model takes. */
  contextWindow?: number;
  /** What went wrong, if something did. */
  error?: string;
};

/** The recorded turns of a session. */
export interface TurnList {
  /** The turns, the newest first. */
  turns: TurnSummary[];
  /** Whether the session is recorded. */
  recorded: boolean;
  /** Why it is not. */
  hint?: string;
}

/** A recorded turn. */
export interface TurnSummary {
  /** Its id. */
  id: string;
  /** When it began, as an ISO instant. */
  at: string | null;
  /** The length of the system prompt, in UTF-16 units. */
  systemChars: number;
  /** How many messages were sent. */
  messages: number;
  /** The model, as `provider/name`. */
  model?: string;
  /** What started it. */
  trigger?: string;
  /** How it ended. */
  status?: string;
  /** Tokens sent, including cached ones. */
  inputTokens?: number;
  /** Tokens received. */
  outputTokens?: number;
  /** Tokens that were read from the cache. */
  cacheRead?: number;
  /** What it cost, in US dollars; absent when a price is not known. */
  costUsd?: number;
}

/** Messages of one sender at one place that were not heard, for one reason. */
export interface TurnedAway {
  /** The place. */
  place: string;
  /** The room's name, if it has one. */
  room?: string;
  /** Who wrote. */
  sender: string;
  /** How they are called. They chose the name. */
  senderName?: string;
  /** Why it was not heard. */
  reason: string;
  /** How many messages that were. */
  count: number;
  /** When the last one came, in milliseconds since 1970. */
  lastAt: number;
}

/** What an undo would do, or did. */
export interface UndoReport {
  /** The number of the undo, under which it can be taken back; nothing if nothing was changed. */
  number?: number;
  /** The turns that are taken back. */
  turns: number[];
  /** The files that are restored. */
  restored: string[];
  /** What is left alone, or failed, and why. */
  leftAlone: LeftAlone[];
}

/** Which turn is undone. */
export interface UndoTurn {
  /** The number of the turn to whose beginning the workspace goes back. */
  turn: number;
  /** Whether files that were changed since are taken back too. */
  force?: boolean;
}

/** A file as it might be. */
export interface UnsavedPreview {
  /** The path below the workspace. */
  path: string;
  /** The text that it would have. */
  text: string;
  /** The session; by default the agent's main session. */
  session?: string | null;
}

/** A text that is not the owner's. */
export interface UntrustedText {
  /** Where it comes from. */
  origin: Origin;
  /** The same in words. */
  text: string;
}

/** Tokens that an answer took. */
export interface Usage {
  /** Sent, and neither read from nor written to a cache. */
  input: number;
  /** Answered. */
  output: number;
  /** Read from the provider's cache. */
  cacheRead: number;
  /** Written to the provider's cache. */
  cacheWrite: number;
  /** All together. */
  totalTokens: number;
  /** What that costs. */
  cost: CostShares;
}

/** Somebody's words. */
export interface UserMessage {
  /** What was said. */
  content: Content;
  /** When, in milliseconds since 1970. */
  timestamp?: number;
}

/** A file in the list. */
export interface WorkspaceFile {
  /** The path below the workspace. */
  path: string;
  /** Whether it can be read. */
  state: FileState;
  /** Its length in bytes. */
  bytes: number;
  /** Its length in UTF-16 units; of files outside the prompt, in bytes. */
  chars: number;
  /** Its tokens, estimated; absent for files outside the prompt. */
  tokens?: number;
  /** What it is for. */
  kind: FileKind;
  /** What budgets and rules made of it in the prompt; absent for files outside it. */
  inPrompt?: PromptState;
  /** Whether it can be written here. */
  editable: boolean;
  /** Why it cannot be read. */
  reason?: string;
}

/** A finding. */
export interface WorkspaceFinding {
  /** The stable code, such as `CH601`. */
  code: string;
  /** How bad it is. */
  severity: FindingSeverity;
  /** The file below the workspace; `.` is the workspace. */
  path: string;
  /** Where in the file. */
  place?: FindingPlace;
  /** What was found. */
  message: string;
  /** What to do about it. */
  remedy: string;
  /** The change that `chitin check --fix` makes. */
  fix?: FindingFix;
  /** The line, from 1. */
  line?: number;
}

/** What each operation replies with when it succeeds. */
export interface Replies {
  "GET /api/agents": AgentList;
  "GET /api/agents/{agent}/changes": ChangeList;
  "GET /api/agents/{agent}/file": FileText;
  "PUT /api/agents/{agent}/file": SavedFile;
  "GET /api/agents/{agent}/files": FileList;
  "GET /api/agents/{agent}/findings": FindingList;
  "GET /api/agents/{agent}/memory": MemoryReply;
  "POST /api/agents/{agent}/preview": FilePreview;
  "GET /api/agents/{agent}/skills": SkillList;
  "GET /api/agents/{agent}/turn-changes": TurnDiff;
  "GET /api/agents/{agent}/undo": UndoReport;
  "POST /api/agents/{agent}/undo": UndoReport;
  "GET /api/approvals": ApprovalList;
  "POST /api/approvals/revoke": Success;
  "POST /api/approvals/{id}": ResolvedApproval;
  "GET /api/channels": ChannelList;
  "POST /api/login": LoginReply;
  "POST /api/logout": Success;
  "GET /api/me": Me;
  "POST /api/messages": SentMessage | ReceivedMessage;
  "GET /api/pairing": PairingList;
  "POST /api/pairing/approve": Success;
  "POST /api/pairing/reject": Success;
  "POST /api/pairing/revoke": Success;
  "GET /api/route": RouteExplanation;
  "GET /api/routes": BindingList;
  "GET /api/sessions": SessionList;
  "GET /api/sessions/{key}": SessionDetails;
  "GET /api/sessions/{key}/context": ContextReport;
  "POST /api/sessions/{key}/delete": ForgetReport;
  "GET /api/sessions/{key}/lens": Lens;
  "POST /api/sessions/{key}/stop": StopReply;
  "GET /api/sessions/{key}/turns": TurnList;
  "GET /api/status": ServerStatus;
  "GET /api/traces": TraceList;
  "GET /api/traces/{id}": TraceReply;
  "GET /api/tree": SessionTree;
  "GET /health": Health;
  "GET /openapi.json": Record<string, unknown>;
  "GET /ready": Readiness;
  "POST /v1/chat/completions": ChatCompletion;
  "GET /v1/models": ModelList;
  "GET /v1/models/{model}": Model;
}
