//! Names: two memories, other letters, wrong folders, files that a contract does not load.

use super::finding::{Draft, Findings};
use super::rules;
use chitin_contract::{Contract, LowerMemory};

/// The names that some contract loads from the top of a workspace.
pub(crate) const BOOTSTRAP_NAMES: &[&str] = &[
    "AGENTS.md",
    "SOUL.md",
    "TOOLS.md",
    "IDENTITY.md",
    "USER.md",
    "HEARTBEAT.md",
    "BOOTSTRAP.md",
    "MEMORY.md",
];

/// The names of extension files.
pub(crate) const EXTENSION_NAMES: &[&str] = &[
    "CHANNELS.md",
    "MCP.md",
    "RUNTIME.md",
    "PERMISSIONS.md",
    "SKILLS.md",
];

/// Tells whether some contract loads a file of that name.
pub(crate) fn is_known(name: &str) -> bool {
    BOOTSTRAP_NAMES.contains(&name)
}

/// Reports names of a listing, relative to the workspace, that are not what they seem.
pub(crate) fn check(contract: &Contract, paths: &[String], findings: &mut Findings) {
    let has = |name: &str| paths.iter().any(|path| path == name);
    for path in paths {
        match path.rsplit_once('/') {
            None => top_level(contract, path, &has, findings),
            Some((folder, name)) => nested(path, folder, name, findings),
        }
    }
}

fn top_level(
    contract: &Contract,
    name: &str,
    has: &impl Fn(&str) -> bool,
    findings: &mut Findings,
) {
    if is_known(name) {
        let loaded = contract.loading.files.iter().any(|file| file.name == name);
        if !loaded {
            let message = format!("`{name}` is not loaded under `{}`.", contract.name);
            findings.about(name, Draft::new(&rules::NOT_LOADED, message));
        }
        return;
    }
    if name == "memory.md" && has("MEMORY.md") {
        let message = match contract.loading.lower_memory {
            LowerMemory::Ignored => {
                format!(
                    "`memory.md` exists beside `MEMORY.md`; `{}` ignores it.",
                    contract.name
                )
            }
            LowerMemory::UnlessSamePath | LowerMemory::UnlessSameFile => {
                format!(
                    "`memory.md` exists beside `MEMORY.md`; `{}` loads both.",
                    contract.name
                )
            }
        };
        findings.about(name, Draft::new(&rules::TWO_MEMORIES, message));
        return;
    }
    if name == "memory.md" && contract.loading.lower_memory != LowerMemory::Ignored {
        return;
    }
    let meant = BOOTSTRAP_NAMES
        .iter()
        .chain(EXTENSION_NAMES)
        .find(|known| known.eq_ignore_ascii_case(name) && **known != name);
    if let Some(meant) = meant {
        let message = format!("`{name}` is not loaded; the exact name is `{meant}`.");
        let remedy = if has(meant) {
            format!("Move what matters into `{meant}` and delete this file.")
        } else {
            format!("Rename it to `{meant}`.")
        };
        findings.about(
            name,
            Draft::new(&rules::CASE_VARIANT, message).remedy(remedy),
        );
    }
}

fn nested(path: &str, folder: &str, name: &str, findings: &mut Findings) {
    // Other tools read an AGENTS.md in any folder, and skills bring files of their own.
    let elsewhere = name == "AGENTS.md" || folder == "skills" || folder.starts_with("skills/");
    if is_known(name) && !elsewhere && !folder.starts_with('.') {
        let message = format!("`{name}` in `{folder}` is not loaded by itself.");
        findings.about(path, Draft::new(&rules::MISPLACED, message));
    }
}
