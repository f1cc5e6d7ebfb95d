//! Makes a network of what is planned for it.

use super::compat::{ChannelKind, ChannelSecret};
use super::plan::ChannelPlan;
use crate::notes::Notes;
use chitin_gateway::surface::{Network, Webhook};
use secrecy::SecretString;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A network that can be connected.
pub struct OpenedChannel {
    /// What is connected.
    pub network: Arc<dyn Network>,
    /// What it is called at over HTTP.
    pub webhooks: Vec<Arc<dyn Webhook>>,
}

/// Why a network cannot be connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenProblem {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Makes a network. Nothing is sent to it yet. It remembers how far it was where it is told to, so that a restart goes on there.
pub fn open(
    plan: &ChannelPlan,
    memory: Option<&Path>,
    notes: &Notes,
) -> Result<OpenedChannel, Vec<OpenProblem>> {
    let first = plan.kind.secrets()[0];
    let lacking = plan
        .accounts
        .iter()
        .all(|account| !account.secrets.contains_key(&first));
    if lacking {
        let id = plan.kind.id();
        return Err(vec![OpenProblem {
            message: format!("{} has no token.", plan.kind.title()),
            hint: Some(format!(
                "`chitin channels login {id}` stores one; or set `{}`, or `channels.{id}.{}`",
                first.variable(),
                first.key()
            )),
        }]);
    }
    match plan.kind {
        ChannelKind::Discord => discord(plan, memory, notes),
        ChannelKind::Slack => slack(plan, notes),
    }
}

/// Returns one secret of every account that has it.
fn each(plan: &ChannelPlan, secret: ChannelSecret) -> BTreeMap<String, SecretString> {
    let accounts = plan.accounts.iter();
    accounts
        .filter_map(|account| Some((account.id.clone(), account.secrets.get(&secret)?.clone())))
        .collect()
}

/// Says what is wrong in a section.
fn said(kind: ChannelKind, path: &str, message: &str, hint: Option<String>) -> OpenProblem {
    OpenProblem {
        message: format!("`channels.{}.{path}`: {message}", kind.id()),
        hint,
    }
}

fn failed(error: &str) -> OpenProblem {
    OpenProblem {
        message: crate::display::sentence(error),
        hint: None,
    }
}

#[cfg(feature = "discord")]
fn discord(
    plan: &ChannelPlan,
    memory: Option<&Path>,
    notes: &Notes,
) -> Result<OpenedChannel, Vec<OpenProblem>> {
    use chitin_discord::{Discord, DiscordSettings, PositionStore};
    let settings = DiscordSettings::read(&plan.section).map_err(|issues| {
        let issues = issues.into_iter();
        let said = issues.map(|issue| said(plan.kind, &issue.path, &issue.message, issue.hint));
        said.collect::<Vec<_>>()
    })?;
    let settings = settings.trusting(plan.trust.clone());
    let memory = match memory {
        Some(directory) => PositionStore::in_directory(directory),
        None => PositionStore::none(),
    };
    let made = Discord::new(
        &settings,
        each(plan, ChannelSecret::Token),
        memory,
        &notes.sink(),
    );
    let network = made.map_err(|error| vec![failed(&error.to_string())])?;
    Ok(OpenedChannel {
        network,
        webhooks: Vec::new(),
    })
}

#[cfg(feature = "slack")]
fn slack(plan: &ChannelPlan, notes: &Notes) -> Result<OpenedChannel, Vec<OpenProblem>> {
    use chitin_slack::{Slack, SlackSettings, SlackTokens};
    let settings = SlackSettings::read(&plan.section).map_err(|issues| {
        let issues = issues.into_iter();
        let said = issues.map(|issue| said(plan.kind, &issue.path, &issue.message, issue.hint));
        said.collect::<Vec<_>>()
    })?;
    let settings = settings.trusting(plan.trust.clone());
    let bots = each(plan, ChannelSecret::BotToken);
    let mut apps = each(plan, ChannelSecret::AppToken);
    let lacking = |account: &String| settings.uses_socket(account) && !apps.contains_key(account);
    if bots.keys().all(lacking) {
        return Err(vec![OpenProblem {
            message: "Socket Mode needs the app token.".to_owned(),
            hint: Some(format!("store {}", ChannelSecret::AppToken.whereabouts())),
        }]);
    }
    let mut signing = each(plan, ChannelSecret::Signing);
    let tokens = bots.into_iter().map(|(account, bot)| {
        let tokens = SlackTokens {
            bot,
            app: apps.remove(&account),
            signing_secret: signing.remove(&account),
        };
        (account, tokens)
    });
    let made = Slack::new(&settings, tokens.collect(), &notes.sink());
    let network = made.map_err(|error| vec![failed(&error.to_string())])?;
    Ok(OpenedChannel {
        webhooks: network.webhooks(),
        network,
    })
}

#[cfg(not(feature = "discord"))]
fn discord(
    plan: &ChannelPlan,
    _: Option<&Path>,
    _: &Notes,
) -> Result<OpenedChannel, Vec<OpenProblem>> {
    Err(not_built_in(plan.kind))
}

#[cfg(not(feature = "slack"))]
fn slack(plan: &ChannelPlan, _: &Notes) -> Result<OpenedChannel, Vec<OpenProblem>> {
    Err(not_built_in(plan.kind))
}

/// Says that this program was built without a network.
#[cfg(not(all(feature = "discord", feature = "slack")))]
fn not_built_in(kind: ChannelKind) -> Vec<OpenProblem> {
    vec![OpenProblem {
        message: format!("This program was built without {}.", kind.title()),
        hint: Some(format!("build it with the feature `{}`", kind.id())),
    }]
}
