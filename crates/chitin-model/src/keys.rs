//! Where a provider's key comes from.

use chitin_guard::plain_file::{self, FileProblem};
use secrecy::SecretString;
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};

/// No key is longer.
const LONGEST_KEY: u64 = 16 * 1024;

/// Where a key came from. The key itself is never part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// An environment variable.
    Variable(String),
    /// The configuration.
    Configuration,
    /// A file.
    File(PathBuf),
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "the environment variable `{name}`"),
            Self::Configuration => f.write_str("the configuration"),
            Self::File(path) => write!(f, "`{}`", path.display()),
        }
    }
}

/// A key, and where it came from.
#[derive(Debug, Clone)]
pub struct FoundKey {
    /// The key.
    pub key: SecretString,
    /// Where it came from.
    pub source: KeySource,
}

/// A key that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyProblem {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] FileProblem),
    /// There is nothing in it.
    #[error("there is no key in {0}")]
    Empty(KeySource),
    /// A key has no line ends or spaces in it.
    #[error("what stands in {0} is not one word, so it is not a key")]
    NotOneWord(KeySource),
    /// A variable that the configuration names is not set.
    #[error("the environment variable `{0}`, which shall hold the key, is not set")]
    Unset(String),
    /// A way to store keys that we do not know.
    #[error("keys from `{0}` are not supported")]
    Unsupported(String),
}

impl KeyProblem {
    /// Says what can be done about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File(FileProblem::Exposed { path, .. }) => {
                Some(format!("run `chmod 600 {}`", path.display()))
            }
            Self::File(FileProblem::Foreign { .. }) => {
                Some("keep the key in a file of your own".to_owned())
            }
            Self::NotOneWord(_) | Self::Empty(_) => {
                Some("the key stands alone, without quotes and without a name before it".to_owned())
            }
            Self::Unset(name) => Some(format!("set it: `export {name}=…`")),
            Self::Unsupported(_) => {
                Some("set `keyFile` or `keyVariable` for the provider in `chitin.json5`".to_owned())
            }
            Self::File(
                FileProblem::Unreadable { .. }
                | FileProblem::Unwritable { .. }
                | FileProblem::NotAFile { .. }
                | FileProblem::TooLarge { .. },
            ) => None,
        }
    }
}

/// Looks a variable up.
pub type KeyVariables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads a key from a file that only its owner may read.
pub fn from_file(path: &Path) -> Result<FoundKey, KeyProblem> {
    let text = plain_file::read_private(path, LONGEST_KEY)?;
    found(&text, KeySource::File(path.to_path_buf()))
}

/// Reads a key from the first of some variables that is set and not empty.
pub fn from_variables<'a>(
    names: impl IntoIterator<Item = &'a str>,
    variables: KeyVariables<'_>,
) -> Result<Option<FoundKey>, KeyProblem> {
    for name in names {
        let value = variables(name).unwrap_or_default();
        if !value.trim().is_empty() {
            return found(&value, KeySource::Variable(name.to_owned())).map(Some);
        }
    }
    Ok(None)
}

/// Reads a key from configuration: the key itself, `${NAME}`, the bare name of a variable that is set, or OpenClaw's
/// `{"source": "env", "id": "NAME"}`.
pub fn from_configuration(
    value: &Value,
    variables: KeyVariables<'_>,
) -> Result<Option<FoundKey>, KeyProblem> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => from_text(text, variables),
        Value::Object(object) => {
            let field = |name: &str| object.get(name).and_then(Value::as_str);
            match (field("source"), field("id")) {
                (Some("env"), Some(name)) => named(name, variables).map(Some),
                (source, _) => Err(KeyProblem::Unsupported(
                    source.unwrap_or("something else").to_owned(),
                )),
            }
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => Err(KeyProblem::Unsupported(
            "something that is no text".to_owned(),
        )),
    }
}

/// Reads a key from a text of the configuration.
pub fn from_text(text: &str, variables: KeyVariables<'_>) -> Result<Option<FoundKey>, KeyProblem> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if let Some(name) = text
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
    {
        return named(name, variables).map(Some);
    }
    if is_variable_name(text) && variables(text).is_some_and(|value| !value.trim().is_empty()) {
        return named(text, variables).map(Some);
    }
    found(text, KeySource::Configuration).map(Some)
}

/// Reads a key from a variable that must be set.
pub fn named(name: &str, variables: KeyVariables<'_>) -> Result<FoundKey, KeyProblem> {
    from_variables([name], variables)?.ok_or_else(|| KeyProblem::Unset(name.to_owned()))
}

/// Tells whether a text looks like a variable's name rather than a key.
fn is_variable_name(text: &str) -> bool {
    text.contains('_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

fn found(text: &str, source: KeySource) -> Result<FoundKey, KeyProblem> {
    let key = text.trim();
    if key.is_empty() {
        return Err(KeyProblem::Empty(source));
    }
    if key.contains(|character: char| character.is_whitespace() || character.is_control()) {
        return Err(KeyProblem::NotOneWord(source));
    }
    Ok(FoundKey {
        key: SecretString::from(key),
        source,
    })
}
