//! How long one tool result may be (C62).

use super::view::{prefix, suffix, weight};
use crate::compat::MIDDLE_CUT;
use chitin_contract::{OwnTurnResults, ResultsTogether, ToolResultRules};
use chitin_protocol::message::{Block, Content, Message, ToolResultMessage};
use chitin_protocol::text::{trim_js, utf16_len, utf16_prefix, utf16_suffix};

/// How much of the end is looked at for words that matter.
const TAIL_LOOKED_AT: usize = 2000;
/// Words that make the end of a result worth keeping.
const TAIL_WORDS: [&str; 15] = [
    "error",
    "exception",
    "failed",
    "fatal",
    "traceback",
    "panic",
    "stack trace",
    "errno",
    "exit code",
    "total",
    "summary",
    "result",
    "complete",
    "finished",
    "done",
];

/// Returns the longest tool result for a window of this many tokens.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a window; numbers that a double cannot hold do not occur"
)]
pub fn tool_result_limit(window: u64, rules: &ToolResultRules) -> usize {
    let share = (window as f64 * ToolResultRules::WINDOW_SHARE).floor() as usize;
    let mut larger = rules.larger_windows.iter();
    let most = larger
        .find(|larger| window >= larger.tokens)
        .map_or(ToolResultRules::MAX_CHARS, |larger| larger.max_chars);
    share.saturating_mul(4).min(most).max(1)
}

/// Shortens a tool result's text: the beginning stays, and the end too if it seems to matter.
pub fn truncate_text(text: &str, limit: usize, rules: &ToolResultRules) -> String {
    truncate_keeping(text, limit, ToolResultRules::MIN_KEEP_CHARS, rules)
}

fn note(cut: usize, rules: &ToolResultRules) -> String {
    format!(
        "[... {} more characters truncated{}]",
        cut.max(1),
        rules.note
    )
}

fn truncate_keeping(text: &str, limit: usize, keep: usize, rules: &ToolResultRules) -> String {
    let by = rules.text;
    if weight(text, by) <= limit {
        return text.to_owned();
    }
    let units = utf16_len(text);
    let keep = keep.min(limit.saturating_sub(weight(&note(1, rules), by)));
    let cut = units - utf16_len(prefix(text, limit, by));
    let budget = limit
        .saturating_sub(weight(&note(cut, rules), by))
        .max(keep);
    let kept = both_ends(text, budget, keep, rules)
        .unwrap_or_else(|| to_line_end(text, prefix(text, budget, by), rules).to_owned());
    with_note(kept, units, limit, rules)
}

/// Returns the beginning and the end with a mark between, if the end matters and both are worth it.
fn both_ends(text: &str, budget: usize, keep: usize, rules: &ToolResultRules) -> Option<String> {
    if budget <= keep * 2 || !tail_matters(text) {
        return None;
    }
    let by = rules.text;
    let tail_budget = (budget * 3 / 10).min(ToolResultRules::MAX_TAIL_CHARS);
    let head_budget = budget
        .checked_sub(tail_budget + weight(MIDDLE_CUT, by))
        .filter(|head| *head > keep)?;
    let head = to_line_end(text, prefix(text, head_budget, by), rules);
    let mut tail = suffix(text, tail_budget, by);
    if let Some((line, rest)) = tail.split_once('\n')
        && utf16_len(line) * 5 < utf16_len(tail)
    {
        tail = rest;
    }
    (head.len() + tail.len() < text.len()).then(|| format!("{head}{MIDDLE_CUT}{tail}"))
}

/// Cuts a beginning at its last line end, if that costs less than a fifth.
fn to_line_end<'a>(text: &str, head: &'a str, rules: &ToolResultRules) -> &'a str {
    if rules.line_end_behind_cut && text[head.len()..].starts_with('\n') {
        return head;
    }
    match head.rfind('\n') {
        Some(at) if utf16_len(&head[..at]) * 5 > utf16_len(head) * 4 => &head[..at],
        _ => head,
    }
}

/// Adds the note on what is missing; what is kept gives way to it.
fn with_note(mut kept: String, units: usize, limit: usize, rules: &ToolResultRules) -> String {
    let by = rules.text;
    loop {
        let note = note(units.saturating_sub(utf16_len(&kept)), rules);
        let room = limit.saturating_sub(weight(&note, by));
        if weight(&kept, by) <= room {
            return if weight(&note, by) > limit {
                prefix(&note, limit, by).to_owned()
            } else {
                kept + &note
            };
        }
        let shorter = prefix(&kept, room, by).len();
        kept.truncate(shorter);
    }
}

fn tail_matters(text: &str) -> bool {
    let tail = utf16_suffix(text, TAIL_LOOKED_AT).to_lowercase();
    let tail = trim_js(&tail);
    tail.ends_with('}') || TAIL_WORDS.iter().any(|word| has_word(tail, word))
}

fn has_word(text: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(part_of_word) && !text[at + word.len()..].starts_with(part_of_word)
    })
}

/// Returns what the text of a tool result weighs. Text that is not in blocks is left alone, as it is by others.
fn result_weight(result: &ToolResultMessage, rules: &ToolResultRules) -> usize {
    result
        .content
        .blocks()
        .iter()
        .filter_map(Block::as_text)
        .map(|text| weight(text, rules.text))
        .sum()
}

/// Shortens a tool result to `limit`; each of its texts gives its share. Tells nothing if it is short enough.
pub fn cap_result(
    result: &ToolResultMessage,
    limit: usize,
    rules: &ToolResultRules,
) -> Option<ToolResultMessage> {
    if let Content::Text(text) = &result.content {
        let cut = truncate_text(text, limit, rules);
        return (cut != *text).then(|| ToolResultMessage {
            content: Content::Text(cut),
            ..result.clone()
        });
    }
    let shorter = shorten(result, limit, ToolResultRules::MIN_KEEP_CHARS, rules)?;
    if result_weight(&shorter, rules) <= limit {
        return Some(shorter);
    }
    // So many texts that each one's least share is too much: they become one.
    Some(ToolResultMessage {
        content: joined(&result.content, limit, rules),
        ..shorter
    })
}

/// Shortens a tool result to what one request may hold of it, which in small windows is less than the transcript keeps. Its texts
/// become one. Tells nothing if it is short enough.
pub(super) fn cap_for_request(
    result: &ToolResultMessage,
    window: u64,
    rules: &ToolResultRules,
) -> Option<ToolResultMessage> {
    let limit = match rules.own_turn {
        OwnTurnResults::AsStored => return None,
        OwnTurnResults::HalfWindow => usize::try_from(window / 2).unwrap_or(usize::MAX).max(512),
    };
    let blocks = result.content.blocks();
    let texts: Vec<&str> = blocks.iter().filter_map(Block::as_text).collect();
    let text = texts.join("\n");
    if utf16_len(&text) <= limit {
        return None;
    }
    Some(ToolResultMessage {
        content: Content::Blocks(vec![Block::text(to_budget(&text, limit, rules))]),
        details: None,
        ..result.clone()
    })
}

/// Keeps the beginning of a text, up to a line end if that costs less than three tenths, with the note on what is missing.
fn to_budget(text: &str, limit: usize, rules: &ToolResultRules) -> String {
    let units = utf16_len(text);
    // The note's own length depends on the number in it.
    let budget = (0..4).fold(limit, |budget, _| {
        limit.saturating_sub(utf16_len(&note(units.saturating_sub(budget), rules)))
    });
    let head = utf16_prefix(text, budget);
    let kept = if text[head.len()..].starts_with('\n') {
        head
    } else {
        match head.rfind('\n') {
            Some(at) if utf16_len(&head[..at]) * 10 > budget * 7 => &head[..at],
            _ => head,
        }
    };
    let cut = units - utf16_len(kept);
    format!("{kept}{}", note(cut, rules))
}

fn joined(content: &Content, limit: usize, rules: &ToolResultRules) -> Content {
    let text = Block::text(truncate_text(&content.text(), limit, rules));
    let others = content
        .blocks()
        .iter()
        .filter(|block| block.as_text().is_none());
    Content::Blocks(std::iter::once(text).chain(others.cloned()).collect())
}

fn shorten(
    result: &ToolResultMessage,
    limit: usize,
    keep: usize,
    rules: &ToolResultRules,
) -> Option<ToolResultMessage> {
    let total = result_weight(result, rules);
    if total <= limit {
        return None;
    }
    let keep = keep.min(limit.saturating_sub(weight(&note(1, rules), rules.text)));
    let mut shorter = result.clone();
    if let Content::Blocks(blocks) = &mut shorter.content {
        for block in blocks {
            let Block::Text(text) = block else { continue };
            let length = weight(&text.text, rules.text);
            let share = share_of(limit, length, total);
            let least = keep + weight(&note(length.saturating_sub(share), rules), rules.text);
            let budget = share.max(least).min(limit).max(1);
            text.text = truncate_keeping(&text.text, budget, keep, rules);
        }
    }
    Some(shorter)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a length; numbers that a double cannot hold do not occur"
)]
fn share_of(limit: usize, part: usize, total: usize) -> usize {
    (limit as f64 * (part as f64 / total.max(1) as f64)).floor() as usize
}

/// Returns how many characters shortening tool results would save.
pub(super) fn reducible_chars(messages: &[Message], window: u64, rules: &ToolResultRules) -> u64 {
    let shortened = shortened_results(messages, window, rules).into_iter();
    let saved = shortened.map(|(at, shorter)| match &messages[at] {
        Message::ToolResult(result) => {
            result_weight(result, rules).saturating_sub(result_weight(&shorter, rules))
        }
        Message::User(_) | Message::Assistant(_) | Message::Other(_) => 0,
    });
    u64::try_from(saved.sum::<usize>()).unwrap_or(u64::MAX)
}

/// Returns the tool results that can be shortened when there is too much, each with its place (C21): first each that is too long, then all
/// together.
pub(crate) fn shortened_results(
    messages: &[Message],
    window: u64,
    rules: &ToolResultRules,
) -> Vec<(usize, ToolResultMessage)> {
    let limit = tool_result_limit(window, rules);
    let mut results: Vec<(usize, ToolResultMessage)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let Message::ToolResult(result) = message else {
            continue;
        };
        let result = shorten(result, limit, 0, rules).unwrap_or_else(|| result.clone());
        if result_weight(&result, rules) > 0 {
            results.push((at, result));
        }
    }
    let together = match rules.together {
        ResultsTogether::AsOneNewestFirst => {
            results.reverse();
            limit
        }
        ResultsTogether::AsFourOldestFirst => (limit * 4).max(
            usize::try_from(window)
                .unwrap_or(usize::MAX / 2)
                .saturating_mul(2),
        ),
    };
    shorten_together(&mut results, together, rules);
    results.retain(
        |(at, result)| !matches!(&messages[*at], Message::ToolResult(before) if before == result),
    );
    results
}

fn shorten_together(
    results: &mut [(usize, ToolResultMessage)],
    budget: usize,
    rules: &ToolResultRules,
) {
    if results.len() < 2 {
        return;
    }
    let weights = results
        .iter()
        .map(|(_, result)| result_weight(result, rules));
    let mut too_much = weights.sum::<usize>().saturating_sub(budget);
    let least = weight(&note(1, rules), rules.text);
    for (_, result) in results {
        if too_much == 0 {
            break;
        }
        let length = result_weight(result, rules);
        let target = length.saturating_sub(too_much).max(least);
        if length <= least {
            continue;
        }
        if let Some(shorter) = shorten(result, target, 0, rules) {
            too_much =
                too_much.saturating_sub(length.saturating_sub(result_weight(&shorter, rules)));
            *result = shorter;
        }
    }
}

/// Returns the beginning of a text that is at most `units` long, with a mark if something is missing.
pub(super) fn clip(text: &str, units: usize, mark: &str) -> String {
    if utf16_len(text) <= units {
        return text.to_owned();
    }
    format!("{}{mark}", utf16_prefix(text, units))
}
