//! What is wrong with what a configuration says of a network, without asking the network.

use super::compat::{ChannelKind, ChannelSecret};
use super::plan::{ChannelAccount, ChannelPlan};
use chitin_protocol::agent_id::DEFAULT_ACCOUNT;
use serde_json::Value;

/// Something that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelIssue {
    /// Where, below the network's section, such as `accounts.work.mediaMaxMb`; empty is the section itself.
    pub path: String,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ChannelIssue {
    fn new(path: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
            hint: Some(hint.into()),
        }
    }
}

/// Says what the network itself cannot use of a section. Nothing when this program was built without it.
pub fn unusable(kind: ChannelKind, section: &Value) -> Vec<ChannelIssue> {
    match kind {
        ChannelKind::Discord => discord(section),
        ChannelKind::Slack => slack(section),
    }
}

#[cfg(feature = "discord")]
fn discord(section: &Value) -> Vec<ChannelIssue> {
    let issues = chitin_discord::DiscordSettings::read(section).err();
    let issues = issues.into_iter().flatten();
    let wrong = issues.map(|issue| ChannelIssue {
        path: issue.path,
        message: issue.message,
        hint: issue.hint,
    });
    wrong.collect()
}

#[cfg(feature = "slack")]
fn slack(section: &Value) -> Vec<ChannelIssue> {
    let issues = chitin_slack::SlackSettings::read(section).err();
    let issues = issues.into_iter().flatten();
    let wrong = issues.map(|issue| ChannelIssue {
        path: issue.path,
        message: issue.message,
        hint: issue.hint,
    });
    wrong.collect()
}

#[cfg(not(feature = "discord"))]
fn discord(_: &Value) -> Vec<ChannelIssue> {
    Vec::new()
}

#[cfg(not(feature = "slack"))]
fn slack(_: &Value) -> Vec<ChannelIssue> {
    Vec::new()
}

/// How a section says a secret that is no plain text of it.
enum Said {
    /// The text itself.
    InClear,
    /// A text in which a variable was meant to be filled in.
    Unfilled,
    /// Somewhere that is not looked at here.
    Elsewhere(String),
    /// The name of a variable, or nothing.
    Fine,
}

impl Said {
    fn of(value: &Value) -> Self {
        match value {
            Value::String(text) if text.contains("${") => Self::Unfilled,
            Value::String(text) if !text.trim().is_empty() => Self::InClear,
            Value::Object(reference) => match reference.get("source").and_then(Value::as_str) {
                Some("env") | None => Self::Fine,
                Some(other) => Self::Elsewhere(other.to_owned()),
            },
            _ => Self::Fine,
        }
    }
}

/// Says which secrets of a section in `chitin.json5` are written there in clear, or in a way that is not understood. They are never quoted.
pub fn secrets_in_clear(kind: ChannelKind, section: &Value) -> Vec<ChannelIssue> {
    each_secret(kind, section)
        .filter_map(|(path, secret, value)| {
            let (id, variable) = (kind.id(), secret.variable());
            let reference = format!("`{{ source: \"env\", id: \"{variable}\" }}`");
            match Said::of(value) {
                Said::InClear => Some(ChannelIssue::new(
                    path,
                    "Found a secret in plain text.",
                    format!("`chitin channels login {id}` stores it in a file that only you can read; or write {reference}"),
                )),
                Said::Unfilled => Some(ChannelIssue::new(
                    path,
                    "Variables are not expanded here: the text itself is used as the secret.",
                    format!("write {reference}, with the name of your variable"),
                )),
                Said::Elsewhere(_) | Said::Fine => None,
            }
        })
        .chain(secrets_elsewhere(kind, section))
        .collect()
}

/// Says which secrets of a section are said to be somewhere that is not looked at here.
pub fn secrets_elsewhere(kind: ChannelKind, section: &Value) -> Vec<ChannelIssue> {
    each_secret(kind, section)
        .filter_map(|(path, _, value)| match Said::of(value) {
            Said::Elsewhere(source) => Some(ChannelIssue::new(
                path,
                format!("Secrets of source `{source}` are not supported; only `env` is."),
                format!("`chitin channels login {}` stores it", kind.id()),
            )),
            Said::InClear | Said::Unfilled | Said::Fine => None,
        })
        .collect()
}

/// Returns every secret that a section speaks of, with its path below the section.
fn each_secret(
    kind: ChannelKind,
    section: &Value,
) -> impl Iterator<Item = (String, ChannelSecret, &Value)> {
    let accounts = section["accounts"].as_object().into_iter().flatten();
    let accounts = accounts.map(|(id, account)| (format!("accounts.{id}."), account));
    let places = [(String::new(), section)].into_iter().chain(accounts);
    places.flat_map(move |(path, place)| {
        let secrets = kind.secrets().iter();
        secrets.map(move |secret| {
            (
                format!("{path}{}", secret.key()),
                *secret,
                &place[secret.key()],
            )
        })
    })
}

/// Says what the accounts of a network that is to be connected lack.
pub fn lacks(plan: &ChannelPlan) -> Vec<ChannelIssue> {
    let mut lacks = Vec::new();
    if !is_built_in(plan.kind) {
        lacks.push(ChannelIssue::new(
            "",
            format!("This program was built without {}.", plan.kind.title()),
            format!("build it with the feature `{}`", plan.kind.id()),
        ));
    }
    for account in &plan.accounts {
        lacks.extend(lacking(plan, account).map(|secret| {
            let configured = plan.section["accounts"].get(&account.id).is_some();
            let path = if configured {
                format!("accounts.{}", account.id)
            } else {
                String::new()
            };
            let (id, name) = (plan.kind.id(), account.id.as_str());
            let whose = match name {
                DEFAULT_ACCOUNT => String::new(),
                name => format!(" --account {name}"),
            };
            let (key, whereabouts) = (secret.key(), secret.whereabouts());
            ChannelIssue::new(
                path,
                format!("The account `{name}` has no `{key}`."),
                format!("`chitin channels login {id}{whose}` stores it: {whereabouts}"),
            )
        }));
    }
    lacks
}

/// Returns the first secret that an account cannot do without and does not have.
fn lacking(plan: &ChannelPlan, account: &ChannelAccount) -> Option<ChannelSecret> {
    let needed = match plan.kind {
        ChannelKind::Discord => vec![ChannelSecret::Token],
        ChannelKind::Slack => [Some(ChannelSecret::BotToken), hearing(plan, &account.id)]
            .into_iter()
            .flatten()
            .collect(),
    };
    let mut needed = needed.into_iter();
    needed.find(|secret| !account.secrets.contains_key(secret))
}

/// Returns what an account of Slack needs to hear anything.
#[cfg(feature = "slack")]
fn hearing(plan: &ChannelPlan, account: &str) -> Option<ChannelSecret> {
    let settings = chitin_slack::SlackSettings::read(&plan.section).ok()?;
    Some(if settings.uses_socket(account) {
        ChannelSecret::AppToken
    } else {
        ChannelSecret::Signing
    })
}

#[cfg(not(feature = "slack"))]
fn hearing(_: &ChannelPlan, _: &str) -> Option<ChannelSecret> {
    None
}

const fn is_built_in(kind: ChannelKind) -> bool {
    match kind {
        ChannelKind::Discord => cfg!(feature = "discord"),
        ChannelKind::Slack => cfg!(feature = "slack"),
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
