//! Which agent a directory is.
//!
//! The directory is the agent: one that no configuration names has an identity of its own, made of its name and a short
//! hash of its real path, so that its sessions, memory and state are kept apart from every other directory's.

use crate::host::Host;
use crate::setup::Configuration;
use chitin_config::agents;
use chitin_guard::{ReadPolicy, Root};
use chitin_protocol::agent_id::AgentId;
use chitin_workspace::adapter::explicit_name;
use serde::Serialize;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How much of the hash is in an id.
const HASH_CHARS: usize = 8;
/// How much of a directory's name is in an id.
const NAME_CHARS: usize = 40;
/// What an id begins with when nothing of the directory's name can be in it.
const NAMELESS: &str = "agent";

/// How much of `IDENTITY.md` is read for its name.
const MOST_IDENTITY: u64 = 256 * 1024;

/// Why an agent has its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentIdOrigin {
    /// The caller named it.
    Named,
    /// Configuration says which agent lives in the directory, or it is the default agent's.
    Configured,
    /// The directory gives it.
    Directory,
}

/// Returns the agent that lives in a directory: the one that configuration puts there, else one of its own.
pub(crate) fn of_directory(
    directory: &Path,
    configuration: &Configuration,
    host: &Host,
) -> (AgentId, AgentIdOrigin) {
    let real = real_path(directory);
    let (config, contract) = (configuration.value(), configuration.contract);
    let default = agents::default_agent(config, contract).ok();
    let others = agents::roster(config, contract)
        .into_iter()
        .map(|entry| entry.id)
        .chain(configuration.workspaces.keys().cloned());
    // The default agent first: where several agents share a directory, it is the one that is meant.
    let lives_here = |id: &AgentId| {
        configuration
            .workspace_of(id, host)
            .is_ok_and(|(workspace, _)| workspace == directory || real_path(&workspace) == real)
    };
    match default.into_iter().chain(others).find(lives_here) {
        Some(id) => (id, AgentIdOrigin::Configured),
        None => (derived(&real), AgentIdOrigin::Directory),
    }
}

/// Returns what the agent in a directory is called: what `IDENTITY.md` says behind `name:`, else the directory's name (A8).
pub fn name_of_directory(directory: &Path) -> String {
    let identity = Root::open(directory)
        .and_then(|root| root.read(Path::new("IDENTITY.md"), &ReadPolicy::inside(MOST_IDENTITY)));
    let said = identity.ok().and_then(|read| {
        let text = String::from_utf8_lossy(&read.bytes).into_owned();
        explicit_name(&text).map(str::to_owned)
    });
    said.unwrap_or_else(|| {
        let name = directory.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    })
}

/// Makes the id of a directory that no configuration names.
pub(crate) fn derived(real: &Path) -> AgentId {
    let hash = blake3::hash(real.as_os_str().as_bytes());
    let hash = hash.to_hex();
    let hash = &hash[..HASH_CHARS];
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let usable = name.chars().any(|c| c.is_ascii_alphanumeric());
    let name = if usable { &*name } else { NAMELESS };
    let name: String = name.chars().take(NAME_CHARS).collect();
    let name = AgentId::normalize(&name);
    AgentId::normalize(&format!("{name}-{hash}"))
}

/// Returns a directory's path with every link resolved; one that does not exist keeps its own.
pub(crate) fn real_path(directory: &Path) -> PathBuf {
    Root::open(directory).map_or_else(
        |_| directory.to_path_buf(),
        |root| root.real_path().to_path_buf(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_the_name_and_tells_equal_names_apart() {
        let (one, two) = (
            derived(Path::new("/a/Harbor Yard")),
            derived(Path::new("/b/Harbor Yard")),
        );
        assert!(one.as_str().starts_with("harbor-yard-"), "{one}");
        assert_ne!(one, two);
        assert_eq!(one, derived(Path::new("/a/Harbor Yard")));
        assert!(
            derived(Path::new("/a/\u{65e5}\u{672c}"))
                .as_str()
                .starts_with("agent-")
        );
        assert!(derived(Path::new("/")).as_str().starts_with("agent-"));
        assert!(
            derived(Path::new(&format!("/{}", "x".repeat(255))))
                .as_str()
                .len()
                <= 64
        );
    }
}
