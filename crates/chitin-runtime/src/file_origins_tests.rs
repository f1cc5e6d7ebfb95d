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

#[expect(clippy::disallowed_methods, reason = "the owner's shell")]
fn rename(env: &TestEnv, from: &str, to: &str) {
    let at = env.workspace();
    std::fs::rename(at.join(from), at.join(to)).unwrap();
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
    // The names are as they were, until the owner renames or removes what has them.
    let named = origins.any().unwrap().to_string();
    assert!(
        named.contains("empty.txt") || named.contains("`notes`"),
        "{named}"
    );
    env.remove("workspace/empty.txt");
    rename(&env, "notes", "kept");
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
    // The command named `deep`, and the owner gave `b` to what holds it.
    let named = origins.any().unwrap().to_string();
    assert!(named.contains("b/deep"), "{named}");
    rename(&env, "b/deep", "b/kept");
    assert_eq!(origins.any(), None);
}

fn named(origins: &WorkspaceFileOrigins, at: &str, shown: &[&str]) -> Option<String> {
    let shown: Vec<PathBuf> = shown.iter().map(PathBuf::from).collect();
    let found = origins.name(&origins.workspace.join(at), &shown);
    found.map(|origin| origin.to_string())
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what a command does")]
fn a_name_counts_wherever_it_goes_and_only_if_it_is_new() {
    let env = TestEnv::new();
    env.files([("old/own.md", "owner"), ("changed/own.md", "owner")]);
    let origins = origins(&env);
    origins.remember();
    let (at, since) = (env.workspace(), origins.moment());
    std::fs::create_dir_all(at.join("new/Obey")).unwrap();
    std::os::unix::fs::symlink("own.md", at.join("new/Heed")).unwrap();
    env.file("workspace/changed/Follow", "");
    env.file("workspace/top", "");
    origins.record(since, OwnFiles::TakenDown).unwrap();
    for (at, shown) in [
        ("", ["new"].as_slice()),
        ("", &["old", "top"]),
        ("", &["old/own.md", "new/Obey/x"]),
        ("new", &["Obey"]),
        ("new", &["Heed"]),
        ("changed", &["own.md", "Follow"]),
    ] {
        assert!(named(&origins, at, shown).is_some(), "{at} {shown:?}");
    }
    // A directory that only got something new has its old name.
    for (at, shown) in [
        ("", ["old", "changed"].as_slice()),
        ("", &["old/own.md", "changed/own.md"]),
        ("new", &["Absent"]),
        ("", &[]),
    ] {
        assert_eq!(named(&origins, at, shown), None, "{at} {shown:?}");
    }
    // Directories above it and hard links change nothing; another name does.
    rename(&env, "new", "old/moved");
    assert!(named(&origins, "old/moved", &["Obey"]).is_some());
    assert!(named(&origins, "old/moved", &["Heed"]).is_some());
    assert_eq!(named(&origins, "old", &["moved"]), None);
    rename(&env, "old/moved/Obey", "old/moved/Kept");
    assert_eq!(named(&origins, "old/moved", &["Kept"]), None);
    // Another process knows as much.
    let again = self::origins(&env);
    assert!(named(&again, "changed", &["Follow"]).is_some());
    assert!(again.any().is_some());
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
