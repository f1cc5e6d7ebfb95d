//! The times of seeding and completion, and what they say (W47, W48).

use super::attest::Attestation;
use super::{BOOTSTRAP, SeedRequest, is_in_use};
use chitin_contract::{PendingInUse, SeedState};
use chitin_guard::{DirectoryEntryKind, ReadPolicy, Root, WriteError};
use chitin_protocol::text::is_blank_js;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// Where OpenClaw keeps the state of a workspace, and under which names.
pub(super) mod compat {
    pub(crate) const FILE: &str = ".openclaw/workspace-state.json";
    /// Where a release between 2026.4 and 2026.9 kept it.
    pub(crate) const ROOT_FILE: &str = "openclaw-workspace-state.json";
    pub(crate) const DIRECTORY: &str = ".openclaw";
    pub(crate) const VERSION: u32 = 1;
    pub(crate) const SEEDED: &str = "bootstrapSeededAt";
    pub(crate) const COMPLETED: &str = "setupCompletedAt";
    /// The earlier name of `setupCompletedAt`.
    pub(crate) const LEGACY_COMPLETED: &str = "onboardingCompletedAt";
}

const MAX_STATE_BYTES: u64 = 64 * 1024;

/// When a workspace was seeded and when its set-up was complete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetupState {
    /// When the bootstrap file was first seen.
    pub bootstrap_seeded_at: Option<String>,
    /// When set-up was complete.
    pub setup_completed_at: Option<String>,
    /// What was read, to write only what changed.
    before: Option<(Option<String>, Option<String>)>,
}

/// Whether a workspace has been set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetupStatus {
    /// It has, or there is nothing to do.
    Complete,
    /// A bootstrap file waits.
    Pending,
}

impl SetupState {
    /// Reads the state from JSON; bad JSON is an empty state. `None` when it says nothing at all.
    pub fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let string = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let bootstrap_seeded_at = string(compat::SEEDED);
        let own = string(compat::COMPLETED);
        let before = Some((bootstrap_seeded_at.clone(), own.clone()));
        let setup_completed_at = own.or_else(|| string(compat::LEGACY_COMPLETED));
        value.is_object().then_some(Self {
            bootstrap_seeded_at,
            setup_completed_at,
            before,
        })
    }

    /// Tells whether set-up is complete.
    pub fn is_complete(&self) -> bool {
        self.setup_completed_at
            .as_deref()
            .is_some_and(|at| !is_blank_js(at))
    }

    /// Returns the fields as they are written, in their order.
    pub fn to_json(&self) -> Value {
        let mut value = json!({ "version": compat::VERSION });
        for (name, at) in [
            (compat::SEEDED, &self.bootstrap_seeded_at),
            (compat::COMPLETED, &self.setup_completed_at),
        ] {
            if let Some(at) = at {
                value[name] = json!(at);
            }
        }
        value
    }

    fn is_changed(&self) -> bool {
        let (seeded, completed) = self.before.clone().unwrap_or_default();
        seeded != self.bootstrap_seeded_at || completed != self.setup_completed_at
    }

    pub(super) fn write(&self, root: &Root, request: &SeedRequest<'_>) -> Result<(), WriteError> {
        match request.contract.seeding.state {
            SeedState::WorkspaceFile if self.is_changed() => self.write_file(root)?,
            SeedState::Nowhere | SeedState::WorkspaceFile | SeedState::StateDirectory => {}
        }
        Attestation::take(root, request, self).write(request)
    }

    fn write_file(&self, root: &Root) -> Result<(), WriteError> {
        root.make_directories(Path::new(compat::DIRECTORY))?;
        let text = serde_json::to_string_pretty(&self.to_json()).unwrap_or_default() + "\n";
        root.replace(Path::new(compat::FILE), text.as_bytes())
    }
}

/// Fails before anything is written when the state could not be kept afterwards: a link or something else is in its place.
pub(super) fn check_place(root: &Root, request: &SeedRequest<'_>) -> Result<(), WriteError> {
    if request.contract.seeding.state != SeedState::WorkspaceFile {
        return Ok(());
    }
    for (place, wanted) in [
        (compat::DIRECTORY, DirectoryEntryKind::Directory),
        (compat::FILE, DirectoryEntryKind::File),
    ] {
        if root
            .kind(Path::new(place))
            .is_some_and(|kind| kind != wanted)
        {
            return Err(WriteError::NotBeneath {
                path: root.path().join(place),
            });
        }
    }
    Ok(())
}

/// Reads what is known of a workspace's set-up.
pub fn read_state(root: &Root, request: &SeedRequest<'_>) -> SetupState {
    match request.contract.seeding.state {
        SeedState::Nowhere => SetupState::default(),
        SeedState::WorkspaceFile => read_file(root).unwrap_or_default(),
        SeedState::StateDirectory => Attestation::read(request)
            .map(Attestation::state)
            .unwrap_or_default(),
    }
}

/// Reads the state file of a workspace, whatever the contract.
pub(super) fn read_file(root: &Root) -> Option<SetupState> {
    read_file_at(root, compat::FILE)
}

fn read_file_at(root: &Root, file: &str) -> Option<SetupState> {
    let policy = ReadPolicy::inside(MAX_STATE_BYTES);
    let read = root.read(Path::new(file), &policy).ok()?;
    SetupState::parse(&String::from_utf8_lossy(&read.bytes))
}

/// A place where the set-up state of a workspace is recorded, beside the one that the contract itself keeps.
///
/// An implementor only reads, and answers `None` when it knows nothing of the workspace.
pub trait SetupStateSource {
    /// Returns what is recorded of a workspace.
    fn setup_state(&self, root: &Root) -> Option<SetupState>;
}

/// The state files that earlier releases of OpenClaw left in a workspace. Releases that keep the state in their state directory
/// take it over from there.
#[derive(Debug, Clone, Copy)]
pub struct LegacyStateFiles;

impl SetupStateSource for LegacyStateFiles {
    fn setup_state(&self, root: &Root) -> Option<SetupState> {
        [compat::ROOT_FILE, compat::FILE]
            .iter()
            .find_map(|file| read_file_at(root, file))
    }
}

/// Tells whether set-up is complete when a turn begins. It writes nothing: a bootstrap file that the contract retires because the
/// workspace is in use only counts as retired.
pub fn status_for_turn(
    root: &Root,
    request: &SeedRequest<'_>,
    sources: &[&dyn SetupStateSource],
) -> SetupStatus {
    let rules = &request.contract.seeding;
    // Most workspaces have no such file any more; then nothing else need be looked at.
    if root.kind(Path::new(BOOTSTRAP)).is_none() {
        return SetupStatus::Complete;
    }
    let is_recorded = || match rules.state {
        SeedState::Nowhere | SeedState::WorkspaceFile => false,
        SeedState::StateDirectory => sources
            .iter()
            .filter_map(|source| source.setup_state(root))
            .any(|state| state.is_complete()),
    };
    let is_retired = || match rules.pending_in_use {
        PendingInUse::Stays => false,
        PendingInUse::Retired => is_in_use(root, request),
    };
    if read_state(root, request).is_complete() || is_recorded() || is_retired() {
        SetupStatus::Complete
    } else {
        SetupStatus::Pending
    }
}

/// Tells whether set-up is complete; a legacy name in the state file is rewritten to the current one on the way.
pub fn status(root: &Root, state: &SetupState) -> SetupStatus {
    if state.is_complete() || root.kind(Path::new(BOOTSTRAP)).is_none() {
        SetupStatus::Complete
    } else {
        SetupStatus::Pending
    }
}

impl SetupState {
    /// Rewrites a state file that still has the legacy name; returns whether it did.
    pub fn migrate(&self, root: &Root) -> Result<bool, WriteError> {
        if !self.is_changed() || self.before.is_none() {
            return Ok(false);
        }
        self.write_file(root)?;
        Ok(true)
    }
}
