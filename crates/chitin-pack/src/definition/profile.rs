//! Runtime profiles: the part of `openclaw.json` that may travel (rule P18).

use super::field::{Members, filled, given, members, name, version, wrong};
use crate::error::{ErrorClass, PackError};
use serde_json::Value;

/// The only kind of profile.
const PROFILE_TYPE: &str = "openclaw";

/// Members that hold secrets, wherever they stand.
const SECRET_KEYS: [&str; 10] = [
    "token",
    "password",
    "secret",
    "apiKey",
    "api_key",
    "authorization",
    "cookie",
    "credentials",
    "accessToken",
    "refreshToken",
];

/// Parts of a key that mean a secret when somebody else chose the spelling, in small letters without `-` and `_`.
const SECRET_PARTS: [&str; 10] = [
    "token",
    "password",
    "passwd",
    "secret",
    "apikey",
    "authorization",
    "cookie",
    "credential",
    "privatekey",
    "passphrase",
];

/// Members that are state of one machine or one conversation, in small letters.
const STATE_KEYS: [&str; 14] = [
    "oauth",
    "sessions",
    "sessionstore",
    "sessionid",
    "cache",
    "caches",
    "logs",
    "logging",
    "log",
    "lastrun",
    "lasttouchedat",
    "lasttouchedversion",
    "wizard",
    "meta",
];

/// What lies deeper is not looked at: it counts as a secret, and is not portable.
const MAX_DEPTH: usize = 128;

pub(super) fn judge(document: &Members) -> Result<(), PackError> {
    name(document, "name")?;
    version(document)?;
    match given(document, "profileType") {
        Some(Value::String(kind)) if kind == PROFILE_TYPE => {}
        None => {}
        Some(_) => {
            let message = format!("`profileType` is not `{PROFILE_TYPE}`");
            return Err(wrong(ErrorClass::InvalidEnum, message));
        }
    }
    match given(document, "kind") {
        None => {}
        Some(Value::String(kind)) if kind == "profile" => {}
        Some(_) => {
            return Err(wrong(ErrorClass::InvalidEnum, "`kind` is not `profile`"));
        }
    }
    if let Some(settings) = given(document, "openclaw") {
        members(settings, "`openclaw`")?;
        if let Some(path) = secret_in(settings) {
            let path = format!("openclaw.{path}");
            return Err(wrong(
                ErrorClass::SecretInProfile,
                format!("`{}` holds a secret value", super::field::shown(&path)),
            )
            .about([path])
            .hint("declare it under `secrets`, and remove the value from the profile"));
        }
    } else {
        filled(document, "openclaw")?;
    }
    super::check::secrets(document)
}

/// Returns the path of the first member that holds a secret value.
pub fn secret_in(value: &Value) -> Option<String> {
    find_secret(value, 0).map(|mut path| {
        path.reverse();
        path.join(".")
    })
}

fn find_secret(value: &Value, depth: usize) -> Option<Vec<String>> {
    if depth > MAX_DEPTH {
        return Some(Vec::new());
    }
    let below = |name: String, value: &Value| {
        find_secret(value, depth + 1).map(|mut path| {
            path.push(name);
            path
        })
    };
    match value {
        Value::Object(members) => members.iter().find_map(|(key, value)| {
            let is_secret = SECRET_KEYS
                .iter()
                .any(|known| known.eq_ignore_ascii_case(key));
            if is_secret && value.is_string() {
                Some(vec![key.clone()])
            } else {
                below(key.clone(), value)
            }
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(at, item)| below(at.to_string(), item)),
        _ => None,
    }
}

/// Takes the part of a whole `openclaw.json` that may travel: no secrets, no state, no paths of this machine. What the
/// result holds always passes [`secret_in`].
pub fn portable(value: &Value) -> Value {
    keep(value, 0).unwrap_or_else(|| Value::Object(Members::new()))
}

fn keep(value: &Value, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    match value {
        Value::Object(members) => {
            let kept: Members = members
                .iter()
                .filter(|(key, value)| !is_secret(key, value) && !is_state(key))
                .filter_map(|(key, value)| Some((key.clone(), keep(value, depth + 1)?)))
                .collect();
            // An object that lost all it had says nothing any more.
            (!kept.is_empty() || members.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(items) => {
            let kept: Vec<Value> = items
                .iter()
                .filter_map(|item| keep(item, depth + 1))
                .collect();
            (!kept.is_empty() || items.is_empty()).then_some(Value::Array(kept))
        }
        Value::String(text) => (!is_machine_path(text)).then(|| value.clone()),
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) => Some(value.clone()),
    }
}

/// Numbers and switches (`maxTokens`, `requireToken`) are no secrets, whatever their name.
fn is_secret(key: &str, value: &Value) -> bool {
    let plain: String = key
        .chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect();
    !matches!(value, Value::Number(_) | Value::Bool(_))
        && SECRET_PARTS.iter().any(|part| plain.contains(part))
}

fn is_state(key: &str) -> bool {
    STATE_KEYS.contains(&key.to_lowercase().as_str())
}

fn is_machine_path(text: &str) -> bool {
    let drive = text.as_bytes();
    text.starts_with('/')
        || text.starts_with("~/")
        || text.starts_with("file://")
        || text == "~"
        || text.starts_with("\\\\")
        || (drive.len() > 2
            && drive[0].is_ascii_alphabetic()
            && drive[1] == b':'
            && drive[2] == b'\\')
}
