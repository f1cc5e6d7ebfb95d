//! The conversation: the session's records, and the history that is sent from them.

use super::{ModelCandidate, Parts, TurnInput};
use crate::history::{
    Assembled, Assembling, CallIdForm, Compacting, CurrentTurn, FlushOptions, HistoryMeasure,
    MessageStamp, OlderRecords, OutgoingRequest, PrefixChange, Preflight, PreflightRoute, Pruning,
    Reach, branch_tokens, cap_result, due_record, effective_reserve, estimate, estimate_text,
    is_marked, messages_for_model, prefix_changes, preflight, shortened_results, should_compact,
    tool_result_limit,
};
use chitin_context::Context;
use chitin_context::continuation::ConversationFiles;
use chitin_contract::{Contract, HistoryRules, OwnTurnResults, PrecheckEffect, TranscriptRules};
use chitin_model::Api;
use chitin_protocol::message::{Block, Content, Extra, Message, ToolResultMessage};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_store::{Branch, Run, SessionSpeaker, for_writing};
use chitin_tools::GuestRights;
use jiff::tz::TimeZone;
use serde_json::json;
use std::collections::HashMap;

/// The window of a model whose window is unknown.
pub(super) const COMMON_WINDOW: u64 = 128_000;

/// The custom record that says which model answers (R23).
const MODEL_SNAPSHOT: &str = "model-snapshot";

/// How the conversation is kept short.
#[derive(Debug, Clone)]
pub struct HistoryOptions {
    /// When it is compacted.
    pub compacting: Compacting,
    /// How many user turns are sent; none means all.
    pub turns: Option<usize>,
    /// The longest tool result.
    pub tool_result_chars: Option<usize>,
    /// How old tool results are pruned; none if they are not.
    pub pruning: Option<Pruning>,
    /// How many of the newest compacted turns are kept verbatim; none leaves it to the contract.
    pub preserved_turns: Option<usize>,
    /// What summaries should pay attention to.
    pub instructions: Option<String>,
    /// How the agent saves notes before compaction; none if it does not.
    pub flush: Option<FlushOptions>,
    /// Adds the time to user messages that do not have it in their record.
    pub stamp: Option<MessageStamp>,
}

impl HistoryOptions {
    /// The contract's values, without any settings.
    pub fn new(contract: &Contract) -> Self {
        Self {
            compacting: Compacting::default(),
            turns: None,
            tool_result_chars: None,
            pruning: None,
            preserved_turns: None,
            instructions: None,
            flush: None,
            stamp: MessageStamp::of(&contract.runtime.transcript, || TimeZone::UTC),
        }
    }
}

/// What decides how much of a session is sent.
#[derive(Debug, Clone, Copy)]
pub struct HistoryInputs<'a> {
    /// The contract's rules.
    pub rules: &'static HistoryRules,
    /// The rules for records; a message is sent as it was recorded.
    pub transcript: &'static TranscriptRules,
    /// How the conversation is kept short.
    pub options: &'a HistoryOptions,
    /// The model that is asked.
    pub provider: &'a str,
    /// Its wire format, if known.
    pub api: Option<Api>,
    /// Its context window in tokens, if known.
    pub window: Option<u64>,
    /// The time.
    pub now_ms: i64,
}

/// The part of a session that the next request repeats.
#[derive(Debug, Clone, Default)]
pub struct SentHistory {
    /// The messages, after the contract's rules.
    pub messages: Vec<Message>,
    /// Whether the conversation is so long that it is compacted before the next request.
    pub compaction_due: bool,
}

/// The messages of a session's next request, before a context engine has seen them.
#[derive(Debug, Clone)]
pub struct NextRequest {
    /// The messages, after the contract's rules: the session so far, the workspace files that the contract puts into the
    /// conversation, and the user's message.
    pub messages: Vec<Message>,
    /// Whether the conversation is so long that it is compacted before the request.
    pub compaction_due: bool,
    /// The model's context window, or the one that is assumed.
    pub window: u64,
}

/// Returns the messages of the next request as a turn with this message would send them, notices of the context included.
pub fn next_request(
    branch: &Branch,
    inputs: &HistoryInputs<'_>,
    context: &Context,
    words: &str,
) -> NextRequest {
    let mut conversation = Conversation::new(branch, inputs);
    let files = context.conversation_files();
    conversation.carry(files);
    let text = context.user_message(words);
    let compaction_due = conversation.is_due(&context.system(), &text, conversation.window);
    let input = TurnInput::default();
    let message = input.message(text, inputs.now_ms);
    conversation.open(message, &crate::clock::iso(inputs.now_ms));
    NextRequest {
        compaction_due,
        window: conversation.window,
        messages: conversation.assembled.messages,
    }
}

/// Returns what decides how much of a session is held.
pub(super) fn reach<'a>(
    rules: &'static HistoryRules,
    options: &HistoryOptions,
    window: u64,
    key: Option<&'a str>,
) -> Reach<'a> {
    Reach {
        rules,
        window,
        compacts: options.compacting.enabled,
        prunes: options.pruning.is_some(),
        limits_turns: options.turns.is_some(),
        key,
    }
}

/// Measures how much of a session a turn holds that may ask any of the agent's models.
pub(crate) fn measure<'a>(parts: &Parts, key: Option<&'a str>) -> HistoryMeasure<'a> {
    let windows = parts.models.iter().map(window_of);
    let window = windows.max().unwrap_or(COMMON_WINDOW);
    let rules = &parts.contract.runtime.history;
    HistoryMeasure::new(reach(rules, &parts.history, window, key))
}

/// The conversation of a turn in progress.
pub(crate) struct Conversation {
    entries: Vec<TranscriptEntry>,
    assembled: Assembled,
    /// What the previous request of this turn held.
    sent: Option<Assembled>,
    window: u64,
    rules: &'static HistoryRules,
    transcript: &'static TranscriptRules,
    options: HistoryOptions,
    /// Whether the provider's cache has expired since the last reply, so that old results may be pruned.
    cold: bool,
    /// Workspace files that belong into it.
    files: Option<ConversationFiles>,
    /// Whether records with workspace files are not sent: they may hold what the turn must not show.
    withholds_files: bool,
    call_ids: CallIdForm,
    /// How many records there were before the turn.
    records_before: usize,
    /// How many messages of the user come before the records, while nothing was put into a summary since.
    older_users: usize,
    /// Results of this turn that are longer than what the transcript keeps of them, by record.
    whole: HashMap<String, Vec<Block>>,
}

impl Conversation {
    pub(crate) fn of(branch: &Branch, older: Option<&OlderRecords>, parts: &Parts) -> Self {
        let candidate = parts.models.first();
        let inputs = HistoryInputs {
            rules: &parts.contract.runtime.history,
            transcript: &parts.contract.runtime.transcript,
            options: &parts.history,
            provider: candidate.map_or("", |one| one.model.provider()),
            api: candidate.map(|one| one.model.api()),
            window: candidate.and_then(|one| one.context_window),
            now_ms: parts.clock.now_ms(),
        };
        let mut conversation = Self::new(branch, &inputs);
        if let Some(record) = older.and_then(OlderRecords::record) {
            conversation.entries.insert(0, record);
            conversation.records_before += 1;
        }
        conversation
    }

    fn new(branch: &Branch, inputs: &HistoryInputs<'_>) -> Self {
        let cold = inputs.options.pruning.as_ref().is_some_and(|pruning| {
            pruning.is_due(idle(&branch.entries, inputs.now_ms), inputs.provider)
        });
        let entries: Vec<TranscriptEntry> = branch
            .older
            .iter()
            .chain(&branch.entries)
            .cloned()
            .collect();
        let mut conversation = Self {
            records_before: entries.len(),
            entries,
            older_users: branch.counted,
            assembled: Assembled::default(),
            sent: None,
            window: inputs.window.unwrap_or(COMMON_WINDOW),
            rules: inputs.rules,
            transcript: inputs.transcript,
            options: inputs.options.clone(),
            cold,
            files: None,
            withholds_files: false,
            call_ids: inputs.api.map_or_else(CallIdForm::default, |api| {
                CallIdForm::of(&inputs.rules.repair, api, inputs.provider)
            }),
            whole: HashMap::new(),
        };
        conversation.assemble();
        conversation
    }

    /// Leaves out what earlier turns of the owner put into it of workspace files, if the turn answers a guest.
    pub(crate) fn withhold_files(&mut self, guest: Option<GuestRights>) {
        if guest.is_some_and(|guest| !guest.memory) {
            self.withholds_files = true;
            self.assemble();
        }
    }

    /// Sets the workspace files that belong into it.
    pub(crate) fn carry(&mut self, files: Option<ConversationFiles>) {
        if files.is_some() {
            self.files = files;
            self.assemble();
        }
    }

    /// Returns a record with the workspace files that it does not hold in their current state.
    pub(crate) fn due_files(&self) -> Option<EntryBody> {
        if self.withholds_files {
            // The next turn of the owner would have to take back what this one says.
            return None;
        }
        due_record(&self.entries, self.files.as_ref()?)
    }

    /// Adds what a turn opens with: workspace files that are due, and the message.
    pub(crate) fn open(&mut self, message: Message, now: &str) {
        let bodies = self.due_files().into_iter();
        let bodies = bodies.chain([EntryBody::Message(message)]);
        let run = Run {
            id: String::new(),
            speaker: SessionSpeaker::Owner,
        };
        let bodies = bodies.map(|body| for_writing(body, self.transcript, &run));
        let entries =
            bodies.map(|body| TranscriptEntry::new(String::new(), None, now.to_owned(), body));
        let entries: Vec<TranscriptEntry> = entries.collect();
        self.push(&entries);
    }

    fn assemble(&mut self) {
        let options = Assembling {
            window: self.window,
            turns: self.options.turns,
            older_users: self.older_users,
            tool_result_chars: self.options.tool_result_chars,
            prune: self.options.pruning.as_ref().filter(|_| self.cold),
            pruned: Some(&self.assembled.pruned),
            files: self.files.as_ref(),
            withholds_files: self.withholds_files,
            call_ids: self.call_ids,
            stamp: self.options.stamp.as_ref(),
            running: Some(CurrentTurn {
                records_before: self.records_before,
                whole: &self.whole,
            }),
        };
        self.assembled = messages_for_model(&self.entries, &options, self.rules);
    }

    /// Adds records.
    pub(crate) fn push(&mut self, entries: &[TranscriptEntry]) {
        let is_summary = |entry: &TranscriptEntry| matches!(entry.body, EntryBody::Compaction(_));
        if entries.iter().any(is_summary) {
            // The conversation was too long, so no result is sent in full from here on.
            self.whole.clear();
            self.older_users = 0;
        }
        self.entries.extend_from_slice(entries);
        self.assemble();
    }

    /// Adds the newest results as the tools returned them, if this turn may send more of them than the transcript keeps.
    pub(crate) fn keep_whole(&mut self, contents: Vec<Vec<Block>>) {
        match self.rules.tool_results.own_turn {
            OwnTurnResults::AsStored => return,
            OwnTurnResults::HalfWindow => {}
        }
        let first = self.entries.len().saturating_sub(contents.len());
        for (entry, content) in self.entries[first..].iter().zip(contents) {
            if matches!(entry.message(), Some(Message::ToolResult(stored)) if *stored.content.blocks() != *content)
            {
                self.whole.insert(entry.id.clone(), content);
            }
        }
        if !self.whole.is_empty() {
            self.assemble();
        }
    }

    /// Returns why this request does not begin as the previous one did, if so, and remembers this one.
    pub(crate) fn sent_anew(&mut self) -> Vec<&'static str> {
        let before = self.sent.replace(self.assembled.clone());
        let changes = before.map(|before| prefix_changes(&before, &self.assembled));
        let changes = changes.into_iter().flatten();
        changes.map(PrefixChange::reason).collect()
    }

    pub(crate) fn entries(&self) -> &[TranscriptEntry] {
        &self.entries
    }

    /// Returns the records before the messages that have no reply yet, and an estimate of those messages' tokens.
    pub(crate) fn up_to_message(&self) -> (&[TranscriptEntry], u64) {
        let is_open = |entry: &TranscriptEntry| match &entry.body {
            EntryBody::Message(message) => matches!(message, Message::User(_)),
            EntryBody::Compaction(_) => false,
            EntryBody::ModelChange { .. }
            | EntryBody::ThinkingLevelChange { .. }
            | EntryBody::Custom { .. }
            | EntryBody::Other(_) => true,
        };
        let before = self.entries.iter().rposition(|entry| !is_open(entry));
        let (before, open) = self.entries.split_at(before.map_or(0, |at| at + 1));
        let messages = open.iter().filter_map(TranscriptEntry::message);
        let tokens = messages.map(|message| estimate(message, &self.rules.estimate));
        (before, tokens.sum())
    }

    pub(crate) fn messages(&self) -> &[Message] {
        &self.assembled.messages
    }

    pub(crate) fn leaf(&self) -> Option<&str> {
        self.entries.last().map(|entry| &*entry.id)
    }

    pub(crate) fn is_marked(&self) -> bool {
        is_marked(&self.entries)
    }

    pub(crate) const fn window(&self) -> u64 {
        self.window
    }

    pub(crate) const fn options(&self) -> &HistoryOptions {
        &self.options
    }

    /// Estimates the tokens of the next request from those of the last one.
    pub(crate) fn tokens(&self, system: &str) -> u64 {
        let counted = branch_tokens(&self.entries, self.rules);
        // What a provider counted includes the system prompt.
        match counted.counted {
            0 => counted.total() + self.overhead(system),
            _ => counted.total(),
        }
    }

    /// Estimates the tokens of a request besides the records.
    pub(crate) fn overhead(&self, system: &str) -> u64 {
        let files = self.files.as_ref().filter(|_| self.assembled.files_before);
        let files = files.map_or(0, |files| {
            estimate_text(&files.text(), &self.rules.estimate)
        });
        estimate_text(system, &self.rules.estimate) + files
    }

    /// Tells whether the conversation must be compacted before the model is asked (C20).
    pub(crate) fn is_too_long(&self, system: &str, candidate: &ModelCandidate) -> bool {
        self.is_over(system, window_of(candidate))
    }

    fn is_over(&self, system: &str, window: u64) -> bool {
        let compacting = Compacting {
            reserve_tokens: self.reserve(window),
            ..self.options.compacting
        };
        should_compact(self.tokens(system), window, &compacting)
    }

    /// Tells whether the conversation is compacted before a turn that opens with this message.
    pub(crate) fn is_due(&self, system: &str, prompt: &str, window: u64) -> bool {
        let is_too_much = || self.preflight(system, prompt, window);
        self.is_over(system, window) || is_too_much().is_some_and(|found| found.should_compact)
    }

    /// Checks whether a request with this message will fit, if the contract acts on that (C21).
    pub(crate) fn preflight(&self, system: &str, prompt: &str, window: u64) -> Option<Preflight> {
        match self.rules.compaction.precheck_effect {
            PrecheckEffect::None => return None,
            PrecheckEffect::Recovery => {}
        }
        let compacting = &self.options.compacting;
        if !compacting.enabled {
            return None;
        }
        let outgoing = OutgoingRequest {
            messages: &self.assembled.messages,
            system,
            prompt,
        };
        let found = preflight(outgoing, window, compacting.reserve_tokens, self.rules);
        (found.route != PreflightRoute::Fits).then_some(found)
    }

    /// Shortens tool results for the rest of the turn, because the conversation is too long. Returns how many.
    pub(crate) fn shorten_results(&mut self, window: u64) -> usize {
        let messages = &self.assembled.messages;
        let shortened = shortened_results(messages, window, &self.rules.tool_results);
        let count = shortened.len();
        for (at, shorter) in shortened {
            if let Message::ToolResult(current) = &self.assembled.messages[at] {
                self.assembled.pruned.shorten(current, shorter);
            }
        }
        self.assemble();
        count
    }

    /// Returns how many tokens stay free in a window of this size.
    pub(crate) fn reserve(&self, window: u64) -> u64 {
        let cap = self.rules.compaction.reserve_cap;
        effective_reserve(self.options.compacting.reserve_tokens, window, cap)
    }

    /// Shortens a tool's output to what a transcript keeps (C62).
    pub(crate) fn capped(&self, content: &[Block]) -> Vec<Block> {
        let mut limit = tool_result_limit(self.window, &self.rules.tool_results);
        if let Some(chars) = self.options.tool_result_chars {
            limit = limit.min(chars.max(1));
        }
        let result = ToolResultMessage {
            tool_call_id: String::new(),
            tool_name: None,
            content: Content::Blocks(content.to_vec()),
            details: None,
            is_error: false,
            timestamp: None,
            extra: Extra::new(),
        };
        match cap_result(&result, limit, &self.rules.tool_results).map(|one| one.content) {
            Some(Content::Blocks(blocks)) => blocks,
            Some(Content::Text(_) | Content::Other(_)) | None => content.to_vec(),
        }
    }

    /// Returns the records that name the model, if it changed (R22, R23).
    pub(crate) fn model_records(&self, candidate: &ModelCandidate, now_ms: i64) -> Vec<EntryBody> {
        let (provider, model) = (candidate.model.provider(), candidate.model.name());
        let last = self
            .entries
            .iter()
            .rev()
            .find_map(|entry| match &entry.body {
                EntryBody::ModelChange { provider, model_id } => Some((provider, model_id)),
                EntryBody::Message(_)
                | EntryBody::ThinkingLevelChange { .. }
                | EntryBody::Custom { .. }
                | EntryBody::Compaction(_)
                | EntryBody::Other(_) => None,
            });
        let mut bodies = Vec::new();
        let is_new = last.is_none_or(|(last, id)| last != provider || id != model);
        if is_new {
            bodies.push(EntryBody::ModelChange {
                provider: provider.to_owned(),
                model_id: model.to_owned(),
            });
        }
        let level = candidate.thinking.as_deref().unwrap_or("off");
        let thought = self
            .entries
            .iter()
            .rev()
            .find_map(|entry| match &entry.body {
                EntryBody::ThinkingLevelChange { thinking_level } => Some(thinking_level.as_str()),
                EntryBody::Message(_)
                | EntryBody::ModelChange { .. }
                | EntryBody::Custom { .. }
                | EntryBody::Compaction(_)
                | EntryBody::Other(_) => None,
            });
        if thought != Some(level) {
            bodies.push(EntryBody::ThinkingLevelChange {
                thinking_level: level.to_owned(),
            });
        }
        if is_new {
            bodies.push(EntryBody::Custom {
                custom_type: MODEL_SNAPSHOT.to_owned(),
                data: Some(json!({
                    "timestamp": now_ms,
                    "provider": provider,
                    "modelApi": candidate.model.api().name(),
                    "modelId": model,
                })),
            });
        }
        bodies
    }
}

pub(crate) fn window_of(candidate: &ModelCandidate) -> u64 {
    candidate.context_window.unwrap_or(COMMON_WINDOW)
}

/// Returns the age of the last reply in milliseconds.
fn idle(entries: &[TranscriptEntry], now_ms: i64) -> Option<u64> {
    let last = entries
        .iter()
        .rev()
        .find_map(|entry| match entry.message() {
            Some(Message::Assistant(message)) => message.timestamp,
            Some(Message::User(_) | Message::ToolResult(_) | Message::Other(_)) | None => None,
        })?;
    u64::try_from(now_ms.saturating_sub(last)).ok()
}
