//! What a workspace holds beyond the format's map, for layers of our own: a readme that holds the operating rules, extension
//! files, and skills below `.agents/skills`.

use super::content;
use super::options::{LinkMode, RulesFile, WorkspaceOptions};
use super::tree::{Collected, Tree};
use super::{project, refusal};
use crate::error::PackError;
use crate::layer::{AGENTS_SKILLS, LayerKind};
use crate::warning::PackWarning;
use chitin_guard::{DirectoryEntryKind, Root, SurveyEntry};
use chitin_workspace::adapter::{EXTENSION_FILES, NATIVE_RULES_FILE};
use std::path::Path;

/// The directory at the root that holds the second place for skills.
const AGENTS_DIRECTORY: &str = ".agents";
const SKILLS: &str = "skills";
/// More names beside the skills are nobody's.
const MAX_NAMES: usize = 10_000;

/// A warning: something that belongs to the agent could not be taken along.
const NOT_PACKED: &str = "NOT_PACKED";

/// What was found, and which names at the root it came from.
#[derive(Debug, Default)]
pub(super) struct Own {
    pub(super) layers: Vec<(LayerKind, Collected)>,
    pub(super) names: Vec<String>,
    pub(super) warnings: Vec<PackWarning>,
}

/// Collects extension files and the second place for skills.
pub(super) fn collect(
    root: &Root,
    tree: &Tree<'_>,
    names: &[SurveyEntry],
    options: &WorkspaceOptions,
) -> Result<Own, PackError> {
    let mut own = Own::default();
    let links = project::link_mode(LayerKind::Surfaces, &options.build);
    if options.rules_file == RulesFile::Readme {
        own.files(
            LayerKind::Instructions,
            &[NATIVE_RULES_FILE],
            tree,
            names,
            links,
        )?;
    }
    own.files(LayerKind::Extensions, &EXTENSION_FILES, tree, names, links)?;
    let links = project::link_mode(LayerKind::Skills, &options.build);
    own.skills(root, tree, names, links)?;
    for (kind, collected) in &own.layers {
        own.warnings.extend(content::warnings(*kind, collected));
    }
    Ok(own)
}

impl Own {
    /// Collects files of the root that have one of the given names.
    fn files(
        &mut self,
        kind: LayerKind,
        known: &[&'static str],
        tree: &Tree<'_>,
        names: &[SurveyEntry],
        links: LinkMode,
    ) -> Result<(), PackError> {
        let mut collected = Collected::default();
        for looked in names {
            let Some(name) = known.iter().find(|known| looked.name == **known) else {
                continue;
            };
            if !tree.leaves_out(Path::new(name), looked.kind) {
                collected.files.push(tree.one(looked, name, links)?);
                self.names.push((*name).to_owned());
            }
        }
        if !collected.files.is_empty() {
            collected.sort();
            self.layers.push((kind, collected));
        }
        Ok(())
    }

    fn skills(
        &mut self,
        root: &Root,
        tree: &Tree<'_>,
        names: &[SurveyEntry],
        links: LinkMode,
    ) -> Result<(), PackError> {
        let is_ours = |looked: &&SurveyEntry| looked.name == AGENTS_DIRECTORY;
        let Some(looked) = names.iter().find(is_ours) else {
            return Ok(());
        };
        let kind = if looked.kind == DirectoryEntryKind::Directory {
            let inside = root
                .survey(Path::new(AGENTS_DIRECTORY), MAX_NAMES)
                .map_err(refusal::of)?;
            let found = inside.into_iter().find(|entry| entry.name == SKILLS);
            found.map(|entry| entry.kind)
        } else {
            Some(looked.kind)
        };
        match kind {
            None => return Ok(()),
            Some(DirectoryEntryKind::Directory) => {}
            Some(
                DirectoryEntryKind::Link | DirectoryEntryKind::File | DirectoryEntryKind::Other,
            ) => {
                let message = format!(
                    "`{AGENTS_SKILLS}` is not a directory of the workspace; its skills stay behind"
                );
                self.warnings
                    .push(PackWarning::new(NOT_PACKED, message).target(AGENTS_SKILLS));
                return Ok(());
            }
        }
        let collected = tree.collect(Path::new(AGENTS_SKILLS), links)?;
        if !collected.files.is_empty() {
            self.names.push(AGENTS_DIRECTORY.to_owned());
            self.layers.push((LayerKind::AgentsSkills, collected));
        }
        Ok(())
    }
}
