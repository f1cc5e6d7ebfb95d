//! What the files of a layer must look like, and what deserves a word (rules P27, P28, P30, P31).

use super::tree::{Collected, LeftOut};
use crate::compat::SKILL_FILE;
use crate::error::{ErrorClass, PackError};
use crate::layer::{LayerKind, MB};
use crate::warning::PackWarning;
use std::collections::HashSet;

/// Larger files deserve a word.
const LARGE_FILE: u64 = 10 * MB;
/// Larger knowledge deserves a word.
const LARGE_KNOWLEDGE: u64 = 100 * MB;

/// Whether skills may stand together in a directory of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Groups {
    /// They may not: every directory is a skill, as the format says.
    Refuse,
    /// They may, as workspaces have them: a directory below `skills/` is a skill, or holds some.
    Allow,
}

/// Checks what a directory gave for a layer.
pub(super) fn check(
    kind: LayerKind,
    collected: &Collected,
    groups: Groups,
) -> Result<(), PackError> {
    match kind {
        LayerKind::Skills => skills(collected, groups),
        LayerKind::Surfaces => surfaces(collected),
        _ => Ok(()),
    }
}

/// Each directory is a skill, and a skill has a document. One that the patterns emptied is no skill at all.
fn skills(collected: &Collected, groups: Groups) -> Result<(), PackError> {
    let mut filled = HashSet::new();
    let mut documented = HashSet::new();
    for file in &collected.files {
        if let Some((skill, rest)) = file.path.split_once('/') {
            filled.insert(skill);
            let in_group = groups == Groups::Allow && rest.rsplit('/').next() == Some(SKILL_FILE);
            if rest == SKILL_FILE || in_group {
                documented.insert(skill);
            }
        }
    }
    let lacking: Vec<&str> = collected
        .tops
        .iter()
        .filter(|(skill, left_out)| {
            !documented.contains(skill.as_str())
                && (filled.contains(skill.as_str()) || *left_out == LeftOut::Nothing)
        })
        .map(|(skill, _)| skill.as_str())
        .collect();
    match lacking.first() {
        None => Ok(()),
        Some(first) => Err(PackError::new(
            ErrorClass::SkillWithoutDocument,
            format!("the skill `{}` has no `{SKILL_FILE}`", first.escape_debug()),
        )
        .about(lacking)),
    }
}

fn surfaces(collected: &Collected) -> Result<(), PackError> {
    let mut odd = collected
        .files
        .iter()
        .map(|file| file.path.as_str())
        .filter(|path| !path.ends_with(".md"));
    match odd.next() {
        None => Ok(()),
        Some(first) => Err(PackError::new(
            ErrorClass::InvalidSurface,
            format!("the surface `{}` is not Markdown", first.escape_debug()),
        )
        .about([first].into_iter().chain(odd))
        .hint("surfaces end in `.md`")),
    }
}

/// Returns what deserves a word about a layer's files.
pub(super) fn warnings(kind: LayerKind, collected: &Collected) -> Vec<PackWarning> {
    let mut warnings = Vec::new();
    if collected.files.is_empty() {
        let message = format!("the {} layer is empty", kind.name());
        warnings.push(PackWarning::new("EMPTY_DIRECTORY", message).layer(kind.name()));
    }
    for file in &collected.files {
        if file.fingerprint.size > LARGE_FILE {
            let message = format!("`{}` is larger than 10 MB", file.path.escape_debug());
            let warning = PackWarning::new("LARGE_FILE", message).layer(kind.name());
            warnings.push(warning.target(file.path.as_str()));
        }
    }
    let bytes: u64 = collected
        .files
        .iter()
        .map(|file| file.fingerprint.size)
        .sum();
    if kind == LayerKind::Knowledge && bytes > LARGE_KNOWLEDGE {
        let message = "the knowledge layer is larger than 100 MB";
        warnings.push(PackWarning::new("LARGE_LAYER", message).layer(kind.name()));
    }
    for path in &collected.never {
        let message = format!("`{}` is state and stays behind", path.escape_debug());
        let warning = PackWarning::new("STATE_NOT_PACKED", message).layer(kind.name());
        warnings.push(warning.target(path.as_str()));
    }
    warnings
}
