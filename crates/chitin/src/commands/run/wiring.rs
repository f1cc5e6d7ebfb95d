//! Puts an agent together from what was typed, configured and found.

use super::Args;
use crate::error::{CliError, Kind};
use crate::host::Host;
use crate::kit::{Kit, User, Wish};
use crate::printer::Printer;
use crate::setup::Setup;
use crate::terminal::approval::TerminalApprover;
use crate::terminal::gate::Gate;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::view::Thoughts;
use crate::turn::session_key;
use chitin_agent::turn::{Agent, TurnInput};
use chitin_protocol::message::ImageBlock;
use chitin_store::{FileStore, SessionStore};
use chitin_tools::policy::Sender;
use std::path::PathBuf;
use std::sync::Arc;

/// An agent, ready to talk.
pub(super) struct Wiring {
    pub(super) agent: Agent,
    pub(super) host: Arc<Host>,
    pub(super) setup: Arc<Setup>,
    pub(super) store: Arc<FileStore>,
    pub(super) session: String,
    pub(super) afresh: bool,
    pub(super) thoughts: Thoughts,
    pub(super) images: Vec<ImageBlock>,
    pub(super) gate: Gate,
    pub(super) interrupts: Interrupts,
    pub(super) state: PathBuf,
    kit: Kit,
}

impl Wiring {
    /// Puts an agent together. A runtime must be running.
    pub(super) async fn new(
        args: &Args,
        host: &Host,
        setup: Setup,
        printer: &Printer,
    ) -> Result<Self, CliError> {
        let (host, setup) = (Arc::new(host.clone()), Arc::new(setup));
        let kit = Kit::new(&host, Arc::clone(&setup), printer)?;
        let session = match &args.session {
            Some(key) => session_key(key, &setup)?,
            None if args.continue_last => last_used(&kit.store, &setup)?,
            None => format!("agent:{}:main", setup.agent),
        };
        let gate = Gate::new();
        let interrupts = Interrupts::listen()?;
        let agent = agent(&kit, args, None, &session, &gate, &interrupts).await?;
        Ok(Self {
            agent,
            host,
            setup,
            store: Arc::clone(&kit.store),
            session,
            afresh: args.new,
            thoughts: if args.thoughts {
                Thoughts::Shown
            } else {
                Thoughts::Folded
            },
            images: super::images::read(&args.image)?,
            gate,
            interrupts,
            state: kit.state.clone(),
            kit,
        })
    }

    /// Takes another model from here on.
    pub(super) async fn take_model(&mut self, args: &Args, name: &str) -> Result<(), CliError> {
        let (kit, session) = (&self.kit, &self.session);
        self.agent = agent(kit, args, Some(name), session, &self.gate, &self.interrupts).await?;
        Ok(())
    }

    /// Makes a turn of words.
    pub(super) fn input(&self, words: &str, afresh: bool) -> TurnInput {
        TurnInput {
            session_key: self.session.clone(),
            words: words.to_owned(),
            images: self.images.clone(),
            afresh,
            ..TurnInput::default()
        }
    }
}

/// Makes the agent that the person at the terminal talks to.
async fn agent(
    kit: &Kit,
    args: &Args,
    model: Option<&str>,
    session: &str,
    gate: &Gate,
    interrupts: &Interrupts,
) -> Result<Agent, CliError> {
    let bench = kit
        .bench(&Wish {
            model: model.or(args.model.as_deref()),
            thinking: args.thinking.as_deref(),
            record: args.record.as_deref(),
        })
        .await?;
    let approver = TerminalApprover::new(
        gate.clone(),
        interrupts.presses(),
        kit.printer.stream().err_paint(),
    );
    let user = User {
        session,
        depth: None,
        sender: Sender::Owner,
        candidate: &bench.chosen.candidates[0],
        thinking: None,
        more: &[],
    };
    kit.agent(&bench, &user, Arc::new(approver), None, "run")
}

/// Returns the session of this agent that was used last.
fn last_used(store: &FileStore, setup: &Setup) -> Result<String, CliError> {
    let sessions = store.list().map_err(|error| {
        CliError::new(Kind::User, "The sessions cannot be read.").caused_by(error)
    })?;
    match sessions.into_iter().next() {
        Some((key, _)) => Ok(key),
        None => Ok(format!("agent:{}:main", setup.agent)),
    }
}
