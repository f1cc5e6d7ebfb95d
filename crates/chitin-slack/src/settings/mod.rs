//! `channels.slack`: what configuration says, checked.

mod check;
mod hosts;

pub(crate) use check::is_loopback;

use crate::compat::{ACTIONS, MEDIA_MAX_MB, WEBHOOK_PATH};
use check::{api_url, check_limit, check_modes, default_api, is_path, megabytes};
use chitin_net::TlsRoots;
use chitin_protocol::agent_id::{DEFAULT_ACCOUNT, normalize_account_id};
use reqwest::Url;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The most accounts.
const MOST_ACCOUNTS: usize = 32;
/// The largest file that configuration may allow, in MB.
const MOST_MB: f64 = 1_024.0;

/// What configuration says of Slack.
#[derive(Debug, Clone)]
pub struct SlackSettings {
    /// What holds for accounts that have no section of their own.
    pub(crate) base: AccountSettings,
    /// Accounts with a section of their own.
    pub(crate) accounts: BTreeMap<String, AccountSettings>,
    /// Whom TLS trusts.
    pub(crate) trust: TlsRoots,
}

/// What configuration says of one account.
#[derive(Debug, Clone)]
pub(crate) struct AccountSettings {
    pub(crate) enabled: bool,
    pub(crate) mode: Mode,
    pub(crate) webhook_path: String,
    /// The Web API, with a slash at the end.
    pub(crate) api: Url,
    /// The largest file, in bytes.
    pub(crate) media_max: usize,
    /// Groups of actions that are switched off.
    pub(crate) off: BTreeSet<&'static str>,
}

/// How events come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Over a WebSocket that we open.
    Socket,
    /// Over HTTP, from Slack to us.
    Http,
}

/// Something in the configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingIssue {
    /// Where it stands below `channels.slack`, such as `mode`.
    pub path: String,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl SlackSettings {
    /// Says whom TLS trusts; left alone, that is the usual authorities.
    #[must_use]
    pub fn trusting(mut self, trust: TlsRoots) -> Self {
        self.trust = trust;
        self
    }

    /// Reads the section `channels.slack`. Accounts have what the section says unless they say otherwise. Keys that are not ours are left
    /// alone.
    ///
    /// # Errors
    ///
    /// Everything that cannot be used, not just the first.
    pub fn read(section: &Value) -> Result<Self, Vec<SettingIssue>> {
        let mut issues = Vec::new();
        let empty = Map::new();
        let section = match section {
            Value::Null => &empty,
            Value::Object(section) => section,
            _ => {
                return Err(vec![issue("", "It is no object.", None)]);
            }
        };
        let base = AccountSettings::read(section, "", &mut issues);
        let mut accounts = BTreeMap::new();
        match section.get("accounts") {
            None | Some(Value::Null) => {}
            Some(Value::Object(own)) if own.len() <= MOST_ACCOUNTS => {
                for (id, own) in own {
                    let path = format!("accounts.{id}.");
                    let Some(own) = own.as_object() else {
                        issues.push(issue(path.trim_end_matches('.'), "It is no object.", None));
                        continue;
                    };
                    // What is wrong in the section itself was said above.
                    let mut merged = section.clone();
                    merged.extend(own.clone());
                    let mut found = Vec::new();
                    let account = AccountSettings::read(&merged, &path, &mut found);
                    found.retain(|issue| {
                        let key = issue.path.strip_prefix(&path).unwrap_or_default();
                        own.contains_key(key.split('.').next().unwrap_or_default())
                    });
                    issues.extend(found);
                    accounts.insert(normalize_account_id(id), account);
                }
            }
            Some(Value::Object(_)) => issues.push(issue(
                "accounts",
                &format!("There are more than {MOST_ACCOUNTS} accounts."),
                None,
            )),
            Some(_) => issues.push(issue("accounts", "It is no object.", None)),
        }
        let settings = Self {
            base,
            accounts,
            trust: TlsRoots::default(),
        };
        settings.check_paths(&mut issues);
        if issues.is_empty() {
            Ok(settings)
        } else {
            Err(issues)
        }
    }

    /// Returns what holds for an account.
    pub(crate) fn account(&self, id: &str) -> &AccountSettings {
        self.accounts.get(id).unwrap_or(&self.base)
    }

    /// Returns the accounts that configuration names, or the only one.
    pub fn account_ids(&self) -> Vec<String> {
        if self.accounts.is_empty() {
            return vec![DEFAULT_ACCOUNT.to_owned()];
        }
        self.accounts.keys().cloned().collect()
    }

    /// Tells whether an account is switched on.
    pub fn is_enabled(&self, id: &str) -> bool {
        self.base.enabled && self.account(id).enabled
    }

    /// Tells whether an account gets its events over a WebSocket; it then needs an app token, and otherwise a signing secret.
    pub fn uses_socket(&self, id: &str) -> bool {
        self.account(id).mode == Mode::Socket
    }

    fn check_paths(&self, issues: &mut Vec<SettingIssue>) {
        let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
        for (id, account) in &self.accounts {
            if account.mode != Mode::Http || !account.enabled {
                continue;
            }
            if let Some(other) = taken.insert(&account.webhook_path, id) {
                issues.push(issue(
                    &format!("accounts.{id}.webhookPath"),
                    &format!("`{}` belongs to `{other}` already.", account.webhook_path),
                    Some("Give each account that uses HTTP a path of its own."),
                ));
            }
        }
    }
}

impl AccountSettings {
    fn read(section: &Map<String, Value>, path: &str, issues: &mut Vec<SettingIssue>) -> Self {
        let mut wrong = |key: &str, message: &str, hint: Option<&str>| {
            issues.push(issue(&format!("{path}{key}"), message, hint));
        };
        let said = |key: &str| section.get(key).filter(|value| !value.is_null());
        let enabled = match said("enabled") {
            None => true,
            Some(Value::Bool(enabled)) => *enabled,
            Some(_) => {
                wrong("enabled", "It is neither `true` nor `false`.", None);
                true
            }
        };
        let mode = match said("mode").map(Value::as_str) {
            None | Some(Some("socket")) => Mode::Socket,
            Some(Some("http")) => Mode::Http,
            Some(_) => {
                wrong("mode", "It is neither `socket` nor `http`.", None);
                Mode::Socket
            }
        };
        let webhook_path = match said("webhookPath").map(Value::as_str) {
            None => WEBHOOK_PATH,
            Some(Some(path)) if is_path(path) => path,
            Some(_) => {
                let hint = format!("Write for example `{WEBHOOK_PATH}`");
                wrong("webhookPath", "It is no path on a server.", Some(&hint));
                WEBHOOK_PATH
            }
        };
        let media_max = match said("mediaMaxMb").map(Value::as_f64) {
            None => megabytes(MEDIA_MAX_MB),
            Some(Some(number)) if (0.0..=MOST_MB).contains(&number) => megabytes(number),
            Some(_) => {
                let message = format!("It is no number from 0 to {MOST_MB}.");
                wrong("mediaMaxMb", &message, None);
                megabytes(MEDIA_MAX_MB)
            }
        };
        let api = match said("apiUrl").map(Value::as_str) {
            None => None,
            Some(text) => {
                let api = text.and_then(api_url);
                if api.is_none() {
                    let hint = "Write an address that begins with `https://`; plain `http://` goes to this machine only";
                    wrong("apiUrl", "It is no address of Slack's Web API.", Some(hint));
                }
                api
            }
        };
        let mut off = BTreeSet::new();
        match said("actions") {
            None => {}
            Some(Value::Object(actions)) => {
                for (group, _) in ACTIONS {
                    match actions.get(group) {
                        None | Some(Value::Bool(true)) => {}
                        Some(Value::Bool(false)) => {
                            off.insert(group);
                        }
                        Some(_) => wrong(
                            &format!("actions.{group}"),
                            "It is neither `true` nor `false`.",
                            None,
                        ),
                    }
                }
            }
            Some(_) => wrong("actions", "It is no object.", None),
        }
        check_limit(said("thread"), &mut wrong);
        check_modes(section, &mut wrong);
        Self {
            enabled,
            mode,
            webhook_path: webhook_path.to_owned(),
            api: api.unwrap_or_else(default_api),
            media_max,
            off,
        }
    }

    /// Returns the actions that are switched on.
    pub(crate) fn actions(&self) -> impl Iterator<Item = &'static str> {
        ACTIONS
            .iter()
            .filter(|(group, _)| !self.off.contains(group))
            .flat_map(|(_, actions)| actions.iter().copied())
    }
}

fn issue(path: &str, message: &str, hint: Option<&str>) -> SettingIssue {
    SettingIssue {
        path: path.to_owned(),
        message: message.to_owned(),
        hint: hint.map(str::to_owned),
    }
}
