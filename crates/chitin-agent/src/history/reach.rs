//! How much of a long session a turn holds: what the model may be sent, and of the rest what the turn must know of it.
//!
//! What does not fit the model's window is never sent, so a turn holds the newest records that fill it several times over, from
//! the beginning of a turn on. Older records are looked at one by one and let go; what is still to be known of them is held:
//! where their texts come from, which model answered, the last summary, and the turn that a caller asks about.

use super::assemble::becomes_users;
use super::tool_results::tool_result_limit;
use super::view::{any_call, content_of, message_of};
use crate::compat;
use crate::origins;
use chitin_contract::{HistoryRules, TurnLimit};
use chitin_protocol::message::{Block, Content, Extra, Message};
use chitin_protocol::origin::{Origin, add_origins};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_store::{BranchMeasure, Passed};
use chitin_workspace::turn_marker::compat::FULL_CONTEXT;
use serde_json::json;

/// How many times the window is filled by what is held. A token is rarely more than this many times four characters long, so that
/// what is left out would not have been sent.
const WINDOWS: u64 = 4;
/// The same where conversations are not put into summaries: what is left out is lost to the model.
const WINDOWS_WITHOUT_SUMMARY: u64 = 16;
/// Characters to a token.
const CHARS: u64 = 4;
/// No more of a transcript is held than so many bytes, however little of them is sent. More is than any provider takes.
const MOST_BYTES: u64 = 32 << 20;
/// How much of a turn that a caller asks about is held.
const MOST_OF_TURN: u64 = 32 << 20;

/// What decides how much is held.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach<'a> {
    pub(crate) rules: &'static HistoryRules,
    /// The largest window of the models that may be asked, in tokens.
    pub(crate) window: u64,
    pub(crate) compacts: bool,
    pub(crate) prunes: bool,
    /// Whether only the last turns are sent.
    pub(crate) limits_turns: bool,
    /// The turn that a caller asks about.
    pub(crate) key: Option<&'a str>,
}

/// Measures how much of a session a turn holds.
pub(crate) struct HistoryMeasure<'a> {
    reach: Reach<'a>,
    room: u64,
    result_limit: u64,
    chars: u64,
    bytes: u64,
    has: Held,
    older: OlderRecords,
    /// The records of the turn that is passed, the last one first; and how long they are, as far as they are looked at.
    turn: Vec<TranscriptEntry>,
    turn_bytes: u64,
}

/// Which records are held already of those that only the last one counts of.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    model: bool,
    thinking: bool,
    marker: bool,
    compaction: bool,
}

/// What a turn must know of records that it does not hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct OlderRecords {
    /// Where their texts come from, as far as they are not the owner's.
    origins: Vec<Origin>,
    /// The turn that the caller asks about, if it is among them, up to the next one.
    pub(crate) turn: Vec<TranscriptEntry>,
}

impl OlderRecords {
    /// Returns a record that says where the texts come from, as if it stood in the transcript.
    pub(crate) fn record(&self) -> Option<TranscriptEntry> {
        if self.origins.is_empty() {
            return None;
        }
        let body = EntryBody::Custom {
            custom_type: compat::ORIGINS.to_owned(),
            data: Some(json!({ compat::ORIGINS: self.origins })),
        };
        Some(TranscriptEntry {
            id: String::new(),
            parent_id: None,
            timestamp: String::new(),
            body,
            extra: Extra::new(),
        })
    }
}

impl<'a> HistoryMeasure<'a> {
    pub(crate) fn new(reach: Reach<'a>) -> Self {
        let windows = if reach.compacts {
            WINDOWS
        } else {
            WINDOWS_WITHOUT_SUMMARY
        };
        let result_limit = tool_result_limit(reach.window, &reach.rules.tool_results);
        Self {
            room: reach.window.saturating_mul(windows * CHARS),
            // Results that are pruned may be sent as hardly anything.
            result_limit: if reach.prunes { 0 } else { result_limit as u64 },
            reach,
            chars: 0,
            bytes: 0,
            has: Held::default(),
            older: OlderRecords::default(),
            turn: Vec::new(),
            turn_bytes: 0,
        }
    }

    /// Returns what is to be known of the records that were let go.
    pub(crate) fn end(self) -> OlderRecords {
        self.older
    }

    /// Returns how many characters of a record are sent for sure, if it is sent. Thoughts may be left out.
    fn chars_of(&self, entry: &TranscriptEntry) -> u64 {
        let Some(message) = message_of(entry) else {
            return 0;
        };
        let chars = content_of(&message).map_or(0, |content| match &*content {
            Content::Text(text) => text.len() as u64,
            Content::Blocks(blocks) => blocks.iter().map(chars_of_block).sum(),
            Content::Other(_) => 0,
        });
        match &*message {
            Message::ToolResult(_) => chars.min(self.result_limit),
            Message::User(_) | Message::Assistant(_) | Message::Other(_) => chars,
        }
    }

    /// Looks for the turn that the caller asks about.
    fn look_for_turn(&mut self, entry: &TranscriptEntry, key: &str) {
        if !self.older.turn.is_empty() {
            return;
        }
        let field = |name: &str| match &entry.body {
            EntryBody::Message(Message::User(message)) => message.extra.get(name)?.as_str(),
            _ => None,
        };
        let is_user = matches!(&entry.body, EntryBody::Message(Message::User(_)));
        if field(compat::IDEMPOTENCY_KEY) == Some(key) {
            self.turn.push(entry.clone());
            self.turn.reverse();
            self.older.turn = std::mem::take(&mut self.turn);
        } else if is_user && field(compat::STEERED_INTO) != Some(key) {
            // A turn ends where the next one begins.
            self.turn.clear();
            self.turn.push(entry.clone());
            self.turn_bytes = 0;
        } else {
            self.turn_bytes += self.chars_of(entry);
            if self.turn_bytes <= MOST_OF_TURN {
                self.turn.push(entry.clone());
            }
        }
    }
}

fn chars_of_block(block: &Block) -> u64 {
    match block {
        Block::Text(text) => text.text.len() as u64,
        Block::ToolCall(call) => {
            let arguments = call.arguments.as_ref();
            let written = arguments.map_or(0, |value| value.to_string().len());
            (call.name.len() + written) as u64
        }
        Block::Other(value) if any_call(block).is_some() => value.to_string().len() as u64 / 2,
        Block::Thinking(_) | Block::Image(_) | Block::Other(_) => 0,
    }
}

impl BranchMeasure for HistoryMeasure<'_> {
    fn begin(&mut self) {
        *self = Self::new(self.reach);
    }

    fn is_enough(&mut self, entry: &TranscriptEntry, bytes: u64) -> bool {
        self.chars += self.chars_of(entry);
        self.bytes += bytes;
        let begins = matches!(&entry.body, EntryBody::Message(Message::User(_)));
        let is_enough = begins && self.chars >= self.room || self.bytes >= MOST_BYTES;
        if is_enough {
            // The turn before ends here.
            self.turn = vec![entry.clone()];
        }
        is_enough
    }

    fn pass(&mut self, entry: &TranscriptEntry) -> Passed {
        add_origins(&mut self.older.origins, &origins::origins_of([entry]));
        if let Some(key) = self.reach.key {
            self.look_for_turn(entry, key);
        }
        let held = match &entry.body {
            EntryBody::ModelChange { .. } => Some(&mut self.has.model),
            EntryBody::ThinkingLevelChange { .. } => Some(&mut self.has.thinking),
            EntryBody::Compaction(_) => Some(&mut self.has.compaction),
            EntryBody::Custom { custom_type, .. } if custom_type == FULL_CONTEXT => {
                Some(&mut self.has.marker)
            }
            EntryBody::Custom { .. } | EntryBody::Message(_) | EntryBody::Other(_) => None,
        };
        if let Some(held) = held
            && !std::mem::replace(held, true)
        {
            return Passed::Held;
        }
        let counts = self.reach.limits_turns
            && match self.reach.rules.turn_limit {
                TurnLimit::Exact => false,
                TurnLimit::Batches => becomes_users(entry),
            };
        if counts {
            Passed::Counted
        } else {
            Passed::LetGo
        }
    }
}
