//! The runtime: what a command line, a server and an embedding program all get their agents from.

use crate::error::{ErrorKind, RuntimeError};
use crate::factory::AgentFactory;
use crate::handle::AgentHandle;
use crate::host::Host;
use crate::notes::Notes;
use crate::setup::{AgentTarget, Setup};
use chitin_agent::engine::ContextEngine;
use chitin_agent::turn::NoApprover;
use chitin_config::env::Env;
use chitin_tools::{Approver, Tool};
use chitin_workspace::adapter::WorkspaceAdapter;
use std::path::PathBuf;
use std::sync::Arc;

/// Makes agents from directories and configuration. Clones are the same runtime.
#[derive(Clone)]
pub struct Runtime {
    host: Arc<Host>,
    notes: Notes,
    selection: Selection,
    extensions: Arc<Extensions>,
    approver: Arc<dyn Approver>,
}

/// What is chosen for every agent of a runtime.
#[derive(Debug, Clone, Default)]
struct Selection {
    contract: Option<String>,
    model: Option<String>,
}

/// What the caller adds to what is built in.
#[derive(Default)]
struct Extensions {
    adapters: Vec<Arc<dyn WorkspaceAdapter>>,
    engines: Vec<Arc<dyn ContextEngine>>,
    tools: Vec<Arc<dyn Tool>>,
}

/// Puts a runtime together. Everything has a default.
#[must_use]
#[derive(Default)]
pub struct RuntimeBuilder {
    env: Option<Env>,
    home: Option<PathBuf>,
    sandbox_helper: Option<PathBuf>,
    notes: Option<Notes>,
    selection: Selection,
    extensions: Extensions,
    approver: Option<Arc<dyn Approver>>,
}

impl Runtime {
    /// Begins with the environment of this process, no notes, and nobody who is asked for permission.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// Returns an agent: the one in a directory, the one of an id, or the default one.
    pub fn agent(&self, target: impl Into<AgentTarget>) -> Result<AgentHandle, RuntimeError> {
        let mut target = target.into();
        target.contract = target.contract.or_else(|| self.selection.contract.clone());
        let setup = Setup::find(&self.host, &target, &self.notes)?;
        setup.check_directory(&self.host)?;
        for adapter in &self.extensions.adapters {
            setup.adapters.register(Arc::clone(adapter));
        }
        let mut factory = AgentFactory::new(&self.host, Arc::new(setup), &self.notes)?;
        factory.engines.clone_from(&self.extensions.engines);
        factory.tools.clone_from(&self.extensions.tools);
        let model = self.selection.model.clone();
        Ok(AgentHandle::new(factory, model, Arc::clone(&self.approver)))
    }

    /// Returns the machine as the runtime sees it.
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }
}

impl RuntimeBuilder {
    /// Sees this environment instead of the process's own: variables, home and working directory.
    pub fn environment(mut self, env: Env) -> Self {
        self.env = Some(env);
        self
    }

    /// Keeps configuration, sessions and memory in this directory instead of `~/.chitin`.
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Runs commands and tool servers, shut in by this program: a `chitin`, or one that calls
    /// [`chitin_tools::sandbox::helper`] first. Without it an embedded agent has no tools that run commands.
    pub fn sandbox_helper(mut self, program: impl Into<PathBuf>) -> Self {
        self.sandbox_helper = Some(program.into());
        self
    }

    /// Hands notes for people to a sink.
    pub fn notes(mut self, notes: Notes) -> Self {
        self.notes = Some(notes);
        self
    }

    /// Asks this model, as `provider/name`, whatever is configured.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.selection.model = Some(model.into());
        self
    }

    /// Reads workspaces by this contract, whatever is configured.
    pub fn contract(mut self, contract: impl Into<String>) -> Self {
        self.selection.contract = Some(contract.into());
        self
    }

    /// Adds an adapter for directories of another kind.
    pub fn adapter(mut self, adapter: impl WorkspaceAdapter + 'static) -> Self {
        self.extensions.adapters.push(Arc::new(adapter));
        self
    }

    /// Adds a context engine; configuration selects it by the id that it gives itself.
    pub fn context_engine(mut self, engine: impl ContextEngine + 'static) -> Self {
        self.extensions.engines.push(Arc::new(engine));
        self
    }

    /// Adds a tool to every agent. Policies know it by its name, and all such tools as `embedder`. What it does is not shut
    /// in by the sandbox; [`chitin_tools::CallContext`] says whose call it is and what the agent is made of.
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.extensions.tools.push(Arc::new(tool));
        self
    }

    /// Asks this person for permission before a tool runs that needs it.
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Makes the runtime. Nothing is read or started yet.
    pub fn build(self) -> Result<Runtime, RuntimeError> {
        let mut host = match self.env {
            Some(env) => Host::embedded(env),
            None => Host {
                helper: None,
                ..Host::from_process()?
            },
        };
        if let Some(home) = self.home {
            let home = home.into_os_string().into_string().map_err(|_| {
                RuntimeError::new(ErrorKind::User, "The home directory is not UTF-8.")
            })?;
            host.env = host.env.with("CHITIN_HOME", home);
        }
        host.helper = self.sandbox_helper;
        Ok(Runtime {
            host: Arc::new(host),
            notes: self.notes.unwrap_or(Notes::none()),
            selection: self.selection,
            extensions: Arc::new(self.extensions),
            approver: self.approver.unwrap_or_else(|| Arc::new(NoApprover)),
        })
    }
}
