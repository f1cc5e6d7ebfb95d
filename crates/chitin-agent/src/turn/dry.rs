//! `--dry-run`: the request of a turn, without sending or writing anything.

use super::ask::Question;
use super::conversation::{self, Conversation, window_of};
use super::{Agent, ResetAsk, TurnError, TurnInput};
use crate::engine::{Assembly, SessionRef, choose};
use crate::guard::sentence;
use crate::source::{ContextRequest, RecallAsk};
use chitin_model::Prepared;
use chitin_protocol::event::RefusedPart;
use chitin_store::Branch;

const EXPIRED: &str = "the session was last used too long ago: a new one begins";
const COMPACTED: &str =
    "the conversation is compacted before the request is sent; this is the request without that";

const NO_ID: &str = "the session is new: its id is made when the turn begins, and the line about the runtime names it then";

/// A request that was not sent.
#[derive(Debug, Clone)]
pub struct DryRun {
    /// The exact request.
    pub prepared: Prepared,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl Agent {
    /// Builds the first request of a turn, as the context engine would have it. Nothing is sent or written, and
    /// the engine ingests nothing. A conversation that is due for compaction is shown as it is before that.
    pub async fn dry_run(&self, input: &TurnInput) -> Result<DryRun, TurnError> {
        let parts = &self.parts;
        let candidate = parts.models.first().ok_or(TurnError::NoModel)?;
        let now_ms = parts.clock.now_ms();
        let known = parts.store.find(&input.session_key)?;
        let known = known.filter(|_| !input.new_session);
        let is_stale = known.as_ref().is_some_and(|entry| {
            (parts.reset)(&ResetAsk {
                session_key: &input.session_key,
                updated_at: entry.updated_at,
                now_ms,
            })
        });
        let mut measure = conversation::measure(parts, None);
        let (branch, session_id) = match known {
            Some(entry) if !is_stale => {
                let branch = parts
                    .store
                    .read_measured(&input.session_key, &mut measure)?;
                (branch, entry.session_id)
            }
            Some(_) | None => (Branch::default(), String::new()),
        };
        let guest = parts.guest(&input.origin);
        let mut conversation = Conversation::of(&branch, Some(&measure.end()), parts);
        conversation.withhold_files(guest);
        let recalled = parts
            .source
            .recall(RecallAsk {
                session_key: &input.session_key,
                session_id: &session_id,
                words: &input.words,
                occasion: &input.occasion,
                guest,
            })
            .await;
        let seen = parts.source.look(&ContextRequest {
            session_key: &input.session_key,
            session_id: &session_id,
            marked: conversation.is_marked(),
            model: &candidate.full_name(),
            tools: &self.specs,
            occasion: &input.occasion,
            memory: &recalled.results,
            records: conversation.entries(),
            guest,
        })?;
        conversation.carry(seen.context.conversation_files());
        let system = seen.context.request_system();
        let words = seen.context.user_message(&input.words);
        let is_too_long = conversation.is_due(&system, &words, window_of(candidate));
        let message = input.message(words.clone(), now_ms);
        conversation.open(message, &crate::clock::iso(now_ms));
        let definition = parts.source.definition();
        let session = SessionRef {
            id: &session_id,
            key: &input.session_key,
            agent: &definition,
        };
        let choice = choose(&*parts.engine, session, &seen.context, || Assembly {
            messages: conversation.messages().to_vec(),
            token_budget: conversation.window(),
            model: candidate.full_name(),
            prompt: Some(words),
        })
        .await;
        let chosen = choice.messages.as_deref();
        let question = Question {
            system: &choice.context.request_system(),
            messages: chosen.unwrap_or_else(|| conversation.messages()),
            tools: &self.specs,
        };
        let is_unnamed = session_id.is_empty() && parts.contract.prompt.runtime_line_session;
        let refused = self.admit(input).err();
        let refused = refused.map(|by| sentence(RefusedPart::Message, &by));
        let notes = recalled.notes.into_iter().chain(seen.notes);
        let notes = notes
            .chain(is_stale.then(|| EXPIRED.to_owned()))
            .chain(is_unnamed.then(|| NO_ID.to_owned()))
            .chain(is_too_long.then(|| COMPACTED.to_owned()))
            .chain(choice.failure.map(|error| error.to_string()));
        Ok(DryRun {
            prepared: question.prepare(candidate, &parts.contract.runtime.provider)?,
            notes: notes.chain(refused).collect(),
        })
    }
}
