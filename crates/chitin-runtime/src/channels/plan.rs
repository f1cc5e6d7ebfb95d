//! Which networks are configured, which are to be connected, and with which secrets.

use super::compat::{ChannelKind, ChannelSecret};
use super::credentials::{self, ChannelSecrets};
use crate::error::RuntimeError;
use crate::{Configuration, Host};
use chitin_net::TlsRoots;
use chitin_protocol::agent_id::DEFAULT_ACCOUNT;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What is to become of a network.
#[derive(Debug)]
pub struct ChannelPlan {
    /// The channel.
    pub kind: ChannelKind,
    /// Its section of the configuration; empty when there is none.
    pub section: Value,
    /// Whether it is to be connected.
    pub activation: Activation,
    /// Its accounts.
    pub accounts: Vec<ChannelAccount>,
    /// Whom TLS trusts.
    pub trust: TlsRoots,
}

/// An account, and its secrets as far as they are there.
#[derive(Debug)]
pub struct ChannelAccount {
    /// Its name in the configuration.
    pub id: String,
    /// Its secrets.
    pub secrets: ChannelSecrets,
    /// Where each secret comes from.
    pub origins: BTreeMap<ChannelSecret, SecretOrigin>,
}

/// Where a secret comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SecretOrigin {
    /// `chitin channels login` kept it.
    Kept,
    /// The configuration says it.
    Config,
    /// The environment says it.
    Environment,
}

/// Whether a network is to be connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Activation {
    /// It is.
    On,
    /// The user said no.
    Off,
    /// `openclaw.json` has it and nobody said that Chitin is to connect it. Two programs on one bot would answer twice.
    Elsewhere,
    /// Nobody speaks of it.
    Absent,
}

/// Finds out what is to become of every network.
pub fn plans(
    host: &Host,
    configuration: &Configuration,
    state: &Path,
) -> Result<Vec<ChannelPlan>, RuntimeError> {
    let plans = ChannelKind::ALL.into_iter();
    plans
        .map(|kind| plan(kind, host, configuration, state))
        .collect()
}

fn plan(
    kind: ChannelKind,
    host: &Host,
    configuration: &Configuration,
    state: &Path,
) -> Result<ChannelPlan, RuntimeError> {
    let kept = credentials::kept(state, kind)?;
    let mut section = configuration.value()["channels"][kind.id()].clone();
    let own = configuration.channels.get(kind.id());
    let said = own.and_then(|own| own.get("enabled")?.as_bool());
    let activation = match said {
        Some(true) => Activation::On,
        Some(false) => Activation::Off,
        None if !kept.is_empty() => Activation::On,
        None if own.is_some() || !section.is_null() => Activation::Elsewhere,
        None => Activation::Absent,
    };
    if let (Activation::On, Some(section)) = (activation, section.as_object_mut()) {
        // Switched off in `openclaw.json` means for OpenClaw.
        section.shift_remove("enabled");
    }
    let mut accounts = Vec::new();
    for id in account_ids(&section, &kept) {
        let mut account = ChannelAccount {
            secrets: ChannelSecrets::new(),
            origins: BTreeMap::new(),
            id,
        };
        for secret in kind.secrets() {
            let found = find(*secret, &account.id, host, &section, &kept);
            if let Some((text, origin)) = found {
                host.secrets.learn([text.clone()]);
                account.secrets.insert(*secret, text);
                account.origins.insert(*secret, origin);
            }
        }
        accounts.push(account);
    }
    // An account that nobody gave a secret is only there when it is the only one.
    if accounts.iter().any(|account| !account.secrets.is_empty()) {
        accounts.retain(|account| !account.secrets.is_empty() || account.id != DEFAULT_ACCOUNT);
    }
    Ok(ChannelPlan {
        trust: host.trust(),
        kind,
        section,
        activation,
        accounts,
    })
}

/// Returns the accounts: the default one, those of the configuration that are not switched off, those that are kept.
fn account_ids(section: &Value, kept: &BTreeMap<String, ChannelSecrets>) -> BTreeSet<String> {
    let none = Map::new();
    let configured = section["accounts"].as_object().unwrap_or(&none);
    let configured = configured
        .iter()
        .filter(|(_, said)| said["enabled"] != false)
        .map(|(id, _)| id.clone());
    configured
        .chain(kept.keys().cloned())
        .chain([DEFAULT_ACCOUNT.to_owned()])
        .collect()
}

fn find(
    secret: ChannelSecret,
    account: &str,
    host: &Host,
    section: &Value,
    kept: &BTreeMap<String, ChannelSecrets>,
) -> Option<(SecretString, SecretOrigin)> {
    if let Some(text) = kept.get(account).and_then(|kept| kept.get(&secret)) {
        return Some((text.clone(), SecretOrigin::Kept));
    }
    let own = &section["accounts"][account][secret.key()];
    let common = &section[secret.key()];
    let is_default = account == DEFAULT_ACCOUNT;
    for said in [Some(own), is_default.then_some(common)]
        .into_iter()
        .flatten()
    {
        if let Some(text) = configured(said, host) {
            return Some((text, SecretOrigin::Config));
        }
    }
    let named = host.env.get(secret.variable()).filter(|_| is_default)?;
    let named = named.trim();
    (!named.is_empty()).then(|| (named.to_owned().into(), SecretOrigin::Environment))
}

/// Reads a secret of a configuration: a text, or the name of a variable.
fn configured(said: &Value, host: &Host) -> Option<SecretString> {
    let text = match said {
        Value::String(text) => text.as_str(),
        Value::Object(reference) if reference.get("source")? == "env" => {
            host.env.get(reference.get("id")?.as_str()?)?
        }
        _ => return None,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned().into())
}
