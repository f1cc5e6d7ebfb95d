//! Messages of a conversation, in the shape that transcripts hold them (R22).
//!
//! Reading and writing is lossless: fields, blocks and roles that we do not know are kept and written back as they were.
//! A field that we know in a form that we would not write, such as tokens with more detail, is understood and also stands
//! in `extra` as it was; what stands there is what is written.

mod lossless;

pub(crate) use lossless::{overlay, remember};

use lossless::{read_known, write_known};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Fields that we do not know, kept as they were.
pub type Extra = Map<String, Value>;

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum Message {
    /// Somebody's words.
    User(UserMessage),
    /// The model's answer.
    Assistant(AssistantMessage),
    /// What a tool gave back.
    ToolResult(ToolResultMessage),
    /// A role that we do not know; it carries its own `role`.
    Other(Value),
}

/// Somebody's words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserMessage {
    /// What was said.
    pub content: Content,
    /// When, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    /// What else the record says.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssistantMessage {
    /// The blocks, in the order in which they came.
    pub content: Content,
    /// The wire format, such as `anthropic-messages`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<String>,
    /// The provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// What went wrong, when it ended in an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// When, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    /// The provider's name for the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// What else the record says.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultMessage {
    /// The call that it answers.
    #[serde(default)]
    pub tool_call_id: String,
    /// The tool; old records may lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// What the model sees.
    pub content: Content,
    /// What only people and programs see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Whether it failed.
    #[serde(default)]
    pub is_error: bool,
    /// When, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    /// What else the record says.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a message says: plain text, or blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Blocks, in order.
    Blocks(Vec<Block>),
    /// Something else; nothing of it is understood.
    Other(Value),
}

/// One block of a message.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum Block {
    /// Text.
    Text(TextBlock),
    /// What the model thought.
    Thinking(ThinkingBlock),
    /// A picture.
    Image(ImageBlock),
    /// A call of a tool.
    ToolCall(ToolCallBlock),
    /// A kind that we do not know; it carries its own `type`.
    Other(Value),
}

/// Text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TextBlock {
    /// The text.
    pub text: String,
    /// What the provider wants back with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_signature: Option<String>,
    /// What else the record says.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What the model thought.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThinkingBlock {
    /// The thoughts; empty when the provider keeps them to itself.
    pub thinking: String,
    /// What the provider wants back with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_signature: Option<String>,
    /// Whether the provider keeps the thoughts to itself; the signature then holds them, sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redacted: Option<bool>,
    /// What else the record says.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A picture.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageBlock {
    /// The bytes, in base 64.
    pub data: String,
    /// Such as `image/png`.
    #[serde(default)]
    pub mime_type: String,
    /// What else the record says.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallBlock {
    /// The provider's name for the call.
    #[serde(default)]
    pub id: String,
    /// The tool.
    #[serde(default)]
    pub name: String,
    /// What the tool is given. Absent in damaged records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// What else the record says.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// The model was done.
    Stop,
    /// It wants tools to be run.
    ToolUse,
    /// It ran out of room.
    Length,
    /// Somebody stopped it.
    Aborted,
    /// Something went wrong.
    Error,
    /// A word that we do not know.
    #[serde(untagged)]
    Other(String),
}

/// Tokens that an answer took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Sent, and neither read from nor written to a cache.
    pub input: u64,
    /// Answered.
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Written to the provider's cache.
    pub cache_write: u64,
    /// All together.
    pub total_tokens: u64,
    /// What that costs.
    pub cost: CostShares,
}

/// US dollars, by kind of token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CostShares {
    /// For what was sent fresh.
    #[serde(serialize_with = "number")]
    pub input: f64,
    /// For what was answered.
    #[serde(serialize_with = "number")]
    pub output: f64,
    /// For what came from the cache.
    #[serde(serialize_with = "number")]
    pub cache_read: f64,
    /// For what was put into the cache.
    #[serde(serialize_with = "number")]
    pub cache_write: f64,
    /// All together.
    #[serde(serialize_with = "number")]
    pub total: f64,
}

/// Writes whole numbers without a point, as the programs do that share this format.
fn number<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if *value == 0.0 {
        serializer.serialize_u64(0)
    } else {
        serializer.serialize_f64(*value)
    }
}

impl Message {
    /// Returns the role as it is written.
    pub fn role(&self) -> &str {
        match self {
            Self::User(_) => "user",
            Self::Assistant(_) => "assistant",
            Self::ToolResult(_) => "toolResult",
            Self::Other(value) => value["role"].as_str().unwrap_or_default(),
        }
    }

    /// Returns what the message says, if it is of a kind that we know.
    pub const fn content(&self) -> Option<&Content> {
        match self {
            Self::User(message) => Some(&message.content),
            Self::Assistant(message) => Some(&message.content),
            Self::ToolResult(message) => Some(&message.content),
            Self::Other(_) => None,
        }
    }

    /// Makes a message of somebody's words.
    pub fn user(text: impl Into<String>, timestamp: i64) -> Self {
        Self::User(UserMessage {
            content: Content::Text(text.into()),
            timestamp: Some(timestamp),
            extra: Extra::new(),
        })
    }
}

impl AssistantMessage {
    /// Returns the calls of tools, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCallBlock> {
        self.content
            .blocks()
            .iter()
            .filter_map(|block| match block {
                Block::ToolCall(call) => Some(call),
                Block::Text(_) | Block::Thinking(_) | Block::Image(_) | Block::Other(_) => None,
            })
    }
}

impl Content {
    /// Returns the blocks; plain text has none.
    pub fn blocks(&self) -> &[Block] {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Text(_) | Self::Other(_) => &[],
        }
    }

    /// Returns all text, blocks joined by a line end.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                let texts: Vec<&str> = blocks.iter().filter_map(Block::as_text).collect();
                texts.join("\n")
            }
            Self::Other(_) => String::new(),
        }
    }
}

impl Block {
    /// Makes a block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock {
            text: text.into(),
            ..TextBlock::default()
        })
    }

    /// Returns the text, if the block is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            Self::Thinking(_) | Self::Image(_) | Self::ToolCall(_) | Self::Other(_) => None,
        }
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::User(message) => write_known("role", "user", message, serializer),
            Self::Assistant(message) => write_known("role", "assistant", message, serializer),
            Self::ToolResult(message) => write_known("role", "toolResult", message, serializer),
            Self::Other(value) => value.serialize(serializer),
        }
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(block) => write_known("type", "text", block, serializer),
            Self::Thinking(block) => write_known("type", "thinking", block, serializer),
            Self::Image(block) => write_known("type", "image", block, serializer),
            Self::ToolCall(block) => write_known("type", "toolCall", block, serializer),
            Self::Other(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let read = match value.get("role").and_then(Value::as_str) {
            Some("user") => read_known("role", &value).map(Self::User),
            Some("assistant") => read_known("role", &value).map(Self::Assistant),
            Some("toolResult") => read_known("role", &value).map(Self::ToolResult),
            Some(_) => None,
            None => return Err(D::Error::custom("a message has no role")),
        };
        Ok(read.unwrap_or(Self::Other(value)))
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let read = match value.get("type").and_then(Value::as_str) {
            Some("text") => read_known("type", &value).map(Self::Text),
            Some("thinking") => read_known("type", &value).map(Self::Thinking),
            Some("image") => read_known("type", &value).map(Self::Image),
            Some("toolCall") => read_known("type", &value).map(Self::ToolCall),
            Some(_) | None => None,
        };
        Ok(read.unwrap_or(Self::Other(value)))
    }
}
