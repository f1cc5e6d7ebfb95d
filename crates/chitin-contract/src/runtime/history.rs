//! What of a conversation is sent again, and how it is made shorter (C1–C62).

use crate::constants::constants;
use schemars::JsonSchema;
use serde::Serialize;

/// What of a conversation is sent again, and how it is made shorter (C1–C62). Lengths count UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryRules {
    /// How the tokens of a message are guessed (C10).
    pub estimate: EstimateRules,
    /// When there is too much, and where a conversation is cut (C20–C36).
    pub compaction: CompactionRules,
    /// What a summary looks like (C35–C39).
    pub summary: SummaryRules,
    /// How old tool results are shortened (C40–C46).
    pub pruning: PruningRules,
    /// How a damaged conversation is put right (C50–C56).
    pub repair: RepairRules,
    /// How many turns are sent again (C60).
    pub turn_limit: TurnLimit,
    /// When old pictures are left out (C61).
    pub images: ImageRules,
    /// How long one tool result may be (C62).
    pub tool_results: ToolResultRules,
}

/// How the tokens of a message are guessed (C10).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EstimateRules {
    /// What a character weighs. Four make a token.
    pub text: TextWeight,
    /// What a picture in a user's message weighs, in characters.
    pub user_image: usize,
    /// What a picture in any other message weighs, in characters.
    pub image: usize,
    /// Whether blocks that are no text weigh a note that they are left out of summaries.
    pub omission_notes: bool,
}

/// What a character weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TextWeight {
    /// One for each UTF-16 unit.
    Units,
    /// As units, but four for a Chinese, Japanese or Korean character.
    WideCharacters,
}

/// When there is too much, and where a conversation is cut (C20–C36).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactionRules {
    /// How much of the window the reserve may take.
    pub reserve_cap: ReserveCap,
    /// What is weighed before a request (C21).
    pub precheck: Precheck,
    /// What comes of it when that is too much (C21).
    pub precheck_effect: PrecheckEffect,
    /// Where to cut when nothing that may be cut comes after the point that was found (C30).
    pub no_cut_after: NoCutAfter,
    /// What begins a turn, besides a user's message (C31).
    pub turn_starts: TurnStarts,
    /// Whether the tokens that a provider counted make the kept part smaller (C36).
    pub keep_scaled_by_usage: bool,
    /// Whether an answer that reports no tokens at all counts as a report (C36).
    pub empty_usage_counts: bool,
    /// Whether a plan that summarises nothing is no plan.
    pub empty_plan_is_none: bool,
}

constants! {
    CompactionRules, "runtime.history.compaction":
    /// Tokens that are kept free for the answer.
    RESERVE_TOKENS: u64 = 16_384;
    /// The reserve is at least this, if the window allows it.
    RESERVE_FLOOR: u64 = 20_000;
    /// Tokens of the newest messages that stay as they are.
    KEEP_RECENT_TOKENS: u64 = 20_000;
    /// How many parts a long conversation is summarised in (C22).
    PARTS: usize = 2;
}

/// How much of the window the reserve may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ReserveCap {
    /// All but this many tokens, or all but half of the window, whichever leaves less for the prompt.
    PromptFloor {
        /// The tokens that stay for the prompt.
        tokens: u64,
    },
    /// A quarter of the window.
    Quarter,
}

/// What is weighed before a request (C21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Precheck {
    /// The messages and the prompt, as they are estimated anywhere.
    Messages,
    /// The system prompt too, with something for every message and block; tool results and JSON weigh more.
    Boundary,
}

/// What comes of it when a look before a request finds too much (C21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrecheckEffect {
    /// Nothing: the request is sent, and the tokens that the provider counts decide (C20).
    None,
    /// Tool results are shortened, or the conversation is compacted, before the message that opens a turn is sent.
    Recovery,
}

/// Where to cut when nothing that may be cut comes after the point that was found (C30).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoCutAfter {
    /// Nowhere: everything is kept.
    KeepAll,
    /// At the last place before it.
    LastBefore,
}

/// What begins a turn, besides a user's message (C31).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TurnStarts {
    /// Only a user's message at the cut makes the cut clean.
    UserMessage,
    /// Commands, summaries and notes to the model at the cut do so too.
    AnyoneButTheModel,
}

/// What a summary looks like (C35–C39).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryRules {
    /// What stands between the last file and the closing tag.
    pub file_list_end: &'static str,
}

constants! {
    SummaryRules, "runtime.history.summary":
    /// The longest summary.
    MAX_CHARS: usize = 16_000;
    /// The longest list of files.
    FILE_LIST_CHARS: usize = 900;
    /// The longest lists of files together.
    FILE_LISTS_CHARS: usize = 2000;
    /// How many of the newest turns are kept word by word.
    PRESERVED_TURNS: usize = 3;
    /// At most so many turns are kept word by word, whatever is asked for.
    PRESERVED_TURNS_MAX: usize = 12;
    /// How much of a message is kept word by word.
    PRESERVED_CHARS: usize = 600;
    /// How many failures of tools are named.
    FAILURES: usize = 8;
    /// How much of each failure is told.
    FAILURE_CHARS: usize = 240;
    /// How much of the workspace's critical rules is repeated.
    CRITICAL_RULES_CHARS: usize = 2000;
    /// How many identifiers a check looks for.
    IDENTIFIERS: usize = 12;
}

/// How old tool results are shortened (C40–C46).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PruningRules {
    /// Whether the configuration may change the numbers above (C46).
    pub numbers_configurable: bool,
}

constants! {
    PruningRules, "runtime.history.pruning":
    /// How long a provider keeps its cache, in milliseconds, unless the configuration says otherwise.
    TTL_MS: u64 = 300_000;
    /// The same for Anthropic's own service.
    ANTHROPIC_TTL_MS: u64 = 3_600_000;
    /// From this share of the window on, results are trimmed.
    SOFT_TRIM_RATIO: f64 = 0.3;
    /// From this share of the window on, results are cleared.
    HARD_CLEAR_RATIO: f64 = 0.5;
    /// Clearing is worth it from this many characters on.
    MIN_PRUNABLE_CHARS: usize = 50_000;
    /// How many of the newest answers, and what follows them, are left alone.
    KEEP_LAST_ANSWERS: usize = 3;
    /// Longer results are trimmed.
    SOFT_TRIM_MAX: usize = 4000;
    /// What stays of the beginning.
    SOFT_TRIM_HEAD: usize = 1500;
    /// What stays of the end.
    SOFT_TRIM_TAIL: usize = 1500;
    /// What a picture weighs, in characters.
    IMAGE_CHARS: usize = 8000;
}

/// How a damaged conversation is put right (C50–C56).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepairRules {
    /// How a result finds its call (C52, C53).
    pub pairing: Pairing,
    /// What the policy `drop` takes away with the results of a failed answer (C54).
    pub failed_answers: FailedAnswers,
    /// Whether a result that was made up says so in its details (C51).
    pub made_up_details: bool,
    /// What happens to a call whose name no provider takes back (C56).
    pub odd_names: OddNames,
    /// What ids of calls look like when they are sent. Under every contract each of them is sent for one call only, so that a server
    /// that repeats ids loses no result.
    pub call_ids: CallIds,
    /// What a call of the running turn is compared with when its id was used in an earlier turn.
    pub repeated_ids: RepeatedIds,
}

constants! {
    RepairRules, "runtime.history.repair":
    /// The longest name of a tool (C56).
    MAX_NAME_CHARS: usize = 64;
}

/// What happens to a call whose name no provider takes back (C56).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OddNames {
    /// It is dropped with its result.
    Drop,
    /// It is sent with its result, under a name that every provider takes.
    Rename,
}

/// What a call of the running turn is compared with when its id was used in an earlier turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RepeatedIds {
    /// All records, so that a call has the same id in every request.
    Records,
    /// The ids of earlier turns as they were sent. From the next turn on, all records, so that the call gets another id then.
    SentIds,
}

/// What ids of calls look like when they are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallIds {
    /// As the model gave them.
    AsGiven,
    /// Letters and digits only, at most forty, where the wire format is not one that needs its own ids back.
    Alphanumeric,
}

/// How a result finds its call (C52, C53).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// By id, up to the next answer; an id that was seen before is a duplicate.
    UpToNextAnswer,
    /// By occurrence, across answers that call nothing.
    ByOccurrence,
}

/// What the policy `drop` takes away with the results of a failed answer (C54).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailedAnswers {
    /// Nothing more.
    ResultsOnly,
    /// The answer itself.
    WholeAnswer,
}

/// How many turns are sent again (C60).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TurnLimit {
    /// Never more than the limit.
    Exact,
    /// Half as many more, then a batch goes at once: the beginning stays the same for longer.
    Batches,
}

/// When old pictures are left out (C61).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageRules {
    /// When a turn is complete.
    pub turn_complete: TurnComplete,
    /// Whether references to media in the text are left out as well.
    pub references: bool,
}

constants! {
    ImageRules, "runtime.history.images":
    /// How many of the newest complete turns keep their pictures.
    KEEP_TURNS: usize = 3;
}

/// When a turn is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TurnComplete {
    /// When it is answered.
    Answered,
    /// When the next one begins.
    NextBegun,
}

/// How long one tool result may be (C62).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultRules {
    /// The longest result in larger windows, the largest first: from how many tokens on, and how many characters.
    pub larger_windows: &'static [LargerWindow],
    /// What characters weigh.
    pub text: TextWeight,
    /// Whether a line end right behind the cut counts as an end of the kept part.
    pub line_end_behind_cut: bool,
    /// What the note about the cut adds to the number.
    pub note: &'static str,
    /// How much all results together may take before a request is too long, and which give way first.
    pub together: ResultsTogether,
    /// How long a result may be in the turn that it belongs to. The transcript keeps what the limits above leave of it, and later turns
    /// send no more of it than its own turn.
    pub own_turn: OwnTurnResults,
}

constants! {
    ToolResultRules, "runtime.history.toolResults":
    /// The longest result.
    MAX_CHARS: usize = 16_000;
    /// The share of the window that one result may take.
    WINDOW_SHARE: f64 = 0.3;
    /// At least so much is kept.
    MIN_KEEP_CHARS: usize = 2000;
    /// The longest end that is kept.
    MAX_TAIL_CHARS: usize = 4000;
}

/// The longest tool result from a size of window on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LargerWindow {
    /// The window has at least so many tokens.
    pub tokens: u64,
    /// The longest result.
    pub max_chars: usize,
}

/// How long a tool result may be in the turn that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OwnTurnResults {
    /// As long as from the next turn on.
    AsStored,
    /// One character for every two tokens of the window, until a summary takes the place of older messages. Later turns hold to it too,
    /// which counts in windows so small that the transcript keeps more.
    HalfWindow,
}

/// How much all results together may take, and which give way first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ResultsTogether {
    /// As much as one; the newest give way first.
    AsOneNewestFirst,
    /// Four times as much, or half the window; the oldest give way first.
    AsFourOldestFirst,
}

impl HistoryRules {
    /// What the seed documents say; where they are silent, what OpenClaw 2026.4 does. One thing follows 2026.9 on
    /// purpose: calls and results are paired by occurrence. By the older rule a call whose id was used before loses its
    /// result, and providers refuse such a conversation.
    pub const CANONICAL: Self = Self {
        repair: RepairRules {
            // A model that never learns why its call failed makes it again.
            odd_names: OddNames::Rename,
            call_ids: CallIds::AsGiven,
            repeated_ids: RepeatedIds::Records,
            ..Self::OPENCLAW_2026_9.repair
        },
        // Tokens that a provider counted are truer than a guess with a margin.
        compaction: CompactionRules {
            precheck_effect: PrecheckEffect::None,
            ..Self::OPENCLAW_2026_4.compaction
        },
        // A result that is sent whole once and cut later costs the provider's cache.
        tool_results: ToolResultRules {
            own_turn: OwnTurnResults::AsStored,
            ..Self::OPENCLAW_2026_4.tool_results
        },
        ..Self::OPENCLAW_2026_4
    };

    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        estimate: EstimateRules {
            text: TextWeight::Units,
            user_image: 0,
            image: 4800,
            omission_notes: false,
        },
        compaction: CompactionRules {
            reserve_cap: ReserveCap::PromptFloor { tokens: 8000 },
            precheck: Precheck::Messages,
            precheck_effect: PrecheckEffect::Recovery,
            no_cut_after: NoCutAfter::KeepAll,
            turn_starts: TurnStarts::UserMessage,
            keep_scaled_by_usage: false,
            empty_usage_counts: true,
            empty_plan_is_none: false,
        },
        summary: SummaryRules {
            file_list_end: "\n\n",
        },
        pruning: PruningRules {
            numbers_configurable: true,
        },
        repair: RepairRules {
            pairing: Pairing::UpToNextAnswer,
            failed_answers: FailedAnswers::ResultsOnly,
            made_up_details: false,
            odd_names: OddNames::Drop,
            call_ids: CallIds::Alphanumeric,
            repeated_ids: RepeatedIds::SentIds,
        },
        turn_limit: TurnLimit::Exact,
        images: ImageRules {
            turn_complete: TurnComplete::Answered,
            references: false,
        },
        tool_results: ToolResultRules {
            larger_windows: &[],
            text: TextWeight::Units,
            line_end_behind_cut: true,
            note: "",
            together: ResultsTogether::AsOneNewestFirst,
            own_turn: OwnTurnResults::HalfWindow,
        },
    };

    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        estimate: EstimateRules {
            text: TextWeight::WideCharacters,
            user_image: 8000,
            image: 8000,
            omission_notes: true,
        },
        compaction: CompactionRules {
            reserve_cap: ReserveCap::Quarter,
            precheck: Precheck::Boundary,
            precheck_effect: PrecheckEffect::None,
            no_cut_after: NoCutAfter::LastBefore,
            turn_starts: TurnStarts::AnyoneButTheModel,
            keep_scaled_by_usage: true,
            empty_usage_counts: false,
            empty_plan_is_none: true,
        },
        summary: SummaryRules {
            file_list_end: "\n",
        },
        pruning: PruningRules {
            numbers_configurable: false,
        },
        repair: RepairRules {
            pairing: Pairing::ByOccurrence,
            failed_answers: FailedAnswers::WholeAnswer,
            made_up_details: true,
            ..Self::OPENCLAW_2026_4.repair
        },
        turn_limit: TurnLimit::Batches,
        images: ImageRules {
            turn_complete: TurnComplete::NextBegun,
            references: true,
        },
        tool_results: ToolResultRules {
            larger_windows: &[
                LargerWindow {
                    tokens: 200_000,
                    max_chars: 64_000,
                },
                LargerWindow {
                    tokens: 100_000,
                    max_chars: 32_000,
                },
            ],
            text: TextWeight::WideCharacters,
            line_end_behind_cut: false,
            note: "; rerun with narrower args if needed",
            together: ResultsTogether::AsFourOldestFirst,
            own_turn: OwnTurnResults::AsStored,
        },
    };
}
