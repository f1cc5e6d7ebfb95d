//! `CHANNELS.md`: the channels that an agent answers on (B11). Names only, never credentials.

use super::java_letters::is_letter_or_digit;
use super::line::statements;
use super::live::{LiveFile, LiveText};
use crate::adapter::text::strip;
use chitin_guard::ReadPolicy;
use std::collections::HashSet;
use std::path::Path;

/// The file.
pub const FILE: &str = "CHANNELS.md";

/// Returns the channel names in the order in which they first appear. No name at all means every channel.
pub fn parse(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    statements(text)
        .filter_map(|line| {
            let word = match line.find(':') {
                Some(at) if at > 0 => &line[..at],
                _ => line,
            };
            let name = strip(word).to_lowercase();
            let is_name =
                !name.is_empty() && name.chars().all(|c| c == '-' || is_letter_or_digit(c));
            (is_name && seen.insert(name.clone())).then_some(name)
        })
        .collect()
}

/// The channels that always reach an agent: the owner's own terminal, and what the program itself sends.
pub const ALWAYS: [&str; 2] = ["terminal", "internal"];

/// Other names that a file may use for a channel, and the channel.
pub const ALIASES: [(&str, &str); 3] = [("webchat", "web"), ("http", "web"), ("api", "web")];

/// Channels that this program has, and those that OpenClaw's users may name.
const CHANNELS: [&str; 16] = [
    "web",
    "directory",
    "discord",
    "slack",
    "terminal",
    "internal",
    "telegram",
    "whatsapp",
    "signal",
    "imessage",
    "matrix",
    "mattermost",
    "msteams",
    "googlechat",
    "line",
    "irc",
];

/// Returns every name of a channel that a file may use.
pub fn known() -> impl Iterator<Item = &'static str> {
    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
    CHANNELS.into_iter().chain(aliases)
}

/// Returns the name that this program has for a channel.
pub fn canonical(name: &str) -> &str {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    alias.map_or(name, |(_, channel)| channel)
}

/// Which channels may reach the agent of a workspace, as its `CHANNELS.md` says at the moment of asking. It only takes
/// channels away. A file that cannot be read shuts out all of them.
pub struct ChannelFilter {
    file: LiveFile<Reach>,
}

/// Which channels reach the agent.
enum Reach {
    All,
    Only(Vec<String>),
    Unknown(String),
}

impl ChannelFilter {
    /// Filters the channels of a workspace. Nothing is read yet.
    pub fn new(directory: &Path, policy: ReadPolicy) -> Self {
        Self {
            file: LiveFile::new(directory, FILE, policy),
        }
    }

    /// Says why messages of a channel do not reach the agent, if they do not.
    pub fn refusal(&self, channel: &str) -> Option<String> {
        let lower = channel.to_lowercase();
        let channel = canonical(&lower);
        if channel.is_empty() || ALWAYS.contains(&channel) {
            return None;
        }
        let reach = self.file.get(|text| match text {
            LiveText::Absent => Reach::All,
            LiveText::Unreadable(reason) => Reach::Unknown(reason.to_string()),
            LiveText::Text(text) => {
                let names = parse(text);
                if names.is_empty() {
                    Reach::All
                } else {
                    Reach::Only(names)
                }
            }
        });
        match &*reach {
            Reach::All => None,
            Reach::Only(names) if names.iter().any(|name| canonical(name) == channel) => None,
            Reach::Only(_) => Some(format!(
                "This agent takes no messages from the channel `{channel}`: `{FILE}` in its workspace does not list it."
            )),
            Reach::Unknown(reason) => Some(format!(
                "This agent takes no messages from any channel: `{FILE}` in its workspace cannot be read ({reason})."
            )),
        }
    }
}
