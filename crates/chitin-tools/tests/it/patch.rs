//! Patches: read in both formats, put where they belong, all or nothing.
#![expect(
    clippy::disallowed_methods,
    reason = "files are made and looked at by hand"
)]

use crate::kit::{call, done, failed};
use chitin_test::TestEnv;
use chitin_tools::files::{ApplyPatchTool, FileOptions, apply_hunks, parse_patch};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

fn patch(env: &TestEnv, body: &str) -> chitin_tools::ToolOutcome {
    let input = format!("*** Begin Patch\n{body}\n*** End Patch");
    call(
        env,
        &ApplyPatchTool::new(Arc::new(FileOptions::default())),
        json!({ "input": input }),
    )
}

fn diff(env: &TestEnv, input: &str) -> chitin_tools::ToolOutcome {
    call(
        env,
        &ApplyPatchTool::new(Arc::new(FileOptions::default())),
        json!({ "input": input }),
    )
}

fn content(env: &TestEnv, path: &str) -> String {
    fs::read_to_string(env.workspace().join(path)).unwrap()
}

/// Every file of the workspace with what it holds.
fn tree(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut directories = vec![directory.to_path_buf()];
    while let Some(at) = directories.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(directory).unwrap().display().to_string();
            if path.is_dir() {
                files.insert(name + "/", Vec::new());
                directories.push(path);
            } else {
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    files
}

#[test]
fn files_are_added_changed_moved_and_deleted_at_once() {
    let env = TestEnv::new();
    env.files([
        ("a.py", "def f():\n    return 1\n\ndef g():\n    return 1\n"),
        ("old.txt", "x\ny\nz"),
        ("gone.md", "bye\n"),
    ]);
    fs::set_permissions(
        env.workspace().join("old.txt"),
        fs::Permissions::from_mode(0o750),
    )
    .unwrap();
    let outcome = patch(
        &env,
        "*** Add File: new/deep.md\n+# New\n+\n*** Update File: a.py\n@@ def g():\n-    return 1\n+    return 2\n\n*** Update File: old.txt\n*** Move to: moved/new.txt\n@@\n y\n-z\n+Z\n*** End of File\n*** Delete File: gone.md",
    );
    assert_eq!(
        done(&outcome),
        "Added `new/deep.md`.\nUpdated `a.py`.\nUpdated `old.txt` and moved it to `moved/new.txt`.\nDeleted `gone.md`."
    );
    assert_eq!(content(&env, "new/deep.md"), "# New\n\n");
    assert_eq!(
        content(&env, "a.py"),
        "def f():\n    return 1\n\ndef g():\n    return 2\n"
    );
    // The last line had no end, and has none now.
    assert_eq!(content(&env, "moved/new.txt"), "x\ny\nZ");
    let mode = fs::metadata(env.workspace().join("moved/new.txt"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777 & 0o700, 0o700);
    assert_eq!(
        tree(&env.workspace()).into_keys().collect::<Vec<_>>(),
        ["a.py", "moved/", "moved/new.txt", "new/", "new/deep.md"]
    );
}

#[test]
fn when_one_part_does_not_fit_nothing_happens() {
    let env = TestEnv::new();
    env.files([("a.md", "a\n"), ("b.md", "b\n")]);
    let before = tree(&env.workspace());
    for (bad, told) in [
        (
            "*** Update File: b.md\n@@\n-nothing like it\n+x",
            "its lines are not in the file; the first that differs is `nothing like it`",
        ),
        (
            "*** Update File: none.md\n@@\n-a\n+b",
            "`none.md` does not exist",
        ),
        ("*** Add File: b.md\n+x", "already exists"),
        ("*** Delete File: none.md", "`none.md` does not exist"),
        (
            "*** Update File: b.md\n*** Move to: a.md\n@@\n-b\n+c",
            "`a.md` already exists",
        ),
        (
            "*** Update File: b.md\n@@ no such line\n-b\n+c",
            "there is no line `no such line`",
        ),
        ("*** Update File: b.md\n@@\n b", "it changes nothing"),
        (
            "*** Update File: b.md\n*** Move to: ../out.md\n@@\n-b\n+c",
            "outside the workspace",
        ),
        (
            "*** Delete File: b.md\n*** Update File: b.md\n@@\n-b\n+c",
            "an earlier part of the patch deleted or moved",
        ),
        ("*** Add File: b.md/below\n+x", "`b.md` is not a directory"),
        ("what is this", "could not parse line 6 of the patch"),
    ] {
        let body = format!("*** Add File: made/x.md\n+x\n*** Update File: a.md\n@@\n-a\n+A\n{bad}");
        let outcome = failed(&patch(
            &env,
            &body.replace("what is this", "*** Frobnicate"),
        ));
        let told = told.replace(
            "could not parse line 6 of the patch",
            "a line of a change starts with",
        );
        assert!(outcome.contains(&told), "{bad}: {outcome}");
        assert_eq!(tree(&env.workspace()), before, "{bad}");
    }
}

#[test]
fn a_change_that_fails_at_the_disk_is_taken_back() {
    use chitin_guard::{Expected, ReadPolicy, Root, commit_all};
    let env = TestEnv::new();
    env.files([("a.md", "a\n"), ("b.md", "b\n"), ("c.md", "c\n")]);
    let before = tree(&env.workspace());
    let root = Root::open(&env.workspace()).unwrap();
    let seen = |name: &str| {
        root.read(Path::new(name), &ReadPolicy::inside(100))
            .unwrap()
            .fingerprint
    };
    let changes = vec![
        root.prepare_write(
            Path::new("a.md"),
            b"A",
            Expected::Unchanged(seen("a.md")),
            0o644,
        )
        .unwrap(),
        root.prepare_remove(Path::new("b.md"), seen("b.md"))
            .unwrap(),
        root.prepare_write(Path::new("new.md"), b"N", Expected::Absent, 0o644)
            .unwrap(),
        // Somebody was faster: the name is taken.
        root.prepare_write(Path::new("c.md"), b"C", Expected::Absent, 0o644)
            .unwrap(),
        root.prepare_write(Path::new("later.md"), b"L", Expected::Absent, 0o644)
            .unwrap(),
    ];
    let error = commit_all(changes).unwrap_err();
    assert_eq!(error.path(), env.workspace().join("c.md"));
    assert_eq!(tree(&env.workspace()), before);
}

#[test]
fn one_file_may_be_named_twice() {
    let env = TestEnv::new();
    env.file("workspace/a.md", "one\ntwo\n");
    done(&patch(
        &env,
        "*** Update File: a.md\n@@\n-one\n+1\n*** Update File: ./a.md\n@@\n 1\n-two\n+2",
    ));
    assert_eq!(content(&env, "a.md"), "1\n2\n");
    done(&patch(
        &env,
        "*** Delete File: a.md\n*** Add File: a.md\n+fresh",
    ));
    assert_eq!(content(&env, "a.md"), "fresh\n");
}

#[test]
fn line_ends_and_blanks_of_the_file_stay() {
    let apply = |original: &[u8], body: &str| {
        let changes = parse_patch(&format!(
            "*** Begin Patch\n*** Update File: x\n{body}\n*** End Patch"
        ))
        .unwrap();
        let chitin_tools::files::PatchedFile::Update { hunks, .. } = &changes[0] else {
            unreachable!()
        };
        apply_hunks(original, hunks)
    };
    assert_eq!(
        apply(b"\xef\xbb\xbfa\r\nb\r\nc\r\n", "@@\n a\n-b\n+B\n+BB").unwrap(),
        b"\xef\xbb\xbfa\r\nB\r\nBB\r\nc\r\n"
    );
    // Blanks differ between patch and file: the file's line stays as it is.
    assert_eq!(
        apply(b"  keep  \nold\n", "@@\n keep\n-old\n+new").unwrap(),
        b"  keep  \nnew\n"
    );
    assert_eq!(apply(b"a\nb", "@@\n b\n+c").unwrap(), b"a\nb\nc");
    assert_eq!(apply(b"", "@@\n+first").unwrap(), b"first\n");
    assert_eq!(
        apply(b"x\nsame\ny\nsame\n", "@@\n-same\n+last\n*** End of File").unwrap(),
        b"x\nsame\ny\nlast\n"
    );
    assert_eq!(
        apply(b"a\nx\nb\nx\n", "@@ b\n-x\n+y").unwrap(),
        b"a\nx\nb\ny\n"
    );
    assert_eq!(
        apply(b"caf\xe9\nb\n", "@@\n-b\n+c").unwrap(),
        b"caf\xe9\nc\n"
    );
}

#[test]
fn unified_diffs_work_too() {
    let env = TestEnv::new();
    env.files([
        ("src/a.rs", "one\ntwo\nthree\nfour\nfive\n"),
        ("gone.md", "bye\n"),
        ("old.md", "x\n"),
    ]);
    let outcome = diff(
        &env,
        "Some words before.\n\ndiff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\t2026-01-01\n+++ b/src/a.rs\n@@ -2,2 +2,3 @@ fn\n two\n-three\n+3\n+3.5\n@@ -5 +6 @@\n-five\n\\ No newline at end of file\n+5\n\\ No newline at end of file\ndiff --git a/gone.md b/gone.md\ndeleted file mode 100644\n--- a/gone.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\ndiff --git a/new.md b/new.md\nnew file mode 100644\n--- /dev/null\n+++ b/new.md\n@@ -0,0 +1,2 @@\n+n1\n+n2\ndiff --git a/old.md b/renamed.md\nsimilarity index 100%\nrename from old.md\nrename to renamed.md\n",
    );
    assert_eq!(
        done(&outcome),
        "Updated `src/a.rs`.\nDeleted `gone.md`.\nAdded `new.md`.\nUpdated `old.md` and moved it to `renamed.md`."
    );
    assert_eq!(content(&env, "src/a.rs"), "one\ntwo\n3\n3.5\nfour\n5");
    assert_eq!(content(&env, "new.md"), "n1\nn2\n");
    assert_eq!(content(&env, "renamed.md"), "x\n");
    assert!(!env.workspace().join("gone.md").exists());
    // Without prefixes, and at another line than it says: the nearest place counts.
    done(&diff(
        &env,
        "--- new.md\n+++ new.md\n@@ -40,1 +40,1 @@\n-n2\n+N2\n",
    ));
    assert_eq!(content(&env, "new.md"), "n1\nN2\n");
    let more = diff(&env, "--- a/new.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-n1\n");
    assert!(failed(&more).contains("has more content than the patch removes"));
}

#[test]
fn what_is_no_patch_is_said() {
    let env = TestEnv::new();
    for (text, told) in [
        ("", "neither a patch"),
        ("hello", "neither a patch"),
        ("*** Begin Patch\n*** Add File: a\n+b", "no `*** End Patch`"),
        ("*** Begin Patch\n*** End Patch", "changes no file"),
        (
            "*** Begin Patch\n*** Add File: a\nb\n*** End Patch",
            "every line of a new file starts with `+`",
        ),
        (
            "*** Begin Patch\nwhat\n*** End Patch",
            "could not parse line 2 of the patch: `what`",
        ),
        (
            "diff --git a/x b/x\nBinary files a/x and b/x differ\n",
            "binary patches are not supported",
        ),
        ("--- a/x\n+++ b/x\n@@ -x +y @@\n", "a hunk starts like"),
    ] {
        let outcome = failed(&diff(&env, text));
        assert!(outcome.contains(told), "{text}: {outcome}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// A diff that another program makes of two texts turns the one into the other.
    #[test]
    fn a_diff_of_two_texts_turns_one_into_the_other(old in "([ab]{0,2}\n){0,12}[ab]?", new in "([ab]{0,2}\n){0,12}[ab]?") {
        prop_assume!(old != new && !old.is_empty() && !new.is_empty());
        let made = similar::TextDiff::from_lines(&old, &new)
            .unified_diff()
            .header("a/x.md", "b/x.md")
            .to_string();
        let env = TestEnv::new();
        env.file("workspace/x.md", &old);
        done(&diff(&env, &made));
        prop_assert_eq!(content(&env, "x.md"), new);
    }

    /// Whatever a patch says, it happens as a whole or the tree is as it was.
    #[test]
    fn a_patch_is_all_or_nothing(
        parts in prop::collection::vec((0_usize..4, "[ab]", "[ab]", "[xyz]"), 1..5),
    ) {
        let env = TestEnv::new();
        env.files([("a", "x\ny\n"), ("b", "y\nz\n")]);
        let before = tree(&env.workspace());
        let body: Vec<String> = parts
            .iter()
            .map(|(kind, file, other, line)| match kind {
                0 => format!("*** Add File: {file}{other}\n+{line}"),
                1 => format!("*** Delete File: {file}"),
                2 => format!("*** Update File: {file}\n@@\n-{line}\n+new"),
                _ => format!("*** Update File: {file}\n*** Move to: {other}{other}\n@@\n-{line}\n+new"),
            })
            .collect();
        let outcome = patch(&env, &body.join("\n"));
        let after = tree(&env.workspace());
        if outcome.is_error {
            prop_assert_eq!(after, before);
        } else {
            prop_assert!(after != before || parts.len() > 1);
            prop_assert!(after.keys().all(|name| !name.ends_with(".tmp")));
        }
    }
}
