//! A conversation at a terminal: who is asked for approval there, what is shown, and what Ctrl-C stops.

use super::Args;
use crate::error::CliError;
use crate::printer::Printer;
use crate::terminal::approval::TerminalApprover;
use crate::terminal::gate::Gate;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::surface::TerminalSurface;
use crate::terminal::view::Thoughts;
use chitin_agent::turn::TurnInput;
use chitin_protocol::message::ImageBlock;
use chitin_runtime::{AgentFactory, Conversation, ConversationRequest, Host, SessionChoice, Setup};
use std::sync::Arc;

/// A conversation, and the terminal that it is held at.
pub(super) struct Wiring {
    pub(super) conversation: Conversation,
    pub(super) new_session: bool,
    pub(super) thoughts: Thoughts,
    pub(super) images: Vec<ImageBlock>,
    pub(super) gate: Gate,
    pub(super) interrupts: Interrupts,
}

impl Wiring {
    /// Opens the conversation. A runtime must be running.
    pub(super) async fn new(
        args: &Args,
        host: &Host,
        setup: Setup,
        printer: &Printer,
    ) -> Result<Self, CliError> {
        let factory =
            AgentFactory::new(&Arc::new(host.clone()), Arc::new(setup), &printer.notes())?;
        let gate = Gate::new();
        let interrupts = Interrupts::listen()?;
        let paint = printer.stream().err_paint();
        let approver = TerminalApprover::new(gate.clone(), interrupts.presses(), paint);
        let request = ConversationRequest {
            session: match &args.session {
                Some(key) => SessionChoice::Key(key.clone()),
                None if args.continue_last => SessionChoice::LastUsed,
                None => SessionChoice::Main,
            },
            target: args.target.target(),
            model: args.model.clone(),
            thinking: args.thinking.clone(),
            record: args.record.clone(),
            approver: Arc::new(approver),
            surface: Arc::new(TerminalSurface::new(printer)),
            verb: "run",
        };
        Ok(Self {
            conversation: Conversation::open(factory, request).await?,
            new_session: args.new,
            thoughts: if args.thoughts {
                Thoughts::Shown
            } else {
                Thoughts::Folded
            },
            images: super::images::read(&args.image)?,
            gate,
            interrupts,
        })
    }

    /// Makes a turn of words.
    pub(super) fn input(&self, words: &str, new_session: bool) -> TurnInput {
        self.conversation.input(words, &self.images, new_session)
    }
}
