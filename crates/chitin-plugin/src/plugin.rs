//! A plugin of the configuration, with its processes and its last good answers.

use crate::fault::{PluginFault, PluginNote};
use crate::host::PluginHost;
use crate::process::{PluginProcess, PluginStatus, ProcessSpec};
use crate::protocol::{Handshake, PluginOffer};
use crate::spec::PluginSpec;
use chitin_workspace::adapter::AgentDefinition;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many processes one plugin may have, each for a workspace. The one that was not asked for longest makes room.
const MOST_PROCESSES: usize = 16;
/// How many definitions are remembered.
const MOST_REMEMBERED: usize = 256;

/// A plugin of the configuration.
pub(crate) struct Plugin {
    spec: Arc<PluginSpec>,
    host: Arc<PluginHost>,
    processes: Mutex<Processes>,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Processes {
    running: BTreeMap<Option<PathBuf>, (Arc<PluginProcess>, u64)>,
    uses: u64,
    removed: bool,
}

/// What a plugin answered before.
#[derive(Default)]
struct Memory {
    handshake: Option<Handshake>,
    claims: BTreeMap<PathBuf, bool>,
    definitions: BTreeMap<PathBuf, AgentDefinition>,
    /// Whether it was said that the engine does not decide.
    engine_failing: bool,
}

impl Plugin {
    pub(crate) fn new(spec: PluginSpec, host: Arc<PluginHost>) -> Self {
        Self {
            spec: Arc::new(spec),
            host,
            processes: Mutex::default(),
            memory: Mutex::default(),
        }
    }

    pub(crate) fn spec(&self) -> &PluginSpec {
        &self.spec
    }

    pub(crate) fn name(&self) -> &str {
        &self.spec.name
    }

    /// Returns the process for a workspace, links resolved. It is not started before it is asked something.
    pub(crate) fn process(
        &self,
        workspace: Option<&Path>,
    ) -> Result<Arc<PluginProcess>, PluginFault> {
        let mut processes = lock(&self.processes);
        if processes.removed {
            return Err(PluginFault::Removed);
        }
        processes.uses += 1;
        let now = processes.uses;
        let key = workspace.map(Path::to_path_buf);
        if let Some((process, used)) = processes.running.get_mut(&key) {
            *used = now;
            return Ok(Arc::clone(process));
        }
        let process = Arc::new(PluginProcess::new(ProcessSpec {
            spec: Arc::clone(&self.spec),
            host: Arc::clone(&self.host),
            workspace: key.clone(),
        })?);
        processes.running.insert(key, (Arc::clone(&process), now));
        let crowded_out = (processes.running.len() > MOST_PROCESSES).then(|| {
            let oldest = processes.running.iter().min_by_key(|(_, (_, used))| *used);
            let oldest = oldest.map(|(key, _)| key.clone());
            oldest.and_then(|oldest| processes.running.remove(&oldest))
        });
        // Its end may take a moment, in which others must not wait.
        drop(processes);
        drop(crowded_out);
        Ok(process)
    }

    /// Returns what the plugin says of itself; it is started where that is not known yet.
    pub(crate) fn greet(&self, workspace: &Path) -> Result<Handshake, PluginFault> {
        if let Some(known) = self.handshake() {
            return Ok(known);
        }
        let handshake = self.process(Some(workspace))?.greet_blocking()?;
        self.remember_handshake(&handshake);
        Ok(handshake)
    }

    /// The same for asynchronous callers, also where there is no workspace.
    pub(crate) async fn greet_for(
        &self,
        workspace: Option<&Path>,
    ) -> Result<Handshake, PluginFault> {
        let handshake = self.process(workspace)?.greet().await?;
        self.remember_handshake(&handshake);
        Ok(handshake)
    }

    pub(crate) fn handshake(&self) -> Option<Handshake> {
        lock(&self.memory).handshake.clone()
    }

    pub(crate) fn remember_handshake(&self, handshake: &Handshake) {
        lock(&self.memory).handshake = Some(handshake.clone());
    }

    /// Tells whether it was said that the engine does not decide.
    pub(crate) fn is_engine_failing(&self) -> bool {
        lock(&self.memory).engine_failing
    }

    pub(crate) fn set_engine_failing(&self, failing: bool) {
        lock(&self.memory).engine_failing = failing;
    }

    /// Tells whether the plugin is known not to offer something.
    pub(crate) fn lacks(&self, offer: &PluginOffer) -> bool {
        self.handshake().is_some_and(|known| !known.offers(offer))
    }

    pub(crate) fn claimed(&self, root: &Path) -> Option<bool> {
        lock(&self.memory).claims.get(root).copied()
    }

    pub(crate) fn remember_claim(&self, root: &Path, claims: bool) {
        remember(&mut lock(&self.memory).claims, root, claims);
    }

    pub(crate) fn definition(&self, root: &Path) -> Option<AgentDefinition> {
        lock(&self.memory).definitions.get(root).cloned()
    }

    pub(crate) fn remember_definition(&self, root: &Path, definition: &AgentDefinition) {
        remember(
            &mut lock(&self.memory).definitions,
            root,
            definition.clone(),
        );
    }

    /// Tells the user what happened, unless that was said before.
    pub(crate) fn report(&self, fault: &PluginFault, instead: &'static str) {
        if !fault.is_old_news() {
            (self.host.notes)(&PluginNote {
                plugin: self.spec.name.clone(),
                fault: fault.clone(),
                instead,
            });
        }
    }

    /// Returns what is known of the processes, by workspace.
    pub(crate) fn statuses(&self) -> Vec<(Option<PathBuf>, PluginStatus)> {
        let processes = lock(&self.processes);
        let running = processes.running.iter();
        running
            .map(|(workspace, (process, _))| (workspace.clone(), process.status()))
            .collect()
    }

    /// Ends all processes, for good.
    pub(crate) fn remove(&self) {
        let mut processes = lock(&self.processes);
        processes.removed = true;
        let running = std::mem::take(&mut processes.running);
        drop(processes);
        for (process, _) in running.into_values() {
            process.close();
        }
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        self.remove();
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin")
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}

fn remember<T>(memory: &mut BTreeMap<PathBuf, T>, root: &Path, value: T) {
    if memory.len() >= MOST_REMEMBERED && !memory.contains_key(root) {
        memory.pop_first();
    }
    memory.insert(root.to_path_buf(), value);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
