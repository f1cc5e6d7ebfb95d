//! Files of a workspace that decide what an agent may do, or that another program runs by itself.
//!
//! What is written there has an effect outside of the sandbox: a rule is gone, a program starts when the owner types `git status` or
//! opens an editor. Commands cannot change these files, and file tools need the owner's approval or refuse. This is the one list of
//! them; it looks at names only, never at the disk.

/// What a guarded path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GuardedKind {
    /// A file of the workspace that says what the agent may do and which programs run for it.
    Guardrail,
    /// The settings of Chitin.
    Settings,
    /// What git keeps: settings and hooks are programs that it starts.
    Git,
    /// What an editor or a shell runs when the directory is opened.
    Startup,
}

/// A name that is guarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardedPath {
    /// The name.
    pub name: &'static str,
    /// What it is.
    pub kind: GuardedKind,
    /// Whether it is a directory; all beneath it is guarded too.
    pub directory: bool,
    /// Whether the name counts below the workspace's top, too.
    pub anywhere: bool,
}

/// The name of git's directory, or of the file that leads to it.
pub const GIT: &str = ".git";

/// Everything that is guarded.
pub const GUARDED_PATHS: [GuardedPath; 18] = [
    guardrail("PERMISSIONS.md"),
    guardrail("MCP.md"),
    guardrail("RUNTIME.md"),
    guardrail("CHANNELS.md"),
    guardrail("SKILLS.md"),
    GuardedPath {
        name: "chitin.json5",
        kind: GuardedKind::Settings,
        directory: false,
        anywhere: true,
    },
    GuardedPath {
        name: GIT,
        kind: GuardedKind::Git,
        directory: true,
        anywhere: true,
    },
    startup(".envrc", false),
    startup(".vscode", true),
    startup(".idea", true),
    startup(".zed", true),
    startup(".fleet", true),
    startup(".helix", true),
    startup(".nvim.lua", false),
    startup(".nvimrc", false),
    startup(".exrc", false),
    startup(".vimrc", false),
    startup(".dir-locals.el", false),
];

/// What git runs or follows, beneath [`GIT`]. The rest of it changes with every commit and holds no program.
pub const GIT_PROGRAMS: [&str; 2] = ["config", "hooks"];
/// What leads git to other settings, beneath [`GIT`]. It is not there in an ordinary repository, and git fails on an empty one.
pub const GIT_DETOURS: [&str; 2] = ["commondir", "config.worktree"];

const fn guardrail(name: &'static str) -> GuardedPath {
    GuardedPath {
        name,
        kind: GuardedKind::Guardrail,
        directory: false,
        anywhere: false,
    }
}

const fn startup(name: &'static str, directory: bool) -> GuardedPath {
    GuardedPath {
        name,
        kind: GuardedKind::Startup,
        directory,
        anywhere: true,
    }
}

/// Returns what guards a path beneath the workspace's top, written with `/`. Upper and lower case are the same, because they are
/// to some file systems.
pub fn guarded(path: &str) -> Option<&'static GuardedPath> {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    let last = parts.len().checked_sub(1)?;
    parts.iter().enumerate().find_map(|(at, part)| {
        GUARDED_PATHS.iter().find(|guarded| {
            let named = match guarded.kind {
                GuardedKind::Git => is_git(part),
                GuardedKind::Guardrail | GuardedKind::Settings | GuardedKind::Startup => {
                    plain(part).eq_ignore_ascii_case(guarded.name)
                }
            };
            named && (at == 0 || guarded.anywhere) && (at == last || guarded.directory)
        })
    })
}

/// Tells whether some file system takes a name for [`GIT`]: in any case, with trailing dots and spaces or the name of a stream
/// (NTFS), in short form (`GIT~1`), or with characters in it that HFS+ does not see.
pub fn is_git(name: &str) -> bool {
    let seen: String = name.chars().filter(|c| !is_unseen(*c)).collect();
    let seen = plain(&seen);
    seen.eq_ignore_ascii_case(GIT) || seen.eq_ignore_ascii_case("git~1")
}

/// Takes off what Windows takes off: the name of a stream, and dots and spaces at the end.
fn plain(name: &str) -> &str {
    let name = name.split(':').next().unwrap_or(name);
    name.trim_end_matches(['.', ' '])
}

/// Characters that HFS+ ignores when it compares names.
const fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{200C}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{206A}'..='\u{206F}' | '\u{FEFF}'
    )
}

#[cfg(test)]
mod tests {
    use super::{GuardedKind, guarded, is_git};

    #[test]
    fn what_decides_about_rights_is_guarded_at_the_top_and_what_starts_programs_anywhere() {
        let kind = |path| guarded(path).map(|found| found.kind);
        for path in [
            "PERMISSIONS.md",
            "./permissions.md",
            "MCP.md",
            "RUNTIME.md",
            "CHANNELS.md",
            "SKILLS.md",
        ] {
            assert_eq!(kind(path), Some(GuardedKind::Guardrail), "{path}");
        }
        for path in [
            ".git",
            ".git/config",
            "sub/.GIT/hooks/post-checkout",
            "a/.git./x",
        ] {
            assert_eq!(kind(path), Some(GuardedKind::Git), "{path}");
        }
        for path in [
            ".envrc",
            "sub/.envrc",
            ".vscode/tasks.json",
            ".idea",
            ".nvim.lua",
        ] {
            assert_eq!(kind(path), Some(GuardedKind::Startup), "{path}");
        }
        assert_eq!(kind("chitin.json5"), Some(GuardedKind::Settings));
        for path in [
            "",
            ".",
            "AGENTS.md",
            "docs/PERMISSIONS.md",
            ".gitignore",
            ".github/workflows/x.yml",
            "git",
            ".envrc/x",
            ".envrc.example",
            "notes/git~2",
        ] {
            assert_eq!(kind(path), None, "{path}");
        }
    }

    #[test]
    fn names_that_a_file_system_takes_for_git_are_known() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            ".git.",
            ".git ",
            ".git . .",
            "git~1",
            "GIT~1",
            ".git::$INDEX_ALLOCATION",
            ".git:stream",
            ".g\u{200C}it",
            "\u{FEFF}.git",
        ] {
            assert!(is_git(name), "{name:?}");
        }
        for name in [
            "git",
            ".gitignore",
            ".gitmodules",
            "x.git",
            "repo.git",
            ".gi",
            "git~12",
            "",
        ] {
            assert!(!is_git(name), "{name:?}");
        }
    }
}
