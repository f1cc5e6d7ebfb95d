//! From `channels.discord` to settings. Keys that are not ours are left alone: the gateway reads its own.

use super::{AccountSettings, DiscordSettings, Intents, SettingIssue, Url, megabytes};
use crate::compat::{ACTIONS, MOST_CHARS, MOST_FILE_BYTES};
use chitin_net::TlsRoots;
use chitin_protocol::agent_id::normalize_account_id;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The most accounts.
const MOST_ACCOUNTS: usize = 32;
/// The most lines of a message that can be wanted.
const MOST_LINES: u64 = 2_000;

impl DiscordSettings {
    /// Reads the `channels.discord` section of a configuration. What an account says holds before what the section says.
    ///
    /// # Errors
    ///
    /// Everything that cannot be used, each with its place.
    pub fn read(section: &Value) -> Result<Self, Vec<SettingIssue>> {
        let mut reading = Reading::default();
        let empty = Map::new();
        let fields = match section {
            Value::Object(fields) => fields,
            Value::Null => &empty,
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                reading.issue("", "It must be an object.", None);
                &empty
            }
        };
        let usual = reading.account("", fields, &AccountSettings::default());
        let mut settings = Self {
            enabled: usual.enabled,
            accounts: reading.accounts(fields, &usual),
            usual,
            api_url: reading.url(fields, "apiUrl", "https", "http"),
            gateway_url: reading.url(fields, "gatewayUrl", "wss", "ws"),
            trust: TlsRoots::default(),
            ..Self::default()
        };
        let most = MOST_CHARS as u64;
        if let Some(limit) = reading.number("", fields, "textChunkLimit", 1, most) {
            settings.max_chars = usize::try_from(limit).unwrap_or(MOST_CHARS);
        }
        if let Some(lines) = reading.number("", fields, "maxLinesPerMessage", 1, MOST_LINES) {
            settings.max_lines = usize::try_from(lines).unwrap_or(settings.max_lines);
        }
        for (group, actions) in ACTIONS {
            if reading.switch("actions.", &fields_of(fields, "actions"), group) == Some(false) {
                let actions = actions.iter().map(|action| (*action).to_owned());
                settings.switched_off.extend(actions);
            }
        }
        if reading.issues.is_empty() {
            Ok(settings)
        } else {
            Err(reading.issues)
        }
    }
}

/// Reads, and remembers what cannot be used.
#[derive(Default)]
struct Reading {
    issues: Vec<SettingIssue>,
}

impl Reading {
    fn accounts(
        &mut self,
        fields: &Map<String, Value>,
        usual: &AccountSettings,
    ) -> BTreeMap<String, AccountSettings> {
        let said = match fields.get("accounts") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(accounts)) => accounts.clone(),
            Some(_) => {
                self.issue(
                    "accounts",
                    "It must be an object of accounts by name.",
                    None,
                );
                Map::new()
            }
        };
        if said.len() > MOST_ACCOUNTS {
            let message = format!(
                "There are {} accounts, and {MOST_ACCOUNTS} are the most.",
                said.len()
            );
            self.issue("accounts", &message, None);
        }
        // The usual account need not be named; where others are, it is one of them only if it has a token of its own there.
        let own = said.is_empty() || fields.contains_key("token");
        let mut accounts = BTreeMap::new();
        if own {
            accounts.insert(super::DEFAULT.to_owned(), usual.clone());
        }
        for (name, account) in said.iter().take(MOST_ACCOUNTS) {
            let path = format!("accounts.{name}.");
            let Value::Object(account) = account else {
                self.issue(&format!("accounts.{name}"), "It must be an object.", None);
                continue;
            };
            let settings = self.account(&path, account, usual);
            accounts.insert(normalize_account_id(name), settings);
        }
        accounts
    }

    fn account(
        &mut self,
        path: &str,
        fields: &Map<String, Value>,
        usual: &AccountSettings,
    ) -> AccountSettings {
        let most = (MOST_FILE_BYTES / 1024 / 1024) as u64;
        let media = self.number(path, fields, "mediaMaxMb", 1, 1_024);
        let intents_path = format!("{path}intents.");
        let intents = fields_of(fields, "intents");
        let mut intent =
            |name: &str, usual: bool| self.switch(&intents_path, &intents, name).unwrap_or(usual);
        AccountSettings {
            intents: Intents {
                message_content: intent("messageContent", usual.intents.message_content),
                guild_members: intent("guildMembers", usual.intents.guild_members),
                presence: intent("presence", usual.intents.presence),
            },
            enabled: self
                .switch(path, fields, "enabled")
                .unwrap_or(usual.enabled),
            // Discord takes no more at once, whatever is wished.
            media_max: media.map_or(usual.media_max, |count| megabytes(count.min(most))),
        }
    }

    fn url(
        &mut self,
        fields: &Map<String, Value>,
        key: &str,
        secure: &str,
        plain: &str,
    ) -> Option<Url> {
        let value = fields.get(key).filter(|value| !value.is_null())?;
        match Url::read(value.as_str().unwrap_or_default(), secure, plain) {
            Ok(url) => Some(url),
            Err(message) => {
                self.issue(
                    key,
                    &message,
                    Some("Leave it out to speak to Discord itself."),
                );
                None
            }
        }
    }

    fn number(
        &mut self,
        path: &str,
        fields: &Map<String, Value>,
        key: &str,
        least: u64,
        most: u64,
    ) -> Option<u64> {
        let value = fields.get(key).filter(|value| !value.is_null())?;
        let number = value
            .as_u64()
            .filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let message = format!("It must be a whole number from {least} to {most}.");
            self.issue(&format!("{path}{key}"), &message, None);
        }
        number
    }

    fn switch(&mut self, path: &str, fields: &Map<String, Value>, key: &str) -> Option<bool> {
        let value = fields.get(key).filter(|value| !value.is_null())?;
        let on = value.as_bool();
        if on.is_none() {
            self.issue(
                &format!("{path}{key}"),
                "It must be `true` or `false`.",
                None,
            );
        }
        on
    }

    fn issue(&mut self, path: &str, message: &str, hint: Option<&str>) {
        self.issues.push(SettingIssue {
            path: path.to_owned(),
            message: message.to_owned(),
            hint: hint.map(str::to_owned),
        });
    }
}

/// Returns the fields of an object in an object; none when there is none.
fn fields_of(fields: &Map<String, Value>, key: &str) -> Map<String, Value> {
    let object = fields.get(key).and_then(Value::as_object);
    object.cloned().unwrap_or_default()
}
