//! Why a connection ended, and whether it is worth another.

use crate::compat::close;

/// Where intents are allowed.
const PORTAL: &str =
    "the page of the application on https://discord.com/developers/applications, under `Bot`";

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConnectionEnd {
    /// We were told to end.
    Told,
    /// Another try may help.
    Broken { reason: String },
    /// Nothing helps until somebody changes something.
    Failed {
        reason: String,
        hint: Option<String>,
    },
}

impl ConnectionEnd {
    /// The token is not taken.
    pub(super) fn token() -> Self {
        Self::failed(
            "Discord does not take the token of the bot.",
            format!("Make a new one on {PORTAL}, and put it into the configuration."),
        )
    }

    /// Says what a close for good means, by Discord's number for it.
    pub(super) fn of(code: Option<u16>) -> Self {
        match code {
            Some(close::TOKEN) => Self::token(),
            Some(close::INTENTS_NOT_ALLOWED) => Self::failed(
                "Discord does not allow the intents that this bot asks for.",
                format!(
                    "Switch on `Message Content Intent` (and what else `channels.discord.intents` asks for) on {PORTAL}, \
                     or set `channels.discord.intents.messageContent` to `false`: then only messages that name the bot can be read."
                ),
            ),
            Some(close::INTENTS_INVALID) => Self::failed(
                "Discord does not know the intents that this bot asks for.",
                "Leave out `channels.discord.intents`.".to_owned(),
            ),
            Some(close::SHARDING) => Self::failed(
                "This bot is in more servers than one connection can serve.",
                "Take it out of some: more than 2,500 are not supported.".to_owned(),
            ),
            code => Self::Failed {
                reason: format!(
                    "Discord closed the connection for good ({}).",
                    code.map_or_else(|| "no reason".to_owned(), |code| code.to_string())
                ),
                hint: None,
            },
        }
    }

    fn failed(reason: &str, hint: String) -> Self {
        Self::Failed {
            reason: reason.to_owned(),
            hint: Some(hint),
        }
    }
}
