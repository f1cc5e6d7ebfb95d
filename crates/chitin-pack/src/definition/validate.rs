//! Everything that is wrong with a definition, at once (rule P72).

use super::check::package_reference;
use super::entry::DefinitionFile;
use super::field::{self, Members, given, list};
use crate::build::{Tree, TreeOptions};
use crate::error::{ErrorClass, PackError};
use crate::layer::{Format, LayerKind};
use chitin_guard::{DirectoryEntryKind, LinkPolicy, Root};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

/// One thing that is wrong, or odd.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DefinitionFinding {
    /// A stable code.
    pub code: &'static str,
    /// The file, or the member of the definition.
    pub path: String,
}

/// What was found, in the order of the codes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Validation {
    /// What keeps the definition from being built.
    pub errors: Vec<DefinitionFinding>,
    /// What does not.
    pub warnings: Vec<DefinitionFinding>,
}

/// The order in which the paths of layers are looked at.
const PATHS: [LayerKind; 10] = [
    LayerKind::Prompt,
    LayerKind::Persona,
    LayerKind::Mcp,
    LayerKind::Skills,
    LayerKind::Rules,
    LayerKind::Knowledge,
    LayerKind::Surfaces,
    LayerKind::InstructionTree,
    LayerKind::Subagents,
    LayerKind::Memory,
];

/// Looks at a definition file and at the paths it names. Contents are not read. Naming a directory as the definition file is
/// wrong usage, and the only error.
pub fn validate(directory: &Path, named: Option<&str>) -> Result<Validation, PackError> {
    let mut errors = Vec::new();
    if let Some(named) = named
        && Root::open(&directory.join(named)).is_ok()
    {
        let message = format!(
            "`{}` is a directory, not a definition file",
            named.escape_debug()
        );
        return Err(
            PackError::new(ErrorClass::Usage, message).hint("name the file, such as `agent.json`")
        );
    }
    match DefinitionFile::load(directory, named) {
        Ok(entry) => {
            if let Some(members) = entry.value.as_object() {
                let file = shown(&entry.file, directory, named);
                own(members, &file, &mut errors);
                paths(&entry.project, members, &mut errors);
                others(members, &file, &mut errors);
            }
        }
        Err(error) => {
            let path = match named {
                Some(named) => named.to_owned(),
                None => error.items().join(", "),
            };
            errors.push(DefinitionFinding {
                code: entry_code(&error),
                path,
            });
        }
    }
    Ok(Validation {
        errors,
        warnings: Vec::new(),
    })
}

/// What is wrong with the definition itself is said of its file, by the name that the user knows it by.
fn shown(file: &Path, directory: &Path, named: Option<&str>) -> String {
    if let Some(named) = named {
        return named.to_owned();
    }
    let file = file.strip_prefix(directory).unwrap_or(file);
    file.to_string_lossy().into_owned()
}

/// A file that is JSON and holds something else than a definition is one that exports nothing to build.
fn entry_code(error: &PackError) -> &'static str {
    match error.class() {
        ErrorClass::MissingEntry | ErrorClass::NoEntry | ErrorClass::AmbiguousEntry => {
            "ENTRY_NOT_FOUND"
        }
        _ if std::error::Error::source(error).is_some() => "INVALID_ENTRY",
        _ => "NO_DEFAULT_EXPORT",
    }
}

fn own(document: &Members, file: &str, errors: &mut Vec<DefinitionFinding>) {
    let word = |member| given(document, member).and_then(Value::as_str);
    let is_package = word("kind") == Some("package");
    let tags = super::check::tags(document);
    let checks = [
        ("INVALID_NAME", word("name").is_some_and(field::is_name)),
        (
            "INVALID_VERSION",
            word("version").is_some_and(field::is_version),
        ),
        (
            "EMPTY_DESCRIPTION",
            word("description").is_some_and(|text| !text.is_empty()),
        ),
        (
            "MISSING_ADAPTER",
            is_package || given(document, "adapter").is_some_and(Value::is_object),
        ),
        ("DUPLICATE_TAGS", tags.is_ok()),
    ];
    for (code, holds) in checks {
        if !holds {
            errors.push(DefinitionFinding {
                code,
                path: file.to_owned(),
            });
        }
    }
}

fn paths(project: &Path, document: &Members, errors: &mut Vec<DefinitionFinding>) {
    let Ok(root) = Root::open(project) else {
        return;
    };
    let mut linked = Vec::new();
    let mut wrong = |code, path| errors.push(DefinitionFinding { code, path });
    for kind in PATHS {
        let Some(declared) = given(document, kind.name()) else {
            continue;
        };
        let Some(path) = declared.as_str() else {
            wrong("WRONG_PATH_TYPE", kind.name().to_owned());
            continue;
        };
        let normal = normal(path);
        let Ok(end) = root.walk(Path::new(path), &LinkPolicy::Anywhere) else {
            wrong("MISSING_PATH", normal);
            continue;
        };
        let wanted = match kind.format() {
            Format::Tar => DirectoryEntryKind::Directory,
            Format::Json | Format::Raw => DirectoryEntryKind::File,
        };
        if end.kind != wanted {
            wrong("WRONG_PATH_TYPE", normal);
        } else if wanted == DirectoryEntryKind::Directory
            && let Ok(inside) = end.path.strip_prefix(root.real_path())
        {
            linked.extend(links_in(&root, inside));
        }
    }
    for path in linked {
        wrong("SYMLINK_FOUND", path);
    }
}

/// Returns the links in a directory, by their paths in the project. A directory that cannot be looked at shows none; the
/// build says why.
fn links_in(root: &Root, directory: &Path) -> Vec<String> {
    let Ok(tree) = Tree::new(root, &TreeOptions::default()) else {
        return Vec::new();
    };
    tree.links(directory).unwrap_or_default()
}

fn others(document: &Members, file: &str, errors: &mut Vec<DefinitionFinding>) {
    for package in list(document, "packages").into_iter().flatten() {
        let text = package_reference(package);
        if text.is_none_or(|text| text.trim().is_empty()) {
            errors.push(DefinitionFinding {
                code: "INVALID_PACKAGE_REF",
                path: file.to_owned(),
            });
        }
    }
    let keys = list(document, "secrets").into_iter().flatten();
    let keys: Vec<&str> = keys
        .filter_map(|secret| secret.get("key")?.as_str())
        .collect();
    let mut seen = HashSet::new();
    if keys.iter().any(|key| !seen.insert(*key)) {
        errors.push(DefinitionFinding {
            code: "DUPLICATE_SECRET_KEYS",
            path: file.to_owned(),
        });
    }
}

/// Writes a path without `.` and with `..` taken away where that is possible.
fn normal(path: &str) -> String {
    let mut normal = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some_and(|name| name != "..") => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal.to_string_lossy().into_owned()
}
