//! What is known of a run when its prompt is put together.

use chitin_protocol::settings::RecallPlace;
use chitin_workspace::seed::BootstrapMode;
use std::sync::Arc;

/// What is known of a run; equal facts give equal sections, to the byte.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptFacts {
    /// How much of a prompt is wanted.
    pub mode: PromptMode,
    /// The tools, in the order in which they are offered.
    pub tools: Vec<ToolFact>,
    /// The directory of tools whose schemas are loaded on demand, ready to be shown.
    pub deferred_tools: Option<Arc<str>>,
    /// The catalogue of skills, ready to be shown.
    pub skills: Option<Arc<str>>,
    /// Whether replies name the places that memories come from.
    pub citations: ReplyCitations,
    /// The user's time zone, such as `Europe/Paris`.
    pub time_zone: Option<Arc<str>>,
    /// The date in that zone.
    pub date: Option<Arc<str>>,
    /// The workspace directory, as the agent's tools spell it.
    pub workspace: Arc<str>,
    /// Whether the workspace holds a bootstrap file.
    pub bootstrap_file: bool,
    /// Where the runtime's documentation lies.
    pub documentation: Option<Arc<str>>,
    /// Who may give orders.
    pub owners: Vec<String>,
    /// Short names of models.
    pub model_aliases: Vec<ModelAlias>,
    /// The channel of the conversation, such as `webchat`.
    pub channel: Option<Arc<str>>,
    /// The session's key, without the run of a scheduled job.
    pub session_key: Option<Arc<str>>,
    /// The session's id, once there is one.
    pub session_id: Option<Arc<str>>,
    /// The program, the machine and the model.
    pub host: HostFacts,
    /// Whether this agent is woken by heartbeats.
    pub heartbeats: bool,
    /// Text of the group chat, or the task of a spawned run.
    pub extra: Option<Arc<str>>,
    /// Whether the channel shows reactions, and how many are wanted.
    pub reactions: Option<Reactions>,
    /// How speech is to be written.
    pub voice: Option<Arc<str>>,
    /// Where reasoning goes.
    pub reasoning: Reasoning,
    /// Where tools run.
    pub confinement: Confinement,
    /// How readily work is handed on.
    pub delegation: Delegation,
    /// What the run is told about a pending set-up.
    pub bootstrap: BootstrapMode,
    /// Whether files were cut, in contracts that have a section about it.
    pub files_cut: bool,
    /// Whether the model's wire format has the line about program, machine and model in the first message.
    pub runtime_line_moves: bool,
    /// The keys of sections that are switched off.
    pub switched_off: Vec<String>,
    /// Where the results of a memory search go.
    pub recall_place: RecallPlace,
}

impl PromptFacts {
    /// Returns whether a tool of that name is offered; case does not matter.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools
            .iter()
            .any(|tool| tool.name.trim().eq_ignore_ascii_case(name))
    }
}

/// How much of a prompt is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PromptMode {
    /// All sections, for an agent that talks with people.
    #[default]
    Full,
    /// Fewer, for subagents and scheduled jobs.
    Minimal,
    /// One line.
    None,
}

/// A tool that the model may call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolFact {
    /// The exact name.
    pub name: Arc<str>,
    /// What it does, in one line; empty if that is plain.
    pub summary: Arc<str>,
}

/// A short name of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelAlias {
    /// The short name.
    pub alias: Arc<str>,
    /// The model, as `provider/name`.
    pub model: Arc<str>,
}

/// Whether replies name the places that memories come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReplyCitations {
    /// Where it helps.
    #[default]
    Shown,
    /// Only when asked for.
    Hidden,
}

/// How many reactions are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reactions {
    /// Few.
    Sparing,
    /// As many as feel natural.
    Free,
}

/// Where reasoning goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reasoning {
    /// Where the provider puts it.
    #[default]
    Native,
    /// Between tags in the reply.
    Tagged,
}

/// Where tools run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Confinement {
    /// On the machine itself.
    #[default]
    Open,
    /// Fenced in.
    Sandboxed,
}

/// How readily work is handed on to other runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Delegation {
    /// When it is useful.
    #[default]
    Suggested,
    /// Whenever it is possible, so that the agent stays free to answer.
    Preferred,
}

/// The program, the machine and the model; each is left out when it is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// The program with its version, such as `chitin 1.2.0`.
    pub program: Option<Arc<str>>,
    /// What the agent is called.
    pub name: Option<Arc<str>>,
    /// The agent's id.
    pub agent: Option<Arc<str>>,
    /// The machine's name.
    pub machine: Option<Arc<str>>,
    /// The operating system.
    pub os: Option<Arc<str>>,
    /// The processor.
    pub arch: Option<Arc<str>>,
    /// The shell that commands run in.
    pub shell: Option<Arc<str>>,
    /// The model that answers, as `provider/name`.
    pub model: Option<Arc<str>>,
}
