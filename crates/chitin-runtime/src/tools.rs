//! The tools of a run: which there are, and which of them the policy leaves.

use crate::checkpoints::undo_covers;
use crate::error::{ErrorKind, RuntimeError};
use crate::factory::AgentTemplate;
use crate::host::Host;
use crate::mcp_servers::{AgentMcpServers, McpSources, McpToolset};
use crate::memory::{AgentMemory, MemoryToolset};
use crate::notes::Notes;
use crate::setup::{Setup, state_roots};
use chitin_agent::turn::ModelCandidate;
use chitin_config::{ChitinSettings, home};
use chitin_contract::SenderLayer;
use chitin_gateway::access::ToolLimits;
use chitin_guard::{ReadError, Root};
use chitin_protocol::message::Usage;
use chitin_protocol::settings::ExecSettings;
use chitin_store::{FileStore, SessionStore};
use chitin_tools::approval::{ApprovalRules, Gate};
use chitin_tools::exec::{ExecLimits, ExecTool, Redact};
use chitin_tools::files::{FileOptions, file_tools};
use chitin_tools::mcp::McpSurroundings;
use chitin_tools::memory_slot::{MemoryTools, memory_tools};
use chitin_tools::policy::{GuestTools, PolicyConfig, PolicyInput, SenderKind};
use chitin_tools::process::{Jobs, ProcessTool};
use chitin_tools::redact::Redactor;
use chitin_tools::sandbox::{Sandbox, SandboxConfig};
use chitin_tools::session_status::{SessionFacts, SessionStatus, SessionStatusTool};
use chitin_tools::web_fetch::WebFetchTool;
use chitin_tools::{GuestRights, Tool, ToolOffer, Toolbox};
use chitin_workspace::extensions::mcp;
use chitin_workspace::load::read_policy;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The tools that there are, whoever may use which. Made once: commands that run
/// in the background and tool servers belong to all turns of an agent.
#[derive(Clone)]
pub struct Tools {
    offers: Vec<ToolOffer>,
    mcp: Option<Arc<McpToolset>>,
    /// What runs in the background.
    jobs: Option<Arc<Jobs>>,
}

/// Who wants to use tools.
pub struct User<'a> {
    /// The session.
    pub session: &'a str,
    /// How deep in a tree of subagents it is, where that is known.
    pub depth: Option<u32>,
    /// Who speaks.
    pub sender: SenderKind,
    /// What is said of tools, for the place and for whoever speaks there.
    pub limits: Option<&'a ToolLimits>,
    /// The model.
    pub candidate: &'a ModelCandidate,
    /// How deeply it thinks, where that is not as the agent's models do.
    pub thinking: Option<&'a str>,
    /// Tools besides the agent's own.
    pub more: &'a [ToolOffer],
}

impl<'a> User<'a> {
    /// The owner of an agent, who talks to its first model in a session that no other began.
    pub fn owner(session: &'a str, template: &'a AgentTemplate, more: &'a [ToolOffer]) -> Self {
        Self {
            session,
            depth: None,
            sender: SenderKind::Owner,
            limits: None,
            candidate: &template.chosen.candidates[0],
            thinking: None,
            more,
        }
    }
}

/// What the tools are made of.
pub(crate) struct ToolBuilder<'a> {
    pub host: &'a Arc<Host>,
    pub setup: &'a Arc<Setup>,
    pub own: &'a ChitinSettings,
    pub state: &'a Path,
    pub store: &'a Arc<FileStore>,
    pub memory: &'a Arc<AgentMemory>,
    pub mcp: &'a Arc<AgentMcpServers>,
    pub candidate: &'a ModelCandidate,
    pub redactor: &'a Arc<Redactor>,
    pub notes: &'a Notes,
}

/// What policies know the tools of an embedding program by.
pub(crate) const EMBEDDER: &str = "embedder";

impl Tools {
    /// Adds tools of an embedding program.
    pub(crate) fn with_added(mut self, tools: &[Arc<dyn Tool>]) -> Self {
        self.offers.extend(tools.iter().map(|tool| ToolOffer::From {
            plugin: EMBEDDER.to_owned(),
            tool: Arc::clone(tool),
        }));
        self
    }

    /// Stops what runs in the background for a session, which is deleted, and forgets what it said.
    pub(crate) fn forget_session(&self, session_key: &str) {
        if let Some(jobs) = &self.jobs {
            jobs.forget_session(session_key);
        }
    }

    /// Tells whether a command runs in the background, or ended lately.
    pub(crate) fn has_jobs(&self) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| !jobs.is_empty())
    }

    /// Tries MCP servers again that could not be reached; tells whether there are other tools now.
    pub(crate) async fn refresh(&self, notes: &Notes) -> bool {
        match &self.mcp {
            Some(mcp) => mcp.refresh(notes).await,
            None => false,
        }
    }

    /// Returns the tools that somebody may use.
    pub(crate) fn for_user(
        &self,
        setup: &Setup,
        own: &ChitinSettings,
        redactor: &Arc<Redactor>,
        user: &User<'_>,
        notes: &Notes,
    ) -> (Arc<Toolbox>, GuestRights) {
        let contract = setup.contract();
        let config =
            PolicyConfig::from_value(setup.configuration.value()).with_settings(&own.tools);
        let mut input = PolicyInput::new(&config, contract.session_keys, user.session);
        input.agent_id = Some(setup.agent.as_str());
        input.provider = Some(user.candidate.model.provider());
        input.model = Some(user.candidate.model.name());
        input.depth = user.depth;
        input.sender = user.sender;
        if let Some(limits) = user.limits {
            input.group.clone_from(&limits.room);
            input.by_sender.clone_from(&limits.sender);
        }
        input.guest = match user.sender {
            SenderKind::Owner => None,
            SenderKind::Other => Some(guest_tools(setup, own, user.limits)),
        };
        let mut offers: Vec<ToolOffer> = self.offers.iter().chain(user.more).cloned().collect();
        offers.extend(self.mcp.iter().flat_map(|mcp| mcp.offers()));
        let rules = &contract.runtime.tools;
        let toolbox = Toolbox::new(rules, &input, offers, Arc::clone(redactor));
        for entry in toolbox.unknown_entries() {
            let near = entry.nearest.as_deref();
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let (path, entry) = (&entry.path, &entry.entry);
            notes.note(&format!("`{entry}` in `{path}` names no tool{hint}"));
        }
        let output = own.tools.output.clone().unwrap_or_default();
        let toolbox = toolbox.with_output(&output);
        let rights = input
            .guest
            .map(|guest| guest.rights(|tool| toolbox.get(tool).is_some()));
        (Arc::new(toolbox), rights.unwrap_or_default())
    }
}

/// Puts together what guests may use: what is open to all of them, and what a room or sender is allowed by name.
pub(crate) fn guest_tools(
    setup: &Setup,
    own: &ChitinSettings,
    limits: Option<&ToolLimits>,
) -> GuestTools {
    let settings = own.access.guests.clone().unwrap_or_default();
    let by_sender = match setup.contract().runtime.tools.sender_layer {
        SenderLayer::Absent => None,
        SenderLayer::AfterGroup => limits.and_then(|limits| limits.sender.as_ref()),
    };
    let room = limits.and_then(|limits| limits.room.as_ref());
    GuestTools::new(&settings, room.into_iter().chain(by_sender))
}

impl ToolBuilder<'_> {
    /// Makes the tools.
    pub(crate) async fn tools(&self) -> Result<Tools, RuntimeError> {
        let rules = &self.setup.contract().runtime.tools;
        let mut offers: Vec<ToolOffer> = file_tools(rules, self.files())
            .into_iter()
            .map(ToolOffer::Own)
            .collect();
        offers.push(ToolOffer::Own(Arc::new(SessionStatusTool::new(Arc::new(
            self.status(),
        )))));
        let memory = MemoryToolset(Arc::clone(self.memory));
        let memory = Some(&memory).filter(|_| self.memory.options.enabled);
        let remembering = memory_tools(memory.map(|memory| memory as &dyn MemoryTools));
        offers.extend(remembering.into_iter().map(ToolOffer::Own));
        let sandbox = self.sandbox()?;
        let gate = self.gate();
        let (mut mcp, mut jobs) = (None, None);
        if let Some(sandbox) = &sandbox {
            let running = Arc::new(Jobs::new(self.own.exec.jobs));
            offers.extend(self.commands(sandbox, &gate, &running));
            jobs = Some(running);
            mcp = Some(Arc::new(self.servers(sandbox).await?));
        }
        let fetch =
            WebFetchTool::from_settings(self.own.tools.web_fetch.as_ref(), self.host.trust());
        offers.extend(fetch.map(|tool| ToolOffer::Own(Arc::new(tool))));
        Ok(Tools { offers, mcp, jobs })
    }

    /// Makes the sandbox of commands and tool servers; none in a program that has no helper for it.
    fn sandbox(&self) -> Result<Option<Arc<Sandbox>>, RuntimeError> {
        if self.host.helper.is_none() {
            return Ok(None);
        }
        let config = sandbox_config(self.host, self.setup, &self.own.exec, self.state);
        let sandbox = Sandbox::new(config).map_err(|error| {
            RuntimeError::new(ErrorKind::User, "There is no sandbox for commands.").caused_by(error)
        })?;
        Ok(Some(Arc::new(sandbox)))
    }

    /// Puts together what commands are allowed: `openclaw.json`, `chitin.json5`. What `PERMISSIONS.md` says of them, the
    /// agent's guard has judged before.
    fn gate(&self) -> Arc<Gate> {
        let config = self.setup.configuration.value();
        let rules = ApprovalRules::new(config.pointer("/tools/exec"), &self.own.exec, None);
        Arc::new(Gate::new(rules))
    }

    /// Makes the tools that run commands, in the sandbox that the machine offers.
    fn commands(
        &self,
        sandbox: &Arc<Sandbox>,
        gate: &Arc<Gate>,
        jobs: &Arc<Jobs>,
    ) -> Vec<ToolOffer> {
        let settings = &self.own.exec;
        let exec = ExecTool::new(
            Arc::clone(sandbox),
            Arc::clone(gate),
            Some(Arc::clone(jobs)),
            self.redact(),
            ExecLimits::from_settings(settings),
        )
        .with_undo(undo_covers(self.host, self.setup));
        vec![
            ToolOffer::Own(Arc::new(exec)),
            ToolOffer::Own(Arc::new(ProcessTool::new(
                Arc::clone(jobs),
                Arc::clone(gate),
            ))),
        ]
    }

    fn redact(&self) -> Redact {
        let redactor = Arc::clone(self.redactor);
        Arc::new(move |text| redactor.redact(text))
    }

    /// Asks the MCP servers that `MCP.md` and configuration name for their tools. Without any, nothing is started.
    async fn servers(&self, sandbox: &Arc<Sandbox>) -> Result<McpToolset, RuntimeError> {
        let file = match self.read("MCP.md") {
            Ok(text) => text.map(|text| mcp::parse(&text)),
            Err(error) => {
                self.notes.note(&error.with_causes());
                None
            }
        };
        let surroundings = McpSurroundings {
            sandbox: Arc::clone(sandbox),
            environment: environment(self.host),
            trust: self.host.trust(),
        };
        let sources = McpSources {
            file,
            config: self.setup.configuration.value(),
            settings: &self.own.mcp,
            home: self.state,
            agent: &self.setup.agent,
        };
        let tools = self
            .mcp
            .tools(sources, &surroundings, self.redact(), self.notes);
        Ok(tools.await)
    }

    /// Reads an extension file of the workspace.
    fn read(&self, name: &str) -> Result<Option<String>, RuntimeError> {
        let Ok(root) = Root::open(&self.setup.directory) else {
            // The workspace itself cannot be used; the turn says so.
            return Ok(None);
        };
        let policy = read_policy(self.setup.contract(), &self.setup.options);
        match root.read(Path::new(name), &policy) {
            Ok(read) => Ok(Some(String::from_utf8_lossy(&read.bytes).into_owned())),
            Err(ReadError::Missing { .. }) => Ok(None),
            Err(error) => Err(RuntimeError::new(
                ErrorKind::User,
                format!("Could not read `{name}`."),
            )
            .caused_by(error)),
        }
    }

    fn files(&self) -> FileOptions {
        let policy = read_policy(self.setup.contract(), &self.setup.options);
        let settings = self.own.tools.files.clone().unwrap_or_default();
        FileOptions {
            links: policy.links,
            hardlinks: policy.hardlinks,
            home: home::plain_home(&self.host.env),
            ..FileOptions::from(&settings)
        }
    }

    fn status(&self) -> Status {
        Status {
            host: Arc::clone(self.host),
            store: Arc::clone(self.store),
            model: self.candidate.full_name(),
            window: self.candidate.context_window,
        }
    }
}

/// Where scratch files are, in Chitin's home.
pub(crate) const CACHE: &str = "cache";

/// Says in what commands of an agent run.
pub fn sandbox_config(
    host: &Host,
    setup: &Setup,
    exec: &ExecSettings,
    state: &Path,
) -> SandboxConfig {
    let scratch = state.join(CACHE);
    let helper = host.helper.clone().unwrap_or_else(Host::program);
    let mut sandbox = SandboxConfig::new(helper, &setup.directory, scratch).with_settings(exec);
    sandbox.hidden.extend(state_roots(host, setup.contract()));
    sandbox
        .hidden
        .extend(host.env.get("HOME").map(PathBuf::from));
    sandbox.user_home = home::plain_home(&host.env);
    sandbox.environment = environment(host);
    sandbox
}

fn environment(host: &Host) -> BTreeMap<String, String> {
    let variables = host.env.variables();
    variables
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Says how a session is, from the store's index.
struct Status {
    host: Arc<Host>,
    store: Arc<FileStore>,
    model: String,
    window: Option<u64>,
}

impl SessionFacts for Status {
    fn status(&self, session_key: &str) -> SessionStatus {
        let entry = self
            .store
            .find(session_key)
            .ok()
            .flatten()
            .unwrap_or_default();
        let now = jiff::Timestamp::now().to_zoned(self.host.zone());
        // The index counts turns that are over; whoever asks is in one that is not.
        let is_first = entry.totals.is_none() && entry.input_tokens.is_none();
        let totals = entry.totals.unwrap_or_default();
        let mut usage = Usage {
            input: totals.input,
            output: totals.output,
            cache_read: totals.cache_read,
            cache_write: totals.cache_write,
            total_tokens: totals.tokens(),
            ..Usage::default()
        };
        usage.cost.total = entry.estimated_cost_usd.unwrap_or_default();
        SessionStatus {
            time: now.strftime("%A %Y-%m-%d %H:%M %Z").to_string(),
            model: self.model.clone(),
            context_window: self.window,
            context_tokens: entry.total_tokens,
            turns: (is_first || entry.totals.is_some()).then_some(totals.turns + 1),
            tokens_unknown: totals.tokens_unknown,
            cost_unknown: !is_first && entry.estimated_cost_usd.is_none(),
            compactions: entry.compaction_count.unwrap_or_default(),
            usage,
            cost_limit: None,
        }
    }
}
