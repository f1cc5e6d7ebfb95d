//! Revisions of repositories that mean harm, and what killed processes leave.
#![expect(
    clippy::disallowed_methods,
    reason = "tests build repositories and look at what is left of them"
)]

use super::Revision;
use super::revision_tests::{Repository, below, loaded, text, told};
use super::tree::Tree;
use chitin_contract::CANONICAL;
use chitin_test::needs;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

#[test]
fn a_revision_is_never_an_option() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::with([("AGENTS.md", "x")]);
    let marker = repository.env.path().join("marker");
    for revision in [
        format!("--upload-pack=touch {}", marker.display()),
        "--all".to_owned(),
        "--git-dir".to_owned(),
        "-h".to_owned(),
        format!("--output={}", marker.display()),
        format!("; touch {}", marker.display()),
        format!("$(touch {})", marker.display()),
    ] {
        let said = repository.error(&repository.env.workspace(), &revision);
        assert!(said.contains("is not a git revision"), "{said}");
    }
    assert!(!marker.exists());
}

#[test]
fn nothing_that_a_repository_names_is_run() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::with([
        ("AGENTS.md", "as committed\n"),
        (".gitattributes", "*.md filter=evil diff=evil\n"),
    ]);
    let marker = repository.env.path().join("marker");
    let evil = repository.env.file(
        "evil",
        format!("#!/bin/sh\necho \"$@\" >> {}\ncat\n", marker.display()),
    );
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    let evil = evil.to_string_lossy().into_owned();
    let workspace = repository.env.workspace();
    for hook in [
        "post-checkout",
        "post-index-change",
        "reference-transaction",
    ] {
        let hook = workspace.join(".git/hooks").join(hook);
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::copy(&evil, hook).unwrap();
    }
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.alternateRefsCommand",
        "credential.helper",
        "diff.external",
        "diff.evil.textconv",
        "filter.evil.smudge",
        "filter.evil.process",
        "gpg.program",
        "alias.rev-parse",
        "remote.origin.uploadpack",
    ] {
        repository.git(&["config", key, &evil]);
    }
    // A clone that misses objects would fetch them from a server of its choice.
    repository.git(&["config", "core.repositoryFormatVersion", "1"]);
    repository.git(&["config", "extensions.partialClone", "origin"]);
    repository.git(&["config", "remote.origin.promisor", "true"]);
    repository.git(&["config", "remote.origin.url", &workspace.to_string_lossy()]);
    repository.git(&["config", "protocol.file.allow", "always"]);
    let _ = fs::remove_file(&marker);

    let revision = repository.open("HEAD");
    let then = loaded(&revision, &CANONICAL);
    assert_eq!(text(&then, "AGENTS.md").as_deref(), Some("as committed\n"));
    drop(revision);
    assert!(!marker.exists(), "{}", repository.env.read("marker"));

    let blob = repository.git(&["rev-parse", "HEAD:AGENTS.md"]);
    let _ = fs::remove_file(&marker);
    let object = workspace.join(".git/objects").join(&blob[..2]);
    fs::remove_file(object.join(&blob[2..])).unwrap();
    let error = Revision::open(&repository.host(), &workspace, "HEAD", &[]).unwrap_err();
    insta::assert_snapshot!(told(&error), @r"
    `AGENTS.md` of that revision is not in this clone.
    hint: fetch the revision with its files first
    ");
    assert!(!marker.exists(), "{}", repository.env.read("marker"));
    assert_eq!(repository.cache(), [""; 0].map(PathBuf::from));
}

#[test]
fn a_repository_hidden_among_the_files_of_a_workspace_is_not_used() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::with([("AGENTS.md", "honest")]);
    repository.git(&["clone", "--quiet", "--bare", ".", "inner"]);
    let inner = repository.env.workspace().join("inner");
    let said = repository.error(&inner, "HEAD");
    assert!(said.contains("Could not use the git repository"), "{said}");
}

#[test]
fn odd_names_come_through_as_bytes() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::with([("AGENTS.md", "x")]);
    let workspace = repository.env.workspace();
    let names: [&[u8]; 4] = [
        b"with space.md",
        b"with\nnewline.md",
        b"with\ttab \"quoted\".md",
        b"\xff\xfe.md",
    ];
    for name in names {
        fs::write(workspace.join(OsStr::from_bytes(name)), name).unwrap();
    }
    let skill = workspace.join(OsStr::from_bytes(b"skills/odd \xff\n"));
    fs::create_dir_all(&skill).unwrap();
    fs::write(skill.join("SKILL.md"), "odd").unwrap();
    symlink(OsStr::from_bytes(b"\xff\xfe.md"), workspace.join("SOUL.md")).unwrap();
    repository.commit();
    let revision = repository.open("HEAD");
    for name in names {
        let copied = fs::read(revision.copy.root.join(OsStr::from_bytes(name))).unwrap();
        assert_eq!(copied, name);
    }
    let skill = OsStr::from_bytes(b"skills/odd \xff\n/SKILL.md");
    assert_eq!(fs::read(revision.copy.root.join(skill)).unwrap(), b"odd");
    let soul = loaded(&revision, &CANONICAL);
    let soul = soul.record("SOUL.md").unwrap().content().unwrap();
    assert_eq!(soul.invalid.as_deref(), Some(&b"\xff\xfe.md"[..]));
}

#[test]
fn submodules_and_paths_of_forged_commits_are_left_out_and_said() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::with([("AGENTS.md", "x")]);
    let head = repository.git(&["rev-parse", "HEAD"]);
    let entry = format!("160000,{head},vendor/library");
    repository.git(&["update-index", "--add", "--cacheinfo", &entry]);
    repository.git(&["commit", "--quiet", "--message=vendor"]);
    let revision = repository.open("HEAD");
    assert_eq!(
        revision.copy.notes,
        ["Submodules of the revision are not included: `vendor/library`."]
    );

    // Lines as a forged tree would give them.
    let mut tree = Tree::default();
    let id = "0123456789012345678901234567890123456789";
    for path in ["../AGENTS.md", "/AGENTS.md", "a/../../AGENTS.md", ""] {
        let line = format!("100644 blob {id}       1\t{path}");
        tree.add(line.as_bytes()).unwrap();
    }
    assert_eq!((tree.crooked, tree.paths().count()), (4, 0));
    for line in ["", "\t", "100644 blob\tx", "40000 tree 0 -\tx"] {
        assert!(tree.add(line.as_bytes()).is_err(), "{line:?}");
    }
}

#[test]
fn a_forged_commit_writes_nothing_outside_its_place() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::with([("x/SKILL.md", "y"), ("target", "../../../home")]);
    // A link and a directory of one name: whoever wrote the link first would write the file through it.
    let raw = |id: &str| -> Vec<u8> {
        let digits = id.as_bytes().chunks(2);
        digits
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    };
    let id = |path: &str| raw(&repository.git(&["rev-parse", &format!("HEAD:{path}")]));
    let mut forged = Vec::new();
    for (entry, id) in [
        (&b"100644 ..\0"[..], id("target")),
        (b"120000 skills\0", id("target")),
        (b"40000 skills\0", id("")),
    ] {
        forged.extend_from_slice(entry);
        forged.extend(id);
    }
    let file = repository.env.file("forged", forged);
    let file = file.to_string_lossy();
    let tree = repository.git(&["hash-object", "-t", "tree", "--literally", "-w", &file]);
    let commit = repository.git(&["commit-tree", &tree, "-m", "forged"]);
    let before = below(&repository.env.home());
    let revision = repository.open(&commit);
    assert_eq!(
        below(&revision.copy.root),
        ["skills", "skills/x", "skills/x/SKILL.md"]
    );
    let left_out = "Invalid paths of the revision are not included: 2.";
    assert_eq!(revision.copy.notes.last().unwrap(), left_out);
    drop(revision);
    let after = below(&repository.env.home());
    let new: Vec<&String> = after.iter().filter(|path| !before.contains(path)).collect();
    assert_eq!(new, [".chitin", ".chitin/cache"]);
}

#[test]
fn leftovers_of_killed_processes_are_swept_and_others_stay() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::with([("AGENTS.md", "x")]);
    let mut child = Command::new("true").spawn().unwrap();
    let gone = child.id();
    child.wait().unwrap();
    let cache = repository.env.directory_at("home/.chitin/cache");
    let private = |name: String| {
        let file = repository
            .env
            .file(&format!("home/.chitin/cache/{name}/AGENTS.md"), "old");
        let directory = file.parent().unwrap().to_path_buf();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
        directory
    };
    let left = private(format!("revision-{gone}-0"));
    let alive = private(format!("revision-{}-63", std::process::id()));
    let strange = [
        private("revision-x-0".to_owned()),
        private("revision--1-0".to_owned()),
        private("revision-0-0".to_owned()),
        private("models".to_owned()),
    ];
    let two = [repository.open("HEAD"), repository.open("HEAD")];
    assert_ne!(two[0].copy.root, two[1].copy.root);
    assert!(!left.exists());
    assert!(alive.exists());
    assert!(strange.iter().all(|directory| directory.exists()));
    drop(two);
    assert_eq!(fs::read_dir(cache).unwrap().count(), 1 + strange.len());
}
