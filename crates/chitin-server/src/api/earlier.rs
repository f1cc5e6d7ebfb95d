//! How a message ended that was handed in before: from the job log, or else from its session.

use super::sessions::agent_of;
use crate::compat;
use crate::error::ApiError;
use crate::shared::Shared;
use chitin_gateway::{Accepted, EarlierJob, JobOutcome, JobPlacement, JobStatus, StoredOutcome};
use chitin_protocol::message::{Message, StopReason};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};

/// Says what became of a message; of one that was just taken in, that it is open.
pub(crate) async fn find(shared: &Shared, accepted: &Accepted) -> Result<EarlierJob, ApiError> {
    let job = &accepted.job_id;
    if accepted.place != JobPlacement::Known {
        return Ok(EarlierJob::Open(job.clone()));
    }
    let kept = shared.gateway.earlier(job).await;
    let is_whole = match &kept {
        EarlierJob::Open(_) => true,
        EarlierJob::Ended(ended) => !ended.is_shortened,
        EarlierJob::Unknown => false,
    };
    if is_whole {
        return Ok(kept);
    }
    let (key, job) = (accepted.session_key.clone(), job.clone());
    let found = shared.blocking(move |gateway| {
        let agent_id = agent_of(gateway, &key)?;
        let store = gateway.parts().host.store(&agent_id)?;
        let outcome = match store.find(&key)? {
            Some(_) => outcome(&store.read(&key)?.entries, &job),
            None => None,
        };
        Ok(outcome.map(|outcome| StoredOutcome {
            session_key: key,
            agent_id,
            outcome,
            is_shortened: false,
        }))
    });
    Ok(match found.await {
        Ok(Some(found)) => EarlierJob::Ended(Box::new(found)),
        Ok(None) => kept,
        // What is kept is better than nothing.
        Err(_) if matches!(kept, EarlierJob::Ended(_)) => kept,
        Err(error) => return Err(error),
    })
}

/// Finds how the turn of a job ended; nothing when it is not there or not over.
fn outcome(entries: &[TranscriptEntry], job_id: &str) -> Option<JobOutcome> {
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
