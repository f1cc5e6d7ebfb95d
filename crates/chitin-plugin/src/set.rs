//! The plugins of the configuration, added and removed while they are in use.

use crate::adapter::{PluginAdapter, real};
use crate::engine::PluginEngine;
use crate::fault::{PluginFault, PluginNote};
use crate::host::PluginHost;
use crate::plugin::Plugin;
use crate::process::{PluginState, PluginStatus};
use crate::spec::PluginSpec;
use chitin_agent::engine::{ContextEngine, EngineRegistry, Registration};
use chitin_protocol::settings::PluginSettings;
use chitin_workspace::adapter::{AdapterRegistry, WorkspaceAdapter};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Who owns the engines of plugins in the registry.
const OWNER: &str = "plugins";
const NOT_USED: &str = "It is not used.";

/// The plugins of the configuration. Nothing is started before it is needed.
#[derive(Debug)]
pub struct PluginSet {
    host: Arc<PluginHost>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    plugins: BTreeMap<String, Configured>,
    /// The names of all adapters that were ever handed to a registry.
    named: BTreeSet<String>,
}

#[derive(Debug)]
struct Configured {
    settings: PluginSettings,
    /// The plugin, unless it is switched off or misconfigured.
    plugin: Result<Arc<Plugin>, Option<PluginFault>>,
}

/// What changed with a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// New plugins.
    pub added: Vec<String>,
    /// Plugins with other settings than before: their processes were ended.
    pub changed: Vec<String>,
    /// Plugins that are gone.
    pub removed: Vec<String>,
}

impl Reloaded {
    /// Tells whether everything is as it was.
    pub const fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

impl PluginSet {
    /// Starts without a plugin.
    pub fn new(host: PluginHost) -> Self {
        Self {
            host: Arc::new(host),
            known: Mutex::default(),
        }
    }

    /// Takes over a configuration: new plugins are added, those that are gone are ended, those whose settings changed are
    /// ended and used with the new ones. Plugins that are as they were keep their processes. Call
    /// [`update_adapters`](Self::update_adapters) after it. It blocks while processes end, a moment each.
    pub fn reload(&self, settings: &BTreeMap<String, PluginSettings>) -> Reloaded {
        let mut changes = Reloaded::default();
        let mut ended = Vec::new();
        let mut notes = Vec::new();
        let mut known = lock(&self.known);
        let gone = |name: &String| !settings.contains_key(name);
        let gone: Vec<_> = known
            .plugins
            .keys()
            .filter(|name| gone(name))
            .cloned()
            .collect();
        for name in gone {
            ended.extend(known.plugins.remove(&name));
            changes.removed.push(name);
        }
        for (name, settings) in settings {
            match known.plugins.get(name) {
                Some(before) if before.settings == *settings => continue,
                Some(_) => changes.changed.push(name.clone()),
                None => changes.added.push(name.clone()),
            }
            let plugin = if settings.enabled == Some(false) {
                Err(None)
            } else {
                PluginSpec::resolve(name, settings, &self.host)
                    .map(|spec| Arc::new(Plugin::new(spec, Arc::clone(&self.host))))
                    .map_err(Some)
            };
            if let Err(Some(fault)) = &plugin {
                notes.push(PluginNote {
                    plugin: name.clone(),
                    fault: fault.clone(),
                    instead: NOT_USED,
                });
            }
            ended.extend(known.plugins.insert(
                name.clone(),
                Configured {
                    settings: settings.clone(),
                    plugin,
                },
            ));
        }
        drop(known);
        for note in &notes {
            (self.host.notes)(note);
        }
        for plugin in ended.into_iter().filter_map(|ended| ended.plugin.ok()) {
            plugin.remove();
        }
        changes
    }

    /// Tells whether no plugin is configured.
    pub fn is_empty(&self) -> bool {
        lock(&self.known).plugins.is_empty()
    }

    /// Returns the names of all configured plugins, those that are switched off too.
    pub fn names(&self) -> Vec<String> {
        lock(&self.known).plugins.keys().cloned().collect()
    }

    /// Returns an adapter for each plugin. One that turns out not to offer an adapter claims nothing.
    pub fn adapters(&self) -> Vec<Arc<dyn WorkspaceAdapter>> {
        self.usable()
            .into_iter()
            .map(|plugin| Arc::new(PluginAdapter { plugin }) as Arc<dyn WorkspaceAdapter>)
            .collect()
    }

    /// Makes a registry have the adapters of these plugins, and none of those that were removed.
    pub fn update_adapters(&self, registry: &AdapterRegistry) {
        let adapters = self.adapters();
        let mut known = lock(&self.known);
        let before = std::mem::take(&mut known.named);
        known.named = adapters.iter().map(|one| one.name().to_owned()).collect();
        drop(known);
        for name in &before {
            registry.remove(name);
        }
        for adapter in adapters {
            registry.register(adapter);
        }
    }

    /// Returns a context engine for each plugin, by its id, for the agent of a workspace.
    pub fn engines(&self, workspace: &Path) -> Vec<(String, Arc<dyn ContextEngine>)> {
        let usable = self.usable();
        if usable.is_empty() {
            // Without plugins the workspace is not looked at.
            return Vec::new();
        }
        let workspace = real(workspace);
        let engines = usable.into_iter().map(|plugin| {
            let id = plugin.name().to_owned();
            let workspace = workspace.clone();
            let engine: Arc<dyn ContextEngine> = Arc::new(PluginEngine { plugin, workspace });
            (id, engine)
        });
        engines.collect()
    }

    /// Registers the context engines of the plugins for the agent of a workspace. Returns the ids that were taken.
    pub fn register_engines(&self, registry: &mut EngineRegistry, workspace: &Path) -> Vec<String> {
        let mut taken = Vec::new();
        for (id, engine) in self.engines(workspace) {
            let factory = Box::new(move || Ok(Arc::clone(&engine)));
            match registry.register(&id, OWNER, factory) {
                Registration::Registered => {}
                Registration::Taken { .. } => taken.push(id),
            }
        }
        taken
    }

    /// Returns how a plugin is: of its processes the one that tells most. Nothing is started for this.
    pub fn status(&self, name: &str) -> Option<PluginStatus> {
        let known = lock(&self.known);
        let plugin = match &known.plugins.get(name)?.plugin {
            Ok(plugin) => Arc::clone(plugin),
            Err(fault) => {
                return Some(PluginStatus {
                    state: match fault {
                        Some(_) => PluginState::Failed,
                        None => PluginState::Disabled,
                    },
                    fault: fault.clone(),
                    ..PluginStatus::default()
                });
            }
        };
        drop(known);
        let rank = |status: &PluginStatus| match status.state {
            PluginState::Failed => 3,
            PluginState::Running => 2,
            PluginState::Idle => 1,
            PluginState::Disabled => 0,
        };
        let statuses = plugin.statuses().into_iter().map(|(_, status)| status);
        Some(statuses.max_by_key(rank).unwrap_or_default())
    }

    /// Returns a configured plugin, or why it cannot be used.
    pub(crate) fn plugin(&self, name: &str) -> Option<Result<Arc<Plugin>, Option<PluginFault>>> {
        let known = lock(&self.known);
        let configured = known.plugins.get(name)?;
        Some(configured.plugin.clone())
    }

    fn usable(&self) -> Vec<Arc<Plugin>> {
        let known = lock(&self.known);
        let plugins = known.plugins.values();
        plugins
            .filter_map(|configured| configured.plugin.clone().ok())
            .collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
