//! Whether a parent hears of a child, and in which words: for all agents, for one, for one spawn (E15).

use chitin_protocol::settings::SubagentSettings;

/// What one spawn wishes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnnounceWish {
    /// Whether a message about the child's end is expected.
    pub expects_completion_message: Option<bool>,
    /// What the parent is asked to do.
    pub action: Option<String>,
}

/// What holds for one child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcing {
    /// Whether a message about the child's end is expected.
    pub expects_completion_message: bool,
    /// What the parent is asked to do, in the user's own words.
    pub action: Option<String>,
}

impl Announcing {
    /// Says what holds: the spawn's wish, then the settings of the parent's agent, then what the seed documents say, which is
    /// that a message is expected.
    pub fn resolve(spawn: &AnnounceWish, settings: &SubagentSettings) -> Self {
        let configured = settings.announce.as_ref();
        let said = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        Self {
            expects_completion_message: spawn
                .expects_completion_message
                .or_else(|| configured?.expects_completion_message)
                .unwrap_or(true),
            action: said(&spawn.action).or_else(|| said(&configured?.action)),
        }
    }
}
