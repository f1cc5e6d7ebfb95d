//! Directories that another adapter than OpenClaw's claims: what its definition says, as records of a workspace.

use crate::error::{ErrorKind, RuntimeError};
use crate::host::Host;
use crate::identity::name_of_directory;
use crate::setup::{Setup, shown};
use chitin_guard::{ReadError, ReadPolicy, Root};
use chitin_workspace::Workspace;
use chitin_workspace::adapter::{
    AdapterError, AgentDefinition, NATIVE_NAME, NATIVE_RULES_FILE, OPENCLAW_NAME,
};
use chitin_workspace::load::{LoadOptions, decode, load, read_policy};
use chitin_workspace::skills::SkillPlaces;
use chitin_workspace::snapshot::{FileContent, Record, RecordState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Who reads a directory.
#[derive(Debug)]
pub enum DirectoryClaim {
    /// The contract's own loader: it is an OpenClaw workspace, or the contract knows no other kind.
    Workspace,
    /// Another adapter made a definition of it.
    Adapter(Box<AgentDefinition>),
}

/// Finds who reads a directory. `is_workspace` tells whether any file of a workspace is there.
pub(super) fn claim(
    host: &Host,
    setup: &Setup,
    directory: &Path,
    is_workspace: impl Fn() -> bool,
) -> Result<DirectoryClaim, RuntimeError> {
    if !setup.contract().loading.adapters {
        return Ok(DirectoryClaim::Workspace);
    }
    let mut unavailable = None;
    for adapter in setup.adapters.claimants(directory) {
        let by_contract = match adapter.name() {
            OPENCLAW_NAME => true,
            // A workspace that lost its AGENTS.md is still one: its other files are not given up for a readme.
            NATIVE_NAME => is_workspace(),
            _ => false,
        };
        if by_contract {
            return Ok(DirectoryClaim::Workspace);
        }
        match adapter.load(directory) {
            Ok(definition) => return Ok(DirectoryClaim::Adapter(Box::new(definition))),
            // A plugin that fails was reported; the next adapter that claims the directory reads it.
            Err(error @ AdapterError::Unavailable { .. }) => {
                unavailable.get_or_insert(error);
            }
            Err(error) => return Err(unclaimed(host, setup, error)),
        }
    }
    let error = unavailable.unwrap_or_else(|| AdapterError::NoAdapter {
        path: directory.to_owned(),
        asked: setup.adapters.adapters().len(),
    });
    Err(unclaimed(host, setup, error))
}

impl Setup {
    /// Finds who reads the directory, without reading the workspace.
    pub fn claim(&self, host: &Host) -> Result<DirectoryClaim, RuntimeError> {
        self.check_directory(host)?;
        self.claim_of(host, &self.directory)
    }

    fn claim_of(&self, host: &Host, directory: &Path) -> Result<DirectoryClaim, RuntimeError> {
        let options = LoadOptions {
            tolerate_unreadable: true,
            ..self.options.clone()
        };
        claim(host, self, directory, || {
            let loaded = load(directory, self.contract(), &options);
            loaded.is_ok_and(|workspace| has_files(&workspace))
        })
    }

    /// Returns what the agent is called: by the adapter that reads its directory (A8).
    pub fn name(&self, host: &Host) -> String {
        self.name_of(host, &self.directory)
    }

    /// Returns what the agent of a directory is called.
    pub(crate) fn name_of(&self, host: &Host, directory: &Path) -> String {
        match self.claim_of(host, directory) {
            Ok(DirectoryClaim::Adapter(definition)) => definition.name,
            Ok(DirectoryClaim::Workspace) | Err(_) => name_of_directory(directory),
        }
    }

    /// Returns where skills are looked for, once it is known who reads the directory.
    pub(crate) fn claimed_skill_places(&self, host: &Host) -> Result<SkillPlaces, RuntimeError> {
        self.check_directory(host)?;
        self.check_composed(host)?;
        let named = match self.claim(host) {
            Ok(DirectoryClaim::Adapter(definition)) => named_skills(&definition),
            // A directory that is no agent yet may have skills all the same.
            Ok(DirectoryClaim::Workspace) | Err(_) => None,
        };
        Ok(SkillPlaces {
            named,
            ..self.catalogue_places(host, &self.release(host))
        })
    }

    /// Returns what an adapter made of the directory as a workspace.
    pub(crate) fn claimed_workspace(
        &self,
        host: &Host,
        definition: &AgentDefinition,
    ) -> Result<Workspace, RuntimeError> {
        let root = Root::open(&self.directory).map_err(|error| self.unusable(host, error))?;
        let policy = read_policy(self.contract(), &self.options);
        Ok(records(self, definition, &root, &policy))
    }
}

/// Returns the skill files of a definition, relative to its directory. A readme says nothing of skills: there the directory is
/// searched as in any workspace.
pub fn named_skills(definition: &AgentDefinition) -> Option<Vec<PathBuf>> {
    let paths = definition.skill_paths.iter();
    (definition.adapter_name != NATIVE_NAME)
        .then(|| paths.map(|path| path.relative().to_path_buf()).collect())
}

/// What is said of a definition beside its texts.
pub fn definition_notes(definition: &AgentDefinition) -> Vec<String> {
    let adapter = &definition.adapter_name;
    // Rules that an adapter makes up are no files that can be watched: they must not seem to hold.
    let extensions = definition.extensions.iter().map(|(name, _)| {
        format!("`{name}` from the adapter `{adapter}` has no effect; extension files are read from the directory")
    });
    let warnings = definition.warnings.iter().map(ToString::to_string);
    extensions.chain(warnings).collect()
}

/// Returns the texts of a definition as records, under the names of the parts that they are.
pub(super) fn records(
    setup: &Setup,
    definition: &AgentDefinition,
    root: &Root,
    policy: &ReadPolicy,
) -> Workspace {
    let directory = root.path();
    let parts = [
        ("AGENTS.md", &definition.operating_rules),
        ("SOUL.md", &definition.persona),
        ("IDENTITY.md", &definition.identity),
        ("USER.md", &definition.user_profile),
    ];
    let mut records = Vec::new();
    for (name, text) in parts {
        if text.trim().is_empty() {
            continue;
        }
        records.push(match definition.adapter_name.as_str() {
            NATIVE_NAME => readme(root, policy),
            // Such a text need not be in any one file; the adapter is what it can be traced to.
            adapter => Record {
                name: name.into(),
                path: directory.join(format!("{adapter}:{name}")),
                state: RecordState::Present(Arc::new(FileContent::in_memory(text.as_str()))),
                extra: false,
            },
        });
    }
    Workspace::from_records(directory, setup.contract(), records)
}

/// The readme as operating rules: their name decides what becomes of it, its path says where every byte came from.
fn readme(root: &Root, policy: &ReadPolicy) -> Record {
    let relative = Path::new(NATIVE_RULES_FILE);
    let state = match root.read(relative, policy) {
        Ok(read) => RecordState::Present(Arc::new(decode(read))),
        Err(ReadError::Refused { reason, .. }) => RecordState::Refused(reason),
        Err(_) => RecordState::Missing,
    };
    Record {
        name: "AGENTS.md".into(),
        path: root.path().join(relative),
        state,
        extra: false,
    }
}

/// Tells whether any file of a workspace is there.
pub(super) fn has_files(workspace: &Workspace) -> bool {
    workspace.records().iter().any(|one| !is_missing(one))
}

pub(super) fn is_missing(record: &Record) -> bool {
    matches!(record.state, RecordState::Missing)
}

fn unclaimed(host: &Host, setup: &Setup, error: AdapterError) -> RuntimeError {
    let directory = shown(&setup.directory, host);
    RuntimeError::new(ErrorKind::User, format!("`{directory}` is not an agent."))
        .caused_by(error)
        .hint("an `AGENTS.md` makes a directory an agent; `chitin init DIR` writes one")
        .hint("`chitin plugins` lists the adapters for other kinds of directories")
}
