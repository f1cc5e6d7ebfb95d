//! Puts an agent together from what was typed, configured and found.

use super::Args;
use crate::error::{CliError, Kind};
use crate::printer::Printer;
use crate::terminal::approval::TerminalApprover;
use crate::terminal::gate::Gate;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::surface::TerminalSurface;
use crate::terminal::view::Thoughts;
use chitin_agent::turn::{Agent, TurnInput};
use chitin_gateway::{Gateway, GatewayParts, Surfaces, Trust, tools};
use chitin_protocol::message::ImageBlock;
use chitin_runtime::Host;
use chitin_runtime::context::session_key;
use chitin_runtime::{AgentFactory, ModelSelection, ServeHost, SystemClock, User};
use chitin_runtime::{Setup, Target};
use chitin_store::{FileStore, Ledger, SessionStore};
use chitin_tools::{Approver, Offer};
use std::path::PathBuf;
use std::sync::Arc;

/// How many runs of its own a conversation may have open.
const MOST_OPEN: usize = 1_000;

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
    /// Runs the sessions that this one begins.
    pub(super) gateway: Gateway,
    factory: AgentFactory,
    approver: Arc<dyn Approver>,
    offers: Arc<Vec<Offer>>,
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
        let factory = AgentFactory::new(&host, Arc::clone(&setup), &printer.notes())?;
        let session = match &args.session {
            Some(key) => session_key(key, &setup)?,
            None if args.continue_last => last_used(&factory.store, &setup)?,
            None => format!("agent:{}:main", setup.agent),
        };
        let gate = Gate::new();
        let interrupts = Interrupts::listen()?;
        let approver: Arc<dyn Approver> = Arc::new(TerminalApprover::new(
            gate.clone(),
            interrupts.presses(),
            printer.stream().err_paint(),
        ));
        let gateway = gateway(args, &factory, &approver, printer)?;
        let offers = tools::offers(&gateway)(Some(TerminalSurface::ID));
        let agent = agent(&factory, args, None, &session, &approver, &offers).await?;
        Ok(Self {
            agent,
            host,
            setup,
            store: Arc::clone(&factory.store),
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
            state: factory.state.clone(),
            gateway,
            factory,
            approver,
            offers,
        })
    }

    /// Takes another model from here on.
    pub(super) async fn take_model(&mut self, args: &Args, name: &str) -> Result<(), CliError> {
        let (factory, session) = (&self.factory, &self.session);
        self.agent = agent(
            factory,
            args,
            Some(name),
            session,
            &self.approver,
            &self.offers,
        )
        .await?;
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
    factory: &AgentFactory,
    args: &Args,
    model: Option<&str>,
    session: &str,
    approver: &Arc<dyn Approver>,
    offers: &[Offer],
) -> Result<Agent, CliError> {
    // Another model in the same conversation changes nothing about the rules.
    if model.is_none() {
        for note in factory.guardrail_notes() {
            factory.notes.note(&note);
        }
    }
    let template = factory
        .template(&ModelSelection {
            model: model.or(args.model.as_deref()),
            thinking: args.thinking.as_deref(),
            record: args.record.as_deref(),
        })
        .await?;
    let user = User::owner(session, &template, offers);
    Ok(factory.agent(&template, &user, Arc::clone(approver), None, "run")?)
}

/// Makes the gateway that runs the sessions which this one begins. They end with the process.
fn gateway(
    args: &Args,
    factory: &AgentFactory,
    approver: &Arc<dyn Approver>,
    printer: &Printer,
) -> Result<Gateway, CliError> {
    let configuration = &factory.setup.configuration;
    let target = Target {
        agent: Some(factory.setup.agent.to_string()),
        directory: Some(factory.setup.directory.clone()),
        ..args.target.target()
    };
    let model = args.model.as_deref();
    let agents = ServeHost::new(
        &factory.host,
        &target,
        model,
        configuration,
        &printer.notes(),
    )?;
    let say = printer.clone();
    let config = Arc::new(configuration.value().clone());
    let gateway = Gateway::new(GatewayParts {
        contract: factory.setup.contract(),
        trust: Arc::new(Trust::volatile(Arc::clone(&config), Arc::new(SystemClock))),
        config,
        host: Arc::new(agents.at_terminal(Arc::clone(approver))),
        surfaces: Surfaces::default().with(Arc::new(TerminalSurface::new(printer))),
        ledger: Ledger::volatile(),
        clock: Arc::new(SystemClock),
        zone: factory.host.zone(),
        most_open: MOST_OPEN,
        note: Arc::new(move |text| say.note(text)),
    });
    gateway.offer_tools(tools::offers(&gateway));
    Ok(gateway)
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
