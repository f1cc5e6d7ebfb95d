//! The MCP servers of an agent: started once, whatever models its turns use, and ended with the agent.

use chitin_protocol::settings::McpSettings;
use chitin_tools::exec::Redact;
use chitin_tools::mcp::{McpServers, McpSurroundings, McpTools, servers};
use chitin_workspace::extensions::mcp;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use tokio::sync::OnceCell;

/// The MCP servers of an agent.
#[derive(Default)]
pub(crate) struct AgentMcpServers {
    servers: OnceCell<McpServers>,
    /// What was said already. Tools are listed anew for every model, and nobody wants to read the same note twice.
    notes: Mutex<BTreeSet<String>>,
}

impl AgentMcpServers {
    /// Returns the tools of all servers. The first call reads which there are and starts them; a later one asks those that run,
    /// and tries those again that could not be started.
    pub(crate) async fn tools(
        &self,
        file: Option<mcp::Servers>,
        config: &Value,
        settings: &McpSettings,
        surroundings: &McpSurroundings,
        redact: &Redact,
    ) -> McpTools {
        let mut notes = Vec::new();
        let named = async {
            let (file, note) = opted_in(file, settings);
            notes.extend(note);
            let (configs, unusable) = servers(file.as_ref(), config.get("mcp"), settings);
            notes.extend(unusable);
            McpServers::new(configs, surroundings)
        };
        let servers = self.servers.get_or_init(|| named).await;
        let mut found = servers.tools([], redact).await;
        notes.append(&mut found.notes);
        let mut said = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.retain(|note| said.insert(note.clone()));
        found.notes = notes;
        found
    }
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
