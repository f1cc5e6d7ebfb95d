//! The context lens: what the model gets in a turn, fragment by fragment.

use chitin_protocol::origin::ContextOrigins;
use schemars::JsonSchema;
use serde::Serialize;

/// Which turn is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LensRequest {
    /// The agent.
    pub agent: String,
    /// The session's key.
    pub session: String,
    /// The turn; none is the next one.
    pub turn: Option<String>,
}

/// A file as it might be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewRequest {
    /// The agent.
    pub agent: String,
    /// The path below the workspace.
    pub path: String,
    /// The text that it would have.
    pub text: String,
    /// The session's key; none is the agent's main session.
    pub session: Option<String>,
}

/// What the model gets in a turn.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lens {
    /// The turn.
    pub turn: LensTurn,
    /// The fragments of the system prompt and the notices beside the message, in order.
    pub fragments: Vec<LensFragment>,
    /// What became of each workspace file.
    pub files: Vec<LensFile>,
    /// What files may take of the prompt, and what they take.
    pub budget: PromptBudget,
    /// Where the texts of the next turn come from, and what is taken away because of it; none of a recorded turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origins: Option<ContextOrigins>,
    /// Notes for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The whole request.
    pub totals: LensTotals,
    /// The tool definitions.
    pub tool_definitions: LensTools,
    /// The messages of earlier turns that are sent again.
    pub history: LensHistory,
    /// The message, of a recorded turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<LensSize>,
    /// The model's window in tokens, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// Up to where the prompt is cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary: Option<LensBoundary>,
    /// What changed since the turn before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<LensDiff>,
}

/// A turn of the lens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LensTurn {
    /// Its id, or `next`.
    pub id: String,
    /// When it began, as an ISO instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The model, as `provider/name`.
    pub model: String,
    /// Whether it was recorded; the next turn is not.
    pub recorded: bool,
}

/// A part of the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LensFragment {
    /// Its key, or its path below the workspace.
    pub name: String,
    /// Where in the request it stands: `system`, `conversation`, `before-user`, `after-user` or `first-message`.
    pub role: String,
    /// How long it stays the same: `stable`, `session` or `dynamic`.
    pub cache: String,
    /// Its length before budgets, in UTF-16 units.
    pub raw_chars: usize,
    /// Its length in the prompt.
    pub chars: usize,
    /// The tokens of that.
    pub tokens: usize,
    /// What budgets and rules made of it.
    pub decision: PromptState,
    /// Its text, each piece with its source.
    pub pieces: Vec<LensPiece>,
    /// The file that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Why it is not there whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What is missing of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_text: Option<Vec<CutText>>,
}

/// What budgets and rules made of a file or fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PromptState {
    /// It is there whole.
    Kept,
    /// It is truncated.
    Cut,
    /// It does not exist, and the prompt says so.
    Missing,
    /// It was not read, and the prompt says so.
    Refused,
    /// It is omitted.
    LeftOut,
    /// It is not part of the prompt.
    NotInPrompt,
}

/// A run of text with one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LensPiece {
    /// The text.
    pub text: String,
    /// Where it comes from.
    pub kind: PieceKind,
    /// The line of the file that it begins in, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// Where a piece of text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PieceKind {
    /// The runtime's own text.
    Ours,
    /// A value of this turn, such as a date.
    Value,
    /// A workspace file.
    File,
    /// The marker of truncated text.
    CutMarker,
}

/// A part of a file that is not in the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CutText {
    /// Its first line, from 1.
    pub from_line: usize,
    /// Its last line.
    pub to_line: usize,
    /// Its length in UTF-16 units.
    pub chars: usize,
    /// Why it is missing.
    pub why: String,
    /// Its text; absent in a preview.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether only the beginning of the text is given.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shortened: bool,
}

/// A workspace file of the lens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LensFile {
    /// The path below the workspace.
    pub path: String,
    /// Its length before budgets, in UTF-16 units.
    pub raw_chars: usize,
    /// Its length in the prompt.
    pub chars: usize,
    /// The tokens of that.
    pub tokens: usize,
    /// What budgets and rules made of it.
    pub state: PromptState,
    /// The limit that holds for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Why it is not there whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// What files may take of the prompt, and what they take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptBudget {
    /// The limit of one file; null if there is none, or if it is not known.
    pub per_file: Option<usize>,
    /// The limit of all files together; null if there is none, or if it is not known.
    pub total: Option<usize>,
    /// What all files take.
    pub used: usize,
    /// What the limits are counted in: `characters` or `tokens`. Absent for recorded turns, like the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The length of the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_chars: Option<usize>,
    /// The tokens of the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_tokens: Option<usize>,
}

/// The size of a part of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LensSize {
    /// Its length in UTF-16 units.
    pub chars: usize,
    /// Its tokens.
    pub tokens: usize,
}

/// The size of the whole request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LensTotals {
    /// Its length in UTF-16 units.
    pub chars: usize,
    /// Its tokens.
    pub tokens: usize,
    /// Whether every part is known and counted.
    pub complete: bool,
    /// The system prompt alone.
    pub system: LensSize,
    /// What sending it costs, in US dollars; absent when the price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// The tool definitions of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LensTools {
    /// The wire format in whose shape they are counted.
    pub shape: String,
    /// How many there are.
    pub count: usize,
    /// Their length together.
    pub chars: usize,
    /// Their tokens together.
    pub tokens: usize,
    /// Each of them.
    pub tools: Vec<LensTool>,
    /// Tools that are offered and whose definitions are not known.
    pub unknown: Vec<String>,
    /// How many MCP servers are configured whose tools are not known.
    pub mcp_servers: usize,
}

/// The size of a tool definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LensTool {
    /// The tool.
    pub name: String,
    /// The length of its definition.
    pub chars: usize,
    /// The tokens of its definition.
    pub tokens: usize,
}

/// The messages of earlier turns that are sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LensHistory {
    /// Whether there are any.
    pub state: HistoryState,
    /// How many messages.
    pub messages: usize,
    /// How many of them are the user's.
    pub turns: usize,
    /// How many images they hold.
    pub images: usize,
    /// Whether they are so long that they are compacted before the next turn.
    pub compaction_due: bool,
    /// Their length; null when it is not known.
    pub chars: Option<usize>,
    /// Their tokens; null when they are not known.
    pub tokens: Option<usize>,
}

/// Whether a session has history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HistoryState {
    /// The session is new.
    New,
    /// The session was last used so long ago that a new one begins.
    Expired,
    /// It has.
    Kept,
    /// It could not be read.
    Unknown,
}

/// Up to where the prompt is cached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LensBoundary {
    /// The last fragment that is cached, by its position.
    pub after_fragment: usize,
}

/// What changed since the turn before.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LensDiff {
    /// The turn before.
    pub turn_id: String,
    /// Whether both prompts are the same.
    pub same: bool,
    /// How many cached tokens the change loses.
    pub lost_tokens: usize,
    /// The changed lines, with some around them.
    pub diff: Vec<DiffLine>,
    /// What caching them again costs, in US dollars; absent when the price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_cost_usd: Option<f64>,
    /// Where the prompts begin to differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_difference: Option<FirstDifference>,
    /// What changed, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Whether there are more changed lines than are given.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shortened: bool,
}

/// Where two prompts begin to differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FirstDifference {
    /// The fragment.
    pub fragment: String,
    /// The line of the system prompt, from 1.
    pub line: usize,
    /// The byte of the system prompt.
    pub offset: usize,
}

/// A line of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum DiffLine {
    /// It is in both.
    Same {
        /// The line.
        text: String,
    },
    /// It is new.
    Add {
        /// The line.
        text: String,
    },
    /// It is gone.
    Remove {
        /// The line.
        text: String,
    },
    /// So many lines that are in both.
    Skip {
        /// How many.
        lines: usize,
    },
}
