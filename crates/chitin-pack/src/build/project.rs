//! Building what a definition names (rules P11–P16, P26–P28).

use super::manifest::{self, Types};
use super::memory::{Layers, Purpose};
use super::options::{BuildOptions, Built, BuiltLayer, LinkMode, OutsidePaths};
use super::tree::{Collected, LayerSource, Tree, TreeOptions};
use super::{content, refusal, write};
use crate::canonical;
use crate::compat::{AGENT, CONFIG, PACKAGE};
use crate::definition::{Definition, DefinitionKind};
use crate::error::{ErrorClass, PackError};
use crate::layer::{Format, LayerKind};
use crate::store::Store;
use chitin_guard::{DirectoryEntryKind, LinkPolicy, ReadError, Root};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Builds an agent or a package: every layer, the config and the manifest, into the store.
pub fn build(
    project: &Path,
    definition: &Definition,
    options: &BuildOptions,
    store: &Store,
) -> Result<Built, PackError> {
    let _adding = store.adding()?;
    let root = open(project)?;
    let mut layers = Layers::begin(store, &root, Purpose::Project, options);
    let tree = Tree::new(&root, &tree_options(store, options)?)?;
    let mut warnings = definition.warnings.clone();
    for (kind, path) in &definition.paths {
        let declared = Declared::find(&root, *kind, path, options)?;
        let place = declared.root(&root);
        if declared.kind == DirectoryEntryKind::Directory {
            let collected = declared.collect(&tree, *kind, options)?;
            content::check(*kind, &collected, content::Groups::Refuse)?;
            warnings.extend(content::warnings(*kind, &collected));
            layers.archive(place, *kind, &collected.files)?;
        } else {
            layers.document(place, *kind, &declared.file())?;
        }
    }
    layers.remember();
    let reused = layers.reused;
    let mut layers = layers.built;
    layers.extend(declarations(store, definition, options)?);
    let types = match definition.kind {
        DefinitionKind::Agent => Types {
            artifact: AGENT,
            config: CONFIG,
        },
        DefinitionKind::Package => Types {
            artifact: PACKAGE,
            config: CONFIG,
        },
    };
    Ok(Built {
        manifest: manifest::put(store, types, &definition.config, &mut layers, options)?,
        layers,
        warnings,
        skipped: Vec::new(),
        reused,
    })
}

pub(super) fn open(project: &Path) -> Result<Root, PackError> {
    Root::open(project).map_err(refusal::of)
}

/// What builds write is never packed: the output that was asked for, and the store. Nor is what the caller closes.
pub(super) fn tree_options(
    store: &Store,
    options: &BuildOptions,
) -> Result<TreeOptions, PackError> {
    let outputs = options.output.iter().map(PathBuf::as_path);
    let outputs = outputs
        .chain([store.path()])
        .chain(options.closed.iter().map(PathBuf::as_path))
        .map(real_path)
        .collect::<Result<Vec<_>, _>>()?;
    Ok(TreeOptions {
        outputs: outputs.into_iter().flatten().collect(),
        never: &[],
    })
}

/// The real path of a directory; `None` when there is none yet.
fn real_path(directory: &Path) -> Result<Option<PathBuf>, PackError> {
    match Root::open(directory) {
        Ok(root) => Ok(Some(root.real_path().to_path_buf())),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(refusal::of(error)),
    }
}

/// Secrets and packages come from the definition itself.
fn declarations(
    store: &Store,
    definition: &Definition,
    options: &BuildOptions,
) -> Result<Vec<BuiltLayer>, PackError> {
    let lists: [(LayerKind, &[Value]); 2] = [
        (LayerKind::Secrets, &definition.secrets),
        (LayerKind::Packages, &definition.packages),
    ];
    let mut layers = Vec::new();
    for (kind, list) in lists {
        if !list.is_empty() {
            let value = json!({ kind.name(): list, "specVersion": definition.spec_version() });
            let text = canonical::to_string(&value);
            let limit = options.limit(kind);
            layers.push(write::put(store, kind, text.as_bytes(), list.len(), limit)?);
        }
    }
    Ok(layers)
}

/// A path that the definition names, and where it leads.
struct Declared {
    kind: DirectoryEntryKind,
    /// Beneath the project, or beneath `outside`.
    place: PathBuf,
    outside: Option<Root>,
    fingerprint: chitin_guard::Fingerprint,
}

impl Declared {
    fn find(
        root: &Root,
        kind: LayerKind,
        path: &str,
        options: &BuildOptions,
    ) -> Result<Self, PackError> {
        let shown = path.escape_debug();
        let end = match root.walk(Path::new(path), &LinkPolicy::Anywhere) {
            Ok(end) => end,
            Err(error @ ReadError::Io { .. }) => return Err(refusal::of(error)),
            Err(error) => {
                let class = match refusal::of_link(error) {
                    found if found.class() == ErrorClass::SymlinkCycle => ErrorClass::SymlinkCycle,
                    _ => ErrorClass::MissingPath,
                };
                let message = format!("`{shown}`, which `{}` names, is not there", kind.name());
                return Err(PackError::new(class, message));
            }
        };
        let wanted = match kind.format() {
            Format::Tar => DirectoryEntryKind::Directory,
            Format::Json | Format::Raw => DirectoryEntryKind::File,
        };
        if end.kind != wanted {
            let what = if wanted == DirectoryEntryKind::File {
                "a file"
            } else {
                "a directory"
            };
            let message = format!("`{shown}`, which `{}` names, is not {what}", kind.name());
            return Err(PackError::new(ErrorClass::WrongPathType, message));
        }
        let (place, outside) = match end.path.strip_prefix(root.real_path()) {
            Ok(inside) => (inside.to_path_buf(), None),
            Err(_) if options.outside == OutsidePaths::Refuse => {
                let message = format!("`{shown}`, which `{}` names, leads out", kind.name());
                return Err(PackError::new(ErrorClass::OutsideRoot, message)
                    .hint("move it into the project, or allow paths outside it"));
            }
            Err(_) if wanted == DirectoryEntryKind::Directory => {
                (PathBuf::new(), Some(open(&end.path)?))
            }
            Err(_) => {
                let parent = end.path.parent().unwrap_or(&end.path);
                let name = end.path.file_name().map(PathBuf::from);
                (name.unwrap_or_default(), Some(open(parent)?))
            }
        };
        Ok(Self {
            kind: end.kind,
            place,
            outside,
            fingerprint: end.fingerprint,
        })
    }

    fn root<'s>(&'s self, project: &'s Root) -> &'s Root {
        self.outside.as_ref().unwrap_or(project)
    }

    fn file(&self) -> LayerSource {
        LayerSource {
            path: String::new(),
            place: self.place.clone(),
            fingerprint: self.fingerprint,
        }
    }

    fn collect(
        &self,
        tree: &Tree<'_>,
        kind: LayerKind,
        options: &BuildOptions,
    ) -> Result<Collected, PackError> {
        let links = link_mode(kind, options);
        match &self.outside {
            None => tree.collect(&self.place, links),
            Some(outside) => tree.beside(outside).collect(&self.place, links),
        }
    }
}

/// Links may be flattened in some layers and never in others (rule P26).
pub(super) fn link_mode(kind: LayerKind, options: &BuildOptions) -> LinkMode {
    match kind {
        LayerKind::Skills
        | LayerKind::Rules
        | LayerKind::Knowledge
        | LayerKind::Surfaces
        | LayerKind::InstructionTree => options.links,
        _ => LinkMode::Refuse,
    }
}
