//! From the text of a `PERMISSIONS.md` to policies.

use super::super::compat::{KILL_SWITCH, POLICY_VERSION};
use super::super::line::{Position, settings};
use super::pattern::{Pattern, PatternError};
use super::policy::{PermissionPolicy, Permissions, PolicyRule};
use super::time_window::{TimeWindow, TimeWindowError};
use crate::adapter::text::{is_blank, strip};
use thiserror::Error;

/// The most patterns in one list; each costs memory and time at every message.
const MAX_PATTERNS: usize = 1000;

/// The keys that mean something; any other key is prose.
pub const KEYS: [&str; 11] = [
    "deny",
    "deny-regex",
    "allow",
    "allow-regex",
    "require-role",
    "role",
    "message-length",
    "rate-limit",
    "concurrency-limit",
    "time-window",
    "kill-switch",
];

/// A control that cannot be installed as it stands. The load fails.
#[derive(Debug, Error)]
#[error("{position}: {problem}")]
pub struct PermissionsError {
    /// Where the value is.
    pub position: Position,
    /// What is wrong with it.
    #[source]
    pub problem: PermissionsProblem,
}

/// What is wrong with a control.
#[derive(Debug, Error)]
pub enum PermissionsProblem {
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
    roles: Vec<&'a str>,
    message_length: Option<&'a str>,
    rate_limit: Option<&'a str>,
    concurrency_limit: Option<&'a str>,
    time_window: Option<&'a str>,
    kill_switch: Option<&'a str>,
}

/// Puts policies together, each with the lines that it comes from.
struct Builder<'a> {
    text: &'a str,
    agent: &'a str,
    policies: Vec<PermissionPolicy>,
}

/// The patterns of a list, and the lines that they come from.
type Listed<'a> = (Vec<Pattern>, Vec<&'a str>);

impl<'a> Builder<'a> {
    fn install(&mut self, kind: &str, rule: PolicyRule, values: &[&str]) {
        let name = match rule {
            PolicyRule::KillSwitch => KILL_SWITCH.to_owned(),
            PolicyRule::DenyList { .. }
            | PolicyRule::AllowList { .. }
            | PolicyRule::Authorization { .. }
            | PolicyRule::MessageLength { .. }
            | PolicyRule::RateLimit { .. }
            | PolicyRule::ConcurrencyLimit { .. }
            | PolicyRule::TimeWindow(_) => format!("workspace-{kind}-{}", self.agent),
        };
        let lines = values
            .iter()
            .map(|value| Position::of(self.text, value).line);
        self.policies.push(PermissionPolicy {
            name,
            source: format!("permissions:{}", self.agent),
            version: POLICY_VERSION.to_owned(),
            rule,
            lines: lines.collect(),
        });
    }

    /// Says where a broken control is.
    fn placed<T>(
        &self,
        value: &str,
        read: Result<T, PermissionsProblem>,
    ) -> Result<T, PermissionsError> {
        read.map_err(|problem| PermissionsError {
            position: Position::of(self.text, value),
            problem,
        })
    }

    /// Reads a list; nothing when it has no lines.
    fn list(
        &self,
        (phrase_key, phrases): (&'static str, &[&'a str]),
        (regex_key, expressions): (&'static str, &[&'a str]),
    ) -> Result<Option<Listed<'a>>, PermissionsError> {
        let values = [phrases, expressions].concat();
        if let Some(extra) = values.get(MAX_PATTERNS) {
            return self.placed(extra, Err(PermissionsProblem::TooMany { key: phrase_key }));
        }
        let mut patterns: Vec<_> = phrases
            .iter()
            .map(|phrase| Pattern::phrase(*phrase))
            .collect();
        for expression in expressions {
            patterns.push(self.placed(expression, pattern(regex_key, expression))?);
        }
        Ok((!patterns.is_empty()).then_some((patterns, values)))
    }
}

/// Reads the policies of an agent.
pub fn parse(text: &str, agent: &str) -> Result<Permissions, PermissionsError> {
    let lines = gather(text);
    let mut builder = Builder {
        text,
        agent,
        policies: Vec::new(),
    };
    let deny = builder.list(("deny", &lines.deny), ("deny-regex", &lines.deny_regex))?;
    if let Some((patterns, values)) = deny {
        builder.install("deny", PolicyRule::DenyList { patterns }, &values);
    }
    let allow = builder.list(("allow", &lines.allow), ("allow-regex", &lines.allow_regex))?;
    if let Some((patterns, values)) = allow {
        builder.install("allow", PolicyRule::AllowList { patterns }, &values);
    }
    if !lines.roles.is_empty() {
        let roles = lines.roles.iter().map(|&role| role.to_owned()).collect();
        builder.install("authz", PolicyRule::Authorization { roles }, &lines.roles);
    }
    let single = [
        ("message-length", lines.message_length),
        ("rate-limit", lines.rate_limit),
        ("concurrency-limit", lines.concurrency_limit),
        ("time-window", lines.time_window),
        ("kill-switch", lines.kill_switch),
    ];
    for (key, value) in single {
        if let Some(value) = value
            && let Some(rule) = builder.placed(value, single_valued(key, value))?
        {
            builder.install(key, rule, &[value]);
        }
    }
    Ok(Permissions {
        says_nothing: builder.policies.is_empty() && !is_blank(text),
        policies: builder.policies,
    })
}

/// Says what is wrong with one line. A key that means nothing is prose, and nothing is wrong with prose.
pub fn problem(key: &str, value: &str) -> Option<PermissionsProblem> {
    match key {
        // Nothing is searched for here, and compiling is most of what a plain expression costs.
        "deny-regex" | "allow-regex" if Pattern::is_plain(value) => None,
        "deny-regex" => pattern("deny-regex", value).err(),
        "allow-regex" => pattern("allow-regex", value).err(),
        _ => single_valued(key, value).err(),
    }
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
            "require-role" | "role" if lines.roles.contains(&value) => {}
            "require-role" | "role" => lines.roles.push(value),
            "message-length" => lines.message_length = Some(value),
            "rate-limit" => lines.rate_limit = Some(value),
            "concurrency-limit" => lines.concurrency_limit = Some(value),
            "time-window" => lines.time_window = Some(value),
            "kill-switch" => lines.kill_switch = Some(value),
            _ => {}
        }
    }
    lines
}

/// Reads the value of a key that counts once; nothing for other keys.
fn single_valued(key: &str, value: &str) -> Result<Option<PolicyRule>, PermissionsProblem> {
    Ok(Some(match key {
        "message-length" => PolicyRule::MessageLength {
            max_chars: limit("message-length", value)?,
        },
        "rate-limit" => rate(value)?,
        "concurrency-limit" => PolicyRule::ConcurrencyLimit {
            max_concurrent: limit("concurrency-limit", value)?,
        },
        "time-window" => {
            let window = TimeWindow::parse(value);
            PolicyRule::TimeWindow(window.map_err(|source| PermissionsProblem::TimeWindow {
                value: value.to_owned(),
                source,
            })?)
        }
        "kill-switch" => PolicyRule::KillSwitch,
        _ => return Ok(None),
    }))
}

fn pattern(key: &'static str, value: &str) -> Result<Pattern, PermissionsProblem> {
    Pattern::expression(value).map_err(|source| PermissionsProblem::Pattern {
        key,
        value: value.to_owned(),
        source,
    })
}

fn limit(key: &'static str, value: &str) -> Result<u32, PermissionsProblem> {
    positive(value).ok_or_else(|| PermissionsProblem::Limit {
        key,
        value: value.to_owned(),
    })
}

fn rate(value: &str) -> Result<PolicyRule, PermissionsProblem> {
    let parts = value.split_once('/').and_then(|(limit, window)| {
        Some(PolicyRule::RateLimit {
            limit: positive(strip(limit))?,
            window_seconds: positive(strip(window))?,
        })
    });
    parts.ok_or_else(|| PermissionsProblem::Rate {
        value: value.to_owned(),
    })
}

/// Reads a positive number that fits into Java's `int`.
fn positive(value: &str) -> Option<u32> {
    let number: i32 = value.parse().ok()?;
    u32::try_from(number).ok().filter(|number| *number > 0)
}
