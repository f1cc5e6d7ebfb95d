//! What is wrong with what a configuration says of a network, without asking the network.

use super::compat::{Secret, Which};
use super::plan::{Plan, PlannedAccount};
use chitin_protocol::agent_id::DEFAULT_ACCOUNT;
use serde_json::Value;

/// Something that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// Where, below the network's section, such as `accounts.work.mediaMaxMb`; empty is the section itself.
    pub(crate) path: String,
    /// What is wrong, as a sentence.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

impl Wrong {
    fn new(path: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
            hint: Some(hint.into()),
        }
    }
}

/// Says what the network itself cannot use of a section. Nothing when this program was built without it.
pub(crate) fn unusable(which: Which, section: &Value) -> Vec<Wrong> {
    match which {
        Which::Discord => discord(section),
        Which::Slack => slack(section),
    }
}

#[cfg(feature = "discord")]
fn discord(section: &Value) -> Vec<Wrong> {
    let issues = chitin_discord::Settings::read(section).err();
    let issues = issues.into_iter().flatten();
    let wrong = issues.map(|issue| Wrong {
        path: issue.path,
        message: issue.message,
        hint: issue.hint,
    });
    wrong.collect()
}

#[cfg(feature = "slack")]
fn slack(section: &Value) -> Vec<Wrong> {
    let issues = chitin_slack::Settings::read(section).err();
    let issues = issues.into_iter().flatten();
    let wrong = issues.map(|issue| Wrong {
        path: issue.path,
        message: issue.message,
        hint: issue.hint,
    });
    wrong.collect()
}

#[cfg(not(feature = "discord"))]
fn discord(_: &Value) -> Vec<Wrong> {
    Vec::new()
}

#[cfg(not(feature = "slack"))]
fn slack(_: &Value) -> Vec<Wrong> {
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
pub(crate) fn secrets_in_clear(which: Which, section: &Value) -> Vec<Wrong> {
    each_secret(which, section)
        .filter_map(|(path, secret, value)| {
            let (id, variable) = (which.id(), secret.variable());
            let reference = format!("`{{ source: \"env\", id: \"{variable}\" }}`");
            match Said::of(value) {
                Said::InClear => Some(Wrong::new(
                    path,
                    "A secret stands here in clear.",
                    format!("`chitin channels login {id}` keeps it in a file for you alone; or write {reference}"),
                )),
                Said::Unfilled => Some(Wrong::new(
                    path,
                    "Variables are not filled in here: the text itself is taken for the secret.",
                    format!("write {reference}, with the name of your variable"),
                )),
                Said::Elsewhere(_) | Said::Fine => None,
            }
        })
        .chain(secrets_elsewhere(which, section))
        .collect()
}

/// Says which secrets of a section are said to be somewhere that is not looked at here.
pub(crate) fn secrets_elsewhere(which: Which, section: &Value) -> Vec<Wrong> {
    each_secret(which, section)
        .filter_map(|(path, _, value)| match Said::of(value) {
            Said::Elsewhere(source) => Some(Wrong::new(
                path,
                format!("A secret of source `{source}` is not read here; only `env` is."),
                format!("`chitin channels login {}` keeps it", which.id()),
            )),
            Said::InClear | Said::Unfilled | Said::Fine => None,
        })
        .collect()
}

/// Returns every secret that a section speaks of, with its path below the section.
fn each_secret(which: Which, section: &Value) -> impl Iterator<Item = (String, Secret, &Value)> {
    let accounts = section["accounts"].as_object().into_iter().flatten();
    let accounts = accounts.map(|(id, account)| (format!("accounts.{id}."), account));
    let places = [(String::new(), section)].into_iter().chain(accounts);
    places.flat_map(move |(path, place)| {
        let secrets = which.secrets().iter();
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
pub(crate) fn lacks(plan: &Plan) -> Vec<Wrong> {
    let mut lacks = Vec::new();
    if !is_built_in(plan.which) {
        lacks.push(Wrong::new(
            "",
            format!("This program was built without {}.", plan.which.title()),
            format!("build it with the feature `{}`", plan.which.id()),
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
            let (id, name) = (plan.which.id(), account.id.as_str());
            let whose = match name {
                DEFAULT_ACCOUNT => String::new(),
                name => format!(" --account {name}"),
            };
            let (key, whereabouts) = (secret.key(), secret.whereabouts());
            Wrong::new(
                path,
                format!("The account `{name}` has no `{key}`."),
                format!("`chitin channels login {id}{whose}` keeps it: {whereabouts}"),
            )
        }));
    }
    lacks
}

/// Returns the first secret that an account cannot do without and does not have.
fn lacking(plan: &Plan, account: &PlannedAccount) -> Option<Secret> {
    let needed = match plan.which {
        Which::Discord => vec![Secret::Token],
        Which::Slack => [Some(Secret::BotToken), hearing(plan, &account.id)]
            .into_iter()
            .flatten()
            .collect(),
    };
    let mut needed = needed.into_iter();
    needed.find(|secret| !account.secrets.contains_key(secret))
}

/// Returns what an account of Slack needs to hear anything.
#[cfg(feature = "slack")]
fn hearing(plan: &Plan, account: &str) -> Option<Secret> {
    let settings = chitin_slack::Settings::read(&plan.section).ok()?;
    Some(if settings.uses_socket(account) {
        Secret::AppToken
    } else {
        Secret::Signing
    })
}

#[cfg(not(feature = "slack"))]
fn hearing(_: &Plan, _: &str) -> Option<Secret> {
    None
}

const fn is_built_in(which: Which) -> bool {
    match which {
        Which::Discord => cfg!(feature = "discord"),
        Which::Slack => cfg!(feature = "slack"),
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
