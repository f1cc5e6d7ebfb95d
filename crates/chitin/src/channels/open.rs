//! Makes a network of what is planned for it.

use super::compat::{Secret, Which};
use super::plan::Plan;
use chitin_gateway::surface::{Network, Webhook};
use secrecy::SecretString;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Tells people what they should know.
pub(crate) type Note = Arc<dyn Fn(&str) + Send + Sync>;

/// A network that can be connected.
pub(crate) struct Opened {
    pub(crate) network: Arc<dyn Network>,
    /// What it is called at over HTTP.
    pub(crate) webhooks: Vec<Arc<dyn Webhook>>,
}

/// Why a network cannot be connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Problem {
    /// What is wrong.
    pub(crate) message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

/// Makes a network. Nothing is sent to it yet. It remembers how far it was where it is told to, so that a restart goes on there.
pub(crate) fn open(
    plan: &Plan,
    memory: Option<&Path>,
    note: &Note,
) -> Result<Opened, Vec<Problem>> {
    let first = plan.which.secrets()[0];
    let lacking = plan
        .accounts
        .iter()
        .all(|account| !account.secrets.contains_key(&first));
    if lacking {
        let id = plan.which.id();
        return Err(vec![Problem {
            message: format!("{} has no token.", plan.which.title()),
            hint: Some(format!(
                "`chitin channels login {id}` keeps one; or set `{}`, or `channels.{id}.{}`",
                first.variable(),
                first.key()
            )),
        }]);
    }
    match plan.which {
        Which::Discord => discord(plan, memory, note),
        Which::Slack => slack(plan, note),
    }
}

/// Returns one secret of every account that has it.
fn each(plan: &Plan, secret: Secret) -> BTreeMap<String, SecretString> {
    let accounts = plan.accounts.iter();
    accounts
        .filter_map(|account| Some((account.id.clone(), account.secrets.get(&secret)?.clone())))
        .collect()
}

/// Says what is wrong in a section.
fn said(which: Which, path: &str, message: &str, hint: Option<String>) -> Problem {
    Problem {
        message: format!("`channels.{}.{path}`: {message}", which.id()),
        hint,
    }
}

fn failed(error: &str) -> Problem {
    Problem {
        message: chitin_runtime::display::sentence(error),
        hint: None,
    }
}

#[cfg(feature = "discord")]
fn discord(plan: &Plan, memory: Option<&Path>, note: &Note) -> Result<Opened, Vec<Problem>> {
    use chitin_discord::{Discord, Memory, Settings};
    let settings = Settings::read(&plan.section).map_err(|issues| {
        let issues = issues.into_iter();
        let said = issues.map(|issue| said(plan.which, &issue.path, &issue.message, issue.hint));
        said.collect::<Vec<_>>()
    })?;
    let settings = settings.trusting(plan.trust.clone());
    let memory = match memory {
        Some(directory) => Memory::in_directory(directory),
        None => Memory::none(),
    };
    let made = Discord::new(&settings, each(plan, Secret::Token), memory, note);
    let network = made.map_err(|error| vec![failed(&error.to_string())])?;
    Ok(Opened {
        network,
        webhooks: Vec::new(),
    })
}

#[cfg(feature = "slack")]
fn slack(plan: &Plan, note: &Note) -> Result<Opened, Vec<Problem>> {
    use chitin_slack::{Settings, Slack, Tokens};
    let settings = Settings::read(&plan.section).map_err(|issues| {
        let issues = issues.into_iter();
        let said = issues.map(|issue| said(plan.which, &issue.path, &issue.message, issue.hint));
        said.collect::<Vec<_>>()
    })?;
    let settings = settings.trusting(plan.trust.clone());
    let bots = each(plan, Secret::BotToken);
    let mut apps = each(plan, Secret::AppToken);
    let lacking = |account: &String| settings.uses_socket(account) && !apps.contains_key(account);
    if bots.keys().all(lacking) {
        return Err(vec![Problem {
            message: "Socket Mode needs the token of the app.".to_owned(),
            hint: Some(format!("keep {}", Secret::AppToken.whereabouts())),
        }]);
    }
    let mut signing = each(plan, Secret::Signing);
    let tokens = bots.into_iter().map(|(account, bot)| {
        let tokens = Tokens {
            bot,
            app: apps.remove(&account),
            signing_secret: signing.remove(&account),
        };
        (account, tokens)
    });
    let made = Slack::new(&settings, tokens.collect(), note);
    let network = made.map_err(|error| vec![failed(&error.to_string())])?;
    Ok(Opened {
        webhooks: network.webhooks(),
        network,
    })
}

#[cfg(not(feature = "discord"))]
fn discord(plan: &Plan, _: Option<&Path>, _: &Note) -> Result<Opened, Vec<Problem>> {
    Err(not_built_in(plan.which))
}

#[cfg(not(feature = "slack"))]
fn slack(plan: &Plan, _: &Note) -> Result<Opened, Vec<Problem>> {
    Err(not_built_in(plan.which))
}

/// Says that this program was built without a network.
#[cfg(not(all(feature = "discord", feature = "slack")))]
fn not_built_in(which: Which) -> Vec<Problem> {
    vec![Problem {
        message: format!("This program was built without {}.", which.title()),
        hint: Some(format!("build it with the feature `{}`", which.id())),
    }]
}
