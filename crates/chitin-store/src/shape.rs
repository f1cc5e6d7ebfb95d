//! What a record looks like by a contract (R22): the same message, written as the programs of that contract write it.

use crate::compat;
use chitin_contract::{RunMarks, TranscriptRules, UserContent};
use chitin_protocol::message::{AssistantMessage, Block, Content, Extra, Message, UserMessage};
use chitin_protocol::transcript::EntryBody;
use serde_json::{Map, Value, json};

/// The run that records belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its id.
    pub id: String,
    /// Who speaks.
    pub speaker: SessionSpeaker,
}

/// Who speaks to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionSpeaker {
    /// The owner.
    Owner,
    /// Somebody else, or a program.
    Other,
}

/// Gives a record the form that a contract writes. What the record says already is not changed.
pub fn for_writing(body: EntryBody, rules: &TranscriptRules, run: &Run) -> EntryBody {
    match body {
        EntryBody::Message(message) => EntryBody::Message(message_for_writing(message, rules, run)),
        EntryBody::ModelChange { .. }
        | EntryBody::ThinkingLevelChange { .. }
        | EntryBody::Custom { .. }
        | EntryBody::Compaction(_)
        | EntryBody::Other(_) => body,
    }
}

fn message_for_writing(message: Message, rules: &TranscriptRules, run: &Run) -> Message {
    match message {
        Message::User(mut message) => {
            user_content(&mut message, rules.user_content);
            match rules.run_marks {
                RunMarks::None => {}
                RunMarks::Noted => {
                    let is_owner = run.speaker == SessionSpeaker::Owner;
                    let own = json!({ compat::SENDER_IS_OWNER: is_owner });
                    add(&mut message.extra, compat::RUNTIME, own);
                    let key = format!("{}:user", run.id);
                    add(&mut message.extra, compat::IDEMPOTENCY_KEY, key.into());
                }
            }
            Message::User(message)
        }
        Message::Assistant(mut message) => {
            match rules.run_marks {
                RunMarks::None => {}
                RunMarks::Noted => note_answer(&mut message, run),
            }
            Message::Assistant(message)
        }
        Message::ToolResult(mut message) => {
            match rules.run_marks {
                RunMarks::None => {}
                RunMarks::Noted => note_run(&mut message.extra, run),
            }
            Message::ToolResult(message)
        }
        Message::Other(_) => message,
    }
}

fn user_content(message: &mut UserMessage, form: UserContent) {
    match (form, &mut message.content) {
        (UserContent::Blocks, Content::Text(text)) => {
            let block = Block::text(std::mem::take(text));
            message.content = Content::Blocks(vec![block]);
        }
        (UserContent::PlainText, Content::Blocks(blocks)) => {
            if let [Block::Text(block)] = blocks.as_mut_slice()
                && block.text_signature.is_none()
                && block.extra.is_empty()
            {
                message.content = Content::Text(std::mem::take(&mut block.text));
            }
        }
        (UserContent::Blocks, Content::Blocks(_) | Content::Other(_))
        | (UserContent::PlainText, Content::Text(_) | Content::Other(_)) => {}
    }
}

fn note_answer(message: &mut AssistantMessage, run: &Run) {
    note_run(&mut message.extra, run);
    if let Some(model) = &message.model {
        add(
            &mut message.extra,
            compat::RESPONSE_MODEL,
            model.clone().into(),
        );
    }
    if let Some(usage) = message.usage
        && !message.extra.contains_key("usage")
        && let Ok(Value::Object(mut fields)) = serde_json::to_value(usage)
    {
        let prompt = usage.input + usage.cache_read + usage.cache_write;
        let full = json!({
            "state": "available", "promptTokens": prompt, "totalTokens": usage.total_tokens,
        });
        fields.insert(compat::CONTEXT_USAGE.to_owned(), full);
        message
            .extra
            .insert("usage".to_owned(), Value::Object(fields));
    }
}

fn note_run(extra: &mut Extra, run: &Run) {
    let own = Map::from_iter([(compat::RUN_ID.to_owned(), run.id.clone().into())]);
    add(extra, compat::RUNTIME, Value::Object(own));
}

/// Adds a field, unless there is one.
fn add(extra: &mut Extra, name: &str, value: Value) {
    if !extra.contains_key(name) {
        extra.insert(name.to_owned(), value);
    }
}
