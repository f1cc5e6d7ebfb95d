//! What a run is told about a pending bootstrap (W49).

use crate::filter::RunKind;
use chitin_contract::{BootstrapModeRule, Contract};
use serde::Serialize;

/// How much a run is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BootstrapMode {
    /// Nothing.
    #[default]
    None,
    /// That it is pending, elsewhere.
    Limited,
    /// That it is to be done now.
    Full,
}

/// What is known of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "five independent facts about a run"
)]
pub struct BootstrapRun {
    /// Whether set-up is pending.
    pub pending: bool,
    /// What started the run.
    pub kind: RunKind,
    /// Whether it is a session of its own, not a child's.
    pub primary: bool,
    /// Whether a user waits for the answer.
    pub user_facing: bool,
    /// Whether the run can read files.
    pub can_read: bool,
    /// Whether it runs in the agent's own workspace.
    pub own_workspace: bool,
    /// Whether a bootstrap file with text was loaded.
    pub loaded: bool,
}

/// Returns what a run is told.
pub fn bootstrap_mode(contract: &Contract, run: &BootstrapRun) -> BootstrapMode {
    let rule = contract.seeding.bootstrap_mode;
    let loaded = run.loaded && rule == BootstrapModeRule::LimitedWithoutRead;
    if rule == BootstrapModeRule::Unknown
        || !(run.pending || loaded)
        || run.kind != RunKind::Default
        || !run.primary
        || !run.user_facing
    {
        return BootstrapMode::None;
    }
    if !run.can_read && !loaded {
        return match rule {
            BootstrapModeRule::Unknown | BootstrapModeRule::NoneWithoutRead => BootstrapMode::None,
            BootstrapModeRule::LimitedWithoutRead => BootstrapMode::Limited,
        };
    }
    if run.own_workspace {
        BootstrapMode::Full
    } else {
        BootstrapMode::Limited
    }
}
