//! What a compaction would summarise and keep (C33–C36).

use super::cut::{CutPoint, cut_point};
use super::estimate::{ContextTokens, context_tokens, estimate_all};
use super::files::FileOperations;
use super::trigger::Compacting;
use super::view::{message_of, summary_of};
use super::workspace_files::holds_files;
use chitin_contract::HistoryRules;
use chitin_protocol::message::Message;
use chitin_protocol::transcript::{Compaction, EntryBody, TranscriptEntry};

/// What a compaction would summarise and keep. Indices name records of the branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    /// The first record that stays.
    pub first_kept: usize,
    /// Its id.
    pub first_kept_id: String,
    /// The records that go into the summary.
    pub to_summarize: Vec<usize>,
    /// The records of the turn that is cut in two, as far as they go (C31).
    pub turn_prefix: Vec<usize>,
    /// Whether a turn is cut in two.
    pub is_split_turn: bool,
    /// What the conversation takes now, in tokens (C36).
    pub tokens_before: u64,
    /// The summary that is brought up to date (C34).
    pub previous_summary: Option<String>,
    /// The files that were touched (C35).
    pub files: FileOperations,
}

/// Returns the newest summary of a branch, and where it is.
pub(super) fn last_compaction(branch: &[TranscriptEntry]) -> Option<(usize, &Compaction)> {
    branch
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, entry)| match &entry.body {
            EntryBody::Compaction(compaction) => Some((at, compaction)),
            EntryBody::Message(_)
            | EntryBody::ModelChange { .. }
            | EntryBody::ThinkingLevelChange { .. }
            | EntryBody::Custom { .. }
            | EntryBody::Other(_) => None,
        })
}

/// Returns where the records begin that the model still sees word by word.
pub(super) fn visible_from(branch: &[TranscriptEntry]) -> usize {
    let Some((at, compaction)) = last_compaction(branch) else {
        return 0;
    };
    branch[..at]
        .iter()
        .position(|entry| entry.id == compaction.first_kept_entry_id)
        .unwrap_or(at + 1)
}

/// Returns the messages that the model sees of a branch: the newest summary, what it kept, and what came since.
pub(super) fn visible_messages(branch: &[TranscriptEntry]) -> Vec<Message> {
    let summary = last_compaction(branch).and_then(|(at, _)| summary_of(&branch[at]));
    let kept = branch[visible_from(branch)..]
        .iter()
        .filter_map(message_of)
        .map(std::borrow::Cow::into_owned);
    summary.into_iter().chain(kept).collect()
}

/// Returns what a branch takes now. What a provider counted before the newest summary says nothing any more, and an
/// answer that reports no tokens at all says nothing either.
pub fn branch_tokens(branch: &[TranscriptEntry], rules: &HistoryRules) -> ContextTokens {
    let mut strict = *rules;
    strict.compaction.empty_usage_counts = false;
    let since = last_compaction(branch).map_or(0, |(at, _)| at + 1);
    let fresh: Vec<Message> = branch[since..]
        .iter()
        .filter_map(message_of)
        .map(std::borrow::Cow::into_owned)
        .collect();
    match context_tokens(&fresh, &strict) {
        counted if counted.counted > 0 => counted,
        _ => ContextTokens {
            counted: 0,
            estimated: estimate_all(&visible_messages(branch), &rules.estimate),
        },
    }
}

/// Says what a compaction would do. Nothing, if the newest record is a compaction.
pub fn prepare(
    branch: &[TranscriptEntry],
    compacting: &Compacting,
    rules: &HistoryRules,
) -> Option<Preparation> {
    if branch
        .last()
        .is_none_or(|entry| matches!(entry.body, EntryBody::Compaction(_)))
    {
        return None;
    }
    let visible = visible_messages(branch);
    let tokens = context_tokens(&visible, rules);
    let keep = keep_tokens(&visible, tokens.counted, compacting, rules);
    let start = visible_from(branch);
    let cut = cut_point(branch, start..branch.len(), keep, rules);
    let preparation = with_cut(branch, start, cut, tokens.total())?;
    let empty = preparation.to_summarize.is_empty() && preparation.turn_prefix.is_empty();
    (!empty || !rules.compaction.empty_plan_is_none).then_some(preparation)
}

fn with_cut(
    branch: &[TranscriptEntry],
    start: usize,
    cut: CutPoint,
    tokens_before: u64,
) -> Option<Preparation> {
    let first = branch
        .get(cut.first_kept)
        .filter(|entry| !entry.id.is_empty())?;
    let messages = |from: usize, to: usize| -> Vec<usize> {
        (from..to)
            // Workspace files are sent again as they are: a summary of them helps nobody.
            .filter(|at| message_of(&branch[*at]).is_some() && !holds_files(&branch[*at]))
            .collect()
    };
    let to_summarize = messages(start, cut.history_end());
    let turn_prefix = messages(cut.history_end(), cut.first_kept);
    let earlier = last_compaction(branch).map(|(_, compaction)| compaction);
    let mut files = FileOperations::default();
    if let Some(earlier) = earlier {
        files.add_earlier(earlier);
    }
    for at in to_summarize.iter().chain(&turn_prefix) {
        if let Some(message) = message_of(&branch[*at]) {
            files.add_message(&message);
        }
    }
    Some(Preparation {
        first_kept: cut.first_kept,
        first_kept_id: first.id.clone(),
        to_summarize,
        turn_prefix,
        is_split_turn: cut.is_split_turn(),
        tokens_before,
        previous_summary: earlier.map(|compaction| compaction.summary.clone()),
        files,
    })
}

/// Returns how many estimated tokens stay. A provider counts more than we estimate: its count makes the kept part smaller.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn keep_tokens(
    visible: &[Message],
    counted: u64,
    compacting: &Compacting,
    rules: &HistoryRules,
) -> f64 {
    let keep = compacting.keep_recent_tokens as f64;
    let estimated = estimate_all(visible, &rules.estimate) as f64;
    if !rules.compaction.keep_scaled_by_usage || estimated <= 0.0 {
        return keep;
    }
    let scale = (counted as f64 / estimated).max(1.0).min(keep.max(1.0));
    keep / scale
}
