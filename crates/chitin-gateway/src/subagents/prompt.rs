//! What a child is told: a part of its system prompt (R34) and its first message (R33).
//!
//! Headings and markers are OpenClaw's, sentences are ours. The other sections of a child's prompt are those of any short
//! prompt, in `chitin-context`.

use super::role::SessionRole;
use super::texts;
use crate::compat::{self, heading};
use chitin_contract::FirstMessage;

/// How long a label or key is shown at most, in characters.
const MOST_SHOWN: usize = 200;

/// What a child is told about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChildFacts<'a> {
    /// How many sessions are above it; a child of a user's session is 1.
    pub depth: u32,
    /// How deep children may go.
    pub max_depth: u32,
    /// What its parent calls it.
    pub label: Option<&'a str>,
    /// The parent's session.
    pub requester_session: Option<&'a str>,
    /// The channel that the parent speaks on.
    pub requester_channel: Option<&'a str>,
    /// The child's own session.
    pub session: &'a str,
    /// The thread that the child's replies go to; none when its parent relays them.
    pub thread: Option<&'a str>,
}

/// Returns a child's part of the system prompt.
pub fn system_prompt(facts: &ChildFacts<'_>) -> String {
    let parent = if facts.depth >= 2 {
        texts::PARENT_ORCHESTRATOR
    } else {
        texts::PARENT_AGENT
    };
    let mut sections = vec![
        (
            heading::CONTEXT,
            format!("\nYou are a subagent: a session that {parent} began for one task."),
        ),
        (heading::ROLE, texts::ROLE.to_owned()),
        (heading::RULES, texts::RULES.to_owned()),
        (heading::OUTPUT, texts::OUTPUT.to_owned()),
        (heading::NOT, texts::NOT.to_owned()),
    ];
    match SessionRole::at(facts.depth, facts.max_depth) {
        SessionRole::Main | SessionRole::Orchestrator => {
            sections.push((heading::SPAWNING, texts::MAY_SPAWN.to_owned()));
        }
        // A child of a user's session that may not spawn has never heard of it.
        SessionRole::Leaf if facts.depth >= 2 => {
            sections.push((heading::SPAWNING, texts::LEAF.to_owned()));
        }
        SessionRole::Leaf => {}
    }
    sections.push((heading::SESSION, session_lines(facts)));
    let sections: Vec<String> = sections
        .into_iter()
        .map(|(heading, body)| format!("{heading}\n{body}\n"))
        .collect();
    sections.join("\n")
}

fn session_lines(facts: &ChildFacts<'_>) -> String {
    let mut lines = Vec::new();
    if let Some(label) = shown(facts.label) {
        lines.push(format!("- Label: {label}"));
    }
    if let Some(session) = shown(facts.requester_session) {
        lines.push(format!("- Requester session: {session}."));
    }
    if let Some(channel) = shown(facts.requester_channel) {
        lines.push(format!("- Requester channel: {channel}."));
    }
    let own = shown(Some(facts.session)).unwrap_or_default();
    lines.push(format!("- Your session: {own}."));
    if let Some(thread) = shown(facts.thread) {
        lines.push(format!("- Your thread: {thread}. {}", texts::OWN_THREAD));
    }
    lines.join("\n")
}

/// Returns a fact on one line, so that none can pass for a heading.
fn shown(text: Option<&str>) -> Option<String> {
    let text = text?.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().take(MOST_SHOWN).collect();
    (!text.is_empty()).then_some(text)
}

/// Whether a child ends with its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stay {
    /// It does: mode `run`.
    UntilDone,
    /// It stays and hears more: mode `session`.
    Stays,
}

/// Returns the first message to a child.
pub fn first_message(
    task: &str,
    depth: u32,
    max_depth: u32,
    stay: Stay,
    shape: FirstMessage,
) -> String {
    let context = compat::SUBAGENT_CONTEXT;
    let mut paragraphs = vec![format!(
        "{context} {} (depth {depth}/{max_depth})",
        texts::FIRST
    )];
    match stay {
        Stay::UntilDone => {}
        Stay::Stays => paragraphs.push(format!("{context} {}", texts::STAYS)),
    }
    let marker = compat::SUBAGENT_TASK;
    match shape {
        FirstMessage::OneLine => paragraphs.push(format!("{marker}: {task}")),
        FirstMessage::Paragraphs => {
            paragraphs.extend([marker.to_owned(), task.to_owned(), texts::BEGIN.to_owned()]);
        }
    }
    paragraphs.join("\n\n")
}
