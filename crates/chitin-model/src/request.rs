//! What a model is asked, in no provider's words.

use chitin_contract::ProviderRules;
use chitin_protocol::message::Message;
use chitin_protocol::tool::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    /// Anthropic's Messages.
    AnthropicMessages,
    /// OpenAI's Chat Completions, and what is compatible with it.
    OpenaiCompletions,
    /// OpenAI's Responses.
    OpenaiResponses,
    /// Ollama's chat.
    Ollama,
    /// The model that is built in and needs no network.
    Offline,
    /// Replies from a script.
    Scripted,
}

impl Api {
    /// Returns the name that transcripts and configuration use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic-messages",
            Self::OpenaiCompletions => "openai-completions",
            Self::OpenaiResponses => "openai-responses",
            Self::Ollama => "ollama",
            Self::Offline => "offline",
            Self::Scripted => "scripted",
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Everything that a call of a model is made of.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The model's name at its provider.
    pub model: &'a str,
    /// The system prompt, with the contract's cache boundary still in it (P10).
    pub system: &'a str,
    /// The conversation.
    pub messages: &'a [Message],
    /// The tools, in the order in which they were made.
    pub tools: &'a [ToolSpec],
    /// How many tokens the answer may have.
    pub max_tokens: u64,
    /// How many tokens the model takes in all, for formats that want to know.
    pub context_window: Option<u64>,
    /// How deeply to think, if the user says so: `low`, `medium`, `high`.
    pub thinking: Option<&'a str>,
    /// How long the provider shall keep the prefix in its cache.
    pub retention: Retention,
    /// Fields that the user adds to the body as they are.
    pub extra: &'a Map<String, Value>,
    /// What the contract says about requests.
    pub rules: &'a ProviderRules,
}

/// How long the provider shall keep the prefix in its cache (P11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Retention {
    /// Not at all: no breakpoints are set.
    None,
    /// As long as it does by default.
    #[default]
    Short,
    /// For an hour.
    Long,
}
