//! From the text of a `PERMISSIONS.md` to policies.

use super::super::compat::{KILL_SWITCH, POLICY_VERSION};
use super::super::line::settings;
use super::pattern::{Pattern, PatternError};
use super::policy::{Permissions, Policy, Rule};
use super::time_window::{TimeWindow, TimeWindowError};
use crate::adapter::text::{is_blank, strip};
use thiserror::Error;

/// The most patterns in one list; each costs memory and time at every message.
const MAX_PATTERNS: usize = 1000;

/// A control that cannot be installed as it stands. The load fails.
#[derive(Debug, Error)]
pub enum PermissionsError {
    /// A limit is not a positive whole number.
    #[error("`{key}: {value}` is not a positive whole number")]
    Limit {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
    },
    /// A rate is not two positive whole numbers.
    #[error("`rate-limit: {value}` is not `messages/seconds` with two positive whole numbers")]
    Rate {
        /// The value.
        value: String,
    },
    /// A time window is not one.
    #[error("`time-window: {value}` is not `HH:MM-HH:MM` with an optional time zone: {source}")]
    TimeWindow {
        /// The value.
        value: String,
        /// What is wrong with it.
        source: TimeWindowError,
    },
    /// A pattern does not compile.
    #[error("`{key}: {value}` is not a pattern: {source}")]
    Pattern {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// What is wrong with it.
        source: PatternError,
    },
    /// There are more patterns than anybody writes by hand.
    #[error("there are more than {MAX_PATTERNS} lines of `{key}`")]
    TooMany {
        /// The key.
        key: &'static str,
    },
}

/// The lines of a file, gathered by key.
#[derive(Default)]
struct Lines<'a> {
    deny: Vec<&'a str>,
    deny_regex: Vec<&'a str>,
    allow: Vec<&'a str>,
    allow_regex: Vec<&'a str>,
    roles: Vec<String>,
    message_length: Option<&'a str>,
    rate_limit: Option<&'a str>,
    concurrency_limit: Option<&'a str>,
    time_window: Option<&'a str>,
    kill_switch: bool,
}

/// Reads the policies of an agent.
pub fn parse(text: &str, agent: &str) -> Result<Permissions, PermissionsError> {
    let lines = gather(text);
    let mut policies = Vec::new();
    let mut install = |name: String, rule| {
        policies.push(Policy {
            name,
            source: format!("permissions:{agent}"),
            version: POLICY_VERSION.to_owned(),
            rule,
        });
    };
    if let Some(patterns) = patterns(("deny", &lines.deny), ("deny-regex", &lines.deny_regex))? {
        install(
            format!("workspace-deny-{agent}"),
            Rule::DenyList { patterns },
        );
    }
    if let Some(patterns) = patterns(("allow", &lines.allow), ("allow-regex", &lines.allow_regex))?
    {
        install(
            format!("workspace-allow-{agent}"),
            Rule::AllowList { patterns },
        );
    }
    if !lines.roles.is_empty() {
        let roles = lines.roles;
        install(
            format!("workspace-authz-{agent}"),
            Rule::Authorization { roles },
        );
    }
    if let Some(value) = lines.message_length {
        let max_chars = limit("message-length", value)?;
        install(
            format!("workspace-message-length-{agent}"),
            Rule::MessageLength { max_chars },
        );
    }
    if let Some(value) = lines.rate_limit {
        install(format!("workspace-rate-limit-{agent}"), rate(value)?);
    }
    if let Some(value) = lines.concurrency_limit {
        let max_concurrent = limit("concurrency-limit", value)?;
        install(
            format!("workspace-concurrency-limit-{agent}"),
            Rule::ConcurrencyLimit { max_concurrent },
        );
    }
    if let Some(value) = lines.time_window {
        let window = TimeWindow::parse(value).map_err(|source| PermissionsError::TimeWindow {
            value: value.to_owned(),
            source,
        })?;
        install(
            format!("workspace-time-window-{agent}"),
            Rule::TimeWindow(window),
        );
    }
    if lines.kill_switch {
        install(KILL_SWITCH.to_owned(), Rule::KillSwitch);
    }
    Ok(Permissions {
        says_nothing: policies.is_empty() && !is_blank(text),
        policies,
    })
}

/// Lists add up; of a single-valued key the last line counts. Unknown keys are prose.
fn gather(text: &str) -> Lines<'_> {
    let mut lines = Lines::default();
    for (key, value) in settings(text) {
        match key.as_str() {
            "deny" => lines.deny.push(value),
            "deny-regex" => lines.deny_regex.push(value),
            "allow" => lines.allow.push(value),
            "allow-regex" => lines.allow_regex.push(value),
            "require-role" | "role" if lines.roles.iter().any(|role| role == value) => {}
            "require-role" | "role" => lines.roles.push(value.to_owned()),
            "message-length" => lines.message_length = Some(value),
            "rate-limit" => lines.rate_limit = Some(value),
            "concurrency-limit" => lines.concurrency_limit = Some(value),
            "time-window" => lines.time_window = Some(value),
            "kill-switch" => lines.kill_switch = true,
            _ => {}
        }
    }
    lines
}

fn patterns(
    (phrase_key, phrases): (&'static str, &[&str]),
    (regex_key, expressions): (&'static str, &[&str]),
) -> Result<Option<Vec<Pattern>>, PermissionsError> {
    if phrases.len() + expressions.len() > MAX_PATTERNS {
        return Err(PermissionsError::TooMany { key: phrase_key });
    }
    let mut patterns: Vec<_> = phrases
        .iter()
        .map(|phrase| Pattern::phrase(*phrase))
        .collect();
    for expression in expressions {
        let pattern =
            Pattern::expression(expression).map_err(|source| PermissionsError::Pattern {
                key: regex_key,
                value: (*expression).to_owned(),
                source,
            })?;
        patterns.push(pattern);
    }
    Ok((!patterns.is_empty()).then_some(patterns))
}

fn limit(key: &'static str, value: &str) -> Result<u32, PermissionsError> {
    positive(value).ok_or_else(|| PermissionsError::Limit {
        key,
        value: value.to_owned(),
    })
}

fn rate(value: &str) -> Result<Rule, PermissionsError> {
    let parts = value.split_once('/').and_then(|(limit, window)| {
        Some(Rule::RateLimit {
            limit: positive(strip(limit))?,
            window_seconds: positive(strip(window))?,
        })
    });
    parts.ok_or_else(|| PermissionsError::Rate {
        value: value.to_owned(),
    })
}

/// Reads a positive number that fits into Java's `int`.
fn positive(value: &str) -> Option<u32> {
    let number: i32 = value.parse().ok()?;
    u32::try_from(number).ok().filter(|number| *number > 0)
}
