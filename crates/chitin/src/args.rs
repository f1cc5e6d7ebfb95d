//! Arguments that several commands share, as typed; the runtime takes them as plain requests.

use chitin_runtime::AgentTarget;
use chitin_runtime::context::{PromptExtent, TokenCounting, Trigger, TurnRequest, WhichTurn};
use clap::ValueEnum;
use std::path::PathBuf;

/// Which workspace a command is about.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct TargetArgs {
    /// The workspace; by default the agent's.
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,

    /// The agent whose workspace and settings to use; if omitted, the default agent.
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,

    /// Another workspace to compose with it; repeatable, the first takes precedence.
    #[arg(long, value_name = "DIR")]
    pub(crate) with: Vec<PathBuf>,

    /// The contract to use for the workspace.
    #[arg(long, value_name = "NAME")]
    pub(crate) contract: Option<String>,
}

impl TargetArgs {
    /// Returns the same as a plain request.
    pub(crate) fn target(&self) -> AgentTarget {
        AgentTarget {
            directory: self.directory.clone(),
            agent: self.agent.clone(),
            with: self.with.clone(),
            contract: self.contract.clone(),
        }
    }
}

/// What the user says about the turn.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TurnArgs {
    /// The session's key, such as `agent:main:discord:channel:42`; by default the agent's main session.
    #[arg(long, value_name = "KEY")]
    session: Option<String>,

    /// Whether the session has had its first turn; by default read from the transcript.
    #[arg(long, value_enum)]
    turn: Option<WhichTurnArg>,

    /// What starts the run.
    #[arg(long, value_enum, default_value_t = RunArg::User)]
    run: RunArg,

    /// Show a run with a lightweight context.
    #[arg(long)]
    light: bool,

    /// The prompt mode; by default minimal for subagents and scheduled jobs, full otherwise.
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,

    /// The tools to offer, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Option<Vec<String>>,

    /// Show what a guest's message gets.
    #[arg(long)]
    guest: bool,

    /// Limits to try: `file=8000,total=40000`, a file by name, `unit=tokens`.
    #[arg(long, value_name = "LIMITS")]
    budget: Option<String>,

    /// The model to calculate for, as `provider/name`.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// The message: memory is searched for it, as it would be in a run.
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,

    /// Show what the model gets once missing files are seeded; nothing is written.
    #[arg(long)]
    seeded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WhichTurnArg {
    /// It has not.
    First,
    /// It has.
    Next,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RunArg {
    /// A user's message.
    User,
    /// A heartbeat.
    Heartbeat,
    /// A scheduled job.
    Cron,
    /// A hook.
    Hook,
    /// Another run.
    Subagent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    /// All sections.
    Full,
    /// Fewer, for subagents and scheduled jobs.
    Minimal,
    /// One line.
    None,
}

impl TurnArgs {
    /// Returns the same as a plain request.
    pub(crate) fn request(&self) -> TurnRequest {
        TurnRequest {
            session: self.session.clone(),
            turn: match self.turn {
                None => WhichTurn::AsStored,
                Some(WhichTurnArg::First) => WhichTurn::First,
                Some(WhichTurnArg::Next) => WhichTurn::Next,
            },
            run: match self.run {
                RunArg::User => Trigger::User,
                RunArg::Heartbeat => Trigger::Heartbeat,
                RunArg::Cron => Trigger::Cron,
                RunArg::Hook => Trigger::Hook,
                RunArg::Subagent => Trigger::Subagent,
            },
            light: self.light,
            guest: self.guest,
            mode: self.mode.map(|mode| match mode {
                ModeArg::Full => PromptExtent::Full,
                ModeArg::Minimal => PromptExtent::Minimal,
                ModeArg::None => PromptExtent::None,
            }),
            tools: self.tools.clone(),
            budget: self.budget.clone(),
            model: self.model.clone(),
            message: self.message.clone(),
            seeded: self.seeded,
            ..TurnRequest::default()
        }
    }
}

/// How tokens are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tokens {
    /// By a quick estimate.
    Estimate,
    /// With a published tokenizer; for models without one it is still an estimate.
    Exact,
}

impl From<Tokens> for TokenCounting {
    fn from(tokens: Tokens) -> Self {
        match tokens {
            Tokens::Estimate => Self::Estimate,
            Tokens::Exact => Self::Exact,
        }
    }
}
