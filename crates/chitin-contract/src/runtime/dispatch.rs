//! Who gets a message and when it is dealt with (R11–R14, R80–R93).

use crate::constants::constants;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who gets a message and when it is dealt with (R11–R14, R80–R93).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DispatchRules {
    /// Which agent and session a message belongs to.
    pub route: RouteRules,
    /// What becomes of messages that come while a turn runs.
    pub queue: QueueRules,
    /// How many turns run at once, and under which names.
    pub lanes: LaneRules,
    /// When an agent is woken without a message.
    pub heartbeat: HeartbeatRules,
    /// What a session knows of the place that it speaks at.
    pub surfaces: SurfaceRules,
    /// What becomes of a message whose model cannot answer.
    pub model_outage: ModelOutage,
}

/// What becomes of a message whose model cannot be reached, is overloaded, or breaks off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ModelOutage {
    /// Its turn has failed, and its sender is told.
    Told,
    /// It waits for the end of the outage, and its sender is told that it is delayed.
    Waited,
}

/// Which agent and session a message belongs to (R11–R14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RouteRules {
    /// What becomes of a binding to an agent that is not configured.
    pub unknown_agent: UnknownAgent,
    /// Whether `session.mainKey` names the main conversation.
    pub main_key: MainKeyRule,
    /// Whether a route says how far sessions are shared.
    pub scopes: ScopeReport,
    /// Whether a binding can say how far sessions are shared.
    pub binding_scopes: BindingScopes,
}

/// What becomes of a binding to an agent that is not configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum UnknownAgent {
    /// The default agent takes its place, without a word.
    DefaultAgent,
    /// The message is refused, unless the binding names `main`.
    Refused,
}

/// Whether `session.mainKey` names the main conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MainKeyRule {
    /// It does not: messages come under `main`.
    Fixed,
    /// It does.
    Configured,
}

/// Whether a route says how far sessions are shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ScopeReport {
    /// It does not.
    Unsaid,
    /// It says `dmScope` and `groupScope`.
    Said,
}

/// Whether `bindings[].session` can say how far sessions are shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BindingScopes {
    /// It cannot.
    Ignored,
    /// It outweighs `session`.
    Read,
}

/// What becomes of messages that come while a turn runs (R80, R81).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueRules {
    /// What holds when nothing is said.
    pub default_mode: QueueMode,
    /// How long to wait for more, in milliseconds, when nothing is said.
    pub default_debounce_ms: u64,
    /// What goes when more come, when nothing is said.
    pub default_drop: DropPolicy,
    /// Whether words of old are still read.
    pub old_words: OldQueueWords,
    /// Whether `messages.queue.debounceMs` is read.
    pub global_debounce: GlobalDebounce,
}

constants! {
    QueueRules, "runtime.dispatch.queue":
    /// How many messages wait at most, when nothing is said.
    DEFAULT_CAP: u32 = 20;
}

/// What becomes of a message that comes while a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueMode {
    /// It joins the turn that runs.
    Steer,
    /// It gets a turn of its own, later.
    Followup,
    /// All that wait get one turn together, later.
    Collect,
    /// The turn that runs is broken off for it.
    Interrupt,
    /// It joins the turn that runs, and gets one of its own later.
    SteerBacklog,
}

/// Which message goes when more come than may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropPolicy {
    /// The oldest.
    Old,
    /// The newcomer.
    New,
    /// The oldest, but a line of it is kept.
    Summarize,
}

/// Whether `steer-backlog` and `queue` are still words for a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OldQueueWords {
    /// They are.
    Read,
    /// They mean nothing.
    Unknown,
}

/// Whether `messages.queue.debounceMs` is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GlobalDebounce {
    /// It is.
    Read,
    /// Only what is said of a channel or a session is.
    Ignored,
}

/// How many turns run at once, and under which names (R82, R83).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LaneRules {
    /// The lane of what a scheduled turn starts inside itself.
    pub inside_cron: &'static str,
    /// How many turns of sessions run at once, when nothing is said.
    pub main: u32,
}

constants! {
    LaneRules, "runtime.dispatch.lanes":
    /// How many turns of subagents run at once, when nothing is said.
    SUBAGENT: u32 = 8;
}

/// When an agent is woken without a message (R90–R93).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeartbeatRules {
    /// What HTML comments in HEARTBEAT.md count as.
    pub comments: HeartbeatComments,
}

constants! {
    HeartbeatRules, "runtime.dispatch.heartbeat":
    /// How often, when nothing is said.
    DEFAULT_EVERY: &'static str = "30m";
    /// What may stand beside `HEARTBEAT_OK` and still be no message, in UTF-16 units, when nothing is said.
    DEFAULT_ACK_MAX_CHARS: u32 = 300;
    /// How long the same words are not said twice, in milliseconds.
    REPEAT_MS: u64 = DAY_MS;
}

/// What HTML comments in HEARTBEAT.md count as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HeartbeatComments {
    /// Content: there is something to do.
    Content,
    /// Nothing.
    Nothing,
}

/// What a session knows of the place that it speaks at (R36, R77).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SurfaceRules {
    /// How many earlier messages the session of a thread begins with, when nothing is said.
    pub thread_history: u32,
    /// Where the `message` tool speaks in a heartbeat that names no place.
    pub heartbeat_target: HeartbeatTarget,
    /// Which session the direct messages of those have who are not the owner, when nothing is said.
    pub guests: GuestSession,
}

/// Which session the direct messages of those have who are not the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GuestSession {
    /// That of the owner: everybody who writes shares one conversation.
    Main,
    /// One of their own, by channel and person: nobody sees what the owner says.
    Own,
}

/// Where the `message` tool speaks in a heartbeat that names no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HeartbeatTarget {
    /// Where the heartbeat's words go.
    OwnPlace,
    /// Nowhere: a place must be named.
    Explicit,
}

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

impl DispatchRules {
    /// What the seed documents say of surfaces and threads, which all contracts share; otherwise that of OpenClaw 2026.4.
    pub const CANONICAL: Self = Self {
        surfaces: SurfaceRules {
            thread_history: 100,
            guests: GuestSession::Own,
            ..Self::OPENCLAW_2026_4.surfaces
        },
        queue: QueueRules {
            // What was accepted is done: when too many wait, the next one is refused.
            default_drop: DropPolicy::New,
            ..Self::OPENCLAW_2026_4.queue
        },
        model_outage: ModelOutage::Waited,
        ..Self::OPENCLAW_2026_4
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        route: RouteRules {
            unknown_agent: UnknownAgent::DefaultAgent,
            main_key: MainKeyRule::Fixed,
            scopes: ScopeReport::Unsaid,
            binding_scopes: BindingScopes::Ignored,
        },
        queue: QueueRules {
            default_mode: QueueMode::Collect,
            default_debounce_ms: 1000,
            default_drop: DropPolicy::Summarize,
            old_words: OldQueueWords::Read,
            global_debounce: GlobalDebounce::Read,
        },
        lanes: LaneRules {
            inside_cron: "nested",
            main: 4,
        },
        heartbeat: HeartbeatRules {
            comments: HeartbeatComments::Content,
        },
        model_outage: ModelOutage::Told,
        surfaces: SurfaceRules {
            thread_history: 20,
            heartbeat_target: HeartbeatTarget::OwnPlace,
            guests: GuestSession::Main,
        },
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        route: RouteRules {
            unknown_agent: UnknownAgent::Refused,
            main_key: MainKeyRule::Configured,
            scopes: ScopeReport::Said,
            binding_scopes: BindingScopes::Read,
        },
        queue: QueueRules {
            default_mode: QueueMode::Steer,
            default_debounce_ms: 500,
            old_words: OldQueueWords::Unknown,
            global_debounce: GlobalDebounce::Ignored,
            ..Self::OPENCLAW_2026_4.queue
        },
        lanes: LaneRules {
            inside_cron: "cron-nested",
            main: 8,
        },
        heartbeat: HeartbeatRules {
            comments: HeartbeatComments::Nothing,
        },
        model_outage: ModelOutage::Told,
        surfaces: SurfaceRules {
            heartbeat_target: HeartbeatTarget::Explicit,
            ..Self::OPENCLAW_2026_4.surfaces
        },
    };
}
