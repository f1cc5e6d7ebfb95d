//! Takes out of a log what nobody should read there: secrets, and bytes that say nothing to people.

use super::digest::sha256;
use chitin_tools::redact::SHORTEST_SECRET;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::Arc;

/// Takes secrets out of a text.
type RedactText = dyn for<'a> Fn(&'a str) -> Cow<'a, str> + Send + Sync;

/// From this length on a string of nothing but base 64 is taken for a picture or the like.
const OPAQUE_LENGTH: usize = 1024;

/// Names of fields whose text is a secret, whatever it looks like; case, `-` and `_` do not count.
const SECRET_FIELDS: [&str; 16] = [
    "accesstoken",
    "apikey",
    "authorization",
    "bearertoken",
    "bottoken",
    "clientsecret",
    "cookie",
    "password",
    "passphrase",
    "privatekey",
    "proxyauthorization",
    "refreshtoken",
    "secret",
    "secretkey",
    "setcookie",
    "xapikey",
];

/// What stands for a secret.
pub const REDACTED: &str = "[redacted]";

/// Takes secrets out of what is logged.
#[derive(Clone)]
pub struct JournalRedactor(Arc<RedactText>);

impl JournalRedactor {
    /// Takes out what the function takes out of a text.
    pub fn new(redact: impl for<'a> Fn(&'a str) -> Cow<'a, str> + Send + Sync + 'static) -> Self {
        Self(Arc::new(redact))
    }

    /// Returns a text without its secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        (self.0)(text)
    }

    /// Takes the secrets and the opaque bytes out of a value, and tells whether there were any.
    pub fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |changed, item| self.value(item) | changed),
            Value::Object(fields) => {
                let changed = fields.iter_mut().fold(false, |changed, (name, field)| {
                    let is_changed = match field {
                        Value::String(text) if !text.is_empty() && is_secret_field(name) => {
                            REDACTED.clone_into(text);
                            true
                        }
                        field => self.value(field),
                    };
                    is_changed | changed
                });
                self.names(fields) | changed
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Takes secrets out of the names of fields.
    fn names(&self, fields: &mut Map<String, Value>) -> bool {
        let mut names = fields.keys();
        if !names.any(|name| name.len() >= SHORTEST_SECRET && self.text(name) != *name) {
            return false;
        }
        *fields = std::mem::take(fields)
            .into_iter()
            .map(|(name, field)| (self.text(&name).into_owned(), field))
            .collect();
        true
    }

    fn string(&self, text: &mut String) -> bool {
        if let Some(start) = opaque(text) {
            let digest = sha256(&text.as_bytes()[start..]);
            let bytes = (text.len() - start) / 4 * 3;
            text.truncate(start);
            let _ = write!(text, "<{bytes} bytes, sha256 {digest}>");
            return true;
        }
        let redacted = match (self.0)(text) {
            Cow::Borrowed(same) if same.len() == text.len() => return false,
            Cow::Borrowed(other) => other.to_owned(),
            Cow::Owned(redacted) => redacted,
        };
        let is_changed = redacted != *text;
        *text = redacted;
        is_changed
    }
}

impl Default for JournalRedactor {
    /// Takes out what `chitin check` takes for a secret.
    fn default() -> Self {
        Self::new(chitin_check::redact_secrets)
    }
}

impl fmt::Debug for JournalRedactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

fn is_secret_field(name: &str) -> bool {
    if name.len() > 24 {
        return false;
    }
    let plain: String = name
        .chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    SECRET_FIELDS.contains(&plain.as_str())
}

/// Returns where the opaque part of a text begins, if there is one: after the head of a data address, or at once.
fn opaque(text: &str) -> Option<usize> {
    if text.len() < OPAQUE_LENGTH {
        return None;
    }
    let start = match text.strip_prefix("data:") {
        Some(rest) => 5 + rest.get(..rest.len().min(200))?.find(";base64,")? + 8,
        None => 0,
    };
    let rest = &text.as_bytes()[start..];
    let is_base64 = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
    };
    (rest.len() >= OPAQUE_LENGTH && rest.iter().all(is_base64)).then_some(start)
}
