use super::WorkspaceFileOrigins;
use chitin_protocol::origin::FileOrigin;
use chitin_test::TestEnv;
use chitin_tools::untrusted::{FileOrigins, OwnFiles};
use std::path::PathBuf;

fn origins(env: &TestEnv) -> WorkspaceFileOrigins {
    WorkspaceFileOrigins::of(&env.home(), &env.workspace(), Vec::new())
}

fn why(origins: &WorkspaceFileOrigins, path: &str) -> Option<FileOrigin> {
    origins.of(&origins.workspace.join(path))
}

#[expect(clippy::disallowed_methods, reason = "the owner's editor")]
fn edit(path: PathBuf, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[test]
fn nothing_is_made_where_nothing_was_written() {
    let env = TestEnv::new();
    env.file("workspace/notes/old.md", "owner");
    let origins = origins(&env);
    assert_eq!(why(&origins, "notes/old.md"), None);
    assert_eq!(origins.any(), None);
    // Only what changed since counts.
    origins
        .record(origins.moment() + 1_000_000_000, OwnFiles::Approved)
        .unwrap();
    assert!(origins.notes().unwrap().is_none());
}

#[test]
fn what_was_written_counts_under_every_name_until_the_owner_edits_it() {
    let env = TestEnv::new();
    let origins = origins(&env);
    let since = origins.moment();
    env.file("workspace/notes/page.md", "a page");
    env.file("workspace/AGENTS.md", "rules");
    env.file("workspace/memory/2026-08-01.md", "- from a page");
    env.file("workspace/empty.txt", "");
    origins.record(since, OwnFiles::Approved).unwrap();
    assert_eq!(why(&origins, "notes/page.md"), Some(FileOrigin::Written));
    assert_eq!(
        why(&origins, "memory/2026-08-01.md"),
        Some(FileOrigin::Written)
    );
    assert_eq!(why(&origins, "AGENTS.md"), None);
    assert_eq!(why(&origins, "empty.txt"), None);
    assert!(origins.any().is_some());
    env.file("workspace/notes/copy.md", "a page");
    assert_eq!(why(&origins, "notes/copy.md"), Some(FileOrigin::Written));

    for path in ["notes/page.md", "notes/copy.md", "memory/2026-08-01.md"] {
        edit(env.workspace().join(path), "the owner's words");
        assert_eq!(why(&origins, path), None, "{path}");
    }
    assert_eq!(origins.any(), None);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what a command does")]
fn a_directory_that_a_command_renames_takes_its_files_along() {
    let env = TestEnv::new();
    let origins = origins(&env);
    let since = origins.moment();
    env.file("workspace/a/deep/page.md", "a page");
    origins.record(since, OwnFiles::Approved).unwrap();
    let at = env.workspace();
    std::fs::rename(at.join("a"), at.join("b")).unwrap();
    env.file("workspace/b/deep/own.md", "owner");
    let named = origins.any().unwrap().to_string();
    assert!(named.contains("b/deep/page.md"), "{named}");
    assert_eq!(why(&origins, "b/deep/page.md"), Some(FileOrigin::Written));
    env.remove("workspace/b/deep/page.md");
    assert_eq!(origins.any(), None);
}

#[test]
fn with_too_many_files_all_count() {
    let env = TestEnv::new();
    env.file("workspace/notes/own.md", "owner");
    let origins = origins(&env);
    origins.count_all().unwrap();
    assert_eq!(why(&origins, "notes/own.md"), Some(FileOrigin::Written));
    assert!(origins.any().is_some());
    assert_eq!(why(&origins, "SOUL.md"), None);
}

#[test]
fn what_cannot_be_noted_makes_all_count() {
    let env = TestEnv::new();
    env.file("home/origins", "not a directory");
    let origins = WorkspaceFileOrigins::of(&env.home(), &env.workspace(), Vec::new());
    let since = origins.moment();
    env.file("workspace/notes/page.md", "a page");
    assert!(origins.record(since, OwnFiles::Approved).is_err());
    assert_eq!(why(&origins, "notes/page.md"), Some(FileOrigin::Written));
    assert!(origins.any().is_some());
}
