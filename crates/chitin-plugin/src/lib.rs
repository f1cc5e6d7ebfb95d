//! Plugins: programs on stdio that offer a workspace adapter or a context engine.
//!
//! In: the `plugins` section of the user's `chitin.json5`. Out: trait objects for the registries of adapters and context
//! engines. Each plugin is a process of its own that speaks JSON-RPC 2.0, one message a line ([`protocol`]). It is started
//! when it is first needed, one process per workspace, in the sandbox of commands with the workspace read-only.
//!
//! A plugin is never trusted to answer. Each call has a deadline, each line a limit, each process a limit of memory. An
//! answer is checked as a whole before any of it is used. A plugin that hangs, floods, dies or answers wrongly is reported
//! ([`PluginNote`]), ended and started again after a pause; meanwhile its last good answer or the built-in behaviour holds.
//! Workspaces cannot name plugins. Without any in the configuration this crate starts no thread and reads no file.
//!
//! ```
//! use chitin_plugin::{PluginHost, PluginSet};
//! use chitin_workspace::adapter::AdapterRegistry;
//! use std::collections::BTreeMap;
//!
//! let host = PluginHost::new("/usr/bin/chitin", "/home/ada/.chitin", "0.1.0");
//! let plugins = PluginSet::new(host);
//! plugins.reload(&BTreeMap::new());
//! let registry = AdapterRegistry::with_built_ins();
//! plugins.update_adapters(&registry);
//! assert_eq!(registry.adapters().len(), 2, "no plugin is configured");
//! ```

mod adapter;
mod engine;
mod fault;
mod host;
mod plugin;
mod process;
pub mod protocol;
mod set;
mod spec;
mod trial;

pub use fault::{PluginFault, PluginNote};
pub use host::{NoteSink, PluginHost};
pub use process::{DATA_DIRECTORY, PluginState, PluginStatus};
pub use set::{PluginSet, Reloaded};
pub use trial::{AdapterTrial, EngineTrial, PluginTrial};
