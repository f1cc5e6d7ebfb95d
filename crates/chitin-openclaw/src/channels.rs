//! Channels: what the configuration says of each, and how far each had read (H43, H61, H64, H72).

use crate::compat;
use crate::configuration::SecretReference;
use crate::database::{Database, Rows};
use crate::json::{text, texts, whole};
use crate::problem::Problems;
use crate::walk::{self, reading};
use chitin_guard::Root;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::Path;

/// A channel of the configuration.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfiguredChannel {
    /// Whether it is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Who may write directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dm_policy: Option<String>,
    /// Who may write in groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_policy: Option<String>,
    /// The senders who may write directly.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_from: Vec<String>,
    /// The senders who may write in groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group_allow_from: Vec<String>,
    /// The groups, as they are configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Value>,
    /// Direct messages, as 2026.4 configures them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dm: Option<Value>,
    /// The accounts, by name.
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "crate::json::as_map"
    )]
    pub accounts: Vec<(String, ConfiguredChannel)>,
    /// The secret that it connects with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<ChannelSecret>,
}

/// The secret of a channel: in the file itself, or where a reference leads.
#[derive(Debug, Clone, Serialize)]
pub struct ChannelSecret {
    /// The field that has it.
    pub field: &'static str,
    /// Where it is, if it is not in the file.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<SecretReference>,
    /// The secret, if it is in the file.
    #[serde(skip)]
    pub secret: Option<SecretString>,
}

/// How far a channel had read: what came before must not be answered again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChannelOffset {
    /// The channel.
    pub channel: String,
    /// The account.
    pub account: String,
    /// The last update that was read.
    pub last_update_id: i64,
}

/// Returns the channels of a configuration.
pub(crate) fn channels(config: &Value) -> Vec<(String, ConfiguredChannel)> {
    let channels = config["channels"].as_object();
    channels
        .into_iter()
        .flatten()
        .filter(|(name, value)| *name != "defaults" && value.is_object())
        .map(|(name, value)| (name.clone(), channel(value, true)))
        .collect()
}

fn channel(value: &Value, with_accounts: bool) -> ConfiguredChannel {
    let accounts = value["accounts"].as_object().filter(|_| with_accounts);
    let taken = |key: &str| value.get(key).filter(|value| !value.is_null()).cloned();
    ConfiguredChannel {
        enabled: value["enabled"].as_bool(),
        dm_policy: text(value, "dmPolicy"),
        group_policy: text(value, "groupPolicy"),
        allow_from: texts(value.get("allowFrom")),
        group_allow_from: texts(value.get("groupAllowFrom")),
        groups: taken("groups"),
        dm: taken("dm"),
        accounts: accounts
            .into_iter()
            .flatten()
            .map(|(name, account)| (name.clone(), channel(account, false)))
            .collect(),
        secret: compat::CHANNEL_SECRETS.into_iter().find_map(|field| {
            let value = value.get(field)?;
            let reference = SecretReference::of(value, "");
            let secret = value.as_str().map(SecretString::from);
            (reference.is_some() || secret.is_some()).then_some(ChannelSecret {
                field,
                reference,
                secret,
            })
        }),
    }
}

/// Returns how far channels had read.
pub(crate) fn offsets(
    state: &Root,
    shared: Option<&Database>,
    problems: &mut Problems,
) -> Vec<ChannelOffset> {
    const CHANNEL: &str = "telegram";
    let mut found: Vec<ChannelOffset> = Vec::new();
    let mut add = |account: &str, value: &Value| {
        let known = found.iter().any(|known| known.account == account);
        if let (Some(last_update_id), false) = (whole(value, "lastUpdateId"), known) {
            found.push(ChannelOffset {
                channel: CHANNEL.to_owned(),
                account: account.to_owned(),
                last_update_id,
            });
        }
    };
    if let Some(database) = shared {
        let wanted = Rows {
            table: "plugin_state_entries",
            needed: &["namespace", "entry_key", "value_json"],
            wanted: &[],
            of: Some(("namespace", "telegram.update-offsets")),
            order: &["entry_key"],
            most: 10_000,
        };
        let outcome = database.rows(&wanted, &mut |row| {
            if let (Some(account), Some(value)) = (row.text(1), row.json(2)) {
                add(account, &value);
            }
            ControlFlow::Continue(())
        });
        if let Err(problem) = outcome {
            problems.add(problem);
        }
    }
    let directory = Path::new(CHANNEL);
    for name in walk::files(state, directory) {
        let account = name
            .strip_prefix("update-offset-")
            .and_then(|rest| rest.strip_suffix(".json"));
        let Some(account) = account else { continue };
        if let Ok(read) = state.read(&directory.join(&name), &reading(1 << 20))
            && let Ok(value) = serde_json::from_slice(&read.bytes)
        {
            add(account, &value);
        }
    }
    found
}
