//! Answers in OpenAI's shape.

use crate::error::{ApiError, sentence};
use crate::follow::{End, dropped};
use chitin_contract::OutboundRules;
use chitin_gateway::events::EventKind;
use chitin_gateway::{JobOutcome, JobStatus};
use chitin_protocol::event::{RefusedPart, TurnEvent};
use chitin_protocol::message::StopReason;
use chitin_text::silent::spoken;
use hyper::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

/// What stands between two answers of one turn.
pub(crate) const BETWEEN: &str = "\n\n";

/// A reply in OpenAI's shape.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChatCompletion {
    /// Its id.
    id: String,
    /// Always `chat.completion`.
    object: &'static str,
    /// When it was made, in seconds since 1970.
    created: i64,
    /// The model, as it was asked for.
    model: String,
    /// The one reply.
    choices: [CompletionChoice; 1],
    /// Tokens.
    usage: CompletionUsage,
}

/// The one reply.
#[derive(Debug, Serialize, JsonSchema)]
struct CompletionChoice {
    /// Always 0.
    index: u32,
    /// The reply.
    message: CompletionReply,
    /// Always null.
    logprobs: (),
    /// Why it ended.
    finish_reason: FinishReason,
}

/// What the agent replied.
#[derive(Debug, Serialize, JsonSchema)]
struct CompletionReply {
    /// Always `assistant`.
    role: &'static str,
    /// The text.
    content: String,
    /// Always null.
    refusal: (),
}

/// Tokens, in OpenAI's shape.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CompletionUsage {
    /// Tokens sent, including cached ones.
    prompt_tokens: u64,
    /// Tokens received.
    completion_tokens: u64,
    /// Both.
    total_tokens: u64,
    /// More about the tokens sent.
    prompt_tokens_details: PromptTokens,
}

/// More about the tokens sent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct PromptTokens {
    /// Those that were read from the cache.
    cached_tokens: u64,
}

/// A chunk of a streamed reply.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChatCompletionChunk {
    /// The id of the reply.
    id: String,
    /// Always `chat.completion.chunk`.
    object: &'static str,
    /// When the reply began, in seconds since 1970.
    created: i64,
    /// The model, as it was asked for.
    model: String,
    /// The one reply; empty in the chunk that counts tokens.
    choices: Vec<ChunkChoice>,
    /// Tokens: null until the last chunk, and absent unless they were asked for.
    #[serde(skip_serializing_if = "ChunkUsage::is_unasked")]
    pub(crate) usage: ChunkUsage,
}

/// The one reply of a chunk.
#[derive(Debug, Serialize, JsonSchema)]
struct ChunkChoice {
    /// Always 0.
    index: u32,
    /// What is new.
    delta: CompletionDelta,
    /// Always null.
    logprobs: (),
    /// Why it ended; null until the end.
    finish_reason: Option<FinishReason>,
}

/// What is new in a chunk.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct CompletionDelta {
    /// `assistant`, in the first chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<&'static str>,
    /// More of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FinishReason {
    /// It was complete.
    Stop,
    /// The model ran into its limit.
    Length,
    /// A rule of the workspace refused it.
    ContentFilter,
}

/// The tokens of a chunk.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ChunkUsage {
    /// They were not asked for.
    #[schemars(skip)]
    Unasked,
    /// They come in the last chunk.
    Later,
    /// They are known.
    Known(CompletionUsage),
}

impl ChunkUsage {
    const fn is_unasked(&self) -> bool {
        matches!(self, Self::Unasked)
    }
}

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
    pub(crate) fn note(&mut self, what: &EventKind) {
        match what {
            EventKind::Turn {
                event: TurnEvent::Said { text, .. },
            } => self.answers.push(self.shown(text)),
            EventKind::Turn {
                event:
                    TurnEvent::Refused {
                        part: RefusedPart::Reply,
                        ..
                    },
            } => self.refused = true,
            EventKind::Turn {
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
    pub(crate) fn text(&self, outcome: &JobOutcome) -> String {
        if self.answers.is_empty() || self.is_partial {
            return self.shown(&outcome.text).unwrap_or_default();
        }
        let answers: Vec<&str> = self.answers.iter().flatten().map(String::as_str).collect();
        answers.join(BETWEEN)
    }

    pub(crate) fn finish_reason(&self) -> FinishReason {
        match (self.refused, self.ran_out) {
            (true, _) => FinishReason::ContentFilter,
            (false, true) => FinishReason::Length,
            (false, false) => FinishReason::Stop,
        }
    }

    pub(crate) fn usage(&self, outcome: &JobOutcome) -> CompletionUsage {
        CompletionUsage {
            prompt_tokens: outcome.input_tokens,
            completion_tokens: outcome.output_tokens,
            total_tokens: outcome.input_tokens + outcome.output_tokens,
            prompt_tokens_details: PromptTokens {
                cached_tokens: self.cached,
            },
        }
    }

    /// Makes the whole answer.
    pub(crate) fn whole(&self, heading: &Heading, outcome: &JobOutcome) -> ChatCompletion {
        ChatCompletion {
            id: heading.id.clone(),
            object: "chat.completion",
            created: heading.created,
            model: heading.model.clone(),
            choices: [CompletionChoice {
                index: 0,
                message: CompletionReply {
                    role: "assistant",
                    content: self.text(outcome),
                    refusal: (),
                },
                logprobs: (),
                finish_reason: self.finish_reason(),
            }],
            usage: self.usage(outcome),
        }
    }
}

impl Heading {
    /// Makes a piece of an answer.
    pub(crate) fn piece(
        &self,
        delta: CompletionDelta,
        finish_reason: Option<FinishReason>,
    ) -> ChatCompletionChunk {
        self.chunk(vec![ChunkChoice {
            index: 0,
            delta,
            logprobs: (),
            finish_reason,
        }])
    }

    /// Makes the piece that counts tokens.
    pub(crate) fn count(&self, usage: CompletionUsage) -> ChatCompletionChunk {
        ChatCompletionChunk {
            usage: ChunkUsage::Known(usage),
            ..self.chunk(Vec::new())
        }
    }

    fn chunk(&self, choices: Vec<ChunkChoice>) -> ChatCompletionChunk {
        ChatCompletionChunk {
            id: self.id.clone(),
            object: "chat.completion.chunk",
            created: self.created,
            model: self.model.clone(),
            choices,
            usage: ChunkUsage::Unasked,
        }
    }
}

/// Returns how a turn ended, when that was well.
pub(crate) fn well(end: End) -> Result<JobOutcome, ApiError> {
    let outcome = match end {
        End::Finished(outcome) => outcome,
        End::Dropped(reason) => return Err(dropped(&reason)),
    };
    let (status, code, otherwise) = match outcome.status {
        JobStatus::Ok => return Ok(outcome),
        JobStatus::TimedOut => (
            StatusCode::GATEWAY_TIMEOUT,
            "timeout",
            "the turn took too long",
        ),
        JobStatus::Stopped => (StatusCode::CONFLICT, "stopped", "the turn was stopped"),
        JobStatus::Failed if outcome.refused.is_some() => (
            StatusCode::FORBIDDEN,
            "permission_denied",
            "a rule of the workspace refused the message",
        ),
        JobStatus::Dropped => (StatusCode::CONFLICT, "dropped", "the message was dropped"),
        JobStatus::Failed => (StatusCode::BAD_GATEWAY, "turn_failed", "the turn failed"),
    };
    let message = outcome.error.as_deref().unwrap_or(otherwise);
    Err(ApiError::new(status, code, sentence(message)))
}
