//! The MCP servers of an agent: started once, whatever models its turns use, and ended with the agent.

use crate::notes::Notes;
use chitin_protocol::settings::McpSettings;
use chitin_tools::exec::Redact;
use chitin_tools::mcp::{McpServers, McpSurroundings, McpTools, servers};
use chitin_tools::{Offer, Tool};
use chitin_workspace::extensions::mcp;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

/// How often servers that could not be reached are tried again.
const RETRY_EVERY: Duration = Duration::from_secs(5);
/// How long a turn waits for them then.
const RETRY_TIME: Duration = Duration::from_secs(2);
/// The name that tool policies know these tools by.
const PLUGIN: &str = "bundle-mcp";

/// The MCP servers of an agent.
#[derive(Default)]
pub(crate) struct AgentMcpServers {
    servers: OnceCell<McpServers>,
    state: Mutex<State>,
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
        file: Option<mcp::Servers>,
        config: &Value,
        settings: &McpSettings,
        surroundings: &McpSurroundings,
        redact: Redact,
        notes: &Notes,
    ) -> McpToolset {
        let named = async {
            let (file, note) = opted_in(file, settings);
            let (configs, unusable) = servers(file.as_ref(), config.get("mcp"), settings);
            for note in note.iter().chain(&unusable) {
                notes.note(note);
            }
            McpServers::new(configs, surroundings)
        };
        let servers = self.servers.get_or_init(|| named).await;
        let found = servers.tools([], &redact).await;
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

impl McpToolset {
    /// Returns the tools.
    pub(crate) fn offers(&self) -> Vec<Offer> {
        let listed = lock(&self.listed);
        let offer = |tool: &Arc<dyn Tool>| Offer::From {
            plugin: PLUGIN.to_owned(),
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
        let listing = servers.tools([], &self.redact);
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
