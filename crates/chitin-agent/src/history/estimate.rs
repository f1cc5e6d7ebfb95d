//! How many tokens a message takes, roughly (C10, C36).

use super::view::{block_type, compact, content_of, failed, is_image, text_field, weight};
use crate::compat::{self, role};
use chitin_contract::{CompactionRules, EstimateRules, HistoryRules};
use chitin_protocol::message::{Block, Content, Message, Usage};
use chitin_protocol::text::utf16_len;

/// Characters to a token.
pub(super) const CHARS_PER_TOKEN: usize = 4;

/// Returns the tokens of a message, estimated: never less for more.
pub fn estimate(message: &Message, rules: &EstimateRules) -> u64 {
    tokens(message_weight(message, rules))
}

/// Returns the tokens of messages, estimated one by one.
pub fn estimate_all<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    rules: &EstimateRules,
) -> u64 {
    messages
        .into_iter()
        .map(|message| estimate(message, rules))
        .sum()
}

/// Returns the tokens of a text, estimated.
pub fn estimate_text(text: &str, rules: &EstimateRules) -> u64 {
    tokens(weight(text, rules.text))
}

fn tokens(chars: usize) -> u64 {
    u64::try_from(chars.div_ceil(CHARS_PER_TOKEN)).unwrap_or(u64::MAX)
}

fn message_weight(message: &Message, rules: &EstimateRules) -> usize {
    let of = |text: &str| weight(text, rules.text);
    match message {
        Message::User(user) => content_weight(&user.content, rules.user_image, rules),
        Message::Assistant(answer) => match &answer.content {
            Content::Text(text) => of(text),
            Content::Blocks(blocks) => blocks.iter().map(|block| answer_weight(block, rules)).sum(),
            Content::Other(_) => 0,
        },
        Message::ToolResult(result) => content_weight(&result.content, rules.image, rules),
        Message::Other(value) => match message.role() {
            role::CUSTOM => content_of(message)
                .map_or(0, |content| content_weight(&content, rules.image, rules)),
            role::BASH => of(text_field(value, "command")) + of(text_field(value, "output")),
            role::BRANCH_SUMMARY | role::COMPACTION_SUMMARY => of(text_field(value, "summary")),
            // A known role whose record did not fit its type.
            "user" | "assistant" | "toolResult" => content_of(message)
                .map_or(0, |content| content_weight(&content, rules.image, rules)),
            _ => 0,
        },
    }
}

fn answer_weight(block: &Block, rules: &EstimateRules) -> usize {
    match block {
        Block::Text(block) => weight(&block.text, rules.text),
        Block::Thinking(block) => weight(&block.thinking, rules.text),
        Block::ToolCall(call) => {
            let arguments = call.arguments.as_ref().map(compact).unwrap_or_default();
            weight(&call.name, rules.text) + weight(&arguments, rules.text)
        }
        Block::Image(_) | Block::Other(_) => 0,
    }
}

fn content_weight(content: &Content, image: usize, rules: &EstimateRules) -> usize {
    match content {
        Content::Text(text) => weight(text, rules.text),
        Content::Blocks(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(shown_text).collect();
            let images = blocks.iter().filter(|block| is_image(block)).count();
            let mut sum: usize = texts.iter().map(|text| weight(text, rules.text)).sum();
            sum += images * image;
            if rules.omission_notes {
                // Texts are joined by a line end, and what is left out is named once for each kind.
                sum += texts.len().saturating_sub(1) + omission_weight(blocks);
            }
            sum
        }
        Content::Other(_) => 0,
    }
}

fn shown_text(block: &Block) -> Option<&str> {
    block.as_text().filter(|text| !text.is_empty())
}

fn omission_weight(blocks: &[Block]) -> usize {
    let image = blocks.iter().any(is_image);
    let other = blocks
        .iter()
        .any(|block| !is_image(block) && block_type(block) != "text");
    let notes = match (image, other) {
        (false, false) => return 0,
        (true, false) => utf16_len(compat::IMAGE_OMITTED),
        (false, true) => utf16_len(compat::DATA_OMITTED),
        (true, true) => utf16_len(compat::IMAGE_OMITTED) + 1 + utf16_len(compat::DATA_OMITTED),
    };
    notes + utf16_len(compat::RESULT_LABEL)
}

/// What a conversation takes, as far as it was counted and as far as it is guessed (C36).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextTokens {
    /// What the provider counted with the last answer that says so.
    pub counted: u64,
    /// What came since, or everything if nothing was counted, estimated.
    pub estimated: u64,
}

impl ContextTokens {
    /// Returns both together.
    pub const fn total(self) -> u64 {
        self.counted.saturating_add(self.estimated)
    }
}

/// Returns what a conversation takes: what the provider counted with the last answer, and an estimate of what came since.
pub fn context_tokens(messages: &[Message], rules: &HistoryRules) -> ContextTokens {
    let counted = messages
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, message)| Some((at, counted_tokens(message, &rules.compaction)?)));
    let (since, counted) = counted.map_or((0, 0), |(at, tokens)| (at + 1, tokens));
    ContextTokens {
        counted,
        estimated: estimate_all(&messages[since..], &rules.estimate),
    }
}

fn counted_tokens(message: &Message, rules: &CompactionRules) -> Option<u64> {
    let Message::Assistant(answer) = message else {
        return None;
    };
    if failed(answer) {
        return None;
    }
    let tokens = usage_tokens(answer.usage.as_ref()?);
    (tokens > 0 || rules.empty_usage_counts).then_some(tokens)
}

/// Returns the size of the context that a provider reported.
pub const fn usage_tokens(usage: &Usage) -> u64 {
    if usage.total_tokens > 0 {
        return usage.total_tokens;
    }
    usage
        .input
        .saturating_add(usage.output)
        .saturating_add(usage.cache_read)
        .saturating_add(usage.cache_write)
}
