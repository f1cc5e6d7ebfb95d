//! What the journal is told. The beginning of a turn is told late: nothing stands before the first byte to the provider.

use super::Running;
use crate::journal::{self, RequestSent, RunStarted, RunSurroundings, TurnMoment};
use chitin_model::Prepared;
use chitin_protocol::message::Message;

impl Running<'_> {
    /// Tells how the turn began, once.
    pub(super) fn open_journal(&mut self) {
        if self.journal_open || self.journal.is_off() {
            return;
        }
        self.journal_open = true;
        let parts = &self.agent.parts;
        let candidate = &parts.models[0];
        let fragments = journal::fragments::record(&self.context);
        self.journal.observe(TurnMoment::RunStarted(&RunStarted {
            run_id: &self.run_id,
            session_id: &self.session_id,
            session_key: &self.session_key,
            agent_id: &parts.agent_id,
            workspace: &parts.workspace,
            session_file: Some(&self.transcript),
            provider: candidate.model.provider(),
            model: candidate.model.name(),
            api: candidate.model.api(),
            thinking: candidate.thinking.as_deref(),
            tools: &self.agent.specs,
            trigger: self.trigger.as_str(),
            channel: self.channel.as_deref(),
            contract: parts.contract.name,
            surroundings: &RunSurroundings {
                version: &parts.surroundings.version,
                invocation: &parts.surroundings.invocation,
                fragments: Some(&fragments),
                ..RunSurroundings::default()
            },
        }));
        let messages = self.conversation.messages();
        let messages = &messages[..self.prompt.before.min(messages.len())];
        self.journal.observe(TurnMoment::SessionLoaded {
            messages,
            system: &self.system,
        });
        self.journal
            .observe(TurnMoment::SessionSanitized { messages });
        self.journal
            .observe(TurnMoment::SessionLimited { messages });
        self.journal.observe(TurnMoment::PromptBefore {
            prompt: &self.prompt.text,
            messages,
        });
        self.journal.observe(TurnMoment::PromptImages {
            prompt: &self.prompt.text,
            messages,
            images: self.prompt.images,
        });
    }

    /// Tells that a request is on its way: one of the conversation, or one aside with messages of its own.
    pub(super) fn journal_request(&mut self, prepared: &Prepared, aside: Option<&[Message]>) {
        if self.journal.is_off() {
            return;
        }
        self.open_journal();
        let candidate = self.candidate();
        let chosen = aside.or(self.chosen.as_deref());
        let messages = chosen.unwrap_or_else(|| self.conversation.messages());
        self.journal.observe(TurnMoment::RequestSent(&RequestSent {
            call: self.spent.calls,
            provider: candidate.model.provider(),
            model: candidate.model.name(),
            prepared,
            system: &self.system,
            messages,
            before_prompt: self.prompt.before,
            tools: &self.agent.specs,
            prompt: &self.prompt.text,
            images: self.prompt.images,
            max_tokens: candidate.max_tokens,
            leaf: self.conversation.leaf(),
            sent_at: self.agent.parts.clock.now_ms(),
        }));
    }
}
