//! The user's plugins, from the configuration.

use crate::host::Host;
use crate::notes::Notes;
use crate::setup::{Configuration, chitin_home};
use chitin_plugin::{PluginHost, PluginSet};
use chitin_workspace::adapter::{AdapterRegistry, OpenClawAdapter, WorkspaceAdapter};
use chitin_workspace::contract::{Contract, Layout};
use std::path::PathBuf;
use std::sync::Arc;

/// Makes the set of plugins that `chitin.json5` names. Nothing is started before it is needed; without plugins in the
/// configuration, without a home, or in a program that has no helper to shut them in, the set is empty.
pub fn plugin_set(host: &Host, configuration: &Configuration, notes: &Notes) -> PluginSet {
    let home = chitin_home(host);
    let (Some(home), Some(helper)) = (home, &host.helper) else {
        return PluginSet::new(unused());
    };
    if configuration.plugins.is_empty() {
        return PluginSet::new(unused());
    }
    let version = env!("CARGO_PKG_VERSION");
    let mut plugin_host = PluginHost::new(helper.clone(), home, version);
    let notes = notes.clone();
    plugin_host = plugin_host.with_notes(move |note| notes.note(&note.to_string()));
    plugin_host.user_home = host
        .env
        .get("HOME")
        .filter(|home| !home.is_empty())
        .map(PathBuf::from);
    plugin_host.environment = host
        .env
        .variables()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let set = PluginSet::new(plugin_host);
    set.reload(&configuration.plugins);
    set
}

/// The host of a set that has no plugins.
fn unused() -> PluginHost {
    PluginHost::new(PathBuf::new(), PathBuf::new(), env!("CARGO_PKG_VERSION"))
}

/// Returns the adapters that there are: the built-in ones, and those of the plugins. After the set was reloaded,
/// [`PluginSet::update_adapters`] brings the registry up to date.
pub fn adapter_registry(plugins: &PluginSet, contract: &Contract) -> AdapterRegistry {
    // The bridge knows one level of skills; a contract with a prompt of its own says how deep it looks.
    let registry = match contract.rendering.layout {
        Layout::ProjectContext => {
            AdapterRegistry::with_adapters([
                Arc::new(OpenClawAdapter::for_contract(contract)) as Arc<dyn WorkspaceAdapter>
            ])
        }
        Layout::Composition => AdapterRegistry::with_built_ins(),
    };
    plugins.update_adapters(&registry);
    registry
}
