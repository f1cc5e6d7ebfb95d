//! Remembering that a workspace was seen with its files, so that a loss is noticed instead of papered over.

use super::state::{SetupState, compat, read_file};
use super::{SeedRequest, keeps_state_in_workspace};
use chitin_guard::{ReadPolicy, Root, WriteError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const DIRECTORY: &str = "workspaces";
const MAX_BYTES: u64 = 64 * 1024;

/// What a workspace had when it was last seeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attestation {
    version: u32,
    directory: PathBuf,
    attested_at: String,
    files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bootstrap_seeded_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    setup_completed_at: Option<String>,
}

/// What is known of a workspace's earlier files.
pub(super) struct LastSeen {
    pub(super) files: Vec<String>,
    pub(super) seen: String,
    pub(super) complete: bool,
}

impl Attestation {
    /// Notes what is there now.
    pub(super) fn take(root: &Root, request: &SeedRequest<'_>, state: &SetupState) -> Self {
        let names = request.contract.seeding.files.iter().chain(&["MEMORY.md"]);
        let there = names.filter(|name| root.kind(Path::new(name)).is_some());
        Self {
            version: compat::VERSION,
            directory: request.directory.to_path_buf(),
            attested_at: request.now.to_owned(),
            files: there.map(|name| (*name).to_owned()).collect(),
            bootstrap_seeded_at: state.bootstrap_seeded_at.clone(),
            setup_completed_at: state.setup_completed_at.clone(),
        }
    }

    /// Reads the note about a workspace.
    pub fn read(request: &SeedRequest<'_>) -> Option<Self> {
        let root = Root::open(request.state_directory?).ok()?;
        let read = root
            .read(&file_of(request.directory), &ReadPolicy::inside(MAX_BYTES))
            .ok()?;
        let known: Self = serde_json::from_slice(&read.bytes).ok()?;
        (known.directory == request.directory).then_some(known)
    }

    pub(super) fn write(&self, request: &SeedRequest<'_>) -> Result<(), WriteError> {
        let Some(directory) = request.state_directory else {
            return Ok(());
        };
        let (root, _) = Root::create(directory)?;
        root.make_directories(Path::new(DIRECTORY))?;
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        root.replace(&file_of(request.directory), text.as_bytes())
    }

    pub(super) fn state(self) -> SetupState {
        let mut state = SetupState::default();
        state.bootstrap_seeded_at = self.bootstrap_seeded_at;
        state.setup_completed_at = self.setup_completed_at;
        state
    }
}

/// Returns what the workspace had before: from our own note, else from the state file that other programs write too.
pub(super) fn last_seen(root: Option<&Root>, request: &SeedRequest<'_>) -> Option<LastSeen> {
    if let Some(known) = Attestation::read(request) {
        let complete = known.clone().state().is_complete();
        return Some(LastSeen {
            files: known.files,
            seen: known.attested_at,
            complete,
        });
    }
    let state = root
        .filter(|_| keeps_state_in_workspace(request.contract))
        .and_then(read_file)?;
    let complete = state.is_complete();
    let seen = state.setup_completed_at.or(state.bootstrap_seeded_at)?;
    let files = request
        .contract
        .seeding
        .files
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    Some(LastSeen {
        files,
        seen,
        complete,
    })
}

/// A file per workspace, by a digest of its path.
fn file_of(directory: &Path) -> PathBuf {
    let digest = blake3::hash(directory.as_os_str().as_encoded_bytes()).to_hex();
    Path::new(DIRECTORY).join(format!("{}.json", &digest[..32]))
}
