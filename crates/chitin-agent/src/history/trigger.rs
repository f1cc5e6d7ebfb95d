//! When there is too much (C20, C21).

use super::estimate::{CHARS_PER_TOKEN, estimate_all, estimate_text};
use super::tool_results::reducible_chars;
use super::view::{any_call, block_type, compact, content_of, text_field, weight};
use crate::compat::role;
use chitin_contract::{CompactionRules, HistoryRules, Precheck, ReserveCap, TextWeight};
use chitin_protocol::message::{Block, Content, Message};
use chitin_protocol::text::is_blank_js;
use serde::Serialize;
use serde_json::Value;

/// What estimates are multiplied with before they are compared: they are rough, and too little is worse than too much.
const SAFETY: f64 = 1.2;
/// Shortening tool results is enough only if this much more is to be had.
const SPARE_CHARS: u64 = 2048;

/// When a conversation is put into a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compacting {
    /// Whether it happens by itself.
    pub enabled: bool,
    /// Tokens that are kept free for the answer.
    pub reserve_tokens: u64,
    /// Tokens of the newest messages that stay as they are.
    pub keep_recent_tokens: u64,
}

impl Default for Compacting {
    fn default() -> Self {
        Self {
            enabled: true,
            reserve_tokens: CompactionRules::RESERVE_TOKENS.max(CompactionRules::RESERVE_FLOOR),
            keep_recent_tokens: CompactionRules::KEEP_RECENT_TOKENS,
        }
    }
}

/// Tells whether a conversation is to be put into a summary (C20).
pub const fn should_compact(tokens: u64, window: u64, compacting: &Compacting) -> bool {
    compacting.enabled && tokens > window.saturating_sub(compacting.reserve_tokens)
}

/// Returns the tokens that are really kept free in a window of this size.
pub fn effective_reserve(requested: u64, window: u64, cap: ReserveCap) -> u64 {
    let window = window.max(1);
    let most = match cap {
        ReserveCap::PromptFloor { tokens } => window - tokens.min((window / 2).max(1)),
        ReserveCap::Quarter => window / 4,
    };
    requested.min(most)
}

/// What to do before a request (C21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PreflightRoute {
    /// Nothing: it fits.
    Fits,
    /// Shorten tool results.
    TruncateToolResultsOnly,
    /// Put the conversation into a summary, then shorten tool results.
    CompactThenTruncate,
    /// Put the conversation into a summary.
    CompactOnly,
}

/// What a look before a request found (C21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preflight {
    /// What to do.
    pub route: PreflightRoute,
    /// Whether that includes a summary.
    pub should_compact: bool,
    /// The tokens of the request, estimated with a margin.
    pub estimated_prompt_tokens: u64,
    /// The tokens that it may have.
    pub prompt_budget_before_reserve: u64,
    /// By how much it is too long.
    pub overflow_tokens: u64,
    /// How many characters shortening tool results would save.
    pub tool_result_reducible_chars: u64,
    /// The tokens that are kept free.
    pub effective_reserve_tokens: u64,
}

/// What is about to be sent.
#[derive(Debug, Clone, Copy)]
pub struct OutgoingRequest<'a> {
    /// The conversation so far.
    pub messages: &'a [Message],
    /// The system prompt.
    pub system: &'a str,
    /// What the user says now.
    pub prompt: &'a str,
}

/// Looks whether a request will fit, and what to do if it does not (C21).
pub fn preflight(
    outgoing: OutgoingRequest<'_>,
    window: u64,
    reserve_tokens: u64,
    rules: &HistoryRules,
) -> Preflight {
    let window = window.max(1);
    let estimated = with_margin(match rules.compaction.precheck {
        Precheck::Messages => {
            estimate_all(outgoing.messages, &rules.estimate)
                + estimate_text(outgoing.prompt, &rules.estimate)
        }
        Precheck::Boundary => boundary_tokens(outgoing),
    });
    let reserve = effective_reserve(reserve_tokens, window, rules.compaction.reserve_cap);
    let budget = (window - reserve).max(1);
    let overflow = estimated.saturating_sub(budget);
    let reducible = reducible_chars(outgoing.messages, window, &rules.tool_results);
    let overflow_chars = overflow.saturating_mul(CHARS_PER_TOKEN as u64);
    let enough = (overflow_chars.saturating_add(SPARE_CHARS))
        .max(overflow_chars.saturating_add(overflow_chars.div_ceil(2)));
    let route = match (overflow, reducible) {
        (0, _) => PreflightRoute::Fits,
        (_, 0) => PreflightRoute::CompactOnly,
        (_, chars) if chars >= enough => PreflightRoute::TruncateToolResultsOnly,
        _ => PreflightRoute::CompactThenTruncate,
    };
    Preflight {
        route,
        should_compact: matches!(
            route,
            PreflightRoute::CompactOnly | PreflightRoute::CompactThenTruncate
        ),
        estimated_prompt_tokens: estimated,
        prompt_budget_before_reserve: budget,
        overflow_tokens: overflow,
        tool_result_reducible_chars: reducible,
        effective_reserve_tokens: reserve,
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate; numbers that a double cannot hold do not occur"
)]
fn with_margin(tokens: u64) -> u64 {
    (tokens as f64 * SAFETY).ceil() as u64
}

const MESSAGE_TOKENS: u64 = 12;
const BLOCK_TOKENS: u64 = 6;
const IMAGE_TOKENS: u64 = 2000;
const JSON_CHARS_PER_TOKEN: usize = 3;
const RESULT_CHARS_PER_TOKEN: usize = 2;

fn boundary_tokens(outgoing: OutgoingRequest<'_>) -> u64 {
    let messages: u64 = outgoing.messages.iter().map(message_pressure).sum();
    let system = if is_blank_js(outgoing.system) {
        0
    } else {
        MESSAGE_TOKENS + pressure(outgoing.system, CHARS_PER_TOKEN)
    };
    messages + system + MESSAGE_TOKENS + pressure(outgoing.prompt, CHARS_PER_TOKEN)
}

fn pressure(text: &str, chars_per_token: usize) -> u64 {
    let chars = weight(text, TextWeight::WideCharacters);
    u64::try_from(chars.div_ceil(chars_per_token)).unwrap_or(u64::MAX)
}

fn message_pressure(message: &Message) -> u64 {
    let said = match message {
        Message::ToolResult(result) => {
            content_pressure(&result.content, RESULT_CHARS_PER_TOKEN)
                + pressure(
                    result.tool_name.as_deref().unwrap_or_default(),
                    JSON_CHARS_PER_TOKEN,
                )
        }
        Message::User(user) => content_pressure(&user.content, CHARS_PER_TOKEN),
        Message::Assistant(answer) => content_pressure(&answer.content, CHARS_PER_TOKEN),
        Message::Other(value) => match message.role() {
            role::BASH => {
                pressure(text_field(value, "command"), CHARS_PER_TOKEN)
                    + pressure(text_field(value, "output"), CHARS_PER_TOKEN)
            }
            role::BRANCH_SUMMARY | role::COMPACTION_SUMMARY => {
                pressure(text_field(value, "summary"), CHARS_PER_TOKEN)
            }
            _ => {
                content_of(message).map_or(0, |content| content_pressure(&content, CHARS_PER_TOKEN))
            }
        },
    };
    MESSAGE_TOKENS + said
}

fn content_pressure(content: &Content, chars_per_token: usize) -> u64 {
    match content {
        Content::Text(text) => pressure(text, chars_per_token),
        Content::Blocks(blocks) => blocks
            .iter()
            .map(|block| block_pressure(block, chars_per_token))
            .sum(),
        Content::Other(Value::Null) => 0,
        Content::Other(value) => pressure(&compact(value), chars_per_token),
    }
}

fn block_pressure(block: &Block, chars_per_token: usize) -> u64 {
    let json = |value: &Value| pressure(&compact(value), JSON_CHARS_PER_TOKEN);
    match block {
        Block::Text(block) => BLOCK_TOKENS + pressure(&block.text, chars_per_token),
        Block::Thinking(block) => BLOCK_TOKENS + pressure(&block.thinking, chars_per_token),
        Block::Image(_) => IMAGE_TOKENS,
        Block::ToolCall(call) => {
            BLOCK_TOKENS
                + pressure(&call.name, JSON_CHARS_PER_TOKEN)
                + call.arguments.as_ref().map_or(1, json)
        }
        Block::Other(_) if block_type(block) == "image" => IMAGE_TOKENS,
        Block::Other(value) => match any_call(block) {
            Some(call) => {
                let input = value.get("arguments").or_else(|| value.get("input"));
                BLOCK_TOKENS
                    + pressure(call.name.unwrap_or_default(), JSON_CHARS_PER_TOKEN)
                    + input.map_or(1, json)
            }
            None => BLOCK_TOKENS + pressure(&compact(value), chars_per_token),
        },
    }
}
