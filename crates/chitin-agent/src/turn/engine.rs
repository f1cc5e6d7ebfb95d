//! What the context engine has to say in a turn: what the model sees, and what the turn added.

use super::ask::Question;
use super::{Running, TurnError};
use crate::engine::{Assembly, SessionRef, TurnEnd, choose};
use chitin_protocol::message::Message;
use std::sync::Arc;

impl Running<'_> {
    /// Returns what the model is asked now.
    pub(crate) fn question(&self) -> Question<'_> {
        Question {
            system: &self.system,
            messages: self.messages(),
            tools: &self.agent.specs,
        }
    }

    /// Returns what the model sees of the conversation.
    pub(crate) fn messages(&self) -> &[Message] {
        let chosen = self.chosen.as_deref();
        chosen.unwrap_or_else(|| self.conversation.messages())
    }

    /// Lets the engine decide what the model sees. One that fails is passed over: the conversation itself is sent.
    pub(crate) async fn let_engine_choose(&mut self) -> Result<(), TurnError> {
        let parts = &self.agent.parts;
        let open = self.session.get()?;
        let session = SessionRef {
            id: &open.header().id,
            key: open.key(),
            agent: &self.definition,
        };
        let choice = choose(&*parts.engine, session, &self.seen.context, || Assembly {
            messages: self.conversation.messages().to_vec(),
            token_budget: self.conversation.window(),
            model: self.candidate().full_name(),
            prompt: Some(self.prompt.text.clone()),
        })
        .await;
        // Nothing of an earlier answer stays behind, its addition to the system prompt least of all.
        if !Arc::ptr_eq(&self.context, &choice.context) {
            self.system = choice.context.request_system();
            self.context = choice.context;
        }
        self.chosen = choice.messages;
        if let Some(error) = choice.failure {
            self.sink.note(&error.to_string()).await;
        }
        Ok(())
    }

    /// Tells the engine what the turn added.
    pub(crate) async fn tell_engine(&mut self) -> Result<(), TurnError> {
        let parts = &self.agent.parts;
        let open = self.session.get()?;
        let session = SessionRef {
            id: &open.header().id,
            key: open.key(),
            agent: &self.definition,
        };
        let turn = TurnEnd {
            branch: self.conversation.entries(),
            records_before: self.records_before.min(self.conversation.entries().len()),
            is_heartbeat: false,
        };
        let mut told = parts.engine.after_turn(session, turn).await;
        if told.is_ok() {
            told = parts.engine.maintain(session).await.map(drop);
        }
        if let Err(error) = told {
            self.sink.note(&error.to_string()).await;
        }
        Ok(())
    }
}
