//! The context engine's part in a turn: it selects messages before a request, and is informed afterwards.

use super::ask::{Question, unless_stopped};
use super::{Running, TurnError};
use crate::engine::{Assembly, SessionRef, TurnEnd, choose};
use chitin_protocol::message::Message;
use std::sync::Arc;

impl Running<'_> {
    /// Returns the next request's contents.
    pub(crate) fn question(&self) -> Question<'_> {
        Question {
            system: &self.request.system,
            messages: self.messages(),
            tools: &self.agent.specs,
        }
    }

    /// Returns the messages that the model sees.
    pub(crate) fn messages(&self) -> &[Message] {
        let chosen = self.request.selected.as_deref();
        chosen.unwrap_or_else(|| self.conversation.messages())
    }

    /// Lets the engine select what the model sees. If it fails, the whole conversation is sent.
    pub(crate) async fn let_engine_select(&mut self) -> Result<(), TurnError> {
        let parts = &self.agent.parts;
        let open = self.records.session.get()?;
        let session = SessionRef {
            id: &open.header().id,
            key: open.key(),
            agent: &self.identity.definition,
        };
        let assembly = || Assembly {
            messages: self.conversation.messages().to_vec(),
            token_budget: self.conversation.window(),
            model: self.candidate().full_name(),
            prompt: Some(self.request.message.text.clone()),
        };
        let context = &self.request.prepared.context;
        let choice = choose(&*parts.engine, session, context, assembly);
        // A turn that was stopped sends no request, so there is nothing to select.
        let Some(choice) = unless_stopped(&self.cancel, choice).await else {
            return Ok(());
        };
        // What the engine added for an earlier request does not carry over.
        if !Arc::ptr_eq(&self.request.context, &choice.context) {
            self.request.system = choice.context.request_system();
            self.request.context = choice.context;
        }
        self.request.selected = choice.messages;
        if let Some(error) = choice.failure {
            self.sink.note(&error.to_string()).await;
        }
        Ok(())
    }

    /// Informs the engine of what the turn added.
    pub(crate) async fn tell_engine(&mut self) -> Result<(), TurnError> {
        let parts = &self.agent.parts;
        let open = self.records.session.get()?;
        let session = SessionRef {
            id: &open.header().id,
            key: open.key(),
            agent: &self.identity.definition,
        };
        let turn = TurnEnd {
            branch: self.conversation.entries(),
            records_before: self.records.before.min(self.conversation.entries().len()),
            is_heartbeat: false,
        };
        let telling = async {
            parts.engine.after_turn(session, turn).await?;
            parts.engine.maintain(session).await.map(drop)
        };
        if let Some(Err(error)) = unless_stopped(&self.cancel, telling).await {
            self.sink.note(&error.to_string()).await;
        }
        Ok(())
    }
}
