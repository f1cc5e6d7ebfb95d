//! How a model provider is reached.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// How a model provider is reached. For a provider that is built in, only what differs needs to be said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderSettings {
    /// The wire format: `anthropic-messages`, `openai-completions`, `openai-responses` or `ollama`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<String>,
    /// Where the provider is, such as `http://127.0.0.1:8080/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The key itself, or `${NAME}` for an environment variable. A file or a variable is the better place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<SecretText>,
    /// A file that holds nothing but the key and that nobody else may read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_file: Option<String>,
    /// The environment variable that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    /// How the key is sent; left out, as the wire format does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_header: Option<KeyHeaderSetting>,
    /// Further headers. They are kept like keys: never logged.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, SecretText>,
    /// A proxy to go through; left out, none, whatever the environment says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<SecretText>,
    /// How long a connection may take, in seconds; left out, 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_seconds: Option<u32>,
    /// How long the first byte of an answer may take, in seconds; left out, 300.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_seconds: Option<u32>,
    /// How long an answer may pause, in seconds; left out, 120.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_seconds: Option<u32>,
}

/// How a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum KeyHeaderSetting {
    /// As `authorization: Bearer …`.
    Bearer,
    /// As the wire format does by itself.
    Native,
    /// Not at all.
    None,
}

/// A text that nobody shall see. It is read from configuration, and neither printed nor written back.
#[derive(Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SecretText(String);

impl SecretText {
    /// What stands in its place wherever it would be seen.
    pub const HIDDEN: &'static str = "(hidden)";

    /// Keeps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text. Whoever asks must not show it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::HIDDEN)
    }
}

impl Serialize for SecretText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Self::HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_and_never_shown() {
        let settings: ProviderSettings = serde_json::from_str(
            r#"{"apiKey": "sk-1", "headers": {"x-team": "t-1"}, "keyHeader": "bearer"}"#,
        )
        .expect("settings");
        let key = settings.api_key.as_ref().expect("a key");
        assert_eq!(key.reveal(), "sk-1");
        let shown = format!(
            "{settings:?} {}",
            serde_json::to_string(&settings).expect("JSON")
        );
        assert!(!shown.contains("sk-1") && !shown.contains("t-1"), "{shown}");
    }
}
