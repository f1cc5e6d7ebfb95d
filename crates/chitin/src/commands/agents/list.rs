//! `chitin agents list`: who is configured, where each lives, and why there.

use crate::error::CliError;
use crate::printer::{Paint, Printer, Render};
use chitin_config::agents::{self, WorkspaceOrigin};
use chitin_contract::CANONICAL;
use chitin_protocol::agent_id::AgentId;
use chitin_runtime::Host;
use chitin_runtime::{self, Configuration};
use chitin_store::FileStore;
use chitin_workspace::load::{LoadOptions, load};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Only this agent; it need not be configured.
    id: Option<String>,

    /// The contract to use for finding agents.
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,
}

/// Who there is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    contract: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    agents: Vec<Agent>,
}

/// One agent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Agent {
    id: AgentId,
    default: bool,
    workspace: PathBuf,
    origin: WorkspaceOrigin,
    exists: bool,
    files: Vec<String>,
    /// Where Chitin keeps what the agent remembers; nothing without a home.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<PathBuf>,
    #[serde(skip)]
    shown: String,
}

impl ListArgs {
    pub(super) fn run(&self, host: &Host, printer: &Printer) -> Result<Report, CliError> {
        let configuration = Configuration::read(host, self.contract.as_deref(), &printer.notes())?;
        let (config, contract) = (configuration.value(), configuration.contract);
        let default = agents::default_agent(config, contract);
        let mut ids: Vec<AgentId> = match &self.id {
            Some(id) => vec![AgentId::normalize(id)],
            None => configuration.agents(),
        };
        if ids.is_empty() {
            ids.extend(default.clone().ok());
        }
        let mut listed: Vec<Agent> = Vec::new();
        for id in ids {
            if listed.iter().any(|known| known.id == id) {
                continue;
            }
            let (workspace, origin) = configuration.workspace_of(&id, host)?;
            // Where Chitin itself keeps sessions and more: what OpenClaw keeps elsewhere is only read when asked for.
            let state = chitin_runtime::chitin_home(host).map(|home| {
                let sessions = FileStore::directory_of(&home, id.as_str());
                sessions.parent().map_or(home, Path::to_path_buf)
            });
            let options = LoadOptions {
                tolerate_unreadable: true,
                ..LoadOptions::default()
            };
            // Which files are there does not depend on the contract; the default one looks for all of them.
            let loaded = load(&workspace, &CANONICAL, &options).ok();
            let there = loaded
                .iter()
                .flat_map(|loaded| loaded.records())
                .filter(|record| record.content().is_some());
            listed.push(Agent {
                default: default.as_ref().is_ok_and(|default| *default == id),
                exists: loaded.as_ref().is_some_and(|loaded| loaded.exists()),
                files: there.map(|record| record.name.to_string()).collect(),
                shown: chitin_runtime::shown(&workspace, host),
                id,
                workspace,
                origin,
                state,
            });
        }
        Ok(Report {
            contract: contract.name,
            config: configuration
                .openclaw
                .as_ref()
                .map(|loaded| loaded.path.clone()),
            problem: default.err().map(|error| error.to_string()),
            agents: listed,
        })
    }
}

impl Render for Report {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for agent in &self.agents {
            let mark = if agent.default { " (default)" } else { "" };
            writeln!(out, "{}{mark}", paint.bold(agent.id.as_str()))?;
            let why = match agent.origin {
                WorkspaceOrigin::Entry => "its own entry",
                WorkspaceOrigin::Defaults => "agents.defaults.workspace",
                WorkspaceOrigin::DefaultDirectory => "the default directory",
                WorkspaceOrigin::BelowDefaults => "below agents.defaults.workspace",
                WorkspaceOrigin::StateDirectory => "the state directory",
                WorkspaceOrigin::Environment => "$CHITIN_WORKSPACE",
                WorkspaceOrigin::ChitinConfig => "chitin.json5",
            };
            writeln!(out, "    workspace  {}  {}", agent.shown, paint.dim(why))?;
            let files = match (agent.exists, agent.files.as_slice()) {
                (false, _) => paint.warn("the directory does not exist; `chitin init` creates it"),
                (true, []) => paint.warn("none"),
                (true, files) => files.join(", "),
            };
            writeln!(out, "    files      {files}")?;
        }
        match (&self.problem, self.agents.is_empty()) {
            (Some(problem), _) => writeln!(out, "{} {problem}", paint.warn("note:")),
            (None, true) => writeln!(out, "No agent is configured."),
            (None, false) => Ok(()),
        }
    }
}
