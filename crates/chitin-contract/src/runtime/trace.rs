//! What is written down for people who debug (R110–R118).

use schemars::JsonSchema;
use serde::Serialize;

/// What is written down for people who debug (R110–R118).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceRules {
    /// Which wire formats the payload log takes.
    pub payload_apis: PayloadApis,
    /// Whether the payload log holds the answers too.
    pub payload_responses: bool,
    /// Whether the raw stream log tells of calls of tools and their results.
    pub raw_stream_tools: bool,
    /// Whether the raw stream log says again what was said before a call of a tool.
    pub raw_stream_commentary: bool,
    /// Whether the cache trace holds the messages unless told otherwise.
    pub cache_trace_messages: bool,
    /// Whether the cache trace holds the user's words unless told otherwise.
    pub cache_trace_prompt: bool,
    /// Whether the cache trace holds the system prompt unless told otherwise.
    pub cache_trace_system: bool,
    /// How often the cache trace tells what the cache is like.
    pub cache_states: CacheStates,
    /// For which wire formats OpenClaw's variable for payload summaries is obeyed.
    pub payload_summary: SummaryApis,
    /// Where trajectories are, unless a variable says otherwise.
    pub trajectory_place: TrajectoryPlace,
    /// Whether a small file beside the transcript says where the trajectory is.
    pub trajectory_pointer: bool,
    /// Whether a trajectory tells of calls of tools and their results.
    pub trajectory_tools: bool,
    /// Whether a trajectory holds the bytes of every request.
    pub trajectory_requests: bool,
    /// Whether a trajectory says what a turn cost.
    pub trajectory_costs: bool,
    /// Whether a trajectory names the channel that a turn came through.
    pub trajectory_channel: bool,
    /// Whether a trajectory says more of how a turn ended and of the tools that the provider saw.
    pub trajectory_details: bool,
    /// How long a trajectory may get, in bytes.
    pub trajectory_bytes: u64,
    /// How long one of its events may get, in bytes.
    pub trajectory_event_bytes: usize,
    /// What becomes of an event that is too long.
    pub trajectory_oversize: OversizeEvents,
    /// Whether an exported bundle holds the skills' part of the prompt and the report on it.
    pub export_prompt_parts: bool,
    /// How many values an exported record may have; what comes after them is left out.
    pub export_values: Option<usize>,
}

/// Which wire formats the payload log takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PayloadApis {
    /// All of them.
    Every,
    /// Anthropic's Messages only.
    Anthropic,
}

/// For which wire formats OpenClaw's variable for payload summaries is obeyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SummaryApis {
    /// All of them.
    Every,
    /// OpenAI's only.
    Openai,
    /// The variable is not known.
    None,
}

/// How often the cache trace tells what the cache is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheStates {
    /// Once before the user's message and once at the end.
    PerRun,
    /// Before and after every request.
    PerRequest,
}

/// Where trajectories are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrajectoryPlace {
    /// In `logs/trajectory/` of the state directory.
    Logs,
    /// Beside the transcript.
    BesideTranscript,
}

/// What becomes of an event that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OversizeEvents {
    /// Its longest fields are left out until it fits.
    Fields,
    /// All of its data is left out.
    Data,
}

impl TraceRules {
    /// What the seed documents say.
    pub const CANONICAL: Self = Self {
        payload_apis: PayloadApis::Every,
        payload_responses: true,
        raw_stream_tools: true,
        cache_trace_prompt: false,
        cache_trace_system: false,
        payload_summary: SummaryApis::Every,
        trajectory_place: TrajectoryPlace::Logs,
        trajectory_pointer: false,
        trajectory_tools: true,
        trajectory_requests: true,
        trajectory_costs: true,
        trajectory_oversize: OversizeEvents::Fields,
        ..Self::OPENCLAW_2026_4
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        payload_apis: PayloadApis::Anthropic,
        payload_responses: false,
        raw_stream_tools: false,
        raw_stream_commentary: false,
        cache_trace_messages: true,
        cache_trace_prompt: true,
        cache_trace_system: true,
        cache_states: CacheStates::PerRun,
        payload_summary: SummaryApis::None,
        trajectory_place: TrajectoryPlace::BesideTranscript,
        trajectory_pointer: true,
        trajectory_tools: false,
        trajectory_requests: false,
        trajectory_costs: false,
        trajectory_channel: true,
        trajectory_details: false,
        trajectory_bytes: 50 * 1024 * 1024,
        trajectory_event_bytes: 256 * 1024,
        trajectory_oversize: OversizeEvents::Data,
        export_prompt_parts: true,
        export_values: None,
    };
    /// What OpenClaw 2026.9 does. It keeps trajectories in its database, which we do not have: they stand where 2026.4 has
    /// them.
    pub const OPENCLAW_2026_9: Self = Self {
        raw_stream_commentary: true,
        cache_states: CacheStates::PerRequest,
        payload_summary: SummaryApis::Openai,
        trajectory_tools: true,
        trajectory_costs: true,
        trajectory_channel: false,
        trajectory_details: true,
        export_prompt_parts: false,
        export_values: Some(1000),
        ..Self::OPENCLAW_2026_4
    };
}
