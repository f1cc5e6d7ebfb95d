//! What of a branch a model is sent: the summary, what it kept and what came since, put right and made short.
//!
//! All of it depends on the records alone, so that the same records give the same bytes: a request begins as the last one
//! did. Where that cannot be, [`prefix_changes`] says why.

use super::call_ids::{CallIdForm, make_unique};
use super::images::{images_kept_from, without_images};
use super::limit::limit_start_after;
use super::prepare::{last_compaction, visible_from};
use super::prune::{Pruning, prune};
use super::repair::{FailedResults, rename_answered, repair, repair_calls};
use super::stamp::MessageStamp;
use super::tool_results::{cap_for_request, cap_result, tool_result_limit};
use super::view::{any_call, content_of, failed, message_of, result_id, text_field};
use super::workspace_files::{are_held, holds_files};
use crate::compat::role;
use chitin_context::continuation::ConversationFiles;
use chitin_contract::HistoryRules;
use chitin_protocol::message::{
    AssistantMessage, Block, Content, Extra, Message, ToolCallBlock, ToolResultMessage, UserMessage,
};
use chitin_protocol::text::is_blank_js;
use chitin_protocol::transcript::TranscriptEntry;
use serde::Serialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// How a branch becomes messages.
#[derive(Debug, Clone, Default)]
pub struct Assembling<'a> {
    /// How many tokens the model takes.
    pub window: u64,
    /// How many of the user's turns are sent again; none means all.
    pub turns: Option<usize>,
    /// How many messages of the user come before the branch, and are not sent in any case.
    pub older_users: usize,
    /// The longest tool result, if it is configured.
    pub tool_result_chars: Option<usize>,
    /// How old tool results are shortened now; none while the provider's cache is warm.
    pub prune: Option<&'a Pruning>,
    /// What was shortened before stays so, or each request would begin otherwise than the one before.
    pub pruned: Option<&'a PrunedResults>,
    /// Workspace files that have to be in the conversation. Where what is shown does not hold them, as after a compaction, they
    /// stand before everything else.
    pub files: Option<&'a ConversationFiles>,
    /// Whether records that hold workspace files are left out; those that have to be there then stand before everything else.
    pub withholds_files: bool,
    /// How ids of calls are written.
    pub call_ids: CallIdForm,
    /// Puts the time before the user's messages, where that is not written down.
    pub stamp: Option<&'a MessageStamp>,
    /// The turn that is under way; none between turns.
    pub running: Option<CurrentTurn<'a>>,
}

/// What belongs to the turn that is under way.
#[derive(Debug, Clone, Copy)]
pub struct CurrentTurn<'a> {
    /// How many records of the branch are older.
    pub records_before: usize,
    /// Results of this turn that are longer than what the transcript keeps of them, by record.
    pub whole: &'a HashMap<String, Vec<Block>>,
}

/// Tool results that were shortened once, for as long as the process lives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PrunedResults(HashMap<ResultKey, ToolResultMessage>);

impl PrunedResults {
    /// Sets what is sent in place of a result that was sent as `current` so far.
    pub(crate) fn shorten(&mut self, current: &ToolResultMessage, shorter: ToolResultMessage) {
        match self.0.values_mut().find(|known| *known == current) {
            Some(known) => *known = shorter,
            None => {
                self.0.insert(ResultKey::of(current), shorter);
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ResultKey {
    call: String,
    timestamp: Option<i64>,
    length: usize,
}

impl ResultKey {
    fn of(result: &ToolResultMessage) -> Self {
        Self {
            call: result.tool_call_id.clone(),
            timestamp: result.timestamp,
            length: result.content.text().len(),
        }
    }
}

/// What a model is sent of a branch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Assembled {
    /// The messages.
    pub messages: Vec<Message>,
    /// What was shortened; hand it in again next time.
    pub pruned: PrunedResults,
    compaction: Option<String>,
    limited_from: usize,
    images_from: usize,
    result_limit: usize,
    /// Whether workspace files stand before the conversation.
    pub(crate) files_before: bool,
}

/// Why a request does not begin as the one before it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrefixChange {
    /// The conversation was put into a summary.
    Compacted,
    /// Old tool results were shortened.
    Pruned,
    /// Old pictures were left out.
    ImagesAged,
    /// The limit of turns left some out.
    HistoryLimitMoved,
    /// Another model takes more or less of a tool result.
    ResultLimitChanged,
    /// The conversation was damaged, and a later record put it right.
    Repaired,
}

impl PrefixChange {
    /// Says the reason in words.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Compacted => "compacted",
            Self::Pruned => "pruned",
            Self::ImagesAged => "images aged",
            Self::HistoryLimitMoved => "history limit moved",
            Self::ResultLimitChanged => "result limit changed",
            Self::Repaired => "repaired",
        }
    }
}

/// Turns a branch into the messages that a model is sent.
pub fn messages_for_model(
    branch: &[TranscriptEntry],
    options: &Assembling<'_>,
    rules: &HistoryRules,
) -> Assembled {
    let compaction = last_compaction(branch);
    let mut messages: Vec<Message> = Vec::new();
    let shown = &branch[visible_from(branch)..];
    // A limit of turns would cut them off sooner or later, so that they stand before it from the start.
    let before = options.files.filter(|files| {
        options.turns.is_some() || options.withholds_files || !are_held(shown, files)
    });
    let is_before = |entry: &&TranscriptEntry| {
        let is_apart = before.is_some() && options.turns.is_some();
        (is_apart || options.withholds_files) && holds_files(entry)
    };
    let from = branch.len() - shown.len();
    let records_before = options
        .running
        .map_or(branch.len(), |running| running.records_before);
    let mut earlier = 0;
    let mut whole: Vec<usize> = Vec::new();
    for (at, entry) in shown.iter().enumerate() {
        let message = message_of(entry).filter(|_| !is_before(&entry));
        let Some(mut message) = message.and_then(|one| for_model(&one)) else {
            continue;
        };
        if let Some(running) = &options.running
            && let Message::ToolResult(result) = &mut message
            && let Some(content) = running.whole.get(&entry.id)
        {
            result.content = Content::Blocks(content.clone());
            whole.push(messages.len());
        }
        messages.push(message);
        if from + at < records_before {
            earlier = messages.len();
        }
    }
    make_unique(&mut messages, earlier, options.call_ids);
    let whole: HashSet<String> = whole
        .into_iter()
        .filter_map(|at| match &messages[at] {
            Message::ToolResult(result) => Some(result.tool_call_id.clone()),
            Message::User(_) | Message::Assistant(_) | Message::Other(_) => None,
        })
        .collect();
    rename_answered(&mut messages, &rules.repair);
    let messages = repair_calls(&messages, None).messages;
    let mut messages = repair(&messages, FailedResults::Drop, &rules.repair).messages;
    close_calls(&mut messages);

    let limited = options
        .turns
        .map(|turns| limit_start_after(options.older_users, &messages, turns, rules.turn_limit));
    if let Some(limited) = limited {
        let mut at = 0;
        messages.retain(|_| {
            at += 1;
            limited.keeps(at - 1)
        });
    }
    let images_from = images_kept_from(&messages, &rules.images);
    for message in &mut messages[..images_from] {
        if let Some(aged) = without_images(message, &rules.images) {
            *message = aged;
        }
    }
    let mut result_limit = tool_result_limit(options.window, &rules.tool_results);
    if let Some(chars) = options.tool_result_chars {
        result_limit = result_limit.min(chars.max(1));
    }
    for message in &mut messages {
        let Message::ToolResult(result) = message else {
            continue;
        };
        if !whole.contains(&result.tool_call_id)
            && let Some(capped) = cap_result(result, result_limit, &rules.tool_results)
        {
            *result = capped;
        }
        if let Some(capped) = cap_for_request(result, options.window, &rules.tool_results) {
            *result = capped;
        }
    }
    let pruned = shorten_old(&mut messages, options);
    if let Some(stamp) = options.stamp {
        stamp.apply(&mut messages);
    }
    if let Some((_, compaction)) = compaction {
        messages.insert(0, summary_message(&compaction.summary));
    }
    if let Some(files) = before {
        messages.insert(0, user(Content::Text(files.text())));
    }
    Assembled {
        messages,
        pruned,
        compaction: compaction.map(|(at, _)| branch[at].id.clone()),
        limited_from: limited.map_or(0, |limited| limited.from),
        images_from: match images_from {
            0 => 0,
            at => at + limited.map_or(0, |limited| limited.from),
        },
        result_limit,
        files_before: before.is_some(),
    }
}

/// Says why `later` does not begin as `earlier` did; nothing if it does.
pub fn prefix_changes(earlier: &Assembled, later: &Assembled) -> Vec<PrefixChange> {
    if later.messages.starts_with(&earlier.messages) {
        return Vec::new();
    }
    let reasons = [
        (
            earlier.compaction != later.compaction,
            PrefixChange::Compacted,
        ),
        (earlier.pruned != later.pruned, PrefixChange::Pruned),
        (
            earlier.images_from != later.images_from,
            PrefixChange::ImagesAged,
        ),
        (
            earlier.limited_from != later.limited_from,
            PrefixChange::HistoryLimitMoved,
        ),
        (
            earlier.result_limit != later.result_limit,
            PrefixChange::ResultLimitChanged,
        ),
    ];
    let changes: Vec<PrefixChange> = reasons
        .into_iter()
        .filter_map(|(holds, change)| holds.then_some(change))
        .collect();
    if changes.is_empty() {
        vec![PrefixChange::Repaired]
    } else {
        changes
    }
}

/// Shortens what was shortened before, and, if it is time, what is old now.
fn shorten_old(messages: &mut [Message], options: &Assembling<'_>) -> PrunedResults {
    let mut pruned = PrunedResults::default();
    let mut keys: Vec<Option<ResultKey>> = vec![None; messages.len()];
    for (message, key) in messages.iter_mut().zip(&mut keys) {
        let Message::ToolResult(result) = message else {
            continue;
        };
        let own = ResultKey::of(result);
        if let Some(short) = options.pruned.and_then(|known| known.0.get(&own)) {
            *result = short.clone();
            pruned.0.insert(own.clone(), short.clone());
        }
        *key = Some(own);
    }
    let now = options
        .prune
        .map(|pruning| prune(messages, options.window, pruning));
    for one in now.into_iter().flatten() {
        if let Some(key) = keys[one.index].clone() {
            pruned.0.insert(key, one.message.clone());
        }
        messages[one.index] = Message::ToolResult(one.message);
    }
    pruned
}

fn user(content: Content) -> Message {
    Message::User(UserMessage {
        content,
        timestamp: None,
        extra: Extra::new(),
    })
}

/// Returns the message that stands for what was summarised (C33).
pub(super) fn summary_message(summary: &str) -> Message {
    user(Content::Text(format!(
        "Earlier parts of this conversation are no longer shown. These notes stand for them:\n\n<summary>\n{summary}\n</summary>"
    )))
}

/// Returns a message as a provider knows it. Roles that only programs know become the user's words, or nothing.
fn for_model(message: &Message) -> Option<Message> {
    match message {
        Message::User(one) => (!says_nothing(&one.content)).then(|| message.clone()),
        Message::ToolResult(result) => Some(Message::ToolResult(ToolResultMessage {
            // Older programs spell the field otherwise.
            tool_call_id: result_id(result).unwrap_or_default().to_owned(),
            ..result.clone()
        })),
        Message::Assistant(answer) => settled(answer),
        Message::Other(value) => match message.role() {
            role::BASH if value.get("excludeFromContext") == Some(&Value::Bool(true)) => None,
            role::BASH => Some(user(Content::Text(format!(
                "I ran this command:\n\n{}\n\nIt said:\n\n{}",
                text_field(value, "command"),
                text_field(value, "output"),
            )))),
            role::BRANCH_SUMMARY => Some(user(Content::Text(format!(
                "Another line of this conversation was tried and left. These notes stand for it:\n\n<summary>\n{}\n</summary>",
                text_field(value, "summary"),
            )))),
            role::CUSTOM => content_of(message)
                .map(std::borrow::Cow::into_owned)
                .filter(|content| !says_nothing(content))
                .map(user),
            _ => None,
        },
    }
}

/// Tells whether a record becomes the user's words.
pub(super) fn becomes_users(entry: &TranscriptEntry) -> bool {
    let message = message_of(entry).and_then(|message| for_model(&message));
    matches!(message, Some(Message::User(_)))
}

fn says_nothing(content: &Content) -> bool {
    match content {
        Content::Text(text) => is_blank_js(text),
        Content::Blocks(blocks) => blocks
            .iter()
            .all(|block| block.as_text().is_some_and(is_blank_js)),
        Content::Other(_) => true,
    }
}

/// Returns an answer that may be sent again. One that failed or was stopped may hold half a call or half a thought:
/// its text stays, the rest goes.
fn settled(answer: &AssistantMessage) -> Option<Message> {
    let mut answer = answer.clone();
    if let Content::Blocks(blocks) = &mut answer.content {
        blocks.iter_mut().for_each(spell_call);
    }
    if let (true, Content::Blocks(blocks)) = (failed(&answer), &mut answer.content) {
        blocks.retain(|block| match block {
            Block::Text(text) => !is_blank_js(&text.text),
            Block::Image(_) => true,
            Block::Thinking(_) | Block::ToolCall(_) | Block::Other(_) => false,
        });
    }
    (!says_nothing(&answer.content)).then_some(Message::Assistant(answer))
}

/// Spells a call of another program as we do.
fn spell_call(block: &mut Block) {
    let Block::Other(value) = &*block else {
        return;
    };
    let Some(call) = any_call(block).filter(|call| call.has_input) else {
        return;
    };
    let given = ["arguments", "input"]
        .iter()
        .find_map(|name| value.get(name));
    *block = Block::ToolCall(ToolCallBlock {
        id: call.id.to_owned(),
        name: call.name.unwrap_or_default().to_owned(),
        arguments: given.cloned(),
        extra: Extra::new(),
    });
}

/// Takes calls away that have no result right behind their answer, whatever the rules of repair left.
fn close_calls(messages: &mut Vec<Message>) {
    let mut at = 0;
    while at < messages.len() {
        let results: Vec<String> = messages[at + 1..]
            .iter()
            .map_while(|next| match next {
                Message::ToolResult(result) => Some(result.tool_call_id.clone()),
                Message::User(_) | Message::Assistant(_) | Message::Other(_) => None,
            })
            .collect();
        let mut empty = false;
        if let Message::Assistant(answer) = &mut messages[at]
            && let Content::Blocks(blocks) = &mut answer.content
        {
            let mut left = results;
            blocks.retain(|block| {
                let Some(call) = any_call(block) else {
                    return true;
                };
                match left.iter().position(|id| id == call.id) {
                    Some(found) => {
                        left.remove(found);
                        true
                    }
                    None => false,
                }
            });
            empty = blocks.is_empty();
        }
        if empty {
            messages.remove(at);
        } else {
            at += 1;
        }
    }
}
