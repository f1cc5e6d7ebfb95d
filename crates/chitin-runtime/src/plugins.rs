//! The user's plugins, from the configuration.

use crate::error::RuntimeError;
use crate::host::Host;
use crate::notes::Notes;
use crate::setup::{Configuration, chitin_home, own_config, state_roots};
use chitin_config::{LoadedChitinConfig, OWN_FILE};
use chitin_contract::{BlockLayout, Contract};
use chitin_guard::Fingerprint;
use chitin_plugin::{PluginHost, PluginSet};
use chitin_workspace::adapter::{AdapterRegistry, OpenClawAdapter, WorkspaceAdapter};
use std::path::PathBuf;
use std::sync::Arc;

/// Makes the set of plugins that `chitin.json5` names, for a command that reads the configuration once. Nothing is started
/// before it is needed; without plugins in the configuration, without a home, or in a program that has no helper to shut
/// them in, the set is empty.
pub fn plugin_set(host: &Host, configuration: &Configuration, notes: &Notes) -> PluginSet {
    if configuration.plugins.is_empty() {
        return PluginSet::new(unused());
    }
    lasting_plugin_set(host, configuration, notes)
}

/// Makes the set for a program that follows the configuration: plugins may be added to it later.
pub(crate) fn lasting_plugin_set(
    host: &Host,
    configuration: &Configuration,
    notes: &Notes,
) -> PluginSet {
    let home = chitin_home(host);
    let (Some(home), Some(helper)) = (home, &host.helper) else {
        return PluginSet::new(unused());
    };
    let version = env!("CARGO_PKG_VERSION");
    let mut plugin_host = PluginHost::new(helper.clone(), home, version);
    let notes = notes.clone();
    plugin_host = plugin_host.with_notes(move |note| notes.note(&note.to_string()));
    plugin_host.hidden = state_roots(host, configuration.contract);
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
        BlockLayout::ProjectContext => {
            AdapterRegistry::with_adapters([
                Arc::new(OpenClawAdapter::for_contract(contract)) as Arc<dyn WorkspaceAdapter>
            ])
        }
        BlockLayout::Composition => AdapterRegistry::with_built_ins(),
    };
    plugins.update_adapters(&registry);
    registry
}

/// `chitin.json5` as it was last read, with what it includes.
#[derive(Debug, Default)]
pub(crate) struct FollowedConfig {
    files: Vec<(PathBuf, Option<Fingerprint>)>,
}

impl FollowedConfig {
    /// Reads the file again if it is not the one that was last read: a few `stat` calls when nothing changed. A file that
    /// cannot be used is an error once.
    pub(crate) fn changed(
        &mut self,
        host: &Host,
    ) -> Option<Result<Option<LoadedChitinConfig>, RuntimeError>> {
        let is_same = |(path, seen): &(PathBuf, _)| Fingerprint::of_path(path) == *seen;
        if !self.files.is_empty() && self.files.iter().all(is_same) {
            return None;
        }
        let file = chitin_home(host)?.join(OWN_FILE);
        // Described before it is read, so that an edit in between is seen the next time.
        let described = Fingerprint::of_path(&file);
        let read = own_config(host);
        let included = read.iter().flatten().flat_map(|own| &own.files);
        let included = included.map(|one| &one.path).filter(|path| **path != file);
        let included = included.map(|path| (path.clone(), Fingerprint::of_path(path)));
        self.files = included.collect();
        self.files.push((file, described));
        Some(read)
    }
}
