//! The MCP servers of an agent: started once, whatever models its turns use, and ended with the agent.

use crate::mcp_listing::McpListing;
use crate::notes::Notes;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::settings::McpSettings;
use chitin_tools::exec::Redact;
use chitin_tools::mcp::{McpServers, McpSurroundings, McpTools, ServerConfig, servers};
use chitin_tools::{Tool, ToolOffer};
use chitin_workspace::extensions::mcp;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

/// How often servers that could not be reached are tried again.
const RETRY_EVERY: Duration = Duration::from_secs(5);
/// How long a turn waits for them then.
const RETRY_TIME: Duration = Duration::from_secs(2);
/// The name that tool policies know these tools by.
pub(crate) const MCP_PLUGIN: &str = "bundle-mcp";

/// The MCP servers of an agent.
#[derive(Default)]
pub(crate) struct AgentMcpServers {
    servers: OnceCell<StartedServers>,
    state: Mutex<State>,
}

/// Servers that were started, and whose they are.
struct StartedServers {
    servers: McpServers,
    configs: Vec<ServerConfig>,
    home: PathBuf,
    agent: AgentId,
}

/// What an agent's servers are found by.
pub(crate) struct McpSources<'a> {
    /// What `MCP.md` names.
    pub(crate) file: Option<mcp::Servers>,
    /// What `openclaw.json` says.
    pub(crate) config: &'a Value,
    /// What `chitin.json5` says.
    pub(crate) settings: &'a McpSettings,
    /// Chitin's home, where it is kept what they offer.
    pub(crate) home: &'a Path,
    /// The agent.
    pub(crate) agent: &'a AgentId,
}

#[derive(Default)]
struct State {
    /// What was said already. Tools are listed anew for every model, and nobody wants to read the same note twice.
    notes: BTreeSet<String>,
    /// How many servers could be reached when they were last listed.
    available: usize,
    /// When the others are tried again.
    retry_at: Option<Instant>,
}

/// The tools of an agent's MCP servers, for the turns of one selection of models.
pub(crate) struct McpToolset {
    servers: Arc<AgentMcpServers>,
    redact: Redact,
    listed: Mutex<Listed>,
}

#[derive(Default)]
struct Listed {
    tools: Vec<Arc<dyn Tool>>,
    /// How many servers they come from.
    available: usize,
}

impl AgentMcpServers {
    /// Returns the tools of all servers. The first call reads which there are and starts them; a later one asks those that run,
    /// and tries those again that could not be started.
    pub(crate) async fn tools(
        self: &Arc<Self>,
        sources: McpSources<'_>,
        surroundings: &McpSurroundings,
        redact: Redact,
        notes: &Notes,
    ) -> McpToolset {
        let named = async {
            let settings = sources.settings;
            let (file, note) = opted_in(sources.file, settings);
            let (configs, unusable) = servers(file.as_ref(), sources.config.get("mcp"), settings);
            for note in note.iter().chain(&unusable) {
                notes.note(note);
            }
            StartedServers {
                servers: McpServers::new(configs.clone(), surroundings),
                configs,
                home: sources.home.to_path_buf(),
                agent: sources.agent.clone(),
            }
        };
        let started = self.servers.get_or_init(|| named).await;
        let found = started.tools(&redact).await;
        McpToolset {
            listed: Mutex::new(self.taken(found, notes)),
            servers: Arc::clone(self),
            redact,
        }
    }

    /// Takes note of what a listing came to.
    fn taken(&self, found: McpTools, notes: &Notes) -> Listed {
        let mut state = lock(&self.state);
        state.available = found.available;
        state.retry_at = (found.unavailable > 0).then(|| Instant::now() + RETRY_EVERY);
        for note in found.notes {
            if state.notes.insert(note.clone()) {
                notes.note(&note);
            }
        }
        Listed {
            tools: found.tools,
            available: found.available,
        }
    }

    /// Tells whether a listing is worth while: a server is to be tried again, or was reached by turns with other models.
    fn is_outdated(&self, seen: usize) -> bool {
        let mut state = lock(&self.state);
        if state.retry_at.is_some_and(|at| at <= Instant::now()) {
            // Whoever comes next does not try at the same time.
            state.retry_at = Some(Instant::now() + RETRY_EVERY);
            return true;
        }
        state.available != seen
    }
}

impl StartedServers {
    /// Asks all servers for their tools, and keeps what they say for those who look at a context.
    async fn tools(&self, redact: &Redact) -> McpTools {
        let found = self.servers.tools([], redact).await;
        if !self.configs.is_empty() {
            let specs = found.tools.iter().map(|tool| tool.spec().clone());
            let listing = McpListing::new(&self.configs, found.unavailable, specs.collect());
            let (home, agent) = (self.home.clone(), self.agent.clone());
            let configs = self.configs.clone();
            let kept = move || listing.write(&home, &agent, &configs);
            // Whether it could be kept or not, the turn goes on.
            let _ = tokio::task::spawn_blocking(kept).await;
        }
        found
    }
}

impl McpToolset {
    /// Returns the tools.
    pub(crate) fn offers(&self) -> Vec<ToolOffer> {
        let listed = lock(&self.listed);
        let offer = |tool: &Arc<dyn Tool>| ToolOffer::From {
            plugin: MCP_PLUGIN.to_owned(),
            tool: Arc::clone(tool),
        };
        listed.tools.iter().map(offer).collect()
    }

    /// Tries servers again that could not be reached, now and then and not for long; tells whether there are other tools now.
    /// Dropping the future changes nothing.
    pub(crate) async fn refresh(&self, notes: &Notes) -> bool {
        let seen = lock(&self.listed).available;
        let Some(servers) = self.servers.servers.get() else {
            return false;
        };
        if !self.servers.is_outdated(seen) {
            return false;
        }
        let listing = servers.tools(&self.redact);
        let Ok(found) = tokio::time::timeout(RETRY_TIME, listing).await else {
            return false;
        };
        let found = self.servers.taken(found, notes);
        let is_new = found.available != seen;
        *lock(&self.listed) = found;
        is_new
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Leaves the servers of a workspace out unless the user wants them: a workspace may come from anywhere.
fn opted_in(
    file: Option<mcp::Servers>,
    settings: &McpSettings,
) -> (Option<mcp::Servers>, Option<String>) {
    if settings.workspace == Some(true) {
        return (file, None);
    }
    let count = file.map_or(0, |file| file.servers.len());
    let note = format!(
        "`MCP.md` names {count} MCP server(s), which are not used; `mcp: {{ workspace: true }}` in `chitin.json5` uses them"
    );
    (None, (count > 0).then_some(note))
}
