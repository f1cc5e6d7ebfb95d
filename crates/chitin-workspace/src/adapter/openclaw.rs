//! The OpenClaw adapter: a directory with an `AGENTS.md` is an agent, as it is (B1–B7).

use super::compat::{
    EXTENSION_FILES, IDENTITY_FILE, MARKER_FILE, NAME_MARKER, OPENCLAW_NAME, OPENCLAW_PRIORITY,
    PERSONA_FILE, RULES_FILE, USER_FILE,
};
use super::definition::{AgentDefinition, Extensions};
use super::files::{TextFile, stands};
use super::native::{directory_name, open};
use super::prompt::{Sections, system_prompt};
use super::registry::{AdapterError, WorkspaceAdapter};
use super::skills::{SkillDepth, discover};
use super::text::{is_blank, lines, trim};
use chitin_contract::Contract;
use chitin_guard::Root;
use std::path::{Path, PathBuf};

/// Claims a directory with an `AGENTS.md` directly in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenClawAdapter {
    skill_depth: SkillDepth,
}

impl OpenClawAdapter {
    /// Finds skills as deep as a contract looks for them.
    #[must_use]
    pub fn for_contract(contract: &Contract) -> Self {
        Self::with_skill_depth(u8::try_from(contract.skills.group_depth).unwrap_or(u8::MAX))
    }

    /// Finds skills up to `depth` directories below their roots. The recorded bridge knows one level, which is the
    /// default; a directory may then be a skill and hold others.
    #[must_use]
    pub fn with_skill_depth(depth: u8) -> Self {
        Self {
            skill_depth: SkillDepth::new(depth),
        }
    }

    /// Reads a directory that need not have an `AGENTS.md`, such as one that is composed with another.
    pub fn read(&self, directory: &Path) -> Result<AgentDefinition, AdapterError> {
        let (path, root) = open(directory, OPENCLAW_NAME)?;
        Ok(self.read_files(path, &root))
    }

    fn read_files(self, path: PathBuf, root: &Root) -> AgentDefinition {
        let mut warnings = Vec::new();
        let mut read =
            |name: &str| TextFile::read(root, Path::new(name)).text_or_empty(&mut warnings);
        let identity = read(IDENTITY_FILE);
        let persona = read(PERSONA_FILE);
        let user_profile = read(USER_FILE);
        let operating_rules = read(RULES_FILE);
        let mut extensions = Extensions::default();
        for name in EXTENSION_FILES {
            let text = read(name);
            if !is_blank(&text) {
                extensions.set(name, text);
            }
        }
        let skill_paths = discover(root, self.skill_depth, &mut warnings);
        AgentDefinition {
            name: explicit_name(&identity).map_or_else(|| directory_name(&path), str::to_owned),
            adapter_name: OPENCLAW_NAME.to_owned(),
            system_prompt: system_prompt(Sections {
                identity: &identity,
                persona: &persona,
                user_profile: &user_profile,
                operating_rules: &operating_rules,
            }),
            workspace_root: path,
            identity,
            persona,
            user_profile,
            operating_rules,
            skill_paths,
            extensions,
            warnings,
        }
    }
}

impl WorkspaceAdapter for OpenClawAdapter {
    fn supports(&self, root: &Path) -> bool {
        Root::open(root).is_ok_and(|root| stands(&root, Path::new(MARKER_FILE)))
    }

    fn load(&self, root: &Path) -> Result<AgentDefinition, AdapterError> {
        let (path, root) = open(root, OPENCLAW_NAME)?;
        if !stands(&root, Path::new(MARKER_FILE)) {
            return Err(AdapterError::InvalidArgument {
                path,
                adapter: OPENCLAW_NAME.to_owned(),
                reason: format!("there is no `{MARKER_FILE}` in it"),
            });
        }
        Ok(self.read_files(path, &root))
    }

    fn name(&self) -> &str {
        OPENCLAW_NAME
    }

    fn priority(&self) -> i32 {
        OPENCLAW_PRIORITY
    }
}

/// Returns the first non-blank value behind a `name:` marker at the start of a line (B7).
pub fn explicit_name(identity: &str) -> Option<&str> {
    lines(identity).find_map(|line| {
        let line = trim(line);
        let (marker, rest) = line.split_at_checked(NAME_MARKER.len())?;
        let value = trim(rest);
        (marker.eq_ignore_ascii_case(NAME_MARKER) && !is_blank(value)).then_some(value)
    })
}
