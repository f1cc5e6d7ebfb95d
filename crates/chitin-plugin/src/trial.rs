//! Trying a plugin out: everything that it offers is asked once, and the time is taken.

use crate::adapter::{PluginAdapter, real};
use crate::engine::PluginEngine;
use crate::fault::PluginFault;
use crate::plugin::Plugin;
use crate::protocol::{self, AssembleParams, Handshake, PluginOffer, method};
use crate::set::PluginSet;
use chitin_agent::engine::{AssembledContext, Assembly, SessionRef};
use chitin_protocol::message::Message;
use chitin_tools::sandbox::SandboxReport;
use chitin_workspace::adapter::AgentDefinition;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What came of a trial.
#[derive(Debug, Clone)]
pub struct PluginTrial {
    /// What the plugin says of itself, and how long its start took; or why it did not start.
    pub greeting: Result<(Handshake, Duration), PluginFault>,
    /// What the sandbox enforces, once the plugin was started.
    pub sandbox: Option<SandboxReport>,
    /// What its adapter answered, if it offers one.
    pub adapter: Option<AdapterTrial>,
    /// What its context engine answered, if it offers one.
    pub engine: Option<EngineTrial>,
}

/// What an adapter answered.
#[derive(Debug, Clone)]
pub struct AdapterTrial {
    /// Whether it claims the directory, and how long that took.
    pub supports: Result<(bool, Duration), PluginFault>,
    /// The definition, where it claims the directory.
    pub definition: Option<Result<(AgentDefinition, Duration), PluginFault>>,
}

/// What a context engine answered to a conversation of three messages.
#[derive(Debug, Clone)]
pub struct EngineTrial {
    /// How many messages it was given.
    pub given: usize,
    /// The context, and how long it took.
    pub assembled: Result<(AssembledContext, Duration), PluginFault>,
}

impl PluginTrial {
    /// Tells whether everything that was tried worked.
    pub fn worked(&self) -> bool {
        let adapter = self.adapter.as_ref().is_none_or(|trial| {
            trial.supports.is_ok() && trial.definition.as_ref().is_none_or(Result::is_ok)
        });
        let engine = self
            .engine
            .as_ref()
            .is_none_or(|trial| trial.assembled.is_ok());
        self.greeting.is_ok() && adapter && engine
    }
}

impl PluginSet {
    /// Starts a plugin, beside no workspace, and returns what it says of itself. Nothing if it is not configured.
    pub async fn greet(&self, name: &str) -> Option<PluginTrial> {
        match self.plugin(name)? {
            Ok(plugin) => Some(greet(&plugin, None).await),
            Err(fault) => Some(unusable(fault)),
        }
    }

    /// Starts a plugin beside a directory and asks once for everything that it offers. Without a directory an adapter is
    /// not asked anything. Nothing if the plugin is not configured.
    pub async fn try_out(&self, name: &str, directory: Option<&Path>) -> Option<PluginTrial> {
        let plugin = match self.plugin(name)? {
            Ok(plugin) => plugin,
            Err(fault) => return Some(unusable(fault)),
        };
        let root = directory.and_then(real);
        if let (Some(directory), None) = (directory, &root) {
            let reason = format!("`{}` is not a directory", directory.display());
            return Some(unusable(Some(PluginFault::NotStarted(reason))));
        }
        let mut trial = greet(&plugin, root.as_deref()).await;
        let Ok((handshake, _)) = &trial.greeting else {
            return Some(trial);
        };
        let (has_adapter, has_engine) = (
            handshake.offers(&PluginOffer::Adapter),
            handshake.offers(&PluginOffer::ContextEngine),
        );
        if has_adapter && let (Some(root), Some(directory)) = (&root, directory) {
            trial.adapter = Some(claim(&plugin, root, directory).await);
        }
        if has_engine {
            trial.engine = Some(assemble(&plugin, root.as_deref()).await);
        }
        Some(trial)
    }
}

fn unusable(fault: Option<PluginFault>) -> PluginTrial {
    let switched_off =
        || PluginFault::Misconfigured("it is switched off with `enabled: false`".to_owned());
    PluginTrial {
        greeting: Err(fault.unwrap_or_else(switched_off)),
        sandbox: None,
        adapter: None,
        engine: None,
    }
}

async fn greet(plugin: &Arc<Plugin>, root: Option<&Path>) -> PluginTrial {
    let begun = Instant::now();
    let root = root.map(Path::to_path_buf);
    let asked = Arc::clone(plugin);
    let greeted = tokio::task::spawn_blocking(move || {
        let process = asked.process(root.as_deref())?;
        let handshake = process.greet_blocking();
        Ok((handshake, process.status().sandbox))
    });
    let outcome = greeted
        .await
        .unwrap_or_else(|error| Err(PluginFault::NotStarted(error.to_string())));
    let (handshake, sandbox) = match outcome {
        Ok((handshake, sandbox)) => (handshake, sandbox),
        Err(fault) => (Err(fault), None),
    };
    if let Ok(handshake) = &handshake {
        plugin.remember_handshake(handshake);
    }
    PluginTrial {
        greeting: handshake.map(|handshake| (handshake, begun.elapsed())),
        sandbox,
        adapter: None,
        engine: None,
    }
}

async fn claim(plugin: &Arc<Plugin>, root: &Path, directory: &Path) -> AdapterTrial {
    let (plugin, root) = (Arc::clone(plugin), root.to_path_buf());
    let directory = directory.to_path_buf();
    let tried = tokio::task::spawn_blocking(move || {
        let supports = timed(|| PluginAdapter::ask_supports(&plugin, &root));
        let claims = matches!(supports, Ok((true, _)));
        AdapterTrial {
            definition: claims
                .then(|| timed(|| PluginAdapter::ask_load(&plugin, &root, &directory))),
            supports,
        }
    });
    tried.await.unwrap_or_else(|error| AdapterTrial {
        supports: Err(PluginFault::NotStarted(error.to_string())),
        definition: None,
    })
}

async fn assemble(plugin: &Arc<Plugin>, root: Option<&Path>) -> EngineTrial {
    let engine = PluginEngine {
        plugin: Arc::clone(plugin),
        workspace: root.map(Path::to_path_buf),
    };
    let session = SessionRef {
        id: "plugin-trial",
        key: "agent:main:plugin-trial",
        agent: &chitin_workspace::adapter::LazyDefinition::none(),
    };
    let assembly = Assembly {
        messages: vec![
            Message::user("Remember the number 41.", 0),
            Message::user("And add one to it.", 1),
            Message::user("What is the sum?", 2),
        ],
        token_budget: 100_000,
        model: "trial/none".to_owned(),
        prompt: Some("What is the sum?".to_owned()),
    };
    let given = assembly.messages.clone();
    let count = given.len();
    let begun = Instant::now();
    let params = AssembleParams::new(session, &assembly);
    let assembled = engine
        .ask(method::ASSEMBLE, &params, move |value| {
            protocol::assembled(value, &given)
        })
        .await;
    EngineTrial {
        given: count,
        assembled: assembled.map(|context| (context, begun.elapsed())),
    }
}

fn timed<T>(ask: impl FnOnce() -> Result<T, PluginFault>) -> Result<(T, Duration), PluginFault> {
    let begun = Instant::now();
    ask().map(|answer| (answer, begun.elapsed()))
}
