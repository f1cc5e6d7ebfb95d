//! Where a conversation is cut: what comes before goes into a summary, what comes after stays (C30–C32).

use super::estimate::estimate;
use super::view::message_of;
use crate::compat::{record, role};
use chitin_contract::{EstimateRules, HistoryRules, NoCutAfter, TurnStarts};
use chitin_protocol::message::Message;
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use std::ops::Range;

/// Where a conversation is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutPoint {
    /// The first record that stays.
    pub first_kept: usize,
    /// Where the turn began that is cut in two, if one is.
    pub turn_start: Option<usize>,
}

impl CutPoint {
    /// Tells whether a turn is cut in two (C31).
    pub const fn is_split_turn(&self) -> bool {
        self.turn_start.is_some()
    }

    /// Returns the end of what goes into the summary proper: a turn that is cut in two is told apart.
    pub const fn history_end(&self) -> usize {
        match self.turn_start {
            Some(start) => start,
            None => self.first_kept,
        }
    }
}

/// Finds where to cut the records of a range so that about `keep_tokens` of the newest stay. Never at a tool result.
pub fn cut_point(
    entries: &[TranscriptEntry],
    range: Range<usize>,
    keep_tokens: f64,
    rules: &HistoryRules,
) -> CutPoint {
    let range = range.start.min(entries.len())..range.end.min(entries.len());
    let cuts: Vec<usize> = range.clone().filter(|at| may_cut(&entries[*at])).collect();
    let Some((&first, &last)) = cuts.first().zip(cuts.last()) else {
        return CutPoint {
            first_kept: range.start,
            turn_start: None,
        };
    };
    let cut = match enough_from(entries, range.clone(), keep_tokens, &rules.estimate, rules) {
        None => first,
        Some(from) => match cuts.iter().find(|cut| **cut >= from) {
            Some(cut) => *cut,
            None => match rules.compaction.no_cut_after {
                NoCutAfter::KeepAll => first,
                NoCutAfter::LastBefore => last,
            },
        },
    };
    let first_kept = with_notes_before(entries, range.start, cut, rules);
    let starts = rules.compaction.turn_starts;
    let turn_start = if starts_turn_at_cut(&entries[first_kept], starts) {
        None
    } else {
        (range.start..=first_kept)
            .rev()
            .find(|at| starts_turn(&entries[*at], starts))
    };
    CutPoint {
        first_kept,
        turn_start,
    }
}

/// Returns the newest record from which on there are enough tokens.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn enough_from(
    entries: &[TranscriptEntry],
    range: Range<usize>,
    keep_tokens: f64,
    estimates: &EstimateRules,
    rules: &HistoryRules,
) -> Option<usize> {
    let mut tokens = 0;
    for at in range.rev() {
        let message = match (&entries[at].body, rules.compaction.turn_starts) {
            (EntryBody::Message(message), _) => estimate(message, estimates),
            // Notes to the model weigh only where they count as messages.
            (_, TurnStarts::AnyoneButTheModel) => match message_of(&entries[at]) {
                Some(message) => estimate(&message, estimates),
                None => continue,
            },
            (_, TurnStarts::UserMessage) => continue,
        };
        tokens += message;
        if tokens as f64 >= keep_tokens {
            return Some(at);
        }
    }
    None
}

/// Includes the records before a cut that are no messages (C32).
fn with_notes_before(
    entries: &[TranscriptEntry],
    start: usize,
    cut: usize,
    rules: &HistoryRules,
) -> usize {
    (start..cut)
        .rev()
        .take_while(|at| match &entries[*at].body {
            EntryBody::Message(_) | EntryBody::Compaction(_) => false,
            EntryBody::Other(_) => match rules.compaction.turn_starts {
                TurnStarts::UserMessage => true,
                TurnStarts::AnyoneButTheModel => message_of(&entries[*at]).is_none(),
            },
            EntryBody::ModelChange { .. }
            | EntryBody::ThinkingLevelChange { .. }
            | EntryBody::Custom { .. } => true,
        })
        .last()
        .unwrap_or(cut)
}

/// Tells whether a conversation may be cut before a record.
fn may_cut(entry: &TranscriptEntry) -> bool {
    match &entry.body {
        EntryBody::Message(Message::User(_) | Message::Assistant(_)) => true,
        EntryBody::Message(message @ Message::Other(_)) => matches!(
            message.role(),
            role::BASH
                | role::CUSTOM
                | role::BRANCH_SUMMARY
                | role::COMPACTION_SUMMARY
                | "user"
                | "assistant"
        ),
        EntryBody::Other(_) => is_note(entry),
        EntryBody::Message(Message::ToolResult(_))
        | EntryBody::ModelChange { .. }
        | EntryBody::ThinkingLevelChange { .. }
        | EntryBody::Custom { .. }
        | EntryBody::Compaction(_) => false,
    }
}

fn is_note(entry: &TranscriptEntry) -> bool {
    matches!(
        entry.body.kind(),
        record::CUSTOM_MESSAGE | record::BRANCH_SUMMARY
    )
}

/// Tells whether a cut before a record leaves whole turns on both sides.
fn starts_turn_at_cut(entry: &TranscriptEntry, starts: TurnStarts) -> bool {
    match starts {
        TurnStarts::UserMessage => entry
            .message()
            .is_some_and(|message| message.role() == "user"),
        TurnStarts::AnyoneButTheModel => starts_turn(entry, starts),
    }
}

fn starts_turn(entry: &TranscriptEntry, starts: TurnStarts) -> bool {
    match (entry.message(), starts) {
        (None, _) => is_note(entry),
        (Some(message), TurnStarts::UserMessage) => matches!(message.role(), "user" | role::BASH),
        (Some(message), TurnStarts::AnyoneButTheModel) => matches!(
            message.role(),
            "user" | role::BASH | role::CUSTOM | role::BRANCH_SUMMARY | role::COMPACTION_SUMMARY
        ),
    }
}
