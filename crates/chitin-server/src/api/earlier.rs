//! The answer of a turn that is over, found in its session.

use crate::compat;
use chitin_gateway::{JobOutcome, JobStatus};
use chitin_protocol::message::{Message, StopReason};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};

/// Finds how the turn of a job ended; nothing when it is not there or not over.
pub(crate) fn outcome(entries: &[TranscriptEntry], job_id: &str) -> Option<JobOutcome> {
    let messages = || {
        entries.iter().filter_map(|entry| match &entry.body {
            EntryBody::Message(message) => Some(message),
            _ => None,
        })
    };
    let names = |message: &Message| match message {
        Message::User(message) => {
            message.extra.get(compat::IDEMPOTENCY_KEY) == Some(&job_id.into())
        }
        _ => false,
    };
    let begins = messages().position(names)?;
    let mut last = None;
    for message in messages().skip(begins + 1) {
        match message {
            Message::Assistant(answer) => {
                let asks = answer.tool_calls().next().is_some();
                last = Some((answer, asks));
            }
            // Words that came while the turn ran have a name too, and follow calls of tools.
            Message::User(_) if last.is_some_and(|(_, asks)| !asks) => break,
            _ => {}
        }
    }
    let (answer, asks) = last?;
    if asks {
        return None;
    }
    let usage = answer.usage.unwrap_or_default();
    Some(JobOutcome {
        status: match answer.stop_reason {
            Some(StopReason::Aborted) => JobStatus::Stopped,
            Some(StopReason::Error) => JobStatus::Failed,
            _ => JobStatus::Ok,
        },
        text: answer.content.text(),
        error: None,
        input_tokens: usage.input + usage.cache_read + usage.cache_write,
        output_tokens: usage.output,
        runtime_ms: 0,
        origins: Vec::new(),
        refused: None,
    })
}
