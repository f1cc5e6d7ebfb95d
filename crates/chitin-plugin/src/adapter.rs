//! A plugin as a workspace adapter.

use crate::fault::PluginFault;
use crate::plugin::Plugin;
use crate::process::{Call, told};
use crate::protocol::{self, PluginOffer, method};
use chitin_guard::Root;
use chitin_workspace::adapter::{
    AdapterError, AgentDefinition, DEFAULT_PRIORITY, WorkspaceAdapter,
};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const OTHERS: &str = "Other adapters are asked.";
const LAST_GOOD: &str = "Its last good answer is used.";

/// A plugin as a workspace adapter. Its name is the plugin's in the configuration.
#[derive(Debug)]
pub(crate) struct PluginAdapter {
    pub(crate) plugin: Arc<Plugin>,
}

impl PluginAdapter {
    /// Asks whether the plugin claims a directory.
    pub(crate) fn ask_supports(plugin: &Plugin, root: &Path) -> Result<bool, PluginFault> {
        let params = json!({"root": told(root)?});
        let call = Call::new(method::SUPPORTS, PluginOffer::Adapter, &params)?;
        let process = plugin.process(Some(root))?;
        process.call_blocking(call, protocol::supports)
    }

    /// Asks for the definition of a directory. `spelled` is what the user calls it.
    pub(crate) fn ask_load(
        plugin: &Plugin,
        root: &Path,
        spelled: &Path,
    ) -> Result<AgentDefinition, PluginFault> {
        let params = json!({"root": told(root)?});
        let call = Call::new(method::LOAD, PluginOffer::Adapter, &params)?;
        let (spelled, name) = (spelled.to_path_buf(), plugin.name().to_owned());
        let process = plugin.process(Some(root))?;
        process.call_blocking(call, move |value| {
            protocol::definition(value, &spelled, &name)
        })
    }
}

impl WorkspaceAdapter for PluginAdapter {
    fn supports(&self, root: &Path) -> bool {
        let plugin = &self.plugin;
        if plugin.lacks(&PluginOffer::Adapter) {
            return false;
        }
        let Some(root) = real(root) else {
            return false;
        };
        match Self::ask_supports(plugin, &root) {
            Ok(claims) => {
                plugin.remember_claim(&root, claims);
                claims
            }
            Err(PluginFault::NotOffered(_)) => false,
            Err(fault) => {
                let last = plugin.claimed(&root);
                plugin.report(&fault, if last.is_some() { LAST_GOOD } else { OTHERS });
                last.unwrap_or(false)
            }
        }
    }

    fn load(&self, root: &Path) -> Result<AgentDefinition, AdapterError> {
        let plugin = &self.plugin;
        let spelled: PathBuf = root.components().collect();
        let Some(real) = real(root) else {
            return Err(AdapterError::InvalidArgument {
                path: spelled,
                adapter: plugin.name().to_owned(),
                reason: "it is not the absolute path of a directory".to_owned(),
            });
        };
        match Self::ask_load(plugin, &real, &spelled) {
            Ok(definition) => {
                plugin.remember_definition(&real, &definition);
                Ok(definition)
            }
            Err(fault) => {
                let last = plugin.definition(&real);
                plugin.report(&fault, if last.is_some() { LAST_GOOD } else { OTHERS });
                last.ok_or_else(|| AdapterError::Unavailable {
                    path: spelled,
                    adapter: plugin.name().to_owned(),
                    reason: fault.to_string(),
                })
            }
        }
    }

    fn name(&self) -> &str {
        self.plugin.name()
    }

    fn priority(&self) -> i32 {
        let said = || self.plugin.handshake()?.adapter?.priority;
        let set = self.plugin.spec().priority;
        set.or_else(said).unwrap_or(DEFAULT_PRIORITY)
    }

    /// Starts the plugin where only it can say its priority.
    fn priority_for(&self, root: &Path) -> i32 {
        if self.plugin.spec().priority.is_none()
            && let Some(root) = real(root)
            && let Err(fault) = self.plugin.greet(&root)
        {
            let last = self.plugin.claimed(&root);
            self.plugin
                .report(&fault, if last.is_some() { LAST_GOOD } else { OTHERS });
        }
        // The last in the order is the adapter that claims everything.
        self.priority().min(i32::MAX - 1)
    }
}

/// Returns a directory with links resolved.
pub(crate) fn real(root: &Path) -> Option<PathBuf> {
    if !root.is_absolute() {
        return None;
    }
    let opened = Root::open(root).ok()?;
    Some(opened.real_path().to_path_buf())
}
