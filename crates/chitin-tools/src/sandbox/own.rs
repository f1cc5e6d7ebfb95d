//! Keeps the files that an agent is made of as they are, for a command that untrusted text may have asked for.

use super::config::WorkspaceAccess;
use super::fs;
use super::level::SandboxLevel;
use super::policy::{Guarded, Policy, UNTRUSTED_HOME, UNTRUSTED_TMP};
use crate::rights::needs_owner;
use std::path::Path;

/// The directory of an agent's skills.
const SKILLS: &str = "skills";
/// What agents are made of and need not be there. Other names come into effect only when the owner names them.
const USUAL: [&str; 11] = [
    "AGENTS.md",
    "SOUL.md",
    "TOOLS.md",
    "IDENTITY.md",
    "USER.md",
    "HEARTBEAT.md",
    "BOOTSTRAP.md",
    "MEMORY.md",
    ".agents",
    ".claude",
    SKILLS,
];

impl Policy {
    /// Tells whether the files that the agent is made of can be kept from a command. One that is a link could be changed where it leads.
    pub(super) fn can_keep_own(&self, level: SandboxLevel) -> bool {
        match level {
            SandboxLevel::None => false,
            SandboxLevel::Bwrap | SandboxLevel::Landlock => {
                let mut entries = fs::entries(&self.workspace).into_iter();
                !entries.any(|(name, kind)| is_own(&name) && kind == fs::FsEntry::Link)
            }
        }
    }

    /// Takes other private directories than those of commands that follow only the owner.
    pub(super) fn with_untrusted_private(mut self) -> Self {
        self.tmp.set_file_name(UNTRUSTED_TMP);
        self.home.set_file_name(UNTRUSTED_HOME);
        self
    }

    /// Closes the files that the agent is made of for writing.
    pub(super) fn keeping_own(mut self, level: SandboxLevel) -> Self {
        if self.workspace_access == WorkspaceAccess::ReadOnly {
            return self;
        }
        let entries = fs::entries(&self.workspace);
        match level {
            SandboxLevel::None => {}
            SandboxLevel::Bwrap => {
                let there = entries.iter().map(|(name, _)| name.as_str());
                let own = there.filter(|name| is_own(name)).chain(USUAL);
                for name in own {
                    let path = self.workspace.join(name);
                    if !self.guarded.iter().any(|guarded| guarded.path == path) {
                        self.guarded.push(Guarded {
                            path,
                            git: false,
                            absent_too: true,
                        });
                    }
                }
            }
            // Its rules only ever open, so everything else is opened one by one. Nothing new can be made beside it.
            SandboxLevel::Landlock => {
                self.workspace_access = WorkspaceAccess::ReadOnly;
                let open = entries.into_iter().filter(|(name, kind)| {
                    // What is behind a link is open or not by itself.
                    *kind != fs::FsEntry::Link && !is_own(name)
                });
                let open = open.map(|(name, _)| self.workspace.join(name));
                self.writable.extend(open.collect::<Vec<_>>());
            }
        }
        self
    }
}

/// Tells whether a name in the root of a workspace is one that the agent is made of.
fn is_own(name: &str) -> bool {
    needs_owner(Path::new(name)) || name.eq_ignore_ascii_case(SKILLS)
}
