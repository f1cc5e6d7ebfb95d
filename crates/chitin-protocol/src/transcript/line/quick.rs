//! The quick way: usual records straight into their types, no value in between.

use super::super::{EntryBody, TranscriptEntry};
use crate::message::{
    AssistantMessage, Block, Content, CostShares, Extra, ImageBlock, Message, StopReason,
    TextBlock, ThinkingBlock, ToolCallBlock, ToolResultMessage, Usage, UserMessage,
};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// Reads a usual record; `None` for all others.
pub(super) fn entry(line: &[u8]) -> Option<TranscriptEntry> {
    serde_json::from_slice::<Quick<TranscriptEntry>>(line)
        .ok()
        .map(|quick| quick.0)
}

struct Quick<T>(T);

/// Says that the quick way ends here.
fn unusual<E: Error>() -> E {
    E::custom("unusual")
}

/// Takes a value for a field that may come only once.
fn once<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    slot: &mut Option<T>,
    map: &mut A,
) -> Result<(), A::Error> {
    if slot.replace(map.next_value()?).is_some() {
        return Err(unusual());
    }
    Ok(())
}

fn need<T, E: Error>(slot: Option<T>) -> Result<T, E> {
    slot.ok_or_else(unusual)
}

/// Makes sure that fields of other kinds are not there.
macro_rules! none {
    ($($slot:expr),+) => {
        if $($slot.is_some())||+ {
            return Err(unusual());
        }
    };
}

impl<'de> Deserialize<'de> for Quick<TranscriptEntry> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntryVisitor).map(Self)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = TranscriptEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TranscriptEntry, A::Error> {
        let mut kind: Option<Word<'de>> = None;
        let mut id: Option<String> = None;
        let mut parent_id: Option<Option<String>> = None;
        let mut timestamp: Option<String> = None;
        let mut message: Option<Quick<Message>> = None;
        let mut provider: Option<String> = None;
        let mut model_id: Option<String> = None;
        let mut thinking_level: Option<String> = None;
        let mut custom_type: Option<String> = None;
        let mut data: Option<Value> = None;
        while let Some(name) = map.next_key::<Word<'_>>()? {
            match &*name.0 {
                "type" => once(&mut kind, &mut map)?,
                "id" => once(&mut id, &mut map)?,
                "parentId" => once(&mut parent_id, &mut map)?,
                "timestamp" => once(&mut timestamp, &mut map)?,
                "message" => once(&mut message, &mut map)?,
                "provider" => once(&mut provider, &mut map)?,
                "modelId" => once(&mut model_id, &mut map)?,
                "thinkingLevel" => once(&mut thinking_level, &mut map)?,
                "customType" => once(&mut custom_type, &mut map)?,
                "data" => once(&mut data, &mut map)?,
                _ => return Err(unusual()),
            }
        }
        let body = match &*need(kind)?.0 {
            "message" => {
                none!(provider, model_id, thinking_level, custom_type, data);
                EntryBody::Message(need(message)?.0)
            }
            "model_change" => {
                none!(message, thinking_level, custom_type, data);
                EntryBody::ModelChange {
                    provider: need(provider)?,
                    model_id: need(model_id)?,
                }
            }
            "thinking_level_change" => {
                none!(message, provider, model_id, custom_type, data);
                EntryBody::ThinkingLevelChange {
                    thinking_level: need(thinking_level)?,
                }
            }
            "custom" => {
                none!(message, provider, model_id, thinking_level);
                EntryBody::Custom {
                    custom_type: need(custom_type)?,
                    data,
                }
            }
            _ => return Err(unusual()),
        };
        Ok(TranscriptEntry::new(
            need(id)?,
            need(parent_id)?,
            need(timestamp)?,
            body,
        ))
    }
}

impl<'de> Deserialize<'de> for Quick<Message> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MessageVisitor).map(Self)
    }
}

struct MessageVisitor;

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = Message;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message, A::Error> {
        let mut role: Option<Word<'de>> = None;
        let mut content: Option<Quick<Content>> = None;
        let mut timestamp: Option<i64> = None;
        let mut api: Option<String> = None;
        let mut provider: Option<String> = None;
        let mut model: Option<String> = None;
        let mut usage: Option<Quick<Tokens>> = None;
        let mut stop_reason: Option<StopReason> = None;
        let mut error_message: Option<String> = None;
        let mut response_id: Option<String> = None;
        let mut tool_call_id: Option<String> = None;
        let mut tool_name: Option<String> = None;
        let mut details: Option<Value> = None;
        let mut is_error: Option<bool> = None;
        let mut extra = Extra::new();
        while let Some(name) = map.next_key::<Word<'_>>()? {
            match &*name.0 {
                "role" => once(&mut role, &mut map)?,
                "content" => once(&mut content, &mut map)?,
                "timestamp" => once(&mut timestamp, &mut map)?,
                "api" => once(&mut api, &mut map)?,
                "provider" => once(&mut provider, &mut map)?,
                "model" => once(&mut model, &mut map)?,
                "usage" => once(&mut usage, &mut map)?,
                "stopReason" => once(&mut stop_reason, &mut map)?,
                "errorMessage" => once(&mut error_message, &mut map)?,
                "responseId" => once(&mut response_id, &mut map)?,
                "toolCallId" => once(&mut tool_call_id, &mut map)?,
                "toolName" => once(&mut tool_name, &mut map)?,
                "details" => once(&mut details, &mut map)?,
                "isError" => once(&mut is_error, &mut map)?,
                _ => {
                    extra.insert(name.0.into_owned(), map.next_value()?);
                }
            }
        }
        if details.as_ref().is_some_and(Value::is_null) {
            return Err(unusual());
        }
        let content = need(content)?.0;
        match &*need(role)?.0 {
            "user" => {
                none!(api, provider, model, usage, stop_reason, error_message);
                none!(response_id, tool_call_id, tool_name, details, is_error);
                Ok(Message::User(UserMessage {
                    content,
                    timestamp,
                    extra,
                }))
            }
            "assistant" => {
                none!(tool_call_id, tool_name, details, is_error);
                Ok(Message::Assistant(AssistantMessage {
                    content,
                    api,
                    provider,
                    model,
                    usage: usage
                        .map(|Quick(tokens)| tokens.note(&mut extra))
                        .transpose()?,
                    stop_reason,
                    error_message,
                    timestamp,
                    response_id,
                    extra,
                }))
            }
            "toolResult" => {
                none!(api, provider, model, usage);
                none!(stop_reason, error_message, response_id);
                Ok(Message::ToolResult(ToolResultMessage {
                    tool_call_id: need(tool_call_id)?,
                    tool_name,
                    content,
                    details,
                    is_error: need(is_error)?,
                    timestamp,
                    extra,
                }))
            }
            _ => Err(unusual()),
        }
    }
}

/// Tokens as we write them, and how full the model's window was, which others write with them.
struct Tokens {
    usage: Usage,
    context: Option<Value>,
}

impl Tokens {
    /// Returns what we know; when there is more, all of it stays beside.
    fn note<E: Error>(self, extra: &mut Extra) -> Result<Usage, E> {
        if let Some(context) = self.context {
            let mut all = serde_json::to_value(self.usage).map_err(|_| unusual())?;
            all["contextUsage"] = context;
            extra.insert("usage".to_owned(), all);
        }
        Ok(self.usage)
    }
}

impl<'de> Deserialize<'de> for Quick<Tokens> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TokensVisitor).map(Self)
    }
}

struct TokensVisitor;

impl<'de> Visitor<'de> for TokensVisitor {
    type Value = Tokens;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tokens")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tokens, A::Error> {
        let mut input: Option<u64> = None;
        let mut output: Option<u64> = None;
        let mut cache_read: Option<u64> = None;
        let mut cache_write: Option<u64> = None;
        let mut total_tokens: Option<u64> = None;
        let mut cost: Option<Quick<CostShares>> = None;
        let mut context: Option<Value> = None;
        while let Some(name) = map.next_key::<Word<'_>>()? {
            match &*name.0 {
                "input" => once(&mut input, &mut map)?,
                "output" => once(&mut output, &mut map)?,
                "cacheRead" => once(&mut cache_read, &mut map)?,
                "cacheWrite" => once(&mut cache_write, &mut map)?,
                "totalTokens" => once(&mut total_tokens, &mut map)?,
                "cost" => once(&mut cost, &mut map)?,
                "contextUsage" => once(&mut context, &mut map)?,
                _ => return Err(unusual()),
            }
        }
        let usage = Usage {
            input: need(input)?,
            output: need(output)?,
            cache_read: need(cache_read)?,
            cache_write: need(cache_write)?,
            total_tokens: need(total_tokens)?,
            cost: need(cost)?.0,
        };
        Ok(Tokens { usage, context })
    }
}

impl<'de> Deserialize<'de> for Quick<CostShares> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CostVisitor).map(Self)
    }
}

struct CostVisitor;

impl<'de> Visitor<'de> for CostVisitor {
    type Value = CostShares;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dollars")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CostShares, A::Error> {
        let mut input: Option<Dollars> = None;
        let mut output: Option<Dollars> = None;
        let mut cache_read: Option<Dollars> = None;
        let mut cache_write: Option<Dollars> = None;
        let mut total: Option<Dollars> = None;
        while let Some(name) = map.next_key::<Word<'_>>()? {
            match &*name.0 {
                "input" => once(&mut input, &mut map)?,
                "output" => once(&mut output, &mut map)?,
                "cacheRead" => once(&mut cache_read, &mut map)?,
                "cacheWrite" => once(&mut cache_write, &mut map)?,
                "total" => once(&mut total, &mut map)?,
                _ => return Err(unusual()),
            }
        }
        Ok(CostShares {
            input: need(input)?.0,
            output: need(output)?.0,
            cache_read: need(cache_read)?.0,
            cache_write: need(cache_write)?.0,
            total: need(total)?.0,
        })
    }
}

/// An amount in the form that we write: nothing is a whole number, all else has a point.
struct Dollars(f64);

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_f64(DollarsVisitor)
    }
}

struct DollarsVisitor;

impl Visitor<'_> for DollarsVisitor {
    type Value = Dollars;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dollars")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Dollars, E> {
        match value {
            0 => Ok(Dollars(0.0)),
            _ => Err(unusual()),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Dollars, E> {
        if value == 0.0 {
            return Err(unusual());
        }
        Ok(Dollars(value))
    }
}

/// A name, borrowed from the line unless it holds escapes.
struct Word<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Word<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(WordVisitor)
    }
}

struct WordVisitor;

impl<'de> Visitor<'de> for WordVisitor {
    type Value = Word<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Word<'de>, E> {
        Ok(Word(Cow::Borrowed(name)))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Word<'de>, E> {
        Ok(Word(Cow::Owned(name.to_owned())))
    }
}

impl<'de> Deserialize<'de> for Quick<Content> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor).map(Self)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or blocks")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
        Ok(Content::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Content, E> {
        Ok(Content::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Content, A::Error> {
        let mut blocks = Vec::new();
        while let Some(Quick(block)) = sequence.next_element::<Quick<Block>>()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }
}

impl<'de> Deserialize<'de> for Quick<Block> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(BlockVisitor).map(Self)
    }
}

struct BlockVisitor;

impl<'de> Visitor<'de> for BlockVisitor {
    type Value = Block;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a block")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Block, A::Error> {
        let mut kind: Option<Word<'de>> = None;
        let mut text: Option<String> = None;
        let mut text_signature: Option<String> = None;
        let mut thinking: Option<String> = None;
        let mut thinking_signature: Option<String> = None;
        let mut redacted: Option<bool> = None;
        let mut data: Option<String> = None;
        let mut mime_type: Option<String> = None;
        let mut id: Option<String> = None;
        let mut name: Option<String> = None;
        let mut arguments: Option<Value> = None;
        let mut extra = Extra::new();
        while let Some(field) = map.next_key::<Word<'_>>()? {
            match &*field.0 {
                "type" => once(&mut kind, &mut map)?,
                "text" => once(&mut text, &mut map)?,
                "textSignature" => once(&mut text_signature, &mut map)?,
                "thinking" => once(&mut thinking, &mut map)?,
                "thinkingSignature" => once(&mut thinking_signature, &mut map)?,
                "redacted" => once(&mut redacted, &mut map)?,
                "data" => once(&mut data, &mut map)?,
                "mimeType" => once(&mut mime_type, &mut map)?,
                "id" => once(&mut id, &mut map)?,
                "name" => once(&mut name, &mut map)?,
                "arguments" => once(&mut arguments, &mut map)?,
                _ => {
                    extra.insert(field.0.into_owned(), map.next_value()?);
                }
            }
        }
        match &*need(kind)?.0 {
            "text" => {
                none!(thinking, thinking_signature, redacted, data, mime_type);
                none!(id, name, arguments);
                Ok(Block::Text(TextBlock {
                    text: need(text)?,
                    text_signature,
                    extra,
                }))
            }
            "thinking" => {
                none!(text, text_signature, data, mime_type, id, name, arguments);
                Ok(Block::Thinking(ThinkingBlock {
                    thinking: need(thinking)?,
                    thinking_signature,
                    redacted,
                    extra,
                }))
            }
            "image" => {
                none!(text, text_signature, thinking, thinking_signature);
                none!(redacted, id, name, arguments);
                Ok(Block::Image(ImageBlock {
                    data: need(data)?,
                    mime_type: need(mime_type)?,
                    extra,
                }))
            }
            "toolCall" => {
                none!(text, text_signature, thinking, thinking_signature);
                none!(redacted, data, mime_type);
                if arguments.as_ref().is_some_and(Value::is_null) {
                    return Err(unusual());
                }
                Ok(Block::ToolCall(ToolCallBlock {
                    id: need(id)?,
                    name: need(name)?,
                    arguments,
                    extra,
                }))
            }
            _ => Err(unusual()),
        }
    }
}
