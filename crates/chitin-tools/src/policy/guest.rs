//! What guests may use: a few tools that only look, and what the owner names.

use super::ToolPolicy;
use crate::rights::GuestRights;
use chitin_protocol::settings::{GuestFiles, GuestSettings};

/// Tools that neither change anything nor look beyond the workspace and the guest's own conversation.
const USUAL: [&str; 2] = ["session_status", MESSAGE];
/// The same for files. What goes by `read` comes with it.
const READING: [&str; 3] = ["read", "ls", "search"];
/// The tools that write files. They ask the owner before they change what the agent is made of.
pub const WRITING: [&str; 3] = ["write", "edit", "apply_patch"];
const MEMORY: [&str; 2] = ["memory_search", "memory_get"];
const MESSAGE: &str = "message";

/// What guests may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GuestTools {
    settings: GuestSettings,
    /// What the configuration names for the room, or for whoever speaks there.
    named: Vec<String>,
}

impl GuestTools {
    /// Puts together what is open to guests everywhere, and what the lists of a place or a sender name besides.
    pub fn new<'l>(
        settings: &GuestSettings,
        lists: impl IntoIterator<Item = &'l ToolPolicy>,
    ) -> Self {
        let named = lists.into_iter().filter_map(|list| list.allow.as_ref());
        Self {
            settings: settings.clone(),
            named: named
                .flatten()
                .filter(|entry| is_name(entry))
                .cloned()
                .collect(),
        }
    }

    /// Returns what the turn's tools may do; `has` tells which tools there are.
    pub fn rights(&self, has: impl Fn(&str) -> bool) -> GuestRights {
        let is_message = |entry: &str| entry.trim().eq_ignore_ascii_case(MESSAGE);
        GuestRights {
            memory: self.settings.memory == Some(true),
            writes: WRITING.into_iter().any(has),
            messages: self.entries().any(is_message),
        }
    }

    pub(super) fn policy(&self) -> ToolPolicy {
        let entries = self.entries().map(str::to_owned);
        ToolPolicy {
            allow: Some(self.built_in().into_iter().chain(entries).collect()),
            deny: None,
        }
    }

    /// Returns the entries that the user did not write.
    pub(super) fn built_in(&self) -> Vec<String> {
        let mut tools = USUAL.to_vec();
        match self.settings.files.unwrap_or_default() {
            GuestFiles::None => {}
            GuestFiles::Read => tools.extend(READING),
            GuestFiles::Write => tools.extend(READING.into_iter().chain(WRITING)),
        }
        if self.settings.memory == Some(true) {
            tools.extend(MEMORY);
        }
        tools.into_iter().map(str::to_owned).collect()
    }

    /// Returns what the owner named.
    fn entries(&self) -> impl Iterator<Item = &str> {
        let everywhere = self.settings.tools.iter().flatten();
        let entries = everywhere.chain(&self.named).map(String::as_str);
        entries.filter(|entry| is_name(entry))
    }
}

/// Tells whether an entry of a list names something. A text of stars grants everything without saying what.
fn is_name(entry: &str) -> bool {
    !entry.trim().is_empty() && entry.trim().chars().any(|c| c != '*')
}
