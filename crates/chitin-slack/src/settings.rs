//! `channels.slack`: what configuration says, checked.

use crate::compat::{ACTIONS, API, HOST, MEDIA_MAX_MB, WEBHOOK_PATH};
use chitin_protocol::agent_id::{DEFAULT_ACCOUNT, normalize_account_id};
use reqwest::Url;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The most accounts.
const MOST_ACCOUNTS: usize = 32;
/// The largest file that configuration may allow, in MB.
const MOST_MB: u64 = 1_024;
/// What every setting's name begins with.
const SECTION: &str = "channels.slack";

/// What configuration says of Slack.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What holds for accounts that have no section of their own.
    pub(crate) base: AccountSettings,
    /// Accounts with a section of their own.
    pub(crate) accounts: BTreeMap<String, AccountSettings>,
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
    /// Where it stands, such as `channels.slack.mode`.
    pub path: String,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Settings {
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
                let issue = issue(SECTION, "It is no object.", None);
                return Err(vec![issue]);
            }
        };
        let base = AccountSettings::read(section, SECTION, &mut issues);
        let mut accounts = BTreeMap::new();
        match section.get("accounts") {
            None | Some(Value::Null) => {}
            Some(Value::Object(own)) if own.len() <= MOST_ACCOUNTS => {
                for (id, own) in own {
                    let path = format!("{SECTION}.accounts.{id}");
                    let Some(own) = own.as_object() else {
                        issues.push(issue(&path, "It is no object.", None));
                        continue;
                    };
                    // What is wrong in the section itself was said above.
                    let mut merged = section.clone();
                    merged.extend(own.clone());
                    let mut found = Vec::new();
                    let account = AccountSettings::read(&merged, &path, &mut found);
                    found.retain(|issue| {
                        let key = issue.path.strip_prefix(&path).unwrap_or_default();
                        let key = key.trim_start_matches('.');
                        own.contains_key(key.split('.').next().unwrap_or_default())
                    });
                    issues.extend(found);
                    accounts.insert(normalize_account_id(id), account);
                }
            }
            Some(Value::Object(_)) => issues.push(issue(
                &format!("{SECTION}.accounts"),
                &format!("There are more than {MOST_ACCOUNTS} accounts."),
                None,
            )),
            Some(_) => issues.push(issue(
                &format!("{SECTION}.accounts"),
                "It is no object.",
                None,
            )),
        }
        let settings = Self { base, accounts };
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
                    &format!("{SECTION}.accounts.{id}.webhookPath"),
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
            issues.push(issue(&format!("{path}.{key}"), message, hint));
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
        let media_max_mb = match said("mediaMaxMb").map(Value::as_f64) {
            None => MEDIA_MAX_MB,
            Some(Some(megabytes)) if (0.0..=1_024.0).contains(&megabytes) => whole(megabytes),
            Some(_) => {
                let message = format!("It is no number from 0 to {MOST_MB}.");
                wrong("mediaMaxMb", &message, None);
                MEDIA_MAX_MB
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
            api: api.unwrap_or_else(|| default_api()),
            media_max: usize::try_from(media_max_mb << 20).unwrap_or(usize::MAX),
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

    /// Tells whether an address is Slack's, or the Web API's own: there a token may go.
    pub(crate) fn trusts(&self, url: &Url) -> bool {
        if url.origin() == self.api.origin() {
            return true;
        }
        let ours = url.host_str().is_some_and(|host| {
            host == HOST
                || host
                    .strip_suffix(HOST)
                    .is_some_and(|rest| rest.ends_with('.'))
        });
        ours && matches!(url.scheme(), "https" | "wss")
            && url.port_or_known_default() == Some(443)
            && url.username().is_empty()
            && url.password().is_none()
    }
}

/// What reports that a key cannot be used: the key, why, and what to do.
type Wrong<'a> = dyn FnMut(&str, &str, Option<&str>) + 'a;

/// Checks what the gateway reads of `thread`, so that a slip is said at the start.
fn check_limit(thread: Option<&Value>, wrong: &mut Wrong<'_>) {
    let Some(thread) = thread else {
        return;
    };
    if !thread.is_object() {
        return wrong("thread", "It is no object.", None);
    }
    let limit = &thread["initialHistoryLimit"];
    if !limit.is_null() && limit.as_u64().is_none() {
        let message = "It is no whole number from 0 on.";
        wrong("thread.initialHistoryLimit", message, None);
    }
    let scope = &thread["historyScope"];
    if !scope.is_null() && !matches!(scope.as_str(), Some("thread" | "channel")) {
        let message = "It is neither `thread` nor `channel`.";
        wrong("thread.historyScope", message, None);
    }
}

/// Checks the modes of replies that the gateway reads.
fn check_modes(section: &Map<String, Value>, wrong: &mut Wrong<'_>) {
    let is_mode = |value: &Value| {
        let known = matches!(value.as_str(), Some("off" | "first" | "all" | "batched"));
        value.is_null() || known
    };
    let message = "It is none of `off`, `first`, `all`, `batched`.";
    if !section.get("replyToMode").is_none_or(is_mode) {
        wrong("replyToMode", message, None);
    }
    let by_type = section
        .get("replyToModeByChatType")
        .and_then(Value::as_object);
    for (kind, mode) in by_type.into_iter().flatten() {
        if !is_mode(mode) {
            wrong(&format!("replyToModeByChatType.{kind}"), message, None);
        }
    }
}

fn issue(path: &str, message: &str, hint: Option<&str>) -> SettingIssue {
    SettingIssue {
        path: path.to_owned(),
        message: message.to_owned(),
        hint: hint.map(str::to_owned),
    }
}

/// Tells whether a text is a path that a server can be asked for.
fn is_path(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~');
    text.len() > 1
        && text.len() <= 256
        && text.starts_with('/')
        && text.bytes().all(plain)
        && !text.contains("//")
        && !text.contains("/.")
}

fn api_url(text: &str) -> Option<Url> {
    let text = if text.ends_with('/') {
        text.to_owned()
    } else {
        format!("{text}/")
    };
    let url = Url::parse(&text).ok()?;
    let bare = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let safe = match url.scheme() {
        "https" => url.has_host(),
        "http" => is_loopback(&url),
        _ => false,
    };
    (bare && safe).then_some(url)
}

/// Tells whether an address is on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn default_api() -> Url {
    Url::parse(API).unwrap_or_else(|_| unreachable!("the address is a constant"))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range was checked"
)]
fn whole(number: f64) -> u64 {
    number as u64
}
