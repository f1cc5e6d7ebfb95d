//! The environment of a command: built from a list of what is harmless, never inherited.

use super::config::SandboxConfig;
use super::fs;
use super::level::SandboxLevel;
use super::policy::{INNER_HOME, INNER_TMP, Policy};
use std::collections::BTreeMap;
use std::path::Path;

/// What is passed on as it is.
const HARMLESS: [&str; 8] = [
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "TZ",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
];

/// Where programs are looked for when nothing says it.
pub(super) const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/// Returns what commands get whatever the level is.
pub(super) fn base(config: &SandboxConfig) -> BTreeMap<String, String> {
    config
        .environment
        .iter()
        .filter(|(name, _)| {
            HARMLESS.contains(&name.as_str())
                || name.starts_with("LC_")
                || config.pass_env.contains(name)
        })
        .filter(|(name, value)| is_sound(name) && !value.contains('\0'))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Returns the directories to look for programs in. What a command can't read is left out: a shell that finds a program
/// there by name would stop at it instead of looking further.
pub(super) fn path(config: &SandboxConfig, policy: &Policy, level: SandboxLevel) -> String {
    let wanted = config
        .environment
        .get("PATH")
        .map_or(USUAL_PATH, String::as_str);
    let prepended = config.path_prepend.iter().filter_map(|path| path.to_str());
    let kept: Vec<_> = prepended
        .chain(wanted.split(':'))
        .filter(|entry| {
            let entry = Path::new(entry);
            entry.is_absolute()
                && (level == SandboxLevel::None
                    || fs::resolved(entry).is_ok_and(|found| policy.reads(&found)))
        })
        .collect();
    if kept.is_empty() {
        USUAL_PATH.to_owned()
    } else {
        kept.join(":")
    }
}

/// Adds what depends on the level, and what the call asks for.
pub(super) fn complete(
    mut environment: BTreeMap<String, String>,
    policy: &Policy,
    level: SandboxLevel,
    path: &str,
    extra: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let (tmp, home) = match level {
        SandboxLevel::Bwrap => (INNER_TMP.to_owned(), INNER_HOME.to_owned()),
        SandboxLevel::Landlock | SandboxLevel::None => (
            policy.tmp.to_string_lossy().into_owned(),
            policy.home.to_string_lossy().into_owned(),
        ),
    };
    environment.insert("PATH".to_owned(), path.to_owned());
    // These are there already when the settings pass them on by name.
    for (name, value) in [
        ("HOME", home),
        ("TMPDIR", tmp),
        ("SHELL", "/bin/sh".to_owned()),
    ] {
        environment.entry(name.to_owned()).or_insert(value);
    }
    let sound = extra
        .iter()
        .filter(|(name, value)| is_sound(name) && !value.contains('\0'));
    environment.extend(sound.map(|(name, value)| (name.clone(), value.clone())));
    environment
}

/// Says whether a variable decides which code a program loads. Such ones are not taken from a model outside a sandbox.
pub fn is_loader_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    matches!(
        name.as_str(),
        "PATH" | "ENV" | "BASH_ENV" | "SHELLOPTS" | "IFS" | "PS4"
    ) || name.starts_with("LD_")
        || name.starts_with("DYLD_")
}

fn is_sound(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}
