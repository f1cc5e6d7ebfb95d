//! What a configuration says of Discord.

mod read;
mod url;

pub(crate) use url::Url;

use crate::compat::{ACTIONS, MOST_CHARS, USUAL_LINES, USUAL_MEDIA_MB};
use chitin_net::TlsRoots;
use std::collections::{BTreeMap, BTreeSet};

/// The account when none is named.
pub(crate) const DEFAULT: &str = chitin_protocol::agent_id::DEFAULT_ACCOUNT;

/// What a configuration says of Discord.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscordSettings {
    /// Whether it is used at all.
    pub enabled: bool,
    /// The accounts by name; there is always one.
    pub accounts: BTreeMap<String, AccountSettings>,
    /// What holds for an account of which nothing is said.
    pub usual: AccountSettings,
    /// The longest message, in UTF-16 units.
    pub max_chars: usize,
    /// The most lines of a message.
    pub max_lines: usize,
    /// Actions that are switched off.
    pub switched_off: BTreeSet<String>,
    /// Where requests go in place of Discord, for a proxy.
    pub(crate) api_url: Option<Url>,
    /// Where events come from in place of Discord, for a proxy.
    pub(crate) gateway_url: Option<Url>,
    /// Whom TLS trusts.
    pub(crate) trust: TlsRoots,
}

/// What a configuration says of one account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSettings {
    /// Whether it is used.
    pub enabled: bool,
    /// The largest file that is taken in or sent, in bytes.
    pub media_max: usize,
    /// What it asks to see besides messages.
    pub intents: Intents,
}

/// What an account asks to see. Each has to be allowed on Discord's page for developers too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intents {
    /// What messages in guilds say, also those that do not name us.
    pub message_content: bool,
    /// Who comes and goes.
    pub guild_members: bool,
    /// Who is there.
    pub presence: bool,
}

/// Something in a configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingIssue {
    /// Where, below `channels.discord`, such as `accounts.work.mediaMaxMb`.
    pub path: String,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Default for AccountSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            media_max: megabytes(USUAL_MEDIA_MB),
            intents: Intents {
                message_content: true,
                guild_members: false,
                presence: false,
            },
        }
    }
}

impl Default for DiscordSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            accounts: BTreeMap::from([(DEFAULT.to_owned(), AccountSettings::default())]),
            usual: AccountSettings::default(),
            max_chars: MOST_CHARS,
            max_lines: USUAL_LINES,
            switched_off: BTreeSet::new(),
            api_url: None,
            gateway_url: None,
            trust: TlsRoots::default(),
        }
    }
}

impl DiscordSettings {
    /// Says whom TLS trusts; left alone, that is the usual authorities.
    #[must_use]
    pub fn trusting(mut self, trust: TlsRoots) -> Self {
        self.trust = trust;
        self
    }

    /// Returns the actions that are left, in a fixed order.
    pub(crate) fn actions(&self) -> Vec<String> {
        let all = ACTIONS.iter().flat_map(|(_, actions)| *actions);
        all.filter(|action| !self.switched_off.contains(**action))
            .map(|action| (*action).to_owned())
            .collect()
    }

    /// Returns the largest file that any account sends.
    pub(crate) fn largest_file(&self) -> usize {
        let sizes = self.accounts.values().map(|account| account.media_max);
        sizes.max().unwrap_or_default()
    }
}

/// Returns so many MiB in bytes.
pub(crate) fn megabytes(count: u64) -> usize {
    usize::try_from(count.saturating_mul(1024 * 1024)).unwrap_or(usize::MAX)
}
