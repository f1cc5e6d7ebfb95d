//! Policies as data.

use super::pattern::Pattern;
use super::time_window::TimeWindow;
use serde::Serialize;

/// The key of the rule that says how many messages of a sender may be under way.
pub const CONCURRENCY_LIMIT: &str = "concurrency-limit";

/// What a `PERMISSIONS.md` asks for.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Permissions {
    /// The policies, in the order in which they are asked.
    pub policies: Vec<PermissionPolicy>,
    /// Set when the file has text and asks for nothing; nothing is guarded then, which its author may not expect.
    pub says_nothing: bool,
}

/// One policy.
#[derive(Debug, Clone, Serialize)]
pub struct PermissionPolicy {
    /// The name that a refusal carries.
    pub name: String,
    /// Where it comes from.
    pub source: String,
    /// Its version.
    pub version: String,
    /// What it demands.
    #[serde(flatten)]
    pub rule: PolicyRule,
    /// The lines of the file that it comes from, counted from one: one per pattern or role, otherwise one.
    #[serde(skip)]
    pub lines: Vec<usize>,
}

/// What a policy demands of a message.
#[derive(Debug, Clone, Serialize)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum PolicyRule {
    /// Nothing of this is in it.
    DenyList {
        /// Phrases, then expressions.
        patterns: Vec<Pattern>,
    },
    /// Something of this is in it.
    AllowList {
        /// Phrases, then expressions.
        patterns: Vec<Pattern>,
    },
    /// The caller holds every role.
    Authorization {
        /// The roles, each once.
        roles: Vec<String>,
    },
    /// It is not longer than this.
    MessageLength {
        /// The most UTF-16 units.
        max_chars: u32,
    },
    /// The caller sent fewer than this lately.
    RateLimit {
        /// How many in one window.
        limit: u32,
        /// The length of the sliding window.
        window_seconds: u32,
    },
    /// Fewer than this are under way.
    ConcurrencyLimit {
        /// How many at once.
        max_concurrent: u32,
    },
    /// It comes at the right time.
    TimeWindow(TimeWindow),
    /// Nobody has pulled the switch. It is installed disarmed.
    KillSwitch,
}

impl PolicyRule {
    /// Returns the name of the kind of policy.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::DenyList { .. } => "deny-list",
            Self::AllowList { .. } => "allow-list",
            Self::Authorization { .. } => "authorization",
            Self::MessageLength { .. } => "message-length",
            Self::RateLimit { .. } => "rate-limit",
            Self::ConcurrencyLimit { .. } => CONCURRENCY_LIMIT,
            Self::TimeWindow(_) => "time-window",
            Self::KillSwitch => "kill-switch",
        }
    }

    /// Returns the key that the file spells the policy with; of a list, the one of the pattern at that place.
    pub fn key(&self, at: usize) -> &'static str {
        let is_phrase = |patterns: &[Pattern]| patterns.get(at).is_none_or(Pattern::is_phrase);
        match self {
            Self::DenyList { patterns } if is_phrase(patterns) => "deny",
            Self::DenyList { .. } => "deny-regex",
            Self::AllowList { patterns } if is_phrase(patterns) => "allow",
            Self::AllowList { .. } => "allow-regex",
            Self::Authorization { .. } => "require-role",
            Self::MessageLength { .. } => "message-length",
            Self::RateLimit { .. } => "rate-limit",
            Self::ConcurrencyLimit { .. } => CONCURRENCY_LIMIT,
            Self::TimeWindow(_) => "time-window",
            Self::KillSwitch => "kill-switch",
        }
    }
}
