//! The parts of an agent.

use super::HistoryOptions;
use crate::checkpoint::{Checkpoints, NoCheckpoints};
use crate::clock::{Clock, SystemClock};
use crate::engine::{ContextEngine, Legacy};
use crate::guard::{MessageGuard, MessageOrigin, NoRules, SenderRole};
use crate::journal::Journal;
use crate::limits::{TurnLimits, is_counted};
use crate::source::ContextSource;
use chitin_contract::{CANONICAL, Contract};
use chitin_model::{Model, Retention, RetryPolicy};
use chitin_protocol::agent_id::MAIN;
use chitin_protocol::message::{CostShares, Usage};
use chitin_protocol::settings::LimitSettings;
use chitin_store::SessionStore;
use chitin_tools::approval::RememberedApprovals;
use chitin_tools::policy::{PolicyConfig, PolicyInput};
use chitin_tools::process::BackgroundCommands;
use chitin_tools::redact::Redactor;
use chitin_tools::untrusted::{FileOrigins, NoFileOrigins, UntrustedRules};
use chitin_tools::{Approval, ApprovalRequest, Approver, GuestRights, Toolbox};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// How long to wait by default for a session that another process has open.
const LOCK_WAIT_MS: u64 = 30_000;
/// How many tokens a reply may have by default.
const COMMON_ANSWER: u64 = 8_192;

/// Everything that an agent needs. The parts are passed in; nothing is looked up.
pub struct Parts {
    /// The contract.
    pub contract: &'static Contract,
    /// The workspace.
    pub workspace: PathBuf,
    /// Where Chitin and OpenClaw keep settings, keys and sessions. No tool can reach them.
    pub state_roots: Vec<PathBuf>,
    /// The agent's id.
    pub agent_id: String,
    /// Where sessions are kept.
    pub store: Arc<dyn SessionStore>,
    /// Where the context comes from.
    pub source: Arc<dyn ContextSource>,
    /// The models, in the order in which they are tried.
    pub models: Vec<ModelCandidate>,
    /// The tools.
    pub tools: Arc<Toolbox>,
    /// What turns may do that answer a guest.
    pub guests: GuestRights,
    /// What the owner says about untrusted text.
    pub untrusted: Arc<UntrustedRules>,
    /// Knows which files hold untrusted text.
    pub files: Arc<dyn FileOrigins>,
    /// The commands in the background. All turns of an agent share them.
    pub commands: Arc<BackgroundCommands>,
    /// Judges messages, replies and tool calls by the workspace's rules.
    pub guard: Arc<dyn MessageGuard>,
    /// Keeps what turns change, so that it can be taken back.
    pub checkpoints: Arc<dyn Checkpoints>,
    /// Decides approvals.
    pub approver: Arc<dyn Approver>,
    /// What was decided for a session or for good.
    pub approvals: RememberedApprovals,
    /// Time and unique ids.
    pub clock: Arc<dyn Clock>,
    /// What a turn may take at most.
    pub limits: TurnLimits,
    /// Selects the messages that are sent.
    pub engine: Arc<dyn ContextEngine>,
    /// How the conversation is kept short.
    pub history: HistoryOptions,
    /// When a session is reset.
    pub reset: Arc<dyn Fn(&ResetAsk<'_>) -> bool + Send + Sync>,
    /// When a model is asked again after a temporary failure.
    pub retry: RetryPolicy,
    /// How long to wait for a session that another process has open, in milliseconds.
    pub lock_wait_ms: u64,
    /// Makes a turn's journal.
    pub journal: Arc<dyn Fn() -> Journal + Send + Sync>,
    /// What the journal says about the program around it.
    pub surroundings: TurnEnvironment,
}

impl Parts {
    /// Returns what a turn may do if its message is a guest's.
    pub(crate) fn guest(&self, origin: &MessageOrigin) -> Option<GuestRights> {
        match origin.role {
            SenderRole::Owner => None,
            SenderRole::Guest => Some(self.guests),
        }
    }

    /// Makes parts from those without a default. The contract is `canonical`, there are no
    /// tools and no rules, approvals are denied, sessions are never reset, and nothing is
    /// recorded but the transcript. Any of them can be changed before [`super::Agent::new`].
    pub fn new(
        source: Arc<dyn ContextSource>,
        model: Arc<dyn Model>,
        store: Arc<dyn SessionStore>,
    ) -> Self {
        let contract = &CANONICAL;
        let policy = PolicyConfig::default();
        let input = PolicyInput::new(&policy, contract.session_keys, "agent:main:main");
        let redactor = Arc::new(Redactor::new([]));
        Self {
            contract,
            workspace: PathBuf::new(),
            state_roots: Vec::new(),
            agent_id: MAIN.to_owned(),
            store,
            source,
            models: vec![ModelCandidate::new(model)],
            tools: Arc::new(Toolbox::new(
                &contract.runtime.tools,
                &input,
                Vec::new(),
                redactor,
            )),
            guests: GuestRights::default(),
            untrusted: Arc::default(),
            files: Arc::new(NoFileOrigins),
            commands: Arc::default(),
            guard: Arc::new(NoRules),
            checkpoints: Arc::new(NoCheckpoints),
            approver: Arc::new(NoApprover),
            approvals: RememberedApprovals::default(),
            clock: Arc::new(SystemClock),
            limits: TurnLimits::new(&LimitSettings::default()),
            engine: Arc::new(Legacy),
            history: HistoryOptions::new(contract),
            reset: Arc::new(|_| false),
            retry: RetryPolicy::default(),
            lock_wait_ms: LOCK_WAIT_MS,
            journal: Arc::new(Journal::off),
            surroundings: TurnEnvironment::default(),
        }
    }
}

/// Denies every approval, because there is no one to ask.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoApprover;

impl Approver for NoApprover {
    fn ask<'a>(&'a self, _: ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        async { Approval::Nobody(None) }.boxed()
    }
}

/// What the journal says about the program around a turn.
#[derive(Debug, Clone, Default)]
pub struct TurnEnvironment {
    /// The version of the program.
    pub version: String,
    /// The program and its arguments, without what the user said.
    pub invocation: Vec<String>,
}

/// Calculates the cost of a reply; none if the price of the model is unknown.
pub type PriceOf = Arc<dyn Fn(&Usage) -> Option<CostShares> + Send + Sync>;

/// The facts that decide whether a session is reset.
#[derive(Debug, Clone, Copy)]
pub struct ResetAsk<'a> {
    /// The session.
    pub session_key: &'a str,
    /// When it was last used, in milliseconds since 1970.
    pub updated_at: i64,
    /// The time.
    pub now_ms: i64,
}

/// A model with what is known about it.
#[derive(Clone)]
pub struct ModelCandidate {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Its context window in tokens.
    pub context_window: Option<u64>,
    /// How many tokens a reply may have.
    pub max_tokens: u64,
    /// Calculates the cost of a reply; none if the price of the model is unknown.
    pub price: PriceOf,
    /// The thinking level.
    pub thinking: Option<String>,
    /// How long the provider caches the prefix.
    pub retention: Retention,
    /// Fields that the user adds to the body.
    pub extra: Map<String, Value>,
}

impl ModelCandidate {
    /// A model of which nothing more is known.
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self {
            model,
            context_window: None,
            max_tokens: COMMON_ANSWER,
            price: Arc::new(|_| None),
            thinking: None,
            retention: Retention::Short,
            extra: Map::new(),
        }
    }

    /// Returns `provider/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.model.provider(), self.model.name())
    }

    /// Writes the cost into the usage of a reply; tells whether it is known. Without a token count it is known
    /// only of a model that costs nothing.
    pub(crate) fn charge(&self, usage: &mut Usage) -> bool {
        let known = if is_counted(usage) {
            (self.price)(usage)
        } else {
            let much = Usage {
                input: 1_000_000,
                output: 1_000_000,
                ..Usage::default()
            };
            let cost = (self.price)(&much).filter(|cost| cost.total <= 0.0);
            cost.map(|_| CostShares::default())
        };
        usage.cost = known.unwrap_or_default();
        known.is_some()
    }
}
