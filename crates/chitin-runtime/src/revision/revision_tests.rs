//! Revisions, against the real `git` in a repository of the test's own.
#![expect(
    clippy::disallowed_methods,
    reason = "tests build repositories and look at what is left of them"
)]

use super::{Revision, links};
use crate::Host;
use crate::error::{ErrorKind, RuntimeError};
use crate::respell;
use chitin_config::env::Env;
use chitin_contract::{CANONICAL, Contract, OPENCLAW_2026_2, OPENCLAW_2026_4};
use chitin_guard::LinkPolicy;
use chitin_protocol::record::FileRefusal;
use chitin_test::TestEnv;
use chitin_test::needs;
use chitin_workspace::Workspace;
use chitin_workspace::load::{LoadOptions, load};
use chitin_workspace::skills::{DiscoverOptions, SkillPlaces, discover};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// A repository in the environment's workspace, with a home of its own.
pub(super) struct Repository {
    pub(super) env: TestEnv,
}

impl Repository {
    fn new() -> Self {
        let repository = Self {
            env: TestEnv::new(),
        };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    /// A repository with one commit that has these files.
    pub(super) fn with<const N: usize>(files: [(&str, &str); N]) -> Self {
        let repository = Self::new();
        repository.env.files(files);
        repository.commit();
        repository
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.env.workspace(), arguments)
    }

    fn git_in(&self, directory: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(directory)
            .env_clear()
            .env("PATH", path())
            .env("HOME", self.env.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "Kim")))
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "kim@e.example")))
            .output()
            .unwrap();
        let (out, err) = (&output.stdout, &output.stderr);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(err)
        );
        String::from_utf8_lossy(out).trim_end().to_owned()
    }

    pub(super) fn commit(&self) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message=step"]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(super) fn host(&self) -> Host {
        let env = Env::new(self.env.workspace())
            .with("PATH", path())
            .with("HOME", self.env.home().to_string_lossy());
        Host::embedded(env)
    }

    pub(super) fn open(&self, revision: &str) -> Revision {
        self.open_in(&self.env.workspace(), revision)
    }

    fn open_in(&self, directory: &Path, revision: &str) -> Revision {
        Revision::open(&self.host(), directory, revision, &[])
            .unwrap_or_else(|e| panic!("{}", told(&e)))
    }

    pub(super) fn error(&self, directory: &Path, revision: &str) -> String {
        let error = Revision::open(&self.host(), directory, revision, &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        self.env.redact(&told(&error))
    }

    /// Everything that is left in the cache.
    pub(super) fn cache(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.env.home().join(".chitin/cache"));
        let entries = entries.into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

fn path() -> String {
    std::env::var("PATH").unwrap()
}

pub(super) fn told(error: &RuntimeError) -> String {
    let mut text = error.to_string();
    if let Some(source) = std::error::Error::source(error) {
        let _ = write!(text, "\n  {source}");
    }
    for hint in error.hints() {
        let _ = write!(text, "\nhint: {hint}");
    }
    text
}

pub(super) fn loaded(revision: &Revision, contract: &'static Contract) -> Arc<Workspace> {
    load(&revision.copy.root, contract, &LoadOptions::default()).unwrap()
}

pub(super) fn text(workspace: &Workspace, name: &str) -> Option<String> {
    let content = workspace.record(name)?.content()?;
    Some(content.text.to_string())
}

/// Every path below a directory.
pub(super) fn below(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(here) = open.pop() {
        for entry in fs::read_dir(here).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            found.push(path.strip_prefix(directory).unwrap().display().to_string());
            if entry.file_type().unwrap().is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_way_to_name_a_commit_gives_its_files() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::with([("AGENTS.md", "first"), ("SOUL.md", "soul")]);
    let first = repository.git(&["rev-parse", "HEAD"]);
    repository.git(&["tag", "v1"]);
    repository.git(&["tag", "--annotate", "v1-annotated", "--message=one"]);
    repository.git(&["branch", "feature/old"]);
    repository.env.files([("AGENTS.md", "second")]);
    repository.commit();
    let short = &first[..7];
    for name in [
        "HEAD~1",
        "v1",
        "v1-annotated",
        "feature/old",
        "main^",
        &first,
        short,
        "@{1}",
    ] {
        let revision = repository.open(name);
        assert_eq!(revision.commit, first, "{name}");
        assert_eq!(revision.short, first[..10]);
        let workspace = loaded(&revision, &CANONICAL);
        assert_eq!(text(&workspace, "AGENTS.md").as_deref(), Some("first"));
    }
    let head = loaded(&repository.open("HEAD"), &CANONICAL);
    assert_eq!(text(&head, "AGENTS.md").as_deref(), Some("second"));
}

#[test]
fn the_work_tree_and_the_index_stay_and_nothing_is_left_behind() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::with([("AGENTS.md", "was"), ("TOOLS.md", "tools")]);
    repository
        .env
        .files([("AGENTS.md", "is"), ("NEW.md", "new")]);
    fs::remove_file(repository.env.workspace().join("TOOLS.md")).unwrap();
    let git = repository.env.workspace().join(".git");
    let state = || {
        let index = fs::metadata(git.join("index")).unwrap();
        (
            repository.git(&["--no-optional-locks", "status", "--porcelain"]),
            index.modified().unwrap(),
            below(&repository.env.workspace()),
        )
    };
    let before = state();
    let revision = repository.open("HEAD");
    let mode = fs::metadata(&revision.copy.root)
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(
        revision.copy.root.parent(),
        Some(&*repository.env.home().join(".chitin/cache"))
    );
    let was = loaded(&revision, &CANONICAL);
    let spelled = respell(&was, &repository.env.workspace());
    drop(revision);
    assert_eq!(state(), before);
    assert_eq!(repository.cache(), [""; 0].map(PathBuf::from));

    // What was loaded outlives the copy, and speaks of the workspace.
    assert_eq!(text(&spelled, "AGENTS.md").as_deref(), Some("was"));
    assert_eq!(text(&spelled, "TOOLS.md").as_deref(), Some("tools"));
    assert_eq!(spelled.path(), repository.env.workspace());
    for record in spelled.records() {
        assert_eq!(record.path, repository.env.workspace().join(&*record.name));
    }
}

#[test]
fn a_workspace_may_be_anywhere_in_its_repository() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::with([
        ("AGENTS.md", "of the repository"),
        ("agents/odd name\n/AGENTS.md", "of the agent"),
        ("plain/AGENTS.md", "plain"),
    ]);
    let agent = repository.env.workspace().join("agents/odd name\n");
    let revision = repository.open_in(&agent, "HEAD");
    let workspace = loaded(&revision, &CANONICAL);
    assert_eq!(
        text(&workspace, "AGENTS.md").as_deref(),
        Some("of the agent")
    );

    // The same through a link, and in a second work tree, whose `.git` is a file.
    let link = repository.env.link("home/linked", &agent);
    let workspace = loaded(&repository.open_in(&link, "HEAD"), &CANONICAL);
    assert_eq!(
        text(&workspace, "AGENTS.md").as_deref(),
        Some("of the agent")
    );
    let second = repository.env.path().join("second");
    repository.git(&["worktree", "add", "--quiet", "--detach", "../second"]);
    let plain = second.join("plain");
    let workspace = loaded(&repository.open_in(&plain, "main"), &CANONICAL);
    assert_eq!(text(&workspace, "AGENTS.md").as_deref(), Some("plain"));

    // A work tree of a repository that has none of its own.
    let bare = repository.env.path().join("bare.git");
    repository.git(&["clone", "--quiet", "--bare", ".", "../bare.git"]);
    repository.git_in(&bare, &["worktree", "add", "--quiet", "../third"]);
    let third = repository.env.path().join("third/plain");
    let workspace = loaded(&repository.open_in(&third, "HEAD"), &CANONICAL);
    assert_eq!(text(&workspace, "AGENTS.md").as_deref(), Some("plain"));
}

#[test]
fn only_what_a_loader_may_ask_for_is_copied() {
    if !needs::programs(&["git"]) {
        return;
    }
    let skill = "---\nname: x\ndescription: y\n---\n";
    let repository = Repository::with([
        (".agents/skills/shared/SKILL.md", skill),
        (".openclaw/workspace-state.json", "{}"),
        ("AGENTS.md", "rules"),
        ("NOTES.txt", "mine"),
        ("README.md", "read me"),
        ("docs/README.md", "not loaded"),
        ("other.txt", "not loaded"),
        ("packages/a/AGENTS.md", "extra"),
        ("packages/a/main.rs", "not loaded"),
        ("skills/group/b/SKILL.md", skill),
        ("skills/group/b/run.sh", "not loaded"),
        ("skills/no-skill/x.txt", "not loaded"),
    ]);
    let own = ["NOTES.txt".to_owned()];
    let directory = repository.env.workspace();
    let revision = Revision::open(&repository.host(), &directory, "HEAD", &own).unwrap();
    insta::assert_snapshot!(below(&revision.copy.root).join("\n"), @r"
    .agents
    .agents/skills
    .agents/skills/shared
    .agents/skills/shared/SKILL.md
    .openclaw
    .openclaw/workspace-state.json
    AGENTS.md
    NOTES.txt
    README.md
    docs
    packages
    packages/a
    packages/a/AGENTS.md
    skills
    skills/group
    skills/group/b
    skills/group/b/SKILL.md
    skills/no-skill
    ");
    assert_eq!(
        revision
            .copy
            .copy_of(&directory.join("packages/a/AGENTS.md"), &directory),
        revision.copy.root.join("packages/a/AGENTS.md")
    );
}

#[test]
fn skills_are_found_and_spelled_as_in_the_workspace() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::with([
        (
            "library/a/SKILL.md",
            "---\nname: a\ndescription: does a\n---\n",
        ),
        (
            "skills/b/SKILL.md",
            "---\nname: b\ndescription: does b\n---\n",
        ),
        ("skills/c/SKILL.md", "---\nname: c\n---\n"),
    ]);
    repository.env.link("workspace/skills/a", "../library/a");
    repository.commit();
    fs::remove_dir_all(repository.env.workspace().join("skills")).unwrap();
    let revision = repository.open("HEAD");
    let host = repository.host();
    let contract = &OPENCLAW_2026_4;
    let places = SkillPlaces::from_env(&revision.copy.root, &host.env, contract);
    let found = discover(
        &places,
        &serde_json::Value::Null,
        &contract.skills,
        &DiscoverOptions::default(),
    );
    let set = revision
        .copy
        .respell_skills(found, &repository.env.workspace());
    let shown = serde_json::to_string(&set).unwrap();
    assert!(!shown.contains(".chitin"), "{shown}");
    let files: Vec<&Path> = set.skills.iter().map(|skill| &*skill.file).collect();
    assert!(
        files.contains(&&*repository.env.workspace().join("skills/b/SKILL.md")),
        "{files:?}"
    );
}

#[test]
fn links_lead_where_they_led() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::with([
        ("docs/rules.md", "rules as of then"),
        ("docs/soul.md", "soul as of then"),
        ("docs/tools.md", "tools as of then"),
    ]);
    let workspace = repository.env.workspace();
    repository.env.file("secret.md", "outside");
    repository.env.link("workspace/rules", "docs");
    repository.env.link("workspace/AGENTS.md", "rules/rules.md");
    // Absolute into the workspace, out and back in, and plainly out.
    repository
        .env
        .link("workspace/SOUL.md", workspace.join("docs/soul.md"));
    repository
        .env
        .link("workspace/TOOLS.md", "../workspace/docs/tools.md");
    repository.env.link("workspace/USER.md", "../secret.md");
    repository.env.link("workspace/IDENTITY.md", "docs/gone.md");
    repository
        .env
        .link("workspace/HEARTBEAT.md", "HEARTBEAT.md");
    repository.commit();
    let before = load(&workspace, &CANONICAL, &LoadOptions::default()).unwrap();
    let revision = repository.open("HEAD");
    repository.env.files([
        ("docs/rules.md", "now"),
        ("docs/soul.md", "now"),
        ("docs/tools.md", "now"),
    ]);

    let then = loaded(&revision, &CANONICAL);
    for name in ["AGENTS.md", "SOUL.md", "TOOLS.md"] {
        let text = text(&then, name).unwrap_or_default();
        assert!(text.ends_with("as of then"), "{name}: {text}");
    }
    // What was refused is refused for the same reason.
    assert_eq!(then.warnings(), before.warnings());
    assert_eq!(
        then.record("USER.md").unwrap().refused(),
        Some(FileRefusal::OutsideRoot)
    );

    // Who follows links anywhere, or trusts that place, still gets there and nowhere else; and is told.
    let anywhere = loaded(&revision, &OPENCLAW_2026_2);
    assert_eq!(text(&anywhere, "USER.md").as_deref(), Some("outside"));
    assert_eq!(
        text(&anywhere, "SOUL.md").as_deref(),
        Some("soul as of then")
    );
    let trusting = LoadOptions {
        links: Some(LinkPolicy::TrustedRoots(vec![repository.env.path()])),
        ..LoadOptions::default()
    };
    let trusted = load(&revision.copy.root, &CANONICAL, &trusting).unwrap();
    assert_eq!(text(&trusted, "USER.md").as_deref(), Some("outside"));
    assert_eq!(
        text(&trusted, "TOOLS.md").as_deref(),
        Some("tools as of then")
    );
    assert_eq!(
        revision.copy.notes,
        [
            "Links that lead out of the workspace, to what is there today if they are followed at all: `USER.md`."
        ]
    );
}

#[test]
fn a_link_is_spelled_anew_only_where_its_meaning_would_change() {
    if !needs::programs(&["git"]) {
        return;
    }
    let original = links::Original {
        given: Path::new("/given"),
        real: Path::new("/home/kim/ws"),
    };
    let spelled = |link: &str, text: &str| {
        let spelled = original.respelled(Path::new(link), Path::new(text));
        spelled.to_string_lossy().into_owned()
    };
    for (link, text, expected) in [
        ("A.md", "docs/a.md", "docs/a.md"),
        ("skills/a/SKILL.md", "../../docs/a.md", "../../docs/a.md"),
        ("A.md", "/home/kim/ws/docs/a.md", "docs/a.md"),
        ("skills/a", "/given/lib/a", "../lib/a"),
        ("here", "/home/kim/ws", "."),
        ("skills/a", "../../ws/lib/a", "../lib/a"),
        ("A.md", "../shared/a.md", "/home/kim/shared/a.md"),
        ("skills/a", "../../../x", "/home/x"),
        ("A.md", "../../../../../../etc/passwd", "/etc/passwd"),
        ("A.md", "/home/kim/wsx/a.md", "/home/kim/wsx/a.md"),
        ("A.md", "/home/kim/ws/../b.md", "/home/kim/ws/../b.md"),
        ("A.md", "..", "/home/kim"),
    ] {
        assert_eq!(spelled(link, text), expected, "{link} -> {text}");
    }
}

#[test]
fn what_is_not_a_revision_is_said_with_the_nearest_name() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::with([("AGENTS.md", "x")]);
    repository.git(&["branch", "release"]);
    let workspace = repository.env.workspace();
    insta::assert_snapshot!(repository.error(&workspace, "relaese~2"), @r"
    `relaese~2` is not a git revision of this repository.
    hint: did you mean `release~2`?
    ");
    insta::assert_snapshot!(repository.error(&workspace, "zzzzzz"), @r"
    `zzzzzz` is not a git revision of this repository.
    hint: branches and tags: `main`, `release`
    ");
    // The tree of a commit is no commit, and a range is no single one.
    for revision in [
        "HEAD:",
        "HEAD:AGENTS.md",
        "^HEAD",
        "HEAD..main",
        "",
        "a\0b",
        "\u{1b}[2J",
    ] {
        let said = repository.error(&workspace, revision);
        assert!(said.contains("is not a git revision"), "{said}");
        assert!(!said.contains('\u{1b}'));
    }
    let far = "x".repeat(100_000);
    assert!(repository.error(&workspace, &far).len() < 1000);
    assert_eq!(repository.cache(), [""; 0].map(PathBuf::from));
}

#[test]
fn where_there_is_no_revision_the_reason_is_said() {
    if !needs::programs(&["git"]) {
        return;
    }
    let empty = Repository::new();
    insta::assert_snapshot!(empty.error(&empty.env.workspace(), "HEAD"), @r"
    `HEAD` is not a git revision of this repository.
    hint: the repository has no commit yet
    ");

    let repository = Repository::with([("AGENTS.md", "x")]);
    let home = repository.env.home();
    insta::assert_snapshot!(repository.error(&home, "HEAD"), @r"
    `~` is not in a git repository.
    hint: compare with a directory or a contract instead
    ");
    let inside = repository.env.workspace().join(".git");
    insta::assert_snapshot!(repository.error(&inside, "HEAD"), @"`$TEST_ENV/workspace/.git` is not in the work tree of its git repository.");
    let new = repository.env.directory_at("workspace/new");
    insta::assert_snapshot!(repository.error(&new, "HEAD"), @r"
    `$TEST_ENV/workspace/new` does not exist in `HEAD`.
    hint: name a revision that has the directory
    ");
    // It was a file then.
    repository.env.files([("agent", "a file")]);
    repository.commit();
    fs::remove_file(repository.env.workspace().join("agent")).unwrap();
    let agent = repository.env.directory_at("workspace/agent");
    let said = repository.error(&agent, "HEAD");
    assert!(said.contains("does not exist in `HEAD`"), "{said}");

    // No program, even where the current directory is one of the places to look in; no home; a home in the workspace.
    let git = repository
        .env
        .file("workspace/git", "#!/bin/sh\ntouch marker\n");
    fs::set_permissions(git, fs::Permissions::from_mode(0o755)).unwrap();
    let workspace = repository.env.workspace();
    let told_in = |env: Env| {
        let error = Revision::open(&Host::embedded(env), &workspace, "HEAD", &[]).unwrap_err();
        repository.env.redact(&told(&error))
    };
    insta::assert_snapshot!(told_in(Env::new(&workspace).with("PATH", ".:")), @r"
    A git revision needs the `git` program, which is not in `PATH`.
    hint: install git, or name a directory or a contract
    ");
    insta::assert_snapshot!(told_in(Env::new(&workspace).with("PATH", path())), @r"
    Could not determine a directory for unpacking the git revision.
    hint: set `HOME` or `CHITIN_HOME`
    ");
    let inside = Env::new(&workspace)
        .with("PATH", path())
        .with("CHITIN_HOME", workspace.join("mine").to_string_lossy());
    insta::assert_snapshot!(told_in(inside), @r"
    The git revision would be unpacked into the workspace itself, because `$TEST_ENV/workspace/mine` is in it.
    hint: set `CHITIN_HOME` to a directory outside the workspace
    ");
    assert!(!workspace.join("mine").exists());
    assert!(!workspace.join("marker").exists());
}

#[test]
fn a_large_file_keeps_its_true_size_and_one_beyond_all_bounds_is_named() {
    if !needs::programs(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let workspace = repository.env.workspace();
    fs::write(workspace.join("AGENTS.md"), vec![b'x'; 3_000_000]).unwrap();
    repository.commit();
    let before = load(&workspace, &CANONICAL, &LoadOptions::default()).unwrap();
    let revision = repository.open("HEAD");
    assert_eq!(loaded(&revision, &CANONICAL).warnings(), before.warnings());
    assert!(!before.warnings().is_empty());
    drop(revision);

    let file = fs::File::create(workspace.join("SOUL.md")).unwrap();
    file.set_len(super::MAX_FILE_BYTES + 1).unwrap();
    repository.commit();
    let error = Revision::open(&repository.host(), &workspace, "HEAD", &[]).unwrap_err();
    insta::assert_snapshot!(told(&error), @r"
    `SOUL.md` is larger than 67108864 bytes in that revision.
    hint: name a revision before it grew
    ");
    assert_eq!(repository.cache(), [""; 0].map(PathBuf::from));
}
