//! Who may change what the agent is told.

use super::finding::{Draft, Findings, Fix};
use super::rules;

/// Reports a file or directory that others may write.
pub(crate) fn check(path: &str, mode: u32, findings: &mut Findings) {
    let what = if path == "." {
        "the directory"
    } else {
        "the file"
    };
    // The sticky bit lets people add entries, not change those of others; it does not help a workspace.
    if mode & 0o002 != 0 {
        let message = format!(
            "Everyone can write to {what} (mode `{:04o}`).",
            mode & 0o7777
        );
        let draft = Draft::new(&rules::OTHERS_WRITE, message)
            .fix(Fix::RemovePermissions { bits: mode & 0o022 });
        findings.about(path, draft);
    } else if mode & 0o020 != 0 {
        let message = format!(
            "The group can write to {what} (mode `{:04o}`).",
            mode & 0o7777
        );
        let draft =
            Draft::new(&rules::GROUP_WRITES, message).fix(Fix::RemovePermissions { bits: 0o020 });
        findings.about(path, draft);
    }
}
