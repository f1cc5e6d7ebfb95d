//! What an agent's MCP servers offered when they were last asked: a look at a context counts their tools without starting them.

use chitin_guard::{ReadPolicy, Root};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::tool::ToolSpec;
use chitin_store::FileStore;
use chitin_tools::mcp::ServerConfig;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The file, beside the agent's sessions.
const FILE: &str = "mcp-tools.json";
/// The most that it holds. A longer list is not kept.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// What the servers of an agent offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct McpListing {
    /// Which servers were asked, as a hash: other servers, other tools.
    servers: String,
    /// How many of them did not answer.
    pub(crate) unavailable: usize,
    /// The tools, by the names that models call them by.
    pub(crate) tools: Vec<ToolSpec>,
}

impl McpListing {
    pub(crate) fn new(configs: &[ServerConfig], unavailable: usize, tools: Vec<ToolSpec>) -> Self {
        Self {
            servers: hash(configs),
            unavailable,
            tools,
        }
    }

    /// Reads what these servers offered; none if they were never asked.
    pub(crate) fn read(state: &Path, agent: &AgentId, configs: &[ServerConfig]) -> Option<Self> {
        let root = Root::open(&directory(state, agent)).ok()?;
        let read = root.read(Path::new(FILE), &ReadPolicy::inside(MOST_BYTES));
        let listing: Self = serde_json::from_slice(&read.ok()?.bytes).ok()?;
        (listing.servers == hash(configs)).then_some(listing)
    }

    /// Keeps it, unless it is what is there. It helps later and must never keep a turn from running.
    pub(crate) fn write(&self, state: &Path, agent: &AgentId, configs: &[ServerConfig]) {
        if Self::read(state, agent, configs).as_ref() == Some(self) {
            return;
        }
        let Ok(bytes) = serde_json::to_vec(self) else {
            return;
        };
        let directory = directory(state, agent);
        if bytes.len() as u64 <= MOST_BYTES
            && Root::create_private(&directory).is_ok()
            && let Ok(root) = Root::open(&directory)
        {
            let _ = root.replace_private(Path::new(FILE), &bytes);
        }
    }
}

/// Returns the agent's own directory, which holds its sessions.
fn directory(state: &Path, agent: &AgentId) -> PathBuf {
    let mut directory = FileStore::directory_of(state, agent.as_str());
    directory.pop();
    directory
}

/// Tells servers from others. Values of variables and headers are left out, since keys stand there.
fn hash(configs: &[ServerConfig]) -> String {
    blake3::hash(format!("{configs:?}").as_bytes())
        .to_hex()
        .to_string()
}
