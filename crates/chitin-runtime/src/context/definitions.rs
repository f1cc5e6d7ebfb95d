//! The definitions of the tools that `chitin run` offers, without making the tools.

use super::TurnContext;
use crate::agent_cache::spawn_workspaces;
use crate::host::Host;
use crate::mcp_listing::McpListing;
use crate::memory;
use crate::setup::{Setup, chitin_home};
use chitin_gateway::SurfaceCapabilities;
use chitin_gateway::cron::tool::CronTool;
use chitin_gateway::surface::Threads;
use chitin_guard::Root;
use chitin_protocol::tool::ToolSpec;
use chitin_text::TextFormat;
use chitin_tools::exec::ExecTool;
use chitin_tools::files::{FileOptions, file_tools};
use chitin_tools::mcp::{ServerConfig, servers};
use chitin_tools::process::ProcessTool;
use chitin_tools::session_status::SessionStatusTool;
use chitin_tools::web_fetch::WebFetchTool;
use chitin_workspace::extensions::mcp;
use chitin_workspace::load::read_policy;
use std::path::Path;

/// What a terminal can do, as a surface.
pub fn terminal_capabilities() -> SurfaceCapabilities {
    SurfaceCapabilities {
        format: TextFormat::Plain,
        max_chars: 1 << 16,
        max_lines: None,
        actions: vec!["send".to_owned()],
        typing: false,
        threads: Threads::None,
        edit_every_ms: None,
        files: None,
    }
}

/// What is known of the tool definitions of a request.
#[derive(Debug, Clone, Default)]
pub struct Definitions {
    /// The definitions, in the order in which the tools are offered.
    pub known: Vec<ToolSpec>,
    /// Tools that are offered and not defined here.
    pub unknown: Vec<String>,
    /// How many MCP servers are configured whose tools are not known, since they have not been asked yet or did not answer.
    pub unlisted_servers: usize,
    /// How many of the definitions are as MCP servers last stated them.
    pub listed: usize,
}

/// What is known of an agent's MCP servers without starting them.
#[derive(Debug, Default)]
pub(super) struct KnownMcpTools {
    /// The tools that they offered when they were last asked.
    pub(super) tools: Vec<ToolSpec>,
    /// How many servers offer what is not known.
    pub(super) unlisted: usize,
}

impl Definitions {
    /// Finds the definitions of the tools that a turn offers. Nothing is started.
    pub fn find(host: &Host, setup: &Setup, context: &TurnContext) -> Self {
        let mut all = every(host, setup);
        all.extend(context.added_tools.iter().cloned());
        let mut mcp = KnownMcpTools::find(host, setup);
        let mut found = Self {
            unlisted_servers: mcp.unlisted,
            ..Self::default()
        };
        for name in &context.tools {
            let is_named = |spec: &ToolSpec| spec.name == *name;
            if let Some(at) = all.iter().position(is_named) {
                found.known.push(all.swap_remove(at));
            } else if let Some(at) = mcp.tools.iter().position(is_named) {
                found.known.push(mcp.tools.swap_remove(at));
                found.listed += 1;
            } else {
                found.unknown.push(name.clone());
            }
        }
        found
    }
}

/// Returns the definitions of all tools of our own.
fn every(host: &Host, setup: &Setup) -> Vec<ToolSpec> {
    let contract = setup.contract();
    let own = setup.configuration.layers.settings(Some(&setup.agent));
    let files = FileOptions::from(&own.tools.files.clone().unwrap_or_default());
    let files = file_tools(&contract.runtime.tools, files);
    let mut all: Vec<ToolSpec> = files.iter().map(|tool| tool.spec().clone()).collect();
    all.push(SessionStatusTool::definition());
    all.extend(memory::definitions(&contract.runtime.memory));
    all.push(ExecTool::definition());
    all.push(ProcessTool::definition());
    all.push(WebFetchTool::definition());
    let surface = terminal_capabilities();
    let workspaces = spawn_workspaces(host, &setup.configuration);
    let gateway = chitin_gateway::tools::definitions(contract, &surface, &workspaces);
    all.extend(gateway);
    all.push(CronTool::definition());
    all
}

impl KnownMcpTools {
    /// Reads what the servers that a run would start last offered.
    pub(super) fn find(host: &Host, setup: &Setup) -> Self {
        // Nothing starts servers in a program that has no helper for it.
        let configs = match &host.helper {
            Some(_) => configured_servers(setup),
            None => return Self::default(),
        };
        if configs.is_empty() {
            return Self::default();
        }
        let listing =
            chitin_home(host).and_then(|home| McpListing::read(&home, &setup.agent, &configs));
        match listing {
            Some(listing) => Self {
                tools: listing.tools,
                unlisted: listing.unavailable,
            },
            None => Self {
                tools: Vec::new(),
                unlisted: configs.len(),
            },
        }
    }
}

/// Returns the MCP servers that a run would start.
fn configured_servers(setup: &Setup) -> Vec<ServerConfig> {
    let own = setup.configuration.layers.settings(Some(&setup.agent));
    let uses_file = own.mcp.workspace == Some(true);
    let file = uses_file.then(|| read(setup, "MCP.md")).flatten();
    let file = file.map(|text| mcp::parse(&text));
    let config = setup.configuration.value();
    servers(file.as_ref(), config.get("mcp"), &own.mcp).0
}

fn read(setup: &Setup, name: &str) -> Option<String> {
    let root = Root::open(&setup.directory).ok()?;
    let policy = read_policy(setup.contract(), &setup.options);
    let read = root.read(Path::new(name), &policy).ok()?;
    Some(String::from_utf8_lossy(&read.bytes).into_owned())
}
