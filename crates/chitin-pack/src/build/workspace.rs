//! Packing a workspace without a definition: its layout read backwards (rule P44).

use super::manifest::{self, Types};
use super::memory::{Layers, Purpose};
use super::options::{Built, LinkMode, MemoryFileMode, OwnLayers, RulesFile, WorkspaceOptions};
use super::project::{link_mode, open, tree_options};
use super::tree::{Collected, LayerSource, Tree};
use super::{content, documents, own_layers, refusal};
use crate::adapters::{OpenClawOptions, openclaw};
use crate::compat::{AGENT, CONFIG, MEMORY_FILE, MEMORY_SURFACE, SURFACES};
use crate::definition::{Definition, PackIdentity};
use crate::error::{ErrorClass, PackError};
use crate::layer::LayerKind;
use crate::store::Store;
use crate::warning::PackWarning;
use chitin_guard::{DirectoryEntryKind, Root, SurveyEntry};
use chitin_workspace::adapter::NATIVE_RULES_FILE;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

/// The file that makes a directory a workspace.
const MARKER: &str = SURFACES[0].1;
/// Directories that become layers.
const DIRECTORIES: [(&str, LayerKind); 2] =
    [("skills", LayerKind::Skills), ("memory", LayerKind::Memory)];
/// State and caches, wherever they stand. What else is state stands at the root, where nothing but what is known is taken.
const STATE: [&str; 4] = [".openclaw", "openclaw.json", ".cache", "__pycache__"];
/// More names at the root are nobody's.
const MAX_ROOT_NAMES: usize = 100_000;
/// Where the memory file is looked for when the agent is laid out again.
const MEMORY_MEMBER: &str = "memoryFile";

/// Packs a workspace directory as an agent.
pub fn pack_workspace(
    workspace: &Path,
    identity: &PackIdentity,
    options: &WorkspaceOptions,
    store: &Store,
) -> Result<Built, PackError> {
    let _adding = store.adding()?;
    let not_one = || {
        let message = format!("`{}` is not a workspace", workspace.display());
        let error = PackError::new(ErrorClass::NotAWorkspace, message);
        match options.rules_file {
            RulesFile::Agents => error.hint(format!("a workspace has an `{MARKER}` at its root")),
            RulesFile::Readme => error.hint(format!(
                "an agent has an `{MARKER}` or a `{NATIVE_RULES_FILE}` at its root"
            )),
        }
    };
    let marker = match options.rules_file {
        RulesFile::Agents => MARKER,
        RulesFile::Readme => NATIVE_RULES_FILE,
    };
    let root = open(workspace).map_err(|error| match error.class() {
        ErrorClass::MissingPath => not_one(),
        _ => error,
    })?;
    let mut layers = Layers::begin(store, &root, Purpose::Workspace, &options.build);
    let mut names = root
        .survey(Path::new(""), MAX_ROOT_NAMES)
        .map_err(refusal::of)?;
    names.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    if !names.iter().any(|found| found.name == marker) {
        return Err(not_one());
    }
    let mut of_tree = tree_options(store, &options.build)?;
    of_tree.never = &STATE;
    let tree = Tree::new(&root, &of_tree)?;
    let mut found = Found::default();
    for looked in &names {
        found.take(looked, &tree, options)?;
    }
    for (_, collected) in &mut found.layers {
        collected.sort();
    }
    let own = match options.own_layers {
        OwnLayers::Pack => {
            let mut own = own_layers::collect(&root, &tree, &names, options)?;
            let linking = linking(&found.layers, &own.layers);
            let links = link_mode(LayerKind::Surfaces, &options.build);
            let documents = documents::follow(&root, &tree, &linking, links, &mut layers)?;
            found.skip_less(&root, &own.names, &documents.collected);
            found.warnings.extend(own.warnings);
            found.warnings.extend(documents.warnings);
            if !documents.collected.files.is_empty() {
                own.layers.push((LayerKind::Documents, documents.collected));
            }
            own.layers
        }
        OwnLayers::Leave => Vec::new(),
    };
    let adapter = openclaw(&OpenClawOptions {
        model: identity.model.clone(),
        config: found
            .has_memory_file()
            .then(|| {
                let place = format!("{}/{MEMORY_SURFACE}", LayerKind::Surfaces.name());
                (MEMORY_MEMBER.to_owned(), json!(place))
            })
            .into_iter()
            .collect(),
        ..OpenClawOptions::default()
    });
    let definition = Definition::of_workspace(identity, &adapter)?;
    for (kind, collected) in &found.layers {
        content::check(*kind, collected, content::Groups::Allow)?;
        found.warnings.extend(content::warnings(*kind, collected));
        layers.archive(&root, *kind, &collected.files)?;
    }
    for (kind, collected) in &own {
        layers.archive(&root, *kind, &collected.files)?;
    }
    layers.remember();
    let reused = layers.reused;
    let mut layers = layers.built;
    let types = Types {
        artifact: AGENT,
        config: CONFIG,
    };
    Ok(Built {
        manifest: manifest::put(
            store,
            types,
            &definition.config,
            &mut layers,
            &options.build,
        )?,
        layers,
        warnings: found.warnings,
        skipped: found.skipped,
        reused,
    })
}

/// The files whose links are followed, with their places in the workspace. What an agent remembers is not among them: notes
/// of every day link to what was there on that day.
fn linking(
    layers: &[(LayerKind, Collected)],
    own: &[(LayerKind, Collected)],
) -> Vec<(String, LayerSource)> {
    let layers = layers.iter().chain(own);
    layers
        .filter(|(kind, _)| *kind != LayerKind::Memory)
        .flat_map(|(kind, collected)| {
            collected
                .files
                .iter()
                .filter_map(|file| Some((kind.workspace_path(&file.path)?, file.clone())))
        })
        .collect()
}

/// What a workspace's root gave.
#[derive(Default)]
struct Found {
    layers: Vec<(LayerKind, Collected)>,
    skipped: Vec<String>,
    warnings: Vec<PackWarning>,
}

impl Found {
    fn take(
        &mut self,
        looked: &SurveyEntry,
        tree: &Tree<'_>,
        options: &WorkspaceOptions,
    ) -> Result<(), PackError> {
        let name = looked.name.to_string_lossy();
        let place = Path::new(&looked.name);
        let surface = surface_of(&name, options.memory_file);
        let directory = DIRECTORIES.iter().find(|(known, _)| *known == name);
        if surface.is_none() && directory.is_none() || tree.leaves_out(place, looked.kind) {
            if name == MEMORY_FILE {
                let message = format!("`{MEMORY_FILE}` stays behind; packing it is a choice");
                let warning = PackWarning::new("MEMORY_FILE_NOT_PACKED", message);
                self.warnings.push(warning.target(MEMORY_FILE));
            }
            self.skipped.push(name.into_owned());
            return Ok(());
        }
        if let Some(surface) = surface {
            let links = link_mode(LayerKind::Surfaces, &options.build);
            let source = tree.one(looked, surface, links)?;
            self.surfaces().push(source);
        } else if let Some((_, kind)) = directory {
            if looked.kind != DirectoryEntryKind::Directory {
                let class = match looked.kind {
                    DirectoryEntryKind::Link => ErrorClass::Symlink,
                    _ => ErrorClass::WrongPathType,
                };
                let message = format!("`{name}` is not a directory of the workspace");
                return Err(PackError::new(class, message));
            }
            let links = match kind {
                LayerKind::Skills => link_mode(*kind, &options.build),
                _ => LinkMode::Refuse,
            };
            let collected = tree.collect(place, links)?;
            self.layers.push((*kind, collected));
        }
        Ok(())
    }

    /// Takes back what was noted as left out and is packed after all; of directories that are packed in part, the rest is
    /// named.
    fn skip_less(&mut self, root: &Root, names: &[String], documents: &Collected) {
        let packed = documents.files.iter();
        let tops: BTreeSet<&str> = packed
            .filter_map(|file| file.path.split('/').next())
            .chain(names.iter().map(String::as_str))
            .collect();
        self.skipped.retain(|name| !tops.contains(name.as_str()));
        self.skipped.extend(documents::beside(root, documents));
        self.skipped.sort_unstable();
    }

    fn surfaces(&mut self) -> &mut Vec<LayerSource> {
        let at = self
            .layers
            .iter()
            .position(|(kind, _)| *kind == LayerKind::Surfaces)
            .unwrap_or_else(|| {
                self.layers
                    .push((LayerKind::Surfaces, Collected::default()));
                self.layers.len() - 1
            });
        &mut self.layers[at].1.files
    }

    fn has_memory_file(&self) -> bool {
        self.layers.iter().any(|(kind, collected)| {
            *kind == LayerKind::Surfaces
                && collected
                    .files
                    .iter()
                    .any(|file| file.path == MEMORY_SURFACE)
        })
    }
}

/// The surface that a file at the root stands for.
fn surface_of(name: &str, memory_file: MemoryFileMode) -> Option<&'static str> {
    let memory = (memory_file == MemoryFileMode::Pack).then_some((MEMORY_SURFACE, MEMORY_FILE));
    SURFACES
        .into_iter()
        .chain(memory)
        .find(|(_, file)| *file == name)
        .map(|(surface, _)| surface)
}
