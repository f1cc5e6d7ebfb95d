//! Whose words a turn follows, which other texts it holds, and what its tools may do for that.

use crate::untrusted::Untrusted;
use chitin_protocol::guarded_paths::{GUARDED_PATHS, guarded};
use std::ffi::OsStr;
use std::path::{Component, Path};

/// What the tools of a turn may do. The default is a turn of the owner.
#[derive(Debug, Clone, Default)]
pub struct Rights {
    /// Set in a turn that a guest's message started.
    pub guest: Option<GuestRights>,
    /// The text in it that is not the owner's.
    pub untrusted: Untrusted,
}

/// What the owner opened to guests. By default nothing: their turns read files of the workspace and answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct GuestRights {
    /// The owner's memory: `MEMORY.md`, `USER.md`, `memory/` and what `memory_search` finds.
    pub memory: bool,
    /// Writing files that the agent is not made of.
    pub writes: bool,
    /// Messages to other places than the one that the guest wrote in.
    pub messages: bool,
}

/// Configuration, wherever it lies.
const SETTINGS: &str = "openclaw.json";

/// The owner's memory.
const MEMORY: [&str; 3] = ["memory.md", "user.md", "memory"];

/// Hidden names that hold nothing that is anybody's.
const PLAIN_HIDDEN: [&str; 2] = [".gitignore", ".ignore"];

/// Hidden directories in which skills are found, too.
const HIDDEN_SKILLS: [&str; 2] = [".agents", ".claude"];

/// Directories whose files agents are made of.
pub const OWN_DIRECTORIES: [&str; 2] = ["skills", "memory"];

impl Rights {
    /// Returns the names that are closed to the turn's tools, wherever beneath a root they stand.
    pub fn closed_names(&self) -> Option<fn(&OsStr) -> bool> {
        self.guest.map(|guest| {
            if guest.memory {
                is_closed_to_guests
            } else {
                is_closed_or_memory
            }
        })
    }
}

/// The names by which memory is found in the root of a workspace. Where they are links, what they lead to is memory as well.
pub const MEMORY_NAMES: [&str; 4] = ["MEMORY.md", "memory.md", "USER.md", "memory"];

fn is_closed_to_guests(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_lowercase();
    // Keys, other people's settings and histories have hidden names.
    (name.starts_with('.') && !PLAIN_HIDDEN.contains(&name.as_str()))
        || name == SETTINGS
        || GUARDED_PATHS
            .iter()
            .any(|guarded| guarded.name.eq_ignore_ascii_case(&name))
}

fn is_closed_or_memory(name: &OsStr) -> bool {
    is_closed_to_guests(name) || is_memory(name)
}

fn is_memory(name: &OsStr) -> bool {
    MEMORY.contains(&name.to_string_lossy().to_lowercase().as_str())
}

/// Tells whether a path beneath the workspace is one that the agent may be made of: its own Markdown files, skills and memory; or
/// that limits it.
pub fn is_of_the_agent(path: &Path) -> bool {
    let name = |component: Option<Component<'_>>| {
        let name =
            component.map(|component| component.as_os_str().to_string_lossy().to_lowercase());
        name.unwrap_or_default()
    };
    let mut components = path.components();
    let first = name(components.next());
    if guarded(&path.to_string_lossy()).is_some() {
        return true;
    }
    match components.next() {
        None => first.is_empty() || first.ends_with(".md"),
        Some(_) => OWN_DIRECTORIES.contains(&first.as_str()),
    }
}

/// Tells whether a path beneath the workspace is one that the agent is made of, and no note of a day: those it writes by itself.
pub fn needs_owner(path: &Path) -> bool {
    let mut components = path.components();
    let first = components.next().map(Component::as_os_str);
    let first = first.unwrap_or_default().to_string_lossy().to_lowercase();
    let is_note = first == "memory" && components.next().is_some();
    HIDDEN_SKILLS.contains(&first.as_str()) || (is_of_the_agent(path) && !is_note)
}
