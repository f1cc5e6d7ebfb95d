//! The state of the files that a contract loads: refused, oversize, missing.

use super::ClaimedBy;
use super::finding::{Draft, Findings};
use super::rules;
use chitin_contract::{Absent, Contract};
use chitin_protocol::record::FileRefusal;
use chitin_workspace::adapter::{NATIVE_NAME, NATIVE_RULES_FILE};
use chitin_workspace::snapshot::{RecordState, Workspace};

/// Reports files that gave no text, or not all of it.
pub(crate) fn check(
    workspace: &Workspace,
    claimed: Option<ClaimedBy<'_>>,
    findings: &mut Findings,
) {
    if !workspace.exists() {
        let message = format!("`{}` does not exist.", workspace.path().display());
        findings.about(".", Draft::new(&rules::NO_DIRECTORY, message));
        return;
    }
    for record in workspace.records() {
        let path = super::relative(workspace, &record.path, &record.name);
        match &record.state {
            RecordState::Present(content) => {
                if let Some(oversize) = content.oversize {
                    let message = format!(
                        "`{}` has {} bytes, of which {} were read.",
                        record.name, oversize.size, oversize.kept
                    );
                    findings.about(&path, Draft::new(&rules::OVERSIZE, message));
                }
            }
            RecordState::Missing => missing(workspace.contract(), &record.name, &path, findings),
            RecordState::Refused(reason) => refused(&record.name, *reason, &path, findings),
        }
    }
    let has_rules = workspace.record("AGENTS.md").is_some();
    match claimed {
        Some(claimed) => other_adapter(claimed, has_rules, findings),
        // A contract that keeps silent about absent files still needs this one to be a workspace at all.
        None if !has_rules => no_agents(findings),
        None => {}
    }
}

/// Says who reads the directory; what such an adapter does without is not missing.
fn other_adapter(claimed: ClaimedBy<'_>, has_rules: bool, findings: &mut Findings) {
    let adapter = claimed.adapter;
    if adapter != NATIVE_NAME {
        let message = format!(
            "The adapter `{adapter}` reads this directory; its result is checked under `{adapter}:NAME`."
        );
        findings.about(".", Draft::new(&rules::OTHER_ADAPTER, message));
    } else if has_rules {
        let message = format!(
            "The adapter `{adapter}` reads this directory: `{NATIVE_RULES_FILE}` contains the operating rules."
        );
        findings.about(
            NATIVE_RULES_FILE,
            Draft::new(&rules::OTHER_ADAPTER, message),
        );
    } else {
        let message = format!(
            "There is neither an `AGENTS.md` nor a `{NATIVE_RULES_FILE}`; the agent has no operating rules."
        );
        findings.about(".", Draft::new(&rules::NO_AGENTS, message));
    }
    for note in claimed.notes {
        findings.about(".", Draft::new(&rules::OTHER_ADAPTER, note.clone()));
    }
}

fn no_agents(findings: &mut Findings) {
    let message = "Without `AGENTS.md` the directory is not recognised as an OpenClaw workspace.";
    findings.about("AGENTS.md", Draft::new(&rules::NO_AGENTS, message));
}

fn missing(contract: &Contract, name: &str, path: &str, findings: &mut Findings) {
    if name == "AGENTS.md" {
        no_agents(findings);
        return;
    }
    // A bootstrap file deletes itself when it has done its work, and a heartbeat is for those who want one.
    let optional = matches!(name, "BOOTSTRAP.md" | "HEARTBEAT.md" | "MEMORY.md");
    let expected = contract
        .loading
        .files
        .iter()
        .any(|file| file.name == name && file.absent == Absent::Record);
    if expected && !optional {
        let message = format!("`{name}` is missing; the model is told so.");
        findings.about(path, Draft::new(&rules::MISSING, message));
    }
}

fn refused(name: &str, reason: FileRefusal, path: &str, findings: &mut Findings) {
    let remedy = match reason {
        FileRefusal::OutsideRoot => {
            "Copy the file into the workspace, or trust its directory in `chitin.json5`: `links: { trustedRoots: [..] }`."
        }
        FileRefusal::Dangling => "Fix or delete the link.",
        FileRefusal::Loop => "Replace the link by a plain file.",
        FileRefusal::NotAFile => "Replace the directory, pipe or device by a plain file.",
        FileRefusal::Hardlinked => {
            "Make it a file of its own: copy it, delete the original name, rename the copy."
        }
        FileRefusal::LinkNotAllowed => {
            "Replace the link by a copy of its target, or check under a contract that follows links."
        }
        FileRefusal::TooLarge => {
            "Split the file, or move rarely needed text into files that are read on demand."
        }
        FileRefusal::Unstable => "Run the check again when nothing writes to the workspace.",
        FileRefusal::Unreadable => {
            let message = format!("`{name}` cannot be read by this user.");
            findings.about(path, Draft::new(&rules::UNREADABLE, message));
            return;
        }
    };
    let what = reason.meaning();
    let message = format!("`{name}` is refused ({reason}): {what}.");
    findings.about(path, Draft::new(&rules::REFUSED, message).remedy(remedy));
}
