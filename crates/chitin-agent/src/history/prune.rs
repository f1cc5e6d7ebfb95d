//! How old tool results are shortened in what is sent; the transcript keeps them (C40–C46).

use super::view::{compact, is_image, only_text, text_field, weight};
use crate::compat::{IMAGE_PRUNED, RESULT_CLEARED};
use chitin_contract::{PruningRules, TextWeight};
use chitin_protocol::message::{Block, Content, Message, ToolResultMessage};
use chitin_protocol::text::{trim_js, utf16_len, utf16_prefix, utf16_suffix};
use serde_json::Value;
use std::ops::Range;

/// Characters to a token.
const CHARS_PER_TOKEN: u64 = 4;
/// What a message of a role that we do not know weighs.
const UNKNOWN_CHARS: usize = 256;

/// How old tool results are shortened.
#[derive(Debug, Clone, PartialEq)]
pub struct Pruning {
    /// How long the provider keeps its cache, in milliseconds; none if the configuration is silent.
    pub ttl_ms: Option<u64>,
    /// The numbers.
    pub numbers: PruningNumbers,
    /// Tools whose results may be shortened; none means all of them.
    pub allow: Vec<String>,
    /// Tools whose results are left alone.
    pub deny: Vec<String>,
    /// What stands for a result that was cleared; none if results are not cleared.
    pub placeholder: Option<String>,
}

/// When results are trimmed or cleared, and what stays of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PruningNumbers {
    soft_trim_ratio: f64,
    hard_clear_ratio: f64,
    min_prunable_chars: usize,
    keep_last_answers: usize,
    soft_trim_max: usize,
    soft_trim_head: usize,
    soft_trim_tail: usize,
}

impl PruningNumbers {
    const UNCONFIGURED: Self = Self {
        soft_trim_ratio: PruningRules::SOFT_TRIM_RATIO,
        hard_clear_ratio: PruningRules::HARD_CLEAR_RATIO,
        min_prunable_chars: PruningRules::MIN_PRUNABLE_CHARS,
        keep_last_answers: PruningRules::KEEP_LAST_ANSWERS,
        soft_trim_max: PruningRules::SOFT_TRIM_MAX,
        soft_trim_head: PruningRules::SOFT_TRIM_HEAD,
        soft_trim_tail: PruningRules::SOFT_TRIM_TAIL,
    };
}

impl Pruning {
    /// Reads `contextPruning`. Tells nothing if it does not turn pruning on.
    pub fn from_config(config: &Value, rules: &PruningRules) -> Option<Self> {
        if config.get("mode").and_then(Value::as_str) != Some("cache-ttl") {
            return None;
        }
        let names = |name: &str| -> Vec<String> {
            let list = config
                .get("tools")
                .and_then(|tools| tools.get(name)?.as_array());
            let names = list.into_iter().flatten().filter_map(Value::as_str);
            names
                .map(|name| trim_js(name).to_lowercase())
                .filter(|name| !name.is_empty())
                .collect()
        };
        let clear = config.get("hardClear");
        let placeholder = clear
            .and_then(|clear| clear.get("placeholder")?.as_str())
            .map(trim_js)
            .filter(|text| !text.is_empty())
            .unwrap_or(RESULT_CLEARED);
        let clears = clear.and_then(|clear| clear.get("enabled")?.as_bool()) != Some(false);
        Some(Self {
            ttl_ms: config
                .get("ttl")
                .and_then(Value::as_str)
                .and_then(duration_ms),
            numbers: numbers(config, rules),
            allow: names("allow"),
            deny: names("deny"),
            placeholder: clears.then(|| placeholder.to_owned()),
        })
    }

    /// Tells whether the provider's cache has run out, so that a changed beginning costs nothing (C40).
    pub fn is_due(&self, idle_ms: Option<u64>, provider: &str) -> bool {
        let by_provider = if provider == "anthropic" {
            PruningRules::ANTHROPIC_TTL_MS
        } else {
            PruningRules::TTL_MS
        };
        idle_ms.is_some_and(|idle| idle >= self.ttl_ms.unwrap_or(by_provider))
    }

    fn may_prune(&self, tool: &str) -> bool {
        let tool = trim_js(tool).to_lowercase();
        let matches = |patterns: &[String]| patterns.iter().any(|one| glob(one, &tool));
        !matches(&self.deny) && (self.allow.is_empty() || matches(&self.allow))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "configured numbers are clamped first"
)]
fn numbers(config: &Value, rules: &PruningRules) -> PruningNumbers {
    let unconfigured = PruningNumbers::UNCONFIGURED;
    if !rules.numbers_configurable {
        return unconfigured;
    }
    let number =
        |value: Option<&Value>| value.and_then(Value::as_f64).filter(|one| one.is_finite());
    let count = |value: Option<&Value>, other: usize| {
        number(value).map_or(other, |one| one.floor().clamp(0.0, 1e15) as usize)
    };
    let ratio =
        |name: &str, other: f64| number(config.get(name)).map_or(other, |one| one.clamp(0.0, 1.0));
    let soft = |name: &str| config.get("softTrim").and_then(|soft| soft.get(name));
    PruningNumbers {
        soft_trim_ratio: ratio("softTrimRatio", unconfigured.soft_trim_ratio),
        hard_clear_ratio: ratio("hardClearRatio", unconfigured.hard_clear_ratio),
        min_prunable_chars: count(
            config.get("minPrunableToolChars"),
            unconfigured.min_prunable_chars,
        ),
        keep_last_answers: count(
            config.get("keepLastAssistants"),
            unconfigured.keep_last_answers,
        ),
        soft_trim_max: count(soft("maxChars"), unconfigured.soft_trim_max),
        soft_trim_head: count(soft("headChars"), unconfigured.soft_trim_head),
        soft_trim_tail: count(soft("tailChars"), unconfigured.soft_trim_tail),
    }
}

/// Reads a time such as `5m`, `1h30m` or `90s`; a bare number counts minutes.
fn duration_ms(text: &str) -> Option<u64> {
    let text = trim_js(text).to_lowercase();
    let mut total = 0.0;
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let value: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest
            .find(|c: char| !c.is_ascii_lowercase())
            .unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ms" => 1.0,
            "s" => 1000.0,
            "" | "m" => 60_000.0,
            "h" => 3_600_000.0,
            "d" => 86_400_000.0,
            _ => return None,
        };
        rest = &rest[letters..];
        total += value * unit;
    }
    if text.is_empty() || !f64::is_finite(total) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a conversion of a finite, positive number stops at the largest"
    )]
    Some(total.round() as u64)
}

/// Matches `*` against anything.
fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// One message that was shortened.
#[derive(Debug, Clone, PartialEq)]
pub struct PrunedMessage {
    /// Which.
    pub index: usize,
    /// What is sent in its place.
    pub message: ToolResultMessage,
}

/// Shortens old tool results of a conversation that takes too much of the window. Returns the changed ones, in order.
pub fn prune(messages: &[Message], window: u64, pruning: &Pruning) -> Vec<PrunedMessage> {
    let numbers = &pruning.numbers;
    let room = window.saturating_mul(CHARS_PER_TOKEN);
    let prunable = prunable_range(messages, numbers.keep_last_answers);
    if room == 0 || prunable.is_empty() {
        return Vec::new();
    }
    let mut total: usize = messages.iter().map(chars).sum();
    if below(total, room, numbers.soft_trim_ratio) {
        return Vec::new();
    }
    let candidates: Vec<(usize, &ToolResultMessage)> = prunable
        .filter_map(|at| match &messages[at] {
            Message::ToolResult(result) => Some((at, result)),
            Message::User(_) | Message::Assistant(_) | Message::Other(_) => None,
        })
        .filter(|(_, result)| pruning.may_prune(result.tool_name.as_deref().unwrap_or_default()))
        .collect();
    let mut shortened: Vec<Option<ToolResultMessage>> = Vec::with_capacity(candidates.len());
    for (_, result) in &candidates {
        let trimmed = soft_trim(result, numbers);
        if let Some(trimmed) = &trimmed {
            total = total - result_chars(result) + result_chars(trimmed);
        }
        shortened.push(trimmed);
    }
    if let Some(placeholder) = &pruning.placeholder {
        let now = |at: usize, shortened: &[Option<ToolResultMessage>]| {
            result_chars(shortened[at].as_ref().unwrap_or(candidates[at].1))
        };
        let all: usize = (0..candidates.len()).map(|at| now(at, &shortened)).sum();
        if all >= numbers.min_prunable_chars {
            for at in 0..candidates.len() {
                if below(total, room, numbers.hard_clear_ratio) {
                    break;
                }
                let before = now(at, &shortened);
                let cleared = ToolResultMessage {
                    content: only_text(placeholder),
                    ..candidates[at].1.clone()
                };
                let after = result_chars(&cleared);
                let now = shortened[at].as_ref().unwrap_or(candidates[at].1);
                if !grows(now, &cleared) {
                    total = total - before + after;
                    shortened[at] = Some(cleared);
                }
            }
        }
    }
    candidates
        .iter()
        .zip(shortened)
        .filter_map(|((index, _), message)| {
            Some(PrunedMessage {
                index: *index,
                message: message?,
            })
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "a ratio")]
fn below(chars: usize, room: u64, ratio: f64) -> bool {
    (chars as f64 / room as f64) < ratio
}

/// Returns the messages between the first of the user and the newest answers that are left alone (C42).
fn prunable_range(messages: &[Message], keep_last_answers: usize) -> Range<usize> {
    let mut answers = (0..messages.len())
        .rev()
        .filter(|at| messages[*at].role() == "assistant");
    let end = match keep_last_answers.checked_sub(1) {
        None => Some(messages.len()),
        Some(skip) => answers.nth(skip),
    };
    let start = messages.iter().position(|one| one.role() == "user");
    match (start, end) {
        (Some(start), Some(end)) if start < end => start..end,
        _ => 0..0,
    }
}

fn chars(message: &Message) -> usize {
    match message {
        Message::User(user) => content_chars(&user.content),
        Message::ToolResult(result) => result_chars(result),
        Message::Assistant(answer) => match &answer.content {
            Content::Text(text) => of(text),
            Content::Blocks(blocks) => blocks.iter().map(answer_chars).sum(),
            Content::Other(_) => 0,
        },
        Message::Other(_) => UNKNOWN_CHARS,
    }
}

fn of(text: &str) -> usize {
    weight(text, TextWeight::WideCharacters)
}

fn answer_chars(block: &Block) -> usize {
    match block {
        Block::Text(block) => of(&block.text),
        Block::Thinking(block) => {
            of(&block.thinking) + of(block.thinking_signature.as_deref().unwrap_or_default())
        }
        Block::ToolCall(call) => call
            .arguments
            .as_ref()
            .map_or("{}".len(), |given| utf16_len(&compact(given))),
        Block::Other(value) if text_field(value, "type") == "redacted_thinking" => {
            of(text_field(value, "data")) + of(text_field(value, "thinkingSignature"))
        }
        Block::Image(_) | Block::Other(_) => 0,
    }
}

fn result_chars(result: &ToolResultMessage) -> usize {
    content_chars(&result.content)
}

fn content_chars(content: &Content) -> usize {
    match content {
        Content::Text(text) => of(text),
        Content::Blocks(blocks) => blocks
            .iter()
            .map(|block| match block.as_text() {
                Some(text) => of(text),
                None if is_image(block) => PruningRules::IMAGE_CHARS,
                None => 0,
            })
            .sum(),
        Content::Other(_) => 0,
    }
}

/// Trims a result that is too long, and takes its pictures out (C41, C45). Tells nothing if it stays as it is.
fn soft_trim(result: &ToolResultMessage, numbers: &PruningNumbers) -> Option<ToolResultMessage> {
    let has_images = result.content.blocks().iter().any(is_image);
    let text = match &result.content {
        Content::Text(text) => text.clone(),
        Content::Blocks(blocks) => {
            let parts = blocks.iter().filter_map(|block| match block.as_text() {
                Some(text) => Some(text),
                None => is_image(block).then_some(IMAGE_PRUNED),
            });
            parts.collect::<Vec<_>>().join("\n")
        }
        Content::Other(_) => return None,
    };
    let length = utf16_len(&text);
    let (head, tail) = (numbers.soft_trim_head, numbers.soft_trim_tail);
    let too_long = length > numbers.soft_trim_max && head.saturating_add(tail) < length;
    let trimmed = match (too_long, has_images) {
        (false, false) => return None,
        (false, true) => text,
        (true, _) => format!(
            "{}\n...\n{}\n\n[Tool result trimmed: kept first {head} chars and last {tail} chars of {length} chars.]",
            utf16_prefix(&text, head),
            utf16_suffix(&text, tail),
        ),
    };
    let trimmed = ToolResultMessage {
        content: only_text(trimmed),
        ..result.clone()
    };
    (!grows(result, &trimmed)).then_some(trimmed)
}

/// Tells whether a result became longer: a note may be longer than what it stands for, by weight or by length.
fn grows(from: &ToolResultMessage, to: &ToolResultMessage) -> bool {
    let no_images = !from.content.blocks().iter().any(is_image);
    let length = |result: &ToolResultMessage| utf16_len(&result.content.text());
    result_chars(to) > result_chars(from) || no_images && length(to) > length(from)
}
