//! What the caller knows of a turn.

pub use chitin_agent::source::Trigger;
use chitin_protocol::tool::ToolSpec;

/// A turn to look at, or to run: what the caller knows of it. Everything has a default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnRequest {
    /// The session's key, such as `agent:main:discord:channel:42`; left out, the agent's main session.
    pub session: Option<String>,

    /// Whether the session has had a full first turn already; left out, what its transcript says.
    pub turn: WhichTurn,

    /// What starts the run.
    pub run: Trigger,

    /// Show a run with a lightweight context.
    pub light: bool,

    /// How much of a prompt; left out, minimal for subagents and scheduled jobs, full otherwise.
    pub mode: Option<PromptExtent>,

    /// The tools to offer, separated by commas.
    pub tools: Option<Vec<String>>,

    /// Limits to try: `file=8000,total=40000`, a file by name, `unit=tokens`.
    pub budget: Option<String>,

    /// The model to calculate for, as `provider/name`.
    pub model: Option<String>,

    /// The message: memory is searched for it, as it would be in a run.
    pub message: Option<String>,

    /// Whether absent files that seeding would write count as written.
    pub seeded: bool,

    /// Who runs the turn: which tools there are depends on it.
    pub caller: Caller,

    /// Whether the message is a guest's.
    pub guest: bool,

    /// Tools that the caller adds to those of the agent.
    pub added_tools: Vec<ToolSpec>,
}

/// Who runs a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Caller {
    /// `chitin run`.
    #[default]
    Terminal,
    /// `chitin serve`: there, agents have schedules.
    Server,
    /// An embedding program, by [`crate::AgentHandle::turn`]: no session begins others, and nothing is sent to a surface.
    Program,
}

/// Whether the session has had a full first turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhichTurn {
    /// What the session's transcript says.
    #[default]
    AsStored,
    /// It has not.
    First,
    /// It has.
    Next,
}

/// How much of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptExtent {
    /// All sections.
    Full,
    /// Fewer, for subagents and scheduled jobs.
    Minimal,
    /// One line.
    None,
}
