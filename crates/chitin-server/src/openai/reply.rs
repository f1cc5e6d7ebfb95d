//! Answers in OpenAI's shape.

use crate::follow::{End, dropped};
use crate::problem::{Problem, sentence};
use chitin_contract::OutboundRules;
use chitin_gateway::events::What;
use chitin_gateway::{Outcome, Status};
use chitin_protocol::event::{RefusedPart, TurnEvent};
use chitin_protocol::message::StopReason;
use chitin_text::silent::spoken;
use hyper::StatusCode;
use serde_json::{Value, json};

/// What stands between two answers of one turn.
pub(crate) const BETWEEN: &str = "\n\n";

/// The name and the facts of an answer.
#[derive(Debug, Clone)]
pub(crate) struct Heading {
    pub(crate) id: String,
    pub(crate) created: i64,
    pub(crate) model: String,
}

/// What is known of a turn so far.
#[derive(Debug)]
pub(crate) struct Heard {
    rules: OutboundRules,
    /// The answers, each whole; none stands for one that is silent.
    answers: Vec<Option<String>>,
    is_partial: bool,
    ran_out: bool,
    /// Whether a rule of the workspace refused a reply.
    refused: bool,
    cached: u64,
}

impl Heard {
    pub(crate) fn new(rules: OutboundRules) -> Self {
        Self {
            rules,
            answers: Vec::new(),
            is_partial: false,
            ran_out: false,
            refused: false,
            cached: 0,
        }
    }

    /// Returns what is to be seen of an answer: nothing when it means "say nothing".
    pub(crate) fn shown(&self, text: &str) -> Option<String> {
        let text = spoken(text, &self.rules)?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Notes something that happened.
    pub(crate) fn note(&mut self, what: &What) {
        match what {
            What::Turn {
                event: TurnEvent::Said { text, .. },
            } => self.answers.push(self.shown(text)),
            What::Turn {
                event:
                    TurnEvent::Refused {
                        part: RefusedPart::Reply,
                        ..
                    },
            } => self.refused = true,
            What::Turn {
                event:
                    TurnEvent::TurnFinished {
                        stop_reason, usage, ..
                    },
            } => {
                self.ran_out = *stop_reason == StopReason::Length;
                self.cached = usage.cache_read;
            }
            _ => {}
        }
    }

    /// Something was missed: what is known for sure is the last answer, which comes with the end.
    pub(crate) fn missed(&mut self) {
        self.is_partial = true;
    }

    /// Returns all that was said.
    pub(crate) fn text(&self, outcome: &Outcome) -> String {
        if self.answers.is_empty() || self.is_partial {
            return self.shown(&outcome.text).unwrap_or_default();
        }
        let answers: Vec<&str> = self.answers.iter().flatten().map(String::as_str).collect();
        answers.join(BETWEEN)
    }

    pub(crate) fn finish_reason(&self) -> &'static str {
        match (self.refused, self.ran_out) {
            (true, _) => "content_filter",
            (false, true) => "length",
            (false, false) => "stop",
        }
    }

    pub(crate) fn usage(&self, outcome: &Outcome) -> Value {
        json!({
            "prompt_tokens": outcome.input_tokens,
            "completion_tokens": outcome.output_tokens,
            "total_tokens": outcome.input_tokens + outcome.output_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached},
        })
    }

    /// Makes the whole answer.
    pub(crate) fn whole(&self, heading: &Heading, outcome: &Outcome) -> Value {
        json!({
            "id": heading.id,
            "object": "chat.completion",
            "created": heading.created,
            "model": heading.model,
            "choices": [{
                "index": 0,
                "message": {"role": "assistant", "content": self.text(outcome), "refusal": null},
                "logprobs": null,
                "finish_reason": self.finish_reason(),
            }],
            "usage": self.usage(outcome),
        })
    }
}

impl Heading {
    /// Makes a piece of an answer.
    pub(crate) fn piece(&self, delta: &Value, finish_reason: Option<&str>) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": [{
                "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason,
            }],
        })
    }

    /// Makes the piece that counts tokens.
    pub(crate) fn count(&self, usage: &Value) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": [],
            "usage": usage,
        })
    }
}

/// Returns how a turn ended, when that was well.
pub(crate) fn well(end: End) -> Result<Outcome, Problem> {
    let outcome = match end {
        End::Finished(outcome) => outcome,
        End::Dropped(reason) => return Err(dropped(&reason)),
    };
    let (status, code, otherwise) = match outcome.status {
        Status::Ok => return Ok(outcome),
        Status::TimedOut => (
            StatusCode::GATEWAY_TIMEOUT,
            "timeout",
            "the turn took too long",
        ),
        Status::Stopped => (StatusCode::CONFLICT, "stopped", "the turn was stopped"),
        Status::Failed if outcome.refused.is_some() => (
            StatusCode::FORBIDDEN,
            "permission_denied",
            "a rule of the workspace refused the message",
        ),
        Status::Failed => (StatusCode::BAD_GATEWAY, "turn_failed", "the turn failed"),
    };
    let message = outcome.error.as_deref().unwrap_or(otherwise);
    Err(Problem::new(status, code, sentence(message)))
}
