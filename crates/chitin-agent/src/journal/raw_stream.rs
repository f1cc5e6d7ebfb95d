//! The raw stream log: an answer step by step, as it comes in (R112).

use super::log::Log;
use super::redact::REDACTED;
use super::run::{JournalEnvironment, Run};
use chitin_model::StreamEvent;
use chitin_protocol::message::{AssistantMessage, Block, ToolResultMessage};
use serde_json::{Map, Value, json};

/// The raw stream log.
#[derive(Debug)]
pub(super) struct RawStream {
    pub(super) log: Log,
    /// What was said since the answer began, for contracts that say it again before a call of a tool.
    said: String,
    /// Pieces of a block that is not complete. A secret that comes in pieces is in none of them: they are written when the
    /// whole is known.
    pieces: Vec<Map<String, Value>>,
    whole: String,
}

impl RawStream {
    pub(super) const fn new(log: Log) -> Self {
        Self {
            log,
            said: String::new(),
            pieces: Vec::new(),
            whole: String::new(),
        }
    }

    pub(super) fn event(
        &mut self,
        event: &StreamEvent,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        const TEXT: &str = "assistant_text_stream";
        const THINKING: &str = "assistant_thinking_stream";
        const TOOL: &str = "assistant_toolcall_stream";
        let rules = &around.rules;
        let (stream, delta, content) = match event {
            StreamEvent::Start => {
                self.said.clear();
                return self.flush(around);
            }
            StreamEvent::TextStart { .. } => (TEXT, "", ""),
            StreamEvent::TextDelta { delta, .. } => (TEXT, delta.as_str(), ""),
            StreamEvent::TextEnd { text, .. } => {
                self.said.push_str(text);
                (TEXT, "", text.as_str())
            }
            StreamEvent::ThinkingStart { .. } => (THINKING, "", ""),
            StreamEvent::ThinkingDelta { delta, .. } => (THINKING, delta.as_str(), ""),
            StreamEvent::ThinkingEnd { text, .. } => (THINKING, "", text.as_str()),
            StreamEvent::ToolCallStart { .. } => {
                let mut trouble = None;
                if rules.raw_stream_commentary && !self.said.is_empty() {
                    let said = std::mem::take(&mut self.said);
                    trouble = self.step(TEXT, "commentary_update", "", &said, run, around);
                }
                if !rules.raw_stream_tools {
                    return trouble;
                }
                (TOOL, "", "")
            }
            StreamEvent::ToolCallDelta { delta, .. } if rules.raw_stream_tools => {
                (TOOL, delta.as_str(), "")
            }
            StreamEvent::ToolCallEnd { call, .. } if rules.raw_stream_tools => {
                let call = serde_json::to_value(call).unwrap_or_default();
                return self.record(TOOL, run, around, |record| {
                    record.insert("evtType".to_owned(), json!(event.name()));
                    record.insert("delta".to_owned(), json!(""));
                    record.insert("content".to_owned(), call);
                });
            }
            StreamEvent::ToolCallDelta { .. } | StreamEvent::ToolCallEnd { .. } => return None,
            StreamEvent::Done(message) | StreamEvent::Failed(message) => {
                return self.message_end(message, run, around);
            }
        };
        if delta.is_empty() {
            return self.step(stream, event.name(), delta, content, run, around);
        }
        let other = |piece: &Map<String, Value>| piece.get("event") != Some(&json!(stream));
        let trouble = self
            .pieces
            .first()
            .is_some_and(other)
            .then(|| self.flush(around));
        self.whole.push_str(delta);
        let fill = |record: &mut Map<String, Value>| fill_step(record, event.name(), delta, "");
        self.pieces.push(begin(stream, run, around, fill));
        trouble.flatten()
    }

    /// Writes the pieces that were held back, without what they say if there is a secret in it.
    pub(super) fn flush(&mut self, around: &JournalEnvironment) -> Option<String> {
        let whole = std::mem::take(&mut self.whole);
        let is_secret = around.redactor.text(&whole) != whole;
        let mut trouble = None;
        for mut piece in std::mem::take(&mut self.pieces) {
            if is_secret {
                piece.insert("delta".to_owned(), json!(REDACTED));
            }
            trouble = trouble.or(self.log.line(Value::Object(piece).to_string()));
        }
        trouble
    }

    fn step(
        &mut self,
        stream: &str,
        kind: &str,
        delta: &str,
        content: &str,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        let fill = |record: &mut Map<String, Value>| fill_step(record, kind, delta, content);
        self.record(stream, run, around, fill)
    }

    fn message_end(
        &mut self,
        message: &AssistantMessage,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        self.said.clear();
        let thoughts: Vec<&str> = message
            .content
            .blocks()
            .iter()
            .filter_map(|block| match block {
                Block::Thinking(block) => Some(block.thinking.as_str()),
                Block::Text(_) | Block::Image(_) | Block::ToolCall(_) | Block::Other(_) => None,
            })
            .collect();
        self.record("assistant_message_end", run, around, |record| {
            record.insert("rawText".to_owned(), json!(message.content.text()));
            record.insert("rawThinking".to_owned(), json!(thoughts.join("\n")));
        })
    }

    /// What a tool gave back, in contracts whose stream tells of tools.
    pub(super) fn tool_result(
        &mut self,
        result: &ToolResultMessage,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        if !around.rules.raw_stream_tools {
            return None;
        }
        let message = serde_json::to_value(result).unwrap_or_default();
        self.record("tool_result", run, around, |record| {
            record.insert("message".to_owned(), message);
        })
    }

    fn record(
        &mut self,
        event: &str,
        run: &Run,
        around: &JournalEnvironment,
        fill: impl FnOnce(&mut Map<String, Value>),
    ) -> Option<String> {
        let trouble = self.flush(around);
        let mut record = Value::Object(begin(event, run, around, fill));
        around.redactor.value(&mut record);
        trouble.or(self.log.line(record.to_string()))
    }
}

fn begin(
    event: &str,
    run: &Run,
    around: &JournalEnvironment,
    fill: impl FnOnce(&mut Map<String, Value>),
) -> Map<String, Value> {
    let mut record = Map::new();
    record.insert("ts".to_owned(), json!(around.now()));
    record.insert("event".to_owned(), json!(event));
    record.insert("runId".to_owned(), json!(run.id));
    fill(&mut record);
    record
}

fn fill_step(record: &mut Map<String, Value>, kind: &str, delta: &str, content: &str) {
    record.insert("evtType".to_owned(), json!(kind));
    record.insert("delta".to_owned(), json!(delta));
    record.insert("content".to_owned(), json!(content));
}
