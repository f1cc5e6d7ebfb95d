//! Shows a request without sending it and without writing anything.

use super::ask::Question;
use super::conversation::Conversation;
use super::{Agent, TurnError, TurnInput};
use crate::engine::decides_note;
use crate::guard::sentence;
use crate::source::{Ask, RecallAsk};
use chitin_model::Prepared;
use chitin_protocol::event::RefusedPart;
use chitin_protocol::transcript::{Entry, EntryBody};
use chitin_store::Branch;

/// A request that was not sent.
#[derive(Debug, Clone)]
pub struct DryRun {
    /// The request, to the byte.
    pub prepared: Prepared,
    /// What people should know.
    pub notes: Vec<String>,
}

impl Agent {
    /// Builds the first request of a turn. Nothing is sent and nothing is written.
    pub async fn dry_run(&self, input: &TurnInput) -> Result<DryRun, TurnError> {
        let parts = &self.parts;
        let candidate = parts.models.first().ok_or(TurnError::NoModel)?;
        let known = parts.store.find(&input.session_key)?;
        let (branch, session_id) = match known {
            Some(entry) if !input.afresh => {
                (parts.store.read(&input.session_key)?, entry.session_id)
            }
            Some(_) | None => (Branch::default(), String::new()),
        };
        let mut conversation = Conversation::of(&branch, parts);
        let recalled = parts
            .source
            .recall(RecallAsk {
                session_key: &input.session_key,
                session_id: &session_id,
                words: &input.words,
                occasion: &input.occasion,
            })
            .await;
        let seen = parts.source.look(&Ask {
            session_key: &input.session_key,
            session_id: &session_id,
            marked: conversation.is_marked(),
            model: &candidate.full_name(),
            tools: &self.specs,
            occasion: &input.occasion,
            memory: &recalled.results,
        })?;
        conversation.carry(seen.context.conversation_files());
        if let Some(body) = conversation.due_files() {
            let now = parts.clock.now();
            conversation.push(&[Entry::new(String::new(), None, now, body)]);
        }
        let system = seen.context.request_system();
        let words = seen.context.user_message(&input.words);
        let message = EntryBody::Message(input.message(words, parts.clock.now_ms()));
        conversation.push(&[Entry::new(String::new(), None, parts.clock.now(), message)]);
        let question = Question {
            system: &system,
            messages: conversation.messages(),
            tools: &self.specs,
        };
        let refused = self.admit(input).err();
        let refused = refused.map(|by| sentence(RefusedPart::Message, &by));
        let notes = recalled.notes.into_iter().chain(seen.notes);
        let notes = notes.chain(decides_note(&parts.engine.info().id));
        Ok(DryRun {
            prepared: question.prepare(candidate, &parts.contract.runtime.provider)?,
            notes: notes.chain(refused).collect(),
        })
    }
}
