//! What the offline model says.

use crate::local::Given;
use chitin_protocol::message::{Message, ToolResultMessage};
use std::fmt::Write;

/// What it understands.
pub(super) const HELP: &str = "I am the offline model: I need no network and I say what I was given. I understand:\n\
    - `say TEXT`: I answer TEXT.\n\
    - `call TOOL {\"key\": \"value\"}`: I call the tool with these arguments, such as `call read {\"path\": \"AGENTS.md\"}`.\n\
    - `use TOOL: TEXT`: I call the tool with TEXT as its first argument, such as `use exec: ls`.\n\
    - `help`: this.\n\
    One line is one call. For a model that thinks, set a key such as `ANTHROPIC_API_KEY` or name one with `--model`.";

/// How much of a text is repeated.
const LONGEST_QUOTE: usize = 200;

/// How much of a result is repeated.
const LONGEST_RESULT: usize = 400;

/// How many names are listed.
const MOST_NAMES: usize = 12;

/// Says what the model was given.
pub(super) fn account(given: &Given, said: &str) -> String {
    let mut text = "I am the offline model, so I only say what I was given.\n".to_owned();
    let headings = headings(&given.system);
    let (files, sections): (Vec<&str>, Vec<&str>) =
        headings.into_iter().partition(|heading| is_file(heading));
    let _ = writeln!(
        text,
        "- System prompt: {} in {}.",
        count(given.system.chars().count(), "character"),
        count(given.system.lines().count(), "line")
    );
    let _ = writeln!(text, "- Sections: {}.", named(&sections));
    let _ = writeln!(text, "- Files: {}.", named(&files));
    let tools: Vec<&str> = given.tools.iter().map(|tool| &*tool.name).collect();
    let _ = writeln!(text, "- Tools: {}.", named(&tools));
    let _ = writeln!(
        text,
        "- Messages: {}.",
        count(given.messages.len(), "message")
    );
    let said = said.trim();
    if said.is_empty() {
        text.push_str("- You said nothing.\n");
    } else {
        let _ = writeln!(
            text,
            "- Your last words: \"{}\"",
            shortened(said, LONGEST_QUOTE)
        );
    }
    text.push_str("Say `help` to see how I call tools.");
    text
}

/// Returns the results of tools that stand at the end of the conversation.
pub(super) fn last_results(messages: &[Message]) -> Vec<&ToolResultMessage> {
    let mut results: Vec<&ToolResultMessage> = messages
        .iter()
        .rev()
        .map_while(|message| match message {
            Message::ToolResult(result) => Some(result),
            Message::User(_) | Message::Assistant(_) | Message::Other(_) => None,
        })
        .collect();
    results.reverse();
    results
}

/// Reports what tools gave back.
pub(super) fn report(results: &[&ToolResultMessage]) -> String {
    let mut text = String::new();
    for result in results {
        let name = result.tool_name.as_deref().unwrap_or("the tool");
        let content = result.content.text();
        let content = content.trim();
        let outcome = if result.is_error { "failed" } else { "is done" };
        if !text.is_empty() {
            text.push('\n');
        }
        if content.is_empty() {
            let _ = write!(text, "`{name}` {outcome} and says nothing.");
        } else {
            let _ = write!(
                text,
                "`{name}` {outcome}, with {} in {}:\n{}",
                count(content.chars().count(), "character"),
                count(content.lines().count(), "line"),
                shortened(content, LONGEST_RESULT)
            );
        }
    }
    text
}

/// Joins names: `a`, `b` and `c`.
pub(super) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .take(MOST_NAMES)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = names.len().saturating_sub(MOST_NAMES);
    match (quoted.split_last(), more) {
        (None, _) => "none".to_owned(),
        (Some(_), 1..) => format!("{} and {more} more", quoted.join(", ")),
        (Some((last, [])), 0) => last.clone(),
        (Some((last, before)), 0) => format!("{} and {last}", before.join(", ")),
    }
}

fn named(names: &[&str]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        format!("{} ({})", names.len(), list(names))
    }
}

/// Returns the headings of the second level that stand outside of code.
fn headings(system: &str) -> Vec<&str> {
    let mut fenced = false;
    system
        .lines()
        .filter_map(|line| {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            }
            let heading = line.strip_prefix("## ")?.trim();
            (!fenced && !heading.is_empty()).then_some(heading)
        })
        .collect()
}

fn is_file(heading: &str) -> bool {
    heading.ends_with(".md") && !heading.contains(' ')
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn shortened(text: &str, most: usize) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(most).collect();
    let left = characters.count();
    if left == 0 {
        start
    } else {
        format!("{start}… ({} more)", count(left, "character"))
    }
}
