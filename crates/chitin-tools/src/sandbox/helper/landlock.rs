//! Landlock: files by path, and signals from newer kernels on.

use super::super::config::WorkspaceAccess;
use super::super::policy::Policy;
use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
};

/// The newest interface whose rights are known here.
const NEWEST: ABI = ABI::V6;
/// The oldest interface that is enough. Before it a file outside could be cut to nothing.
const OLDEST: u8 = 3;

/// Restricts this process for good and returns the version of the interface.
pub(super) fn apply(policy: &Policy) -> Result<u8, String> {
    restrict(policy).map_err(|error| format!("Landlock: {error}"))
}

fn restrict(policy: &Policy) -> Result<u8, String> {
    if !policy.masked.is_empty() {
        return Err(format!(
            "could not hide `{}`, because a directory above it is accessible",
            policy.masked[0].display()
        ));
    }
    let read = AccessFs::from_read(NEWEST);
    // Devices could be made by root, and lead around every rule.
    let write = AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let said = |error: landlock::RulesetError| error.to_string();
    let (workspace_read, workspace_written) = match policy.workspace_access {
        WorkspaceAccess::ReadWrite => (None, Some(&policy.workspace)),
        WorkspaceAccess::ReadOnly => (Some(&policy.workspace), None),
    };
    let reading = policy
        .system
        .iter()
        .chain(&policy.machine)
        .chain(&policy.readable)
        .chain(workspace_read);
    let writing = policy
        .writable
        .iter()
        .chain([&policy.tmp, &policy.home])
        .chain(workspace_written);
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(reading, read)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(writing, write)))
        .and_then(|rules| {
            let device = AccessFs::ReadFile | AccessFs::WriteFile;
            rules.add_rules(path_beneath_rules(&policy.devices, device))
        })
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(said)?;
    let LandlockStatus::Available { effective_abi, .. } = status.landlock else {
        return Err("the kernel does not support it".to_owned());
    };
    let version = version(effective_abi);
    if status.ruleset == RulesetStatus::NotEnforced || version < OLDEST {
        return Err(format!(
            "the kernel's version {version} of the interface is too old; {OLDEST} is needed"
        ));
    }
    Ok(version)
}

fn version(abi: ABI) -> u8 {
    u8::try_from(abi as i64).unwrap_or(0)
}
