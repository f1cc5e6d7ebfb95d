//! What follows a summary word by word: newest turns, failures, critical rules (C38).

use super::tool_results::clip;
use super::view::{block_type, paired_calls, result_id};
use crate::compat::{
    CRITICAL_RULES_CUT, CRITICAL_RULES_TAG, CRITICAL_SECTIONS, FAILURES_HEADING, PRESERVED_HEADING,
    SPLIT_TURN_HEADING,
};
use chitin_contract::SummaryRules;
use chitin_protocol::message::{Block, Content, Message, ToolResultMessage};
use chitin_protocol::text::{is_js_whitespace, trim_js, utf16_len, utf16_prefix};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt::Write as _;

/// What of a conversation is summarised, and what is kept word by word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preserved {
    /// Messages to summarise, by index.
    pub summarizable: Vec<usize>,
    /// Messages to keep, by index.
    pub preserved: Vec<usize>,
}

/// Splits off the newest `turns` turns, with the results of their calls.
pub fn preserve_turns(messages: &[Message], turns: usize) -> Preserved {
    let turns = turns.min(SummaryRules::PRESERVED_TURNS_MAX);
    let kept = kept_indices(messages, turns);
    let (preserved, summarizable): (Vec<usize>, Vec<usize>) =
        (0..messages.len()).partition(|at| kept.contains(at));
    if preserved.is_empty() {
        return Preserved {
            summarizable,
            preserved,
        };
    }
    // A result whose call is kept elsewhere says nothing by itself.
    let calls = call_ids(messages, &summarizable);
    let summarizable = summarizable
        .into_iter()
        .filter(|at| match &messages[*at] {
            Message::ToolResult(result) => result_id(result).is_some_and(|id| calls.contains(id)),
            Message::User(_) | Message::Assistant(_) | Message::Other(_) => true,
        })
        .collect();
    Preserved {
        summarizable,
        preserved,
    }
}

fn call_ids<'m, 'i>(
    messages: &'m [Message],
    among: impl IntoIterator<Item = &'i usize>,
) -> HashSet<&'m str> {
    among
        .into_iter()
        .filter_map(|at| match &messages[*at] {
            Message::Assistant(answer) => Some(answer),
            Message::User(_) | Message::ToolResult(_) | Message::Other(_) => None,
        })
        .flat_map(paired_calls)
        .map(|call| call.id)
        .collect()
}

fn kept_indices(messages: &[Message], turns: usize) -> HashSet<usize> {
    if turns == 0 {
        return HashSet::new();
    }
    let of_role = |roles: &[&str]| -> Vec<usize> {
        let with = |message: &Message| roles.contains(&message.role());
        (0..messages.len())
            .filter(|at| with(&messages[*at]))
            .collect()
    };
    let talk = of_role(&["user", "assistant"]);
    let users = of_role(&["user"]);
    let mut kept: HashSet<usize> = HashSet::new();
    if let Some(first) = users.len().checked_sub(turns) {
        kept.extend(talk.into_iter().filter(|at| *at >= users[first]));
    } else {
        // Fewer turns than that: what was asked, and of the rest as much as so many turns usually have.
        kept.extend(users);
        for at in talk.into_iter().rev() {
            kept.insert(at);
            if kept.len() >= turns * 2 {
                break;
            }
        }
    }
    let calls = call_ids(messages, &kept);
    let first = kept.iter().min().copied().unwrap_or(messages.len());
    let results: Vec<usize> = (first..messages.len())
        .filter(|at| match &messages[*at] {
            Message::ToolResult(result) => result_id(result).is_some_and(|id| calls.contains(id)),
            Message::User(_) | Message::Assistant(_) | Message::Other(_) => false,
        })
        .collect();
    kept.extend(results);
    kept
}

/// Writes the turns that are kept word by word; nothing if there are none.
pub fn preserved_section<'a>(messages: impl IntoIterator<Item = &'a Message>) -> String {
    section(&format!("\n\n{PRESERVED_HEADING}\n"), messages)
}

/// Writes the beginning of a turn that was cut in two; nothing if there is none.
pub fn split_turn_section<'a>(messages: impl IntoIterator<Item = &'a Message>) -> String {
    section(&format!("{SPLIT_TURN_HEADING}\n\n"), messages)
}

fn section<'a>(heading: &str, messages: impl IntoIterator<Item = &'a Message>) -> String {
    let lines: Vec<String> = messages.into_iter().filter_map(line).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("{heading}{}", lines.join("\n"))
}

fn line(message: &Message) -> Option<String> {
    let (label, content) = match message {
        Message::User(user) => ("User".to_owned(), &user.content),
        Message::Assistant(answer) => ("Assistant".to_owned(), &answer.content),
        Message::ToolResult(result) => (
            format!("Tool result ({})", tool_name(result)),
            &result.content,
        ),
        Message::Other(_) => return None,
    };
    let parts: Vec<String> = [plain_text(content), non_text(content)]
        .into_iter()
        .flatten()
        .collect();
    if parts.is_empty() {
        return None;
    }
    let text = clip(&parts.join("\n"), SummaryRules::PRESERVED_CHARS, "...");
    Some(format!("- {label}: {text}"))
}

fn tool_name(result: &ToolResultMessage) -> &str {
    result
        .tool_name
        .as_deref()
        .filter(|name| !trim_js(name).is_empty())
        .unwrap_or("tool")
}

/// Returns the text of a message, each block trimmed.
pub(super) fn plain_text(content: &Content) -> Option<String> {
    let text = match content {
        Content::Text(text) => trim_js(text).to_owned(),
        Content::Blocks(blocks) => {
            let texts = blocks.iter().filter_map(Block::as_text).map(trim_js);
            let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        }
        Content::Other(_) => String::new(),
    };
    (!text.is_empty()).then_some(text)
}

/// Names what is no text, in the order in which the kinds come.
fn non_text(content: &Content) -> Option<String> {
    let blocks = match content {
        Content::Text(_) | Content::Other(Value::Null) => return None,
        Content::Other(_) => return Some("[non-text content]".to_owned()),
        Content::Blocks(blocks) => blocks,
    };
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for block in blocks {
        let kind = match block_type(block) {
            "text" => continue,
            kind if trim_js(kind).is_empty() => "unknown",
            kind => kind,
        };
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    if kinds.is_empty() {
        return None;
    }
    let kinds: Vec<String> = kinds
        .into_iter()
        .map(|(kind, count)| match count {
            1 => kind.to_owned(),
            _ => format!("{kind} x{count}"),
        })
        .collect();
    Some(format!("[non-text content: {}]", kinds.join(", ")))
}

/// One failure of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFailure {
    /// The call.
    pub call_id: String,
    /// The tool.
    pub tool_name: String,
    /// What it said, on one line.
    pub summary: String,
    /// How it ended, if it says so.
    pub meta: Option<String>,
}

/// Finds the failures of tools, one for each call.
pub fn tool_failures<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<ToolFailure> {
    let mut seen = HashSet::new();
    messages
        .into_iter()
        .filter_map(|message| match message {
            Message::ToolResult(result) if result.is_error => Some(result),
            Message::ToolResult(_)
            | Message::User(_)
            | Message::Assistant(_)
            | Message::Other(_) => None,
        })
        .filter(|result| !result.tool_call_id.is_empty() && seen.insert(&result.tool_call_id))
        .map(|result| {
            let meta = result.details.as_ref().and_then(ended);
            let said = one_line(&result.content.text());
            let said = match (said.is_empty(), &meta) {
                (false, _) => said,
                (true, Some(_)) => "failed".to_owned(),
                (true, None) => "failed (no output)".to_owned(),
            };
            ToolFailure {
                call_id: result.tool_call_id.clone(),
                tool_name: tool_name(result).to_owned(),
                summary: shortened(&said, SummaryRules::FAILURE_CHARS),
                meta,
            }
        })
        .collect()
}

fn one_line(text: &str) -> String {
    let words = text.split(is_js_whitespace).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn shortened(text: &str, limit: usize) -> String {
    if utf16_len(text) <= limit {
        return text.to_owned();
    }
    format!("{}...", utf16_prefix(text, limit.saturating_sub(3)))
}

fn ended(details: &Value) -> Option<String> {
    let status = details.get("status").and_then(Value::as_str);
    let status = status.filter(|status| !status.is_empty());
    let code = details.get("exitCode").filter(|code| code.is_number());
    let parts: Vec<String> = status
        .map(|status| format!("status={status}"))
        .into_iter()
        .chain(code.map(|code| format!("exitCode={code}")))
        .collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Writes the failures; nothing if there are none.
pub fn failures_section(failures: &[ToolFailure]) -> String {
    if failures.is_empty() {
        return String::new();
    }
    let mut text = format!("\n\n{FAILURES_HEADING}");
    for failure in failures.iter().take(SummaryRules::FAILURES) {
        let meta = failure.meta.as_ref().map(|meta| format!(" ({meta})"));
        let meta = meta.unwrap_or_default();
        let _ = write!(text, "\n- {}{meta}: {}", failure.tool_name, failure.summary);
    }
    if let Some(more) = failures
        .len()
        .checked_sub(SummaryRules::FAILURES)
        .filter(|more| *more > 0)
    {
        let _ = write!(text, "\n- ...and {more} more");
    }
    text
}

/// Repeats the critical rules of a workspace's `AGENTS.md`; nothing if it has none.
pub fn critical_rules(agents: &str) -> String {
    let sections = CRITICAL_SECTIONS.iter().find_map(|names| {
        let found: Vec<String> = names
            .iter()
            .filter_map(|name| markdown_section(agents, name))
            .collect();
        (!found.is_empty()).then(|| found.join("\n\n"))
    });
    let Some(sections) = sections else {
        return String::new();
    };
    let text = clip(
        &sections,
        SummaryRules::CRITICAL_RULES_CHARS,
        CRITICAL_RULES_CUT,
    );
    format!("\n\n<{CRITICAL_RULES_TAG}>\n{text}\n</{CRITICAL_RULES_TAG}>")
}

/// Returns a section of the second or third level with its heading, up to the next heading that is no lower.
fn markdown_section(text: &str, name: &str) -> Option<String> {
    let mut fenced = false;
    let mut level = None;
    let mut lines: Vec<&str> = Vec::new();
    for line in text.split('\n') {
        let fence = line.trim_start_matches(is_js_whitespace).starts_with("```");
        fenced ^= fence;
        let heading = if fence || fenced { None } else { heading(line) };
        match (heading, level) {
            (Some((depth, title)), None) if title.to_lowercase() == name.to_lowercase() => {
                level = Some(depth);
                lines.push(line);
            }
            (Some((depth, _)), Some(level)) if depth <= level => break,
            (_, Some(_)) => lines.push(line),
            (_, None) => {}
        }
    }
    level.map(|_| trim_js(&lines.join("\n")).to_owned())
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let depth = line.len() - title.len();
    let spaced = title.starts_with(is_js_whitespace) && !trim_js(title).is_empty();
    ((2..=3).contains(&depth) && spaced).then(|| (depth, trim_js(title)))
}
