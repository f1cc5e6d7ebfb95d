//! What no artifact may write, whatever it holds: settings, credentials and state of a runtime, and repositories.

use chitin_protocol::guarded_paths;

/// Tells whether a path belongs to the runtime. Spelling in another case does not help: not every file system minds.
pub(crate) fn is_forbidden(path: &str) -> bool {
    let path = path.to_lowercase();
    // Hooks in a repository are run by whoever works in it.
    if path.split('/').any(guarded_paths::is_git) {
        return true;
    }
    let mut parts = path.split('/');
    let first = parts.next().unwrap_or_default();
    match first {
        "openclaw.json" | "credentials" | "sessions" | ".openclaw" => true,
        "agents" => parts.any(|part| part == "sessions"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_forbidden;

    #[test]
    fn settings_credentials_and_state_are_out_of_reach() {
        for path in [
            "openclaw.json",
            "OpenClaw.JSON",
            "credentials/a",
            "agents/main/sessions/x.jsonl",
            "agents/a/b/Sessions",
            "sessions/x",
            ".openclaw/workspace-state.json",
            "skills/a/.git/hooks/post-checkout",
            ".Git/config",
            ".git",
            "skills/a/.git./config",
            ".git /hooks/pre-commit",
            "GIT~1/config",
            ".git::$INDEX_ALLOCATION/config",
            ".g\u{200d}it/config",
        ] {
            assert!(is_forbidden(path), "{path}");
        }
        for path in [
            "AGENTS.md",
            "skills/sessions/SKILL.md",
            "agents/main.md",
            "memory/credentials",
            ".gitignore",
            "docs/git/notes.md",
        ] {
            assert!(!is_forbidden(path), "{path}");
        }
    }
}
