//! What a `RUNTIME.md` suggests to this program: a model and a limit. Addresses and keys are never taken from a workspace.

use super::line::{Position, settings};
use super::live::LiveText;
use super::runtime::FILE;
use crate::adapter::text::is_blank;

/// The keys that mean something; any other key is prose.
pub const KEYS: [&str; 12] = [
    "mode",
    "model",
    "max-tokens",
    "maxtokens",
    "temperature",
    "top-p",
    "topp",
    "stop",
    "api-key",
    "apikey",
    "base-url",
    "baseurl",
];

/// What a `RUNTIME.md` suggests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suggestion {
    /// The model, as it is spelled, and its line.
    pub model: Option<(String, usize)>,
    /// How models are reached: `remote`, `local` or `fake`, in lower case.
    pub mode: Option<String>,
    /// The most tokens of an answer.
    pub max_tokens: Option<u64>,
    /// What has no effect, and why, as sentences without a full stop.
    pub notes: Vec<String>,
}

/// Reads what a file suggests. In it the first line of a key counts, as everywhere.
pub fn suggest(text: &LiveText) -> Suggestion {
    let mut found = Suggestion::default();
    let text = match text {
        LiveText::Absent => return found,
        LiveText::Unreadable(reason) => {
            let note = format!("`{FILE}` cannot be read and has no effect: {reason}");
            found.notes.push(note);
            return found;
        }
        LiveText::Text(text) => &**text,
    };
    let mut seen: Vec<&str> = Vec::new();
    for (key, value) in settings(text) {
        let Some(key) = KEYS
            .into_iter()
            .map(plain)
            .find(|known| *known == plain(&key))
        else {
            continue;
        };
        if seen.contains(&key) || is_blank(value) {
            continue;
        }
        seen.push(key);
        let line = Position::of(text, value).line;
        match key {
            "mode" => found.mode = Some(value.to_lowercase()),
            "model" => found.model = Some((value.to_owned(), line)),
            "max-tokens" => match value.parse::<u64>().ok().filter(|tokens| *tokens > 0) {
                Some(tokens) => found.max_tokens = Some(tokens),
                None => found.notes.push(format!(
                    "`max-tokens` in `{FILE}`, line {line}, is not a positive whole number and has no effect"
                )),
            },
            "api-key" | "base-url" => found.notes.push(format!(
                "`{key}` in `{FILE}`, line {line}, has no effect: keys and addresses come from the configuration, never from a workspace"
            )),
            other => found.notes.push(format!(
                "`{other}` in `{FILE}`, line {line}, has no effect: models are asked with the provider's own value"
            )),
        }
    }
    found
}

/// Returns the first spelling of a key.
pub fn plain(key: &str) -> &str {
    match key {
        "maxtokens" => "max-tokens",
        "topp" => "top-p",
        "apikey" => "api-key",
        "baseurl" => "base-url",
        other => other,
    }
}

impl Suggestion {
    /// Returns the suggested model as `provider/name`. A name without a provider is given the one whose models are called
    /// so; nothing comes back when there is none.
    pub fn full_name(&self) -> Option<Result<String, String>> {
        if self.mode.as_deref() == Some("fake") {
            return Some(Ok("offline".to_owned()));
        }
        let (name, line) = self.model.as_ref()?;
        let provider = match name.as_str() {
            "offline" => return Some(Ok(name.clone())),
            name if name.contains('/') => return Some(Ok(name.to_owned())),
            _ if self.mode.as_deref() == Some("local") => Some("ollama"),
            name => PROVIDERS
                .iter()
                .find(|(start, _)| name.starts_with(start))
                .map(|(_, provider)| *provider),
        };
        Some(provider.map(|provider| format!("{provider}/{name}")).ok_or_else(|| {
            format!(
                "`{name}` in `{FILE}`, line {line}, has no effect: it names no provider; write it as `provider/name`"
            )
        }))
    }
}

/// How the models of a provider begin.
const PROVIDERS: [(&str, &str); 7] = [
    ("claude-", "anthropic"),
    ("gpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("gemini-", "google"),
    ("mistral-", "mistral"),
    ("deepseek-", "deepseek"),
];
