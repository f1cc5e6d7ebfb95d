//! Puts an agent together from what was typed, configured and found.

use super::models::{self, Chosen};
use super::{Args, reset, tools};
use crate::error::{CliError, Kind};
use crate::host::Host;
use crate::printer::Printer;
use crate::setup::{Setup, chitin_home};
use crate::terminal::approval::TerminalApprover;
use crate::terminal::gate::Gate;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::view::Thoughts;
use crate::turn::{TurnArgs, WorkspaceSource, session_key};
use chitin_agent::TurnLimits;
use chitin_agent::clock::Clock;
use chitin_agent::engine::{ContextEngine, Registry, slot};
use chitin_agent::history::{Compacting, Pruning};
use chitin_agent::journal::{self, Journal, Places, Redactor, Switches};
use chitin_agent::turn::{Agent, HistoryOptions, Parts, Surroundings, TurnInput};
use chitin_model::RetryPolicy;
use chitin_protocol::message::ImageBlock;
use chitin_store::{FileStore, RandomIds, SessionStore};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// How long to wait for a session that another process has open, in seconds, when nobody says.
const LOCK_WAIT: u32 = 30;
/// How often a model is asked again, when nobody says.
const ATTEMPTS: u32 = 3;

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
        let state = chitin_home(&host).ok_or_else(|| {
            CliError::new(Kind::User, "There is no place to keep sessions.")
                .hint("set `CHITIN_HOME` or `HOME`")
        })?;
        let directory = FileStore::directory_of(&state, setup.agent.as_str());
        let rules = &setup.contract().runtime.transcript;
        let store = Arc::new(FileStore::new(directory, rules, RandomIds));
        let session = match &args.session {
            Some(key) => session_key(key, &setup)?,
            None if args.continue_last => last_used(&store, &setup)?,
            None => format!("agent:{}:main", setup.agent),
        };
        let gate = Gate::new();
        let interrupts = Interrupts::listen()?;
        let agent = Self::agent(
            args,
            None,
            &session,
            &host,
            &setup,
            &store,
            &state,
            &gate,
            &interrupts,
            printer,
        )
        .await?;
        Ok(Self {
            agent,
            host,
            setup,
            store,
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
            state,
        })
    }

    /// Takes another model from here on.
    pub(super) async fn take_model(
        &mut self,
        args: &Args,
        name: &str,
        printer: &Printer,
    ) -> Result<(), CliError> {
        self.agent = Self::agent(
            args,
            Some(name),
            &self.session,
            &self.host,
            &self.setup,
            &self.store,
            &self.state,
            &self.gate,
            &self.interrupts,
            printer,
        )
        .await?;
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "each is a part of the agent")]
    async fn agent(
        args: &Args,
        model: Option<&str>,
        session: &str,
        host: &Arc<Host>,
        setup: &Arc<Setup>,
        store: &Arc<FileStore>,
        state: &std::path::Path,
        gate: &Gate,
        interrupts: &Interrupts,
        printer: &Printer,
    ) -> Result<Agent, CliError> {
        let contract = setup.contract();
        let own = setup.configuration.layers.settings(Some(&setup.agent));
        let Chosen {
            candidates,
            named,
            secrets,
            notes,
        } = models::choose(args, model, host, setup)?;
        for note in &notes {
            printer.note(note);
        }
        let redactor = Arc::new(chitin_tools::redact::Redactor::new(secrets));
        let clock: Arc<dyn Clock> = Arc::new(HostClock);
        let candidate = candidates.first().ok_or_else(|| {
            CliError::new(Kind::Config, "There is no model.").hint("name one with `--model`")
        })?;
        let (tools, screen) = tools::Making {
            host,
            setup,
            own: &own,
            state,
            store,
            session,
            candidate,
            redactor: &redactor,
            printer,
        }
        .toolbox()
        .await?;
        let source = WorkspaceSource::new(
            Arc::clone(host),
            Arc::clone(setup),
            TurnArgs::plain(),
            named,
        );
        Ok(Agent::new(Parts {
            contract,
            workspace: setup.directory.clone(),
            agent_id: setup.agent.to_string(),
            store: Arc::clone(store) as Arc<dyn SessionStore>,
            source: Arc::new(source),
            models: candidates,
            tools,
            screen,
            approver: Arc::new(TerminalApprover::new(
                gate.clone(),
                interrupts.presses(),
                printer.stream().err_paint(),
            )),
            clock: Arc::clone(&clock),
            engine: engine(setup, printer)?,
            limits: TurnLimits::new(&own.limits),
            history: history(setup, &own.history),
            reset: reset::policy(host, setup, &own.sessions),
            retry: RetryPolicy {
                attempts: own
                    .retries
                    .map_or(ATTEMPTS, |retries| retries.saturating_add(1)),
                ..RetryPolicy::default()
            },
            lock_wait_ms: u64::from(own.sessions.wait_seconds.unwrap_or(LOCK_WAIT)) * 1000,
            journal: journal(host, setup, &own.trace, state, &redactor, &clock, printer),
            surroundings: Surroundings {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                invocation: vec!["chitin".to_owned(), "run".to_owned()],
                trigger: "user".to_owned(),
            },
        }))
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

/// Picks the context engine that `openclaw.json` names.
fn engine(setup: &Setup, printer: &Printer) -> Result<Arc<dyn ContextEngine>, CliError> {
    let resolved = Registry::new()
        .resolve(slot(setup.configuration.value()))
        .map_err(|error| CliError::new(Kind::Config, error.to_string()))?;
    if let Some(note) = &resolved.note {
        printer.note(note);
    }
    Ok(resolved.engine)
}

/// How the conversation is kept short: what `openclaw.json` says, and over it what `chitin.json5` says.
fn history(setup: &Setup, own: &chitin_protocol::settings::HistorySettings) -> HistoryOptions {
    let rules = &setup.contract().runtime.history;
    let defaults = &setup.configuration.value()["agents"]["defaults"];
    let number = |name: &str| defaults["compaction"][name].as_u64();
    let mut compacting = Compacting::new(rules);
    if let Some(reserve) = number("reserveTokens") {
        let floor = number("reserveTokensFloor").unwrap_or(rules.compaction.reserve_floor);
        compacting.reserve_tokens = reserve.max(floor);
    }
    if let Some(keep) = number("keepRecentTokens") {
        compacting.keep_recent_tokens = keep;
    }
    let said = &own.compaction;
    compacting.enabled = said.enabled.unwrap_or(compacting.enabled);
    if let Some(reserve) = said.reserve_tokens {
        compacting.reserve_tokens = u64::from(reserve);
    }
    if let Some(keep) = said.keep_recent_tokens {
        compacting.keep_recent_tokens = u64::from(keep);
    }
    let mut pruning = defaults["contextPruning"].clone();
    if let Some(mode) = &own.pruning.mode {
        pruning = serde_json::json!({"mode": mode});
    }
    if let Some(ttl) = &own.pruning.ttl {
        pruning["ttl"] = serde_json::json!(ttl);
    }
    HistoryOptions {
        compacting,
        turns: own.turns.and_then(|turns| usize::try_from(turns).ok()),
        tool_result_chars: own
            .tool_result_chars
            .and_then(|chars| usize::try_from(chars).ok()),
        pruning: Pruning::from_config(&pruning, &rules.pruning),
        preserved_turns: own
            .compaction
            .preserved_turns
            .and_then(|turns| usize::try_from(turns).ok()),
        instructions: own.compaction.instructions.clone(),
    }
}

/// Makes what makes the journal of a turn.
fn journal(
    host: &Arc<Host>,
    setup: &Setup,
    own: &chitin_protocol::settings::TraceSettings,
    state: &std::path::Path,
    redactor: &Arc<chitin_tools::redact::Redactor>,
    clock: &Arc<dyn Clock>,
    printer: &Printer,
) -> Arc<dyn Fn() -> Journal + Send + Sync> {
    let rules = setup.contract().runtime.trace;
    let places = Places {
        logs: state.join("logs"),
        home: host.env.get("HOME").map(PathBuf::from),
        working_directory: host.env.working_directory().to_owned(),
    };
    let lookup = |name: &str| host.env.get(name).map(str::to_owned);
    let switches = Switches::from_lookup(lookup, own, setup.configuration.value(), &places, &rules);
    for note in &switches.notes {
        printer.note(note);
    }
    let (redactor, clock) = (Arc::clone(redactor), Arc::clone(clock));
    let say = printer.clone();
    let around = journal::Surroundings {
        rules,
        redactor: Redactor::new(move |text: &str| -> Cow<'_, str> {
            Cow::Owned(redactor.redact(text))
        }),
        clock: Arc::new(move || clock.now_ms()),
        note: Arc::new({
            let say = say.clone();
            move |text| say.note(text)
        }),
        summary: Arc::new(move |text| say.note(text)),
    };
    Arc::new(move || Journal::new(&switches, around.clone()))
}

/// The machine's clock, and names that nobody else has.
struct HostClock;

impl Clock for HostClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the binary is where the clock is read"
    )]
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or_default()
    }

    fn unique(&self) -> String {
        uuid::Uuid::new_v4().to_string()
    }
}
