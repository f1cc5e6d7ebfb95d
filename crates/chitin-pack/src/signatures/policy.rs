//! The policy file: what a user demands of signatures, and whose keys count.
//!
//! ```json5
//! {
//!   default: "warn",                       // none, warn or require
//!   unbound: "refuse",                     // or accept: signatures that bind neither name nor version
//!   keys: { release: "-----BEGIN PUBLIC KEY-----…" },   // PEM, or base64 of the key alone
//!   rules: [                               // the first that fits decides
//!     { match: "registry.example/team/**", mode: "require", keys: ["release"] },
//!   ],
//! }
//! ```
//!
//! A pattern is compared with `host/repository`, or with the plain name of something in the local store: `*` stands for
//! one part between slashes, `**` at the end for one part or more. Case, `:443` and a dot at the end of a host make no
//! difference. A rule without `keys` takes all of them.

use super::key::PublicKey;
use crate::error::{ErrorClass, PackError};
use chitin_config::parse_json5;
use chitin_guard::{ReadPolicy, Root};
use chitin_protocol::nearest::nearest;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

/// Larger policies are nobody's.
pub const MAX_POLICY_BYTES: usize = 256 * 1024;
const MAX_KEYS: usize = 256;
const MAX_RULES: usize = 1024;
const MAX_TEXT: usize = 512;

/// What is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum SignatureMode {
    /// Nothing; signatures are not looked at.
    #[default]
    None,
    /// A signature that counts, or a warning.
    Warn,
    /// A signature that counts.
    Require,
}

impl SignatureMode {
    /// Every mode by its name.
    pub const NAMES: [(&'static str, Self); 3] = [
        ("none", Self::None),
        ("warn", Self::Warn),
        ("require", Self::Require),
    ];

    /// Reads a mode.
    pub fn parse(text: &str) -> Result<Self, PackError> {
        let found = Self::NAMES.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, mode)| mode).ok_or_else(|| {
            PackError::new(
                ErrorClass::InvalidEnum,
                format!("`{}` is not a mode", shown(text)),
            )
            .hint("write `none`, `warn` or `require`")
        })
    }
}

/// What signatures are worth that bind neither name nor version, as earlier versions of Chitin made them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum UnboundSignatures {
    /// They do not count: whoever runs a registry can serve what they sign under any name.
    #[default]
    Refuse,
    /// They count, with a warning.
    Accept,
}

/// A key and the name the user gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedKey {
    /// The name.
    pub name: String,
    /// The key.
    pub key: PublicKey,
}

/// What is demanded of one artifact.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requirement {
    /// How much.
    pub mode: SignatureMode,
    /// Whose signatures count.
    pub keys: Vec<TrustedKey>,
    /// What signatures are worth that bind no name.
    pub unbound: UnboundSignatures,
}

/// A policy file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrustPolicy {
    default: SignatureMode,
    unbound: UnboundSignatures,
    keys: Vec<TrustedKey>,
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    pattern: String,
    mode: SignatureMode,
    keys: Option<Vec<String>>,
}

impl TrustPolicy {
    /// Builds a policy without rules.
    pub const fn new(default: SignatureMode, keys: Vec<TrustedKey>) -> Self {
        Self {
            default,
            unbound: UnboundSignatures::Refuse,
            keys,
            rules: Vec::new(),
        }
    }

    /// Reads a policy file. Everything in it must be understood: a misspelt demand would be none.
    pub fn parse(text: &str) -> Result<Self, PackError> {
        if text.len() > MAX_POLICY_BYTES {
            return Err(wrong("it is too large"));
        }
        let value = parse_json5(text).map_err(|error| {
            let message = format!("the policy cannot be read: {error}");
            PackError::new(ErrorClass::InvalidField, message)
        })?;
        let members = object(
            &value,
            "the policy",
            &["default", "unbound", "keys", "rules"],
        )?;
        let default = members.get("default").map(mode).transpose()?;
        let unbound = match members.get("unbound").map(Value::as_str) {
            None | Some(Some("refuse")) => UnboundSignatures::Refuse,
            Some(Some("accept")) => UnboundSignatures::Accept,
            Some(_) => {
                return Err(wrong("`unbound` is neither `refuse` nor `accept`"));
            }
        };
        let keys = keys(members.get("keys"))?;
        let rules = match members.get("rules") {
            None => Vec::new(),
            Some(Value::Array(rules)) if rules.len() <= MAX_RULES => rules
                .iter()
                .map(|rule| read_rule(rule, &keys))
                .collect::<Result<_, _>>()?,
            Some(_) => return Err(wrong("`rules` is not a list, or too long")),
        };
        Ok(Self {
            default: default.unwrap_or_default(),
            unbound,
            keys,
            rules,
        })
    }

    /// Reads a policy file; `None` when there is none. One that others may change is refused: it would be their policy.
    pub fn load(directory: &Root, path: &Path) -> Result<Option<Self>, PackError> {
        let shown = directory.path().join(path);
        let read = match directory.read(path, &ReadPolicy::inside(MAX_POLICY_BYTES as u64)) {
            Ok(read) => read,
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => {
                let message = format!("the policy `{}` cannot be read", shown.display());
                return Err(PackError::new(ErrorClass::Io, message).caused_by(error));
            }
        };
        if read.mode & 0o022 != 0 {
            let message = format!("others may change the policy `{}`", shown.display());
            return Err(PackError::new(ErrorClass::Io, message)
                .hint("look at what it says, then `chmod go-w` it"));
        }
        match std::str::from_utf8(&read.bytes) {
            Ok(text) => Self::parse(text).map(Some),
            Err(_) => Err(wrong("it is not UTF-8")),
        }
    }

    /// Returns what is demanded of an artifact: `host/repository`, the plain name of something in the local store, or
    /// nothing for one that is known by its digest or its place only, for which the default holds.
    pub fn requirement(&self, target: Option<&str>) -> Requirement {
        let fits = |rule: &&Rule| target.is_some_and(|target| matches(&rule.pattern, target));
        let Some(rule) = self.rules.iter().find(fits) else {
            return Requirement {
                mode: self.default,
                keys: self.keys.clone(),
                unbound: self.unbound,
            };
        };
        let counts = |key: &&TrustedKey| {
            let named = rule.keys.as_ref();
            named.is_none_or(|named| named.contains(&key.name))
        };
        Requirement {
            mode: rule.mode,
            keys: self.keys.iter().filter(counts).cloned().collect(),
            unbound: self.unbound,
        }
    }

    /// Returns the keys.
    pub fn keys(&self) -> &[TrustedKey] {
        &self.keys
    }
}

/// Compares part by part. The first one may be a host, which has several spellings; no rule is passed by with another one.
fn matches(pattern: &str, target: &str) -> bool {
    let mut target = target.split('/').enumerate();
    let mut pattern = pattern.split('/').peekable();
    while let Some(part) = pattern.next() {
        let found = target.next();
        if part == "**" && pattern.peek().is_none() {
            return found.is_some();
        }
        match found {
            Some(_) if part == "*" => {}
            Some((0, found)) if host(part) == host(found) => {}
            Some((at, found)) if at > 0 && part == found => {}
            _ => return false,
        }
    }
    target.next().is_none()
}

/// One spelling of a host: case, the port that is meant anyway, and a dot at the end make no difference.
pub(super) fn host(part: &str) -> String {
    let part = part.strip_suffix(":443").unwrap_or(part);
    part.trim_end_matches('.').to_ascii_lowercase()
}

fn keys(member: Option<&Value>) -> Result<Vec<TrustedKey>, PackError> {
    let entries = match member {
        None => return Ok(Vec::new()),
        Some(Value::Object(entries)) if entries.len() <= MAX_KEYS => entries,
        Some(_) => return Err(wrong("`keys` is not an object, or too large")),
    };
    entries
        .iter()
        .map(|(name, text)| {
            if name.is_empty() || name.len() > MAX_TEXT {
                return Err(wrong("a key has no name, or a very long one"));
            }
            let text = text.as_str().unwrap_or_default();
            let key = PublicKey::parse(text).map_err(|error| {
                let message = format!("the key `{}` of the policy is not one", shown(name));
                PackError::new(ErrorClass::InvalidField, message).caused_by(error)
            })?;
            Ok(TrustedKey {
                name: name.clone(),
                key,
            })
        })
        .collect()
}

fn read_rule(value: &Value, known: &[TrustedKey]) -> Result<Rule, PackError> {
    let members = object(value, "a rule of the policy", &["match", "mode", "keys"])?;
    let pattern = members.get("match").and_then(Value::as_str);
    let pattern = pattern.ok_or_else(|| wrong("a rule has no `match`"))?;
    check_pattern(pattern)?;
    let rule_mode = members.get("mode").map(mode).transpose()?;
    let keys = match members.get("keys") {
        None => None,
        Some(Value::Array(names)) => {
            let names = names.iter().map(|name| {
                let name = name.as_str().unwrap_or_default();
                let found = known.iter().find(|key| key.name == name);
                found.map(|key| key.name.clone()).ok_or_else(|| {
                    let message = format!(
                        "a rule names the key `{}`, which the policy does not have",
                        shown(name)
                    );
                    let error = PackError::new(ErrorClass::InvalidField, message);
                    hinted(
                        error,
                        nearest(name, known.iter().map(|key| key.name.as_str())),
                    )
                })
            });
            Some(names.collect::<Result<_, _>>()?)
        }
        Some(_) => return Err(wrong("the `keys` of a rule are not a list of names")),
    };
    Ok(Rule {
        pattern: pattern.to_owned(),
        mode: rule_mode.ok_or_else(|| wrong("a rule has no `mode`"))?,
        keys,
    })
}

/// A pattern that can never fit is a mistake, and one that would demand nothing.
fn check_pattern(pattern: &str) -> Result<(), PackError> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let is_plain = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| {
                b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':' | b'[' | b']')
            })
    };
    let holds = pattern.len() <= MAX_TEXT
        && parts.iter().enumerate().all(|(at, part)| match *part {
            "*" => true,
            "**" => at + 1 == parts.len(),
            part => is_plain(part),
        });
    if holds {
        return Ok(());
    }
    let message = format!("`{}` is not a pattern", shown(pattern));
    Err(PackError::new(ErrorClass::InvalidField, message).hint(
        "write `registry.example/team/agent`, with `*` for one part or `**` for all that follow",
    ))
}

fn mode(value: &Value) -> Result<SignatureMode, PackError> {
    match value.as_str() {
        Some(text) => SignatureMode::parse(text),
        None => Err(wrong("a mode is not text")),
    }
}

fn object<'v>(
    value: &'v Value,
    what: &str,
    known: &[&'static str],
) -> Result<&'v Map<String, Value>, PackError> {
    let Value::Object(members) = value else {
        return Err(wrong(&format!("{what} is not an object")));
    };
    match members.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(members),
        Some(odd) => {
            let message = format!("{what} has a member `{}` that nobody knows", shown(odd));
            let error = PackError::new(ErrorClass::InvalidField, message);
            Err(hinted(error, nearest(odd, known.iter().copied())))
        }
    }
}

fn hinted(error: PackError, meant: Option<&str>) -> PackError {
    match meant {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error,
    }
}

fn wrong(what: &str) -> PackError {
    PackError::new(
        ErrorClass::InvalidField,
        format!("the policy is not of the form: {what}"),
    )
}

fn shown(text: &str) -> String {
    let shown: String = text.chars().take(80).collect();
    shown.escape_debug().to_string()
}
