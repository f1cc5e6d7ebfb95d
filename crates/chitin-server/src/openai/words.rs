//! What is said to the agent.

use super::request::{ChatMessage, ChatRequest, Role};
use std::fmt::Write as _;

/// Whether the session remembers what was said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// It does.
    Remembers,
    /// Nothing was said in it yet.
    Fresh,
}

/// Returns what is said: the user's words, and before them what a session that remembers nothing has to know.
pub(crate) fn words(request: &ChatRequest, memory: Memory) -> String {
    let before = match memory {
        Memory::Fresh => request.before.as_slice(),
        Memory::Remembers => &[],
    };
    let told = |message: &&ChatMessage| !message.text.trim().is_empty();
    let (instructions, said): (Vec<&ChatMessage>, Vec<&ChatMessage>) = before
        .iter()
        .filter(told)
        .partition(|message| message.role == Role::Instructions);
    if instructions.is_empty() && said.is_empty() {
        return request.text.clone();
    }
    let mut words = String::new();
    if !instructions.is_empty() {
        words.push_str("[Instructions that came with the message]\n");
        for message in instructions {
            let _ = write!(words, "{}\n\n", message.text.trim());
        }
    }
    if !said.is_empty() {
        words.push_str("[What was said before]\n");
        for message in said {
            let who = match message.role {
                Role::User => "User",
                Role::Assistant => "Assistant",
                Role::Tool => "Tool",
                Role::Instructions => continue,
            };
            let _ = write!(words, "{who}: {}\n\n", message.text.trim());
        }
    }
    words.push_str("[The message to answer]\n");
    words.push_str(&request.text);
    words
}
