//! Building: a definition and its files, or a workspace, become an artifact in the store.
//!
//! Files are collected through the guard, sorted, and streamed: archive, compression, blob, hashed on the way. No layer is
//! ever whole in memory. Nothing is put under a tag here.

mod content;
mod documents;
mod links;
mod manifest;
mod memory;
mod options;
mod other;
mod own;
mod project;
mod refusal;
mod tree;
mod workspace;
mod write;

pub use options::{
    Annotations, BuildOptions, Built, BuiltLayer, LinkMode, MemoryFile, OutsidePaths, OwnLayers,
    Reuse, RulesFile, WorkspaceOptions,
};
pub use other::{build_profile, build_source};
pub use project::build;
pub(crate) use tree::{Tree, TreeOptions};
pub use workspace::pack_workspace;
