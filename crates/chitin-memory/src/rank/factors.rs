//! What else counts: importance, the project at hand, and files that are asked for by name (M34).

use super::{Hit, NameMatch, ScorePart};
use crate::chunk::{self, Projects};
use chitin_contract::{FactorRules, ImportanceFactor, ProjectFactor};

/// Lets importance and project count, as entries of files kept by hand say them.
pub fn factors(hits: &mut [Hit], project: Option<&str>, rules: &FactorRules) {
    for hit in hits {
        if !chunk::is_curated(&hit.piece.path) {
            continue;
        }
        let remarks = chunk::remarks(&hit.piece.text);
        if let (ImportanceFactor::Graded { base, step }, Some(importance)) =
            (rules.importance, remarks.importance)
        {
            hit.multiply(ScorePart::Importance, base + step * f64::from(importance));
        }
        if let (ProjectFactor::Multiplied { active, other }, Some(at_hand)) =
            (rules.project, project)
        {
            let factor = match &remarks.projects {
                Projects::Unsaid => None,
                Projects::Named(names) if names.iter().any(|name| name == at_hand) => Some(active),
                Projects::Named(_) | Projects::Unnamed => Some(other),
            };
            if let Some(factor) = factor {
                hit.multiply(ScorePart::Project, factor);
            }
        }
    }
}

/// Tells how exactly a query names a file.
pub fn naming(query: &str, path: &str) -> NameMatch {
    let (query, path) = (as_path(query), as_path(path));
    if query.is_empty() {
        return NameMatch::Not;
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if query == path {
        NameMatch::Path
    } else if query == name {
        NameMatch::Name
    } else if query == stem {
        NameMatch::Stem
    } else {
        NameMatch::Not
    }
}

fn as_path(text: &str) -> String {
    let text = text.trim().replace('\\', "/");
    text.strip_prefix("./").unwrap_or(&text).to_lowercase()
}
