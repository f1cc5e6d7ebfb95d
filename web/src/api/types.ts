// The page's names for what the server says. All of it comes from `schema.ts`, which is made of docs/reference/openapi.json.

import type * as api from "./schema.ts";

export type {
  Accepted,
  AgentList,
  ApprovalAnswer,
  ApprovalList,
  BindingList,
  ChangedFile,
  ChangedTurn,
  ChangeList,
  DiffLine,
  KeptApproval,
  ErrorBody,
  RouteExplanation as Explanation,
  FileConflict,
  FileList,
  FileText,
  FindingList,
  FoundMemory,
  Lens,
  LensFragment as Fragment,
  LensPiece,
  ListedBinding,
  LoginReply,
  Me,
  MemoryOverview,
  MemoryResults,
  PairingList,
  PendingApproval,
  PromptBudget as Budget,
  RecordedSession as Trace,
  ResolvedApproval,
  SavedFile,
  SessionState,
  SessionTree,
  SkillList,
  SkillSummary as Skill,
  TraceList,
  TreeSession,
  TurnDiff,
  TurnList,
  TurnSummary as Turn,
  UndoReport,
  WorkspaceFile,
  WorkspaceFinding as Finding,
  FilePreview as Preview,
  AgentSummary as Agent,
  PendingPairing as PairingRequest,
} from "./schema.ts";

type Keys<Union> = Union extends unknown ? keyof Union : never;
type Field<Union, Key extends PropertyKey> = Union extends unknown ? (Key extends keyof Union ? Union[Key] : never) : never;

/** One of several shapes, read field by field: a field that the shape at hand lacks is undefined. */
export type Loose<Union> = { [Key in Keys<Union>]?: Field<Union, Key> };

/** Something that happened in a turn. */
export type TurnEvent = Loose<api.TurnEvent> & Pick<api.TurnEvent, "type">;

/** Something that happened, as the socket tells it. */
export type GatewayEvent = Omit<Loose<api.GatewayEvent>, "event"> &
  Pick<api.GatewayEvent, "seq" | "at" | "sessionKey" | "jobId" | "kind"> & { type?: string; event?: TurnEvent };

/** A block of a message. */
export type RecordBlock = Loose<api.Block> & { type: string };

/** A message of a record, with what OpenClaw's records have besides. */
export type RecordMessage = Omit<Loose<api.Message>, "content"> & {
  role: string;
  content?: string | RecordBlock[];
  idempotencyKey?: string;
  provenance?: { kind?: string; sourceSessionKey?: string; sourceTool?: string };
};

/** A record of a session file. */
export type SessionRecord = Omit<Loose<api.TranscriptEntry>, "message"> & { type: string; message?: RecordMessage };

export type SessionShown = Omit<api.SessionDetails, "history"> & { history: SessionRecord[] };

/** A file that is open: one that is not there yet has no version. */
export type OpenFile = Pick<api.FileText, "path" | "text"> & { version: string | null; editable?: boolean; reason?: string };

/** The chat channels, and refused messages. */
export type Channels = Omit<api.ChannelList, "channels"> & { channels: Loose<api.Account>[] };
