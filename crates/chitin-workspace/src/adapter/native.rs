//! The native fallback: any directory is an agent, its readme the rules (B8).

use super::compat::{NAMELESS, NATIVE_NAME, NATIVE_RULES_FILE};
use super::definition::{AgentDefinition, Extensions};
use super::files::{TextFile, normalize};
use super::prompt::{Sections, system_prompt};
use super::registry::{AdapterError, WorkspaceAdapter};
use chitin_guard::Root;
use std::path::Path;

/// Claims any directory and reads nothing but its `README.md`.
#[derive(Debug, Clone, Copy, Default)]
pub struct NativeAdapter;

impl WorkspaceAdapter for NativeAdapter {
    fn supports(&self, root: &Path) -> bool {
        Root::open(root).is_ok()
    }

    fn load(&self, root: &Path) -> Result<AgentDefinition, AdapterError> {
        let (path, root) = open(root, NATIVE_NAME)?;
        let mut warnings = Vec::new();
        let operating_rules =
            TextFile::read(&root, Path::new(NATIVE_RULES_FILE)).text_or_empty(&mut warnings);
        Ok(AgentDefinition {
            name: directory_name(&path),
            adapter_name: NATIVE_NAME.to_owned(),
            system_prompt: system_prompt(Sections {
                operating_rules: &operating_rules,
                ..Sections::default()
            }),
            workspace_root: path,
            identity: String::new(),
            persona: String::new(),
            user_profile: String::new(),
            operating_rules,
            skill_paths: Vec::new(),
            extensions: Extensions::default(),
            warnings,
        })
    }

    fn name(&self) -> &str {
        NATIVE_NAME
    }

    fn priority(&self) -> i32 {
        i32::MAX
    }
}

/// Opens the directory of a load: normalised by its text, absolute, and really a directory.
pub(super) fn open(path: &Path, adapter: &str) -> Result<(std::path::PathBuf, Root), AdapterError> {
    let normal = normalize(path);
    let invalid = |reason: String| AdapterError::InvalidArgument {
        path: normal.clone(),
        adapter: adapter.to_owned(),
        reason,
    };
    if !path.is_absolute() {
        return Err(invalid("the path is not absolute".to_owned()));
    }
    match Root::open(&normal) {
        Ok(root) => Ok((normal, root)),
        Err(error) => Err(invalid(error.to_string())),
    }
}

/// Returns the directory's own name.
pub(super) fn directory_name(path: &Path) -> String {
    path.file_name().map_or_else(
        || NAMELESS.to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
