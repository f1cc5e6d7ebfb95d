//! Entries in the journal. The start of a turn is entered late, so that nothing delays the request's first byte.

use super::Running;
use crate::journal::{self, RequestSent, RunStarted, RunSurroundings, TurnMoment};
use chitin_model::Prepared;
use chitin_protocol::message::Message;

impl Running<'_> {
    /// Enters how the turn began, once.
    pub(super) fn open_journal(&mut self) {
        if self.progress.is_journaled || self.journal.is_off() {
            return;
        }
        self.progress.is_journaled = true;
        let parts = &self.agent.parts;
        let candidate = &parts.models[0];
        let fragments = journal::fragments::record(&self.request.context);
        let files = journal::fragments::files(&self.request.context);
        self.journal.observe(TurnMoment::RunStarted(&RunStarted {
            run_id: &self.identity.run_id,
            session_id: &self.identity.session_id,
            session_key: &self.identity.session_key,
            agent_id: &parts.agent_id,
            workspace: &parts.workspace,
            session_file: Some(&self.identity.transcript),
            provider: candidate.model.provider(),
            model: candidate.model.name(),
            api: candidate.model.api(),
            thinking: candidate.thinking.as_deref(),
            tools: &self.agent.specs,
            trigger: self.identity.trigger.as_str(),
            channel: self.identity.channel.as_deref(),
            contract: parts.contract.name,
            surroundings: &RunSurroundings {
                version: &parts.surroundings.version,
                invocation: &parts.surroundings.invocation,
                fragments: Some(&fragments),
                files: &files,
                ..RunSurroundings::default()
            },
        }));
        let messages = self.conversation.messages();
        let messages = &messages[..self.request.message.before.min(messages.len())];
        self.journal.observe(TurnMoment::SessionLoaded {
            messages,
            system: &self.request.system,
        });
        self.journal
            .observe(TurnMoment::SessionSanitized { messages });
        self.journal
            .observe(TurnMoment::SessionLimited { messages });
        self.journal.observe(TurnMoment::PromptBefore {
            prompt: &self.request.message.text,
            messages,
        });
        self.journal.observe(TurnMoment::PromptImages {
            prompt: &self.request.message.text,
            messages,
            images: self.request.message.images,
        });
    }

    /// Enters a request: one of the conversation, or a separate one with messages of its own.
    pub(super) fn journal_request(&mut self, prepared: &Prepared, aside: Option<&[Message]>) {
        if self.journal.is_off() {
            return;
        }
        self.open_journal();
        let candidate = self.candidate();
        let chosen = aside.or(self.request.selected.as_deref());
        let messages = chosen.unwrap_or_else(|| self.conversation.messages());
        self.journal.observe(TurnMoment::RequestSent(&RequestSent {
            call: self.progress.spent.calls,
            provider: candidate.model.provider(),
            model: candidate.model.name(),
            prepared,
            system: &self.request.system,
            messages,
            before_prompt: self.request.message.before,
            tools: &self.agent.specs,
            prompt: &self.request.message.text,
            images: self.request.message.images,
            max_tokens: candidate.max_tokens,
            leaf: self.conversation.leaf(),
            sent_at: self.agent.parts.clock.now_ms(),
        }));
    }
}
