//! Where something stands, for people to look it up (M60).

use crate::compat;
use chitin_protocol::session_key::{KeyGrammar, SessionKey};
use chitin_protocol::text::trim_js;

/// When places are cited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Citations {
    /// Always.
    On,
    /// Never.
    Off,
    /// Unless others read along.
    #[default]
    Auto,
}

impl Citations {
    /// Returns what a setting says; anything else is `auto`.
    pub fn of_name(name: &str) -> Self {
        match name {
            "on" => Self::On,
            "off" => Self::Off,
            _ => Self::Auto,
        }
    }

    /// Returns the name of the setting.
    pub const fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Auto => "auto",
        }
    }

    /// Tells whether places are cited in a session. Without a key nobody reads along.
    pub fn are_shown(self, session_key: &str) -> bool {
        match self {
            Self::On => true,
            Self::Off => false,
            Self::Auto => !is_shared(session_key),
        }
    }
}

/// Tells whether a session's key names a group or a channel.
fn is_shared(session_key: &str) -> bool {
    let key = trim_js(session_key).to_lowercase();
    SessionKey::parse(&key, KeyGrammar::Exact).is_some_and(|parsed| {
        parsed
            .rest
            .split(':')
            .any(|part| compat::SHARED_CHATS.contains(&part))
    })
}

/// Returns where a piece stands, such as `memory/plan.md#L3-L5`.
pub fn citation(path: &str, start_line: u32, end_line: u32) -> String {
    if start_line == end_line {
        format!("{path}#L{start_line}")
    } else {
        format!("{path}#L{start_line}-L{end_line}")
    }
}

/// Returns a text with the place where it stands below it.
pub fn cited(text: &str, citation: &str) -> String {
    format!("{}{}{citation}", trim_js(text), compat::SOURCE)
}
