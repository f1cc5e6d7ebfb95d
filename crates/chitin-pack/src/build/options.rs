//! What a build is asked to do, and what it did.

use crate::artifact::Descriptor;
use crate::digest::Digest;
use crate::layer::LayerKind;
use crate::warning::PackWarning;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What becomes of symbolic links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkMode {
    /// They are refused.
    #[default]
    Refuse,
    /// The file that they lead to is packed in their place, where the format allows that.
    Flatten,
}

/// What becomes of declared paths that lead out of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutsidePaths {
    /// They are refused.
    #[default]
    Refuse,
    /// They are packed: somebody asked for it.
    Allow,
}

/// How many notes the manifest carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Annotations {
    /// Those that the real tool writes, so that digests agree.
    #[default]
    Plain,
    /// All that the contract advises, on the manifest and on its layers.
    Full,
}

/// Whether an earlier build may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reuse {
    /// Layers whose files are provably the same are taken from the store.
    #[default]
    Unchanged,
    /// Every file is read.
    Nothing,
}

/// What a build is asked to do.
#[derive(Debug, Clone, Default)]
pub struct BuildOptions {
    /// What becomes of links.
    pub links: LinkMode,
    /// What becomes of paths that lead out of the project.
    pub outside: OutsidePaths,
    /// How many notes the manifest carries.
    pub annotations: Annotations,
    /// Limits other than the format's own, by layer.
    pub limits: BTreeMap<LayerKind, u64>,
    /// Where the result goes, which is never packed itself.
    pub output: Option<PathBuf>,
    /// Directories beneath the project that are never packed either, such as those of settings and sessions.
    pub closed: Vec<PathBuf>,
    /// Whether an earlier build may help.
    pub reuse: Reuse,
    /// The digest of the lock file, for the full notes.
    pub lock: Option<Digest>,
}

impl BuildOptions {
    pub(super) fn limit(&self, kind: LayerKind) -> u64 {
        self.limits
            .get(&kind)
            .copied()
            .unwrap_or_else(|| kind.limit())
    }
}

/// Whether `MEMORY.md` travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemoryFileMode {
    /// It stays; a warning says so.
    #[default]
    Leave,
    /// It becomes a surface, and is written back when the agent is laid out.
    Pack,
}

/// Whether what the format's map has no place for travels, in layers of our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OwnLayers {
    /// Extension files, skills below `.agents/skills`, and documents that the packed files link to.
    #[default]
    Pack,
    /// Only what the format's map names.
    Leave,
}

/// Which file at the root holds the operating rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RulesFile {
    /// `AGENTS.md`, a surface of the format.
    #[default]
    Agents,
    /// `README.md`: the directory is an agent by its readme alone. It travels in a layer of our own.
    Readme,
}

/// What packing a workspace is asked to do.
#[derive(Debug, Clone, Default)]
pub struct WorkspaceOptions {
    /// What every build is asked.
    pub build: BuildOptions,
    /// Whether `MEMORY.md` travels.
    pub memory_file: MemoryFileMode,
    /// Whether what the format's map has no place for travels.
    pub own_layers: OwnLayers,
    /// Which file at the root holds the operating rules.
    pub rules_file: RulesFile,
}

/// What was built.
#[derive(Debug, Clone)]
pub struct Built {
    /// The manifest, which is in the store.
    pub manifest: Descriptor,
    /// The layers, in the order of the manifest.
    pub layers: Vec<BuiltLayer>,
    /// What somebody may want to know.
    pub warnings: Vec<PackWarning>,
    /// What was left out at the root of a workspace, sorted.
    pub skipped: Vec<String>,
    /// How many layers an earlier build gave, unread.
    pub reused: usize,
}

/// One layer that was built.
#[derive(Debug, Clone)]
pub struct BuiltLayer {
    /// What it is.
    pub kind: LayerKind,
    /// Its descriptor in the manifest.
    pub descriptor: Descriptor,
    /// The digest and size of the archive before compression.
    pub tar: Option<(Digest, u64)>,
    /// How many files it holds, or entries where it is a list.
    pub files: usize,
    /// How many things they make: skills in a skills layer, else the same as files.
    pub units: usize,
}
