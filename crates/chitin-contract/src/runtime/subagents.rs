//! How sessions begin others and hear of them (R30–R48).

use crate::constants::constants;
use schemars::JsonSchema;
use serde::Serialize;

/// How sessions begin others and hear of them (R30–R48).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubagentRules {
    /// What a session may begin.
    pub limits: SpawnLimitRules,
    /// What a model is told of the tool that begins one.
    pub tool: SpawnToolRules,
    /// What the first message to a child looks like.
    pub first_message: FirstMessage,
    /// Who speaks where a child is bound, when its first run is done.
    pub bound_first_run: BoundFirstRun,
    /// What a parent hears when a child is done.
    pub announce: AnnounceRules,
}

/// What a session may begin (R32): what holds when nothing is said, and what may be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpawnLimitRules {
    /// How deep children of children may go, when nothing is said.
    pub default_depth: u32,
}

constants! {
    SpawnLimitRules, "runtime.subagents.limits":
    /// The deepest that may be said.
    MOST_DEPTH: u32 = 5;
    /// How many children a session has at once, when nothing is said.
    DEFAULT_CHILDREN: u32 = 5;
    /// The most that may be said.
    MOST_CHILDREN: u32 = 20;
    /// How many children of all sessions run at once, when nothing is said.
    DEFAULT_CONCURRENT: u32 = 8;
    /// How long a child may run, in seconds, when nothing is said; 0 is without end.
    DEFAULT_RUN_SECONDS: u64 = 0;
    /// After how many minutes a finished child is put away, when nothing is said.
    DEFAULT_ARCHIVE_MINUTES: u64 = 60;
    /// How long one attempt to announce may take, in milliseconds, when nothing is said.
    DEFAULT_ANNOUNCE_MS: u64 = 120_000;
}

/// What a model is told of `sessions_spawn` (R30). What is not told of is taken all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpawnToolRules {
    /// Parameters that the model is not told of.
    pub untold: &'static [&'static str],
    /// When it is told of `thread` and of mode `session`.
    pub thread: ThreadParameter,
}

/// When a model is told that a child can have a thread of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ThreadParameter {
    /// Always.
    Always,
    /// Where the channel has threads.
    WhereThereAreThreads,
}

/// Who speaks in the thread of a child that stays, when its first run is done (R35).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BoundFirstRun {
    /// Its parent, which hears of it as of any child. Where no completion message is expected, nobody would relay the reply,
    /// so the child posts it itself.
    Parent,
    /// The child itself; its parent hears nothing.
    Child,
}

/// What the first message to a child looks like (R33).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FirstMessage {
    /// The marker and the task stand on one line.
    OneLine,
    /// The marker, the task and a last line are paragraphs of their own.
    Paragraphs,
}

/// What a parent hears when a child is done (R40–R48).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnnounceRules {
    /// How a child's words are fenced in.
    pub fence: ResultFence,
    /// What is sent to the parent.
    pub turn: AnnounceTurn,
    /// What is said of a child that did its task.
    pub done_label: &'static str,
    /// How long the words about a child's end may be, in UTF-16 units.
    pub label_limit: Option<u32>,
    /// What the parent is asked to do with a result.
    pub asks: AnnounceAsks,
    /// What becomes of an announce that nobody expects.
    pub unexpected: UnexpectedCompletion,
    /// Whether a result can be for the parent alone.
    pub parent_only: ParentOnly,
    /// When an announce is tried again.
    pub retry: RetryRules,
}

/// How a child's words are fenced in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ResultFence {
    /// By a line with a marker before and after them, which no child can write.
    Markers,
    /// By the same lines, which are not taken out of a child's words.
    OpenMarkers,
    /// By a tag, and angle brackets inside are written as entities.
    PromptData,
}

/// What is sent to the parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AnnounceTurn {
    /// One message: the block of the runtime.
    Block,
    /// A plain message, and the block with everything quoted after it.
    PlainAndBlock,
}

/// What the parent is asked to do with a result (R42).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AnnounceAsks {
    /// To tell the user; it may stay silent only when nobody expects a message.
    Delivery,
    /// To look at it first; it may stay silent.
    Review,
}

/// What becomes of an announce when `expectsCompletionMessage` is false (R44).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum UnexpectedCompletion {
    /// The parent hears of it, in other words.
    Announced,
    /// The parent hears nothing.
    Silent,
}

/// Whether a result can be for the parent alone (`completionTarget: "parent"`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ParentOnly {
    /// The wish is not known.
    Unknown,
    /// The parent's reply goes nowhere.
    Private,
}

/// When an announce is tried again (R46), in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryRules {
    /// The longest wait.
    pub most_ms: u64,
}

constants! {
    RetryRules, "runtime.subagents.announce.retry":
    /// The first wait; each later one is twice as long.
    FIRST_MS: u64 = 1000;
    /// How long after the child's end an announce is worth something that nobody expects.
    UNEXPECTED_MS: u64 = 5 * MINUTE_MS;
    /// The same for one that is expected.
    EXPECTED_MS: u64 = 30 * MINUTE_MS;
}

const MINUTE_MS: u64 = 60_000;

impl SubagentRules {
    /// What the seed documents say: with `expectsCompletionMessage: false` the parent stays silent and the child's own reply goes
    /// to its thread; otherwise its parent relays it there. No child's words can leave their fence.
    /// Otherwise that of OpenClaw 2026.4.
    pub const CANONICAL: Self = Self {
        tool: SpawnToolRules {
            untold: &["taskName", "completionTarget"],
            thread: ThreadParameter::Always,
        },
        bound_first_run: BoundFirstRun::Parent,
        announce: AnnounceRules {
            fence: ResultFence::Markers,
            unexpected: UnexpectedCompletion::Silent,
            ..Self::OPENCLAW_2026_4.announce
        },
        ..Self::OPENCLAW_2026_4
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        limits: SpawnLimitRules { default_depth: 1 },
        tool: SpawnToolRules {
            untold: &[
                "expectsCompletionMessage",
                "taskName",
                "completionTarget",
                "progress",
                "action",
            ],
            thread: ThreadParameter::Always,
        },
        first_message: FirstMessage::OneLine,
        bound_first_run: BoundFirstRun::Child,
        announce: AnnounceRules {
            fence: ResultFence::OpenMarkers,
            turn: AnnounceTurn::Block,
            done_label: "completed successfully",
            label_limit: None,
            asks: AnnounceAsks::Delivery,
            unexpected: UnexpectedCompletion::Announced,
            parent_only: ParentOnly::Unknown,
            retry: RetryRules { most_ms: 8000 },
        },
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        limits: SpawnLimitRules { default_depth: 5 },
        tool: SpawnToolRules {
            untold: &["timeoutSeconds", "progress", "action"],
            thread: ThreadParameter::WhereThereAreThreads,
        },
        first_message: FirstMessage::Paragraphs,
        bound_first_run: BoundFirstRun::Child,
        announce: AnnounceRules {
            fence: ResultFence::PromptData,
            turn: AnnounceTurn::PlainAndBlock,
            done_label: "completed; ready for parent review",
            label_limit: Some(500),
            asks: AnnounceAsks::Review,
            unexpected: UnexpectedCompletion::Silent,
            parent_only: ParentOnly::Private,
            retry: RetryRules {
                most_ms: 5 * MINUTE_MS,
            },
        },
    };
}
