//! What of a conversation is sent again: repair, limits, pruning, cut points, summaries (C10–C62). Pure functions.
//!
//! In: the records of a branch, or messages, and [`chitin_contract::HistoryRules`]. Out: messages for a model
//! ([`messages_for_model`]), or a plan for a summary ([`plan_compaction`]) and the record that comes of it. Nothing here
//! asks a model, reads a file or knows the time. No list of messages, however damaged, makes any of it panic.

mod assemble;
mod audit;
mod call_ids;
mod content;
mod cut;
mod estimate;
mod files;
mod flush;
mod flush_words;
mod images;
mod limit;
mod marker;
mod plan;
mod prepare;
mod prompt;
mod prune;
mod reach;
mod repair;
mod serialize;
mod split;
mod stamp;
mod suffix;
mod summary_text;
mod tool_results;
mod trigger;
mod view;
mod workspace_files;

pub use assemble::{
    Assembled, Assembling, CurrentTurn, PrefixChange, PrunedResults, messages_for_model,
    prefix_changes,
};
pub use audit::{Audit, Findings, IdentifierPolicy, audit, identifiers};
pub use call_ids::CallIdForm;
pub use content::SentContent;
pub use cut::{CutPoint, cut_point};
pub use estimate::{
    ContextTokens, context_tokens, estimate, estimate_all, estimate_text, usage_tokens,
};
pub use files::{FileOperations, file_lists};
pub use flush::{FlushFigures, FlushGate, FlushOptions, FlushPlan, FlushState, Hours, flush_gate};
pub use images::{images_kept_from, without_images};
pub use limit::{LimitedHistory, limit_start};
pub use marker::{first_turn_marker, is_marked};
pub use plan::{
    Author, CompactionPlan, PlanOptions, SummaryRequest, SummaryStep, WrittenSummary,
    plan_compaction,
};
pub use prepare::{Preparation, branch_tokens, prepare};
pub use prune::{PrunedMessage, Pruning, prune};
pub(crate) use reach::{HistoryMeasure, OlderRecords, Reach};
pub use repair::{CallRepair, FailedResults, HistoryRepair, repair, repair_calls};
pub use split::split;
pub use stamp::MessageStamp;
pub use suffix::{
    Preserved, ToolFailure, critical_rules, failures_section, preserve_turns, preserved_section,
    split_turn_section, tool_failures,
};
pub use summary_text::{cap_summary, cap_with_suffix};
pub(crate) use tool_results::shortened_results;
pub use tool_results::{cap_result, tool_result_limit, truncate_text};
pub use trigger::{
    Compacting, OutgoingRequest, Preflight, PreflightRoute, effective_reserve, preflight,
    should_compact,
};
pub use workspace_files::due_record;
