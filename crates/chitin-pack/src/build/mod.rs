//! Building: a definition and its files, or a workspace, become an artifact in the store.
//!
//! Files are collected through the guard, sorted, and streamed: archive, compression, blob, hashed on the way. No layer is
//! ever whole in memory. Nothing is put under a tag here.

mod content;
mod documents;
mod links;
mod manifest;
mod memory;
mod non_agents;
mod options;
mod own_layers;
mod project;
mod refusal;
mod tree;
mod workspace;
mod write;

pub use non_agents::{build_profile, build_source};
pub use options::{
    Annotations, BuildOptions, Built, BuiltLayer, LinkMode, MemoryFileMode, OutsidePaths,
    OwnLayers, Reuse, RulesFile, WorkspaceOptions,
};
pub use project::build;
pub(crate) use tree::{Tree, TreeOptions};
pub use workspace::pack_workspace;
