//! What the session of a thread begins with, and the threads that answers open.

use super::{AnswerThread, MessageToAnswer};
use crate::gateway::Inner;
use crate::intake::IncomingMessage;
use crate::jobs::{Job, JobKind};
use crate::surface::{Address, Surface, SurfaceAction, SurfaceOutcome};
use crate::threads;
use chitin_agent::blocking;
use chitin_store::JobChange;
use std::sync::Arc;
use std::time::Duration;

/// How long a surface may take to tell the past or to open a thread.
const LONGEST: Duration = Duration::from_secs(20);
/// What was said in a thread before its session began.
enum ThreadHistory {
    /// This.
    Told(String),
    /// Nothing.
    Empty,
    /// It was not asked for, or did not come.
    Unknown,
}

/// What the mark of an opened thread begins with.
pub(crate) const OPENED: &str = "thread ";

impl Inner {
    /// Says in which thread the answer to a message stands, when that is not where the message is.
    pub(crate) fn answer_thread(&self, incoming: &IncomingMessage) -> Option<AnswerThread> {
        let inbound = incoming.inbound.normalized();
        let surface = self.parts.surfaces.get(&inbound.channel)?;
        let asked = MessageToAnswer {
            inbound: &inbound,
            message_id: incoming.message_id.as_deref(),
            text: &incoming.text,
        };
        let rules = &self.parts.contract.runtime.outbound;
        threads::answer_thread(&asked, surface.capabilities(), &self.parts.config, rules)
    }

    /// Returns what the first message to the session of a thread begins with: what was said there before, or, where that is not
    /// given, how to read it. Nothing for a session that is there already, or that is of no thread.
    pub(crate) async fn thread_opening(&self, job: &Job, reader: Option<&str>) -> Option<String> {
        let from = job.from.as_ref()?;
        if job.kind != JobKind::Message {
            return None;
        }
        let surface = self.begins_in_thread(from, &job.session_key, &job.agent_id)?;
        let limit = self.history_limit(from);
        match self.thread_history(job, from, surface, limit).await {
            ThreadHistory::Told(history) => Some(history),
            ThreadHistory::Empty => None,
            ThreadHistory::Unknown => {
                let thread = from.thread_id.as_deref().unwrap_or_default();
                Some(threads::how_to_read(thread, reader))
            }
        }
    }

    /// Reads what was said in a thread before its session began.
    async fn thread_history(
        &self,
        job: &Job,
        from: &Address,
        surface: &Arc<dyn Surface>,
        limit: u32,
    ) -> ThreadHistory {
        if limit == 0 {
            return ThreadHistory::Unknown;
        }
        let action = SurfaceAction::Read {
            // The message itself may be among them.
            limit: limit + 1,
            before: None,
        };
        let read = tokio::time::timeout(LONGEST, surface.act(from, &action)).await;
        let messages = match read {
            Ok(Ok(SurfaceOutcome::Said { messages })) => messages,
            Ok(Ok(_)) => return ThreadHistory::Unknown,
            Ok(Err(error)) => {
                let reason = error.message;
                (self.parts.note)(&format!(
                    "could not read the history of the thread `{from}`: {reason}"
                ));
                return ThreadHistory::Unknown;
            }
            Err(_) => {
                (self.parts.note)(&format!(
                    "the history of the thread `{from}` did not arrive in time"
                ));
                return ThreadHistory::Unknown;
            }
        };
        // What came with it or after it is not its past.
        let own = job.message_id.as_deref();
        let end = messages
            .iter()
            .position(|past| Some(past.message_id.as_str()) == own)
            .unwrap_or(messages.len());
        let begin = end.saturating_sub(limit as usize);
        threads::told(&messages[begin..end]).map_or(ThreadHistory::Empty, ThreadHistory::Told)
    }

    /// Tells how much of what was said in a thread its session begins with; nothing for a session that is there already, or that
    /// is of no thread.
    pub(crate) fn begins_with(
        &self,
        from: &Address,
        session_key: &str,
        agent_id: &str,
    ) -> Option<(&Arc<dyn Surface>, u32)> {
        let surface = self.begins_in_thread(from, session_key, agent_id)?;
        let limit = self.history_limit(from);
        (limit > 0).then_some((surface, limit))
    }

    /// Returns the surface of a session that begins in a thread whose messages can be read.
    fn begins_in_thread(
        &self,
        from: &Address,
        session_key: &str,
        agent_id: &str,
    ) -> Option<&Arc<dyn Surface>> {
        from.thread_id.as_ref()?;
        let surface = self.parts.surfaces.get(&from.channel)?;
        let reads = surface.capabilities().actions.iter();
        if !reads.into_iter().any(|action| action == "read") {
            return None;
        }
        let store = self.parts.host.store(agent_id).ok()?;
        if blocking(|| store.find(session_key)).ok()?.is_some() {
            return None;
        }
        Some(surface)
    }

    fn history_limit(&self, from: &Address) -> u32 {
        let rules = self.parts.contract.runtime.dispatch.surfaces;
        threads::history_limit(&self.parts.config, &from.channel, rules)
    }

    /// Opens the thread that the words of a job go to, under the message that they answer. Should that not work, they stand
    /// beside the message.
    pub(crate) async fn open_thread(
        &self,
        job: &Job,
        surface: &Arc<dyn Surface>,
        beside: &Address,
    ) -> Address {
        let (name, auto_archive_min) = match &job.answer_thread {
            Some(AnswerThread::Open {
                name,
                auto_archive_min,
            }) => (name.clone(), *auto_archive_min),
            Some(AnswerThread::In { .. }) | None => return beside.clone(),
        };
        let action = SurfaceAction::ThreadCreate {
            name,
            message_id: job.message_id.clone(),
            auto_archive_min: Some(auto_archive_min),
        };
        let opening = tokio::time::timeout(LONGEST, surface.act(beside, &action)).await;
        let reason = match opening {
            Ok(Ok(SurfaceOutcome::Thread { address })) => {
                if let Ok(place) = serde_json::to_string(&address) {
                    let id = job.id.clone();
                    let mark = format!("{OPENED}{place}");
                    self.parts.ledger.note(vec![JobChange::Mark { id, mark }]);
                }
                return address;
            }
            Ok(Ok(_)) => "the surface opened none".to_owned(),
            Ok(Err(error)) => error.message,
            Err(_) => "the surface did not answer in time".to_owned(),
        };
        (self.parts.note)(&format!("could not open a thread at `{beside}`: {reason}"));
        beside.clone()
    }
}

/// Returns the thread that was opened before a crash.
pub(crate) fn opened_before<'a>(marks: impl IntoIterator<Item = &'a String>) -> Option<Address> {
    let mut places = marks
        .into_iter()
        .filter_map(|mark| mark.strip_prefix(OPENED));
    serde_json::from_str(places.next()?).ok()
}
