//! Artifacts that are no agents: runtime profiles and source snapshots (rules P18, P54).

use super::content;
use super::manifest::{self, Types};
use super::memory::{Layers, Purpose};
use super::options::{BuildOptions, Built, LinkMode};
use super::project::{open, tree_options};
use super::tree::{HISTORY, Tree};
use crate::compat::{PROFILE, PROFILE_CONFIG, SOURCE, SOURCE_CONFIG};
use crate::definition::{DocumentKind, check};
use crate::error::PackError;
use crate::layer::LayerKind;
use crate::store::Store;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Builds a runtime profile: a config and no layer. A secret value in it is refused, with its path.
pub fn build_profile(
    profile: &Value,
    options: &BuildOptions,
    store: &Store,
) -> Result<Built, PackError> {
    let _adding = store.adding()?;
    let complete = check(DocumentKind::Profile, profile)?;
    let mut config = json!({ "kind": "profile", "profileType": "openclaw" });
    let members = ["specVersion", "name", "version", "openclaw", "secrets"];
    copy(&complete, &members, &mut config);
    let types = Types {
        artifact: PROFILE,
        config: PROFILE_CONFIG,
    };
    let mut layers = Vec::new();
    Ok(Built {
        manifest: manifest::put(store, types, &config, &mut layers, options)?,
        layers,
        warnings: Vec::new(),
        skipped: Vec::new(),
        reused: 0,
    })
}

/// Builds a snapshot of a directory, without what version control keeps there.
pub fn build_source(
    directory: &Path,
    source: &Value,
    options: &BuildOptions,
    store: &Store,
) -> Result<Built, PackError> {
    let _adding = store.adding()?;
    let complete = check(DocumentKind::Source, source)?;
    let mut config = json!({ "kind": "source" });
    let members = ["specVersion", "name", "version", "description"];
    copy(&complete, &members, &mut config);
    let root = open(directory)?;
    let mut layers = Layers::begin(store, &root, Purpose::Source, options);
    let mut of_tree = tree_options(store, options)?;
    of_tree.never = &HISTORY;
    let tree = Tree::new(&root, &of_tree)?;
    let mut collected = tree.collect(Path::new(""), LinkMode::Refuse)?;
    // Leaving history out is what a snapshot is; nobody needs to be told.
    collected.never.clear();
    let kind = LayerKind::SourceSnapshot;
    let warnings = content::warnings(kind, &collected);
    layers.archive(&root, kind, &collected.files)?;
    layers.remember();
    let reused = layers.reused;
    let mut layers = layers.built;
    let types = Types {
        artifact: SOURCE,
        config: SOURCE_CONFIG,
    };
    Ok(Built {
        manifest: manifest::put(store, types, &config, &mut layers, options)?,
        layers,
        warnings,
        skipped: Vec::new(),
        reused,
    })
}

fn copy(from: &Value, members: &[&str], to: &mut Value) {
    let nothing = Map::new();
    let from = from.as_object().unwrap_or(&nothing);
    for member in members {
        if let Some(value) = from.get(*member).filter(|value| !value.is_null()) {
            to[*member] = value.clone();
        }
    }
}
