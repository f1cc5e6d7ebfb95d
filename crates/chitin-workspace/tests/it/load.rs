//! Loading: what a directory holds, again and again, nearly free when nothing changed.
#![expect(clippy::disallowed_methods, reason = "files are edited between loads")]

use chitin_contract::{CANONICAL, Contract, OPENCLAW_2026_4};
use chitin_guard::{Hardlinks, LinkPolicy};
use chitin_test::TestEnv;
use chitin_workspace::load::{LoadError, LoadOptions, Loader, Loaders, load};
use chitin_workspace::snapshot::{RecordState, Workspace};
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

/// A snapshot as a document: a line per record.
fn show(workspace: &Workspace) -> String {
    let mut text = String::new();
    for record in workspace.records() {
        let state = match &record.state {
            RecordState::Present(content) => format!("{:?}", content.text),
            RecordState::Missing => "missing".into(),
            RecordState::Refused(reason) => format!("refused: {reason}"),
        };
        let _ = writeln!(text, "{} {state}", record.name);
    }
    text
}

fn eight_files() -> TestEnv {
    let env = TestEnv::new();
    for name in [
        "AGENTS",
        "SOUL",
        "TOOLS",
        "IDENTITY",
        "USER",
        "HEARTBEAT",
        "BOOTSTRAP",
        "MEMORY",
    ] {
        env.file(&format!("workspace/{name}.md"), format!("# {name}\n"));
    }
    env
}

#[test]
fn one_directory_seen_through_every_contract() {
    let env = TestEnv::new();
    env.files([
        ("AGENTS.md", "rules"),
        ("TOOLS.md", "tools"),
        ("memory.md", "low"),
        ("README.md", "not loaded"),
    ]);
    env.file("shared/SOUL.md", "shared soul");
    env.link("workspace/SOUL.md", "../shared/SOUL.md");
    env.link("workspace/USER.md", "AGENTS.md");
    let mut text = String::new();
    for contract in chitin_contract::ALL {
        let workspace = load(&env.workspace(), contract, &LoadOptions::default()).unwrap();
        let _ = writeln!(text, "{}:\n{}", contract.name, show(&workspace));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn an_unchanged_workspace_is_the_same_snapshot_and_allocates_nothing() {
    let env = eight_files();
    let loader = Loader::new(env.workspace(), &CANONICAL, &LoadOptions::default());
    let first = loader.load().unwrap();
    let mut again = None;
    let allocations = allocation_counter::measure(|| again = loader.load().ok());
    assert!(Arc::ptr_eq(&first, &again.unwrap()));
    assert_eq!(allocations.count_total, 0);
}

#[test]
fn an_edit_in_mind_shows_what_the_same_edit_on_the_disk_would() {
    let env = eight_files();
    let look = || load(&env.workspace(), &CANONICAL, &LoadOptions::default()).unwrap();
    let before = look();
    for (name, text) in [("SOUL.md", "Another soul.\n"), ("USER.md", "")] {
        let in_mind = before.with_text(&env.workspace().join(name), text);
        assert_eq!(show(&look()), show(&before), "nothing was written");
        let old = env.file(&format!("workspace/{name}"), text);
        assert_eq!(show(&in_mind), show(&look()));
        fs::write(old, format!("# {}\n", name.trim_end_matches(".md"))).unwrap();
    }
    fs::remove_file(env.workspace().join("MEMORY.md")).unwrap();
    let without = look();
    let in_mind = without.with_text(&env.workspace().join("MEMORY.md"), "# MEMORY\n");
    assert_eq!(
        show(&in_mind),
        show(&before),
        "a file that is not there yet"
    );
    let unknown = without.with_text(&env.workspace().join("else.md"), "x");
    assert_eq!(show(&unknown), show(&without));
}

#[test]
fn every_kind_of_edit_is_seen_on_the_next_load() {
    let env = eight_files();
    let loader = Loader::new(env.workspace(), &CANONICAL, &LoadOptions::default());
    let at = |name: &str| env.workspace().join(name);
    let text = |name: &str| {
        let workspace = loader.load().unwrap();
        workspace
            .record(name)
            .and_then(|record| Some(record.content()?.text.to_string()))
    };
    assert_eq!(text("SOUL.md").as_deref(), Some("# SOUL\n"));

    fs::write(at("SOUL.md"), "in place").unwrap();
    assert_eq!(text("SOUL.md").as_deref(), Some("in place"));

    fs::write(at("new"), "replaced").unwrap();
    fs::rename(at("new"), at("SOUL.md")).unwrap();
    assert_eq!(text("SOUL.md").as_deref(), Some("replaced"));

    // Same size, and the old time put back: only the change time tells.
    let before = fs::metadata(at("SOUL.md")).unwrap().modified().unwrap();
    fs::write(at("SOUL.md"), "REPLACED").unwrap();
    fs::File::options()
        .write(true)
        .open(at("SOUL.md"))
        .unwrap()
        .set_modified(before)
        .unwrap();
    assert_eq!(text("SOUL.md").as_deref(), Some("REPLACED"));

    fs::remove_file(at("SOUL.md")).unwrap();
    assert_eq!(text("SOUL.md"), None);

    std::os::unix::fs::symlink("USER.md", at("SOUL.md")).unwrap();
    assert_eq!(text("SOUL.md").as_deref(), Some("# USER\n"));
    fs::write(at("USER.md"), "behind the link").unwrap();
    assert_eq!(text("SOUL.md").as_deref(), Some("behind the link"));
}

#[test]
fn an_edit_reads_one_file_and_keeps_the_others() {
    let env = eight_files();
    let loader = Loader::new(env.workspace(), &CANONICAL, &LoadOptions::default());
    let before = loader.load().unwrap();
    fs::write(env.workspace().join("USER.md"), "new").unwrap();
    let after = loader.load().unwrap();
    let kept = |name: &str| match (
        &before.record(name).unwrap().state,
        &after.record(name).unwrap().state,
    ) {
        (RecordState::Present(a), RecordState::Present(b)) => Arc::ptr_eq(a, b),
        _ => false,
    };
    assert!(kept("AGENTS.md") && kept("MEMORY.md") && !kept("USER.md"));
}

#[test]
fn a_directory_that_goes_comes_back_or_is_replaced_is_followed() {
    let env = eight_files();
    let loader = Loader::new(env.workspace(), &CANONICAL, &LoadOptions::default());
    assert_eq!(loader.load().unwrap().records().len(), 8);
    fs::rename(env.workspace(), env.path().join("aside")).unwrap();
    let gone = loader.load().unwrap();
    assert!(
        !gone.exists()
            && gone
                .records()
                .iter()
                .all(|r| matches!(r.state, RecordState::Missing))
    );
    env.files([("AGENTS.md", "another directory")]);
    let back = loader.load().unwrap();
    assert_eq!(
        back.record("AGENTS.md")
            .unwrap()
            .content()
            .unwrap()
            .text
            .as_ref(),
        "another directory"
    );
}

#[test]
fn users_share_files_and_add_their_own_by_configuration() {
    let env = TestEnv::new();
    env.files([
        ("AGENTS.md", "rules"),
        ("RULES.md", "house rules"),
        ("PROJECTS.md", "projects"),
    ]);
    env.file("shared/SOUL.md", "shared soul");
    env.link("workspace/SOUL.md", "../shared/SOUL.md");
    fs::hard_link(
        env.workspace().join("AGENTS.md"),
        env.path().join("twin.md"),
    )
    .unwrap();
    let options = LoadOptions {
        links: Some(LinkPolicy::TrustedRoots(vec![env.path().join("shared")])),
        hardlinks: Some(Hardlinks::Allow),
        root_files: vec![
            "RULES.md".into(),
            "PROJECTS.md".into(),
            "ABSENT.md".into(),
            "../secret".into(),
        ],
        ..LoadOptions::default()
    };
    let workspace = load(&env.workspace(), &CANONICAL, &options).unwrap();
    insta::assert_snapshot!(show(&workspace), @r#"
    AGENTS.md "rules"
    SOUL.md "shared soul"
    TOOLS.md missing
    IDENTITY.md missing
    USER.md missing
    HEARTBEAT.md missing
    BOOTSTRAP.md missing
    RULES.md "house rules"
    PROJECTS.md "projects"
    "#);
}

#[test]
fn what_is_no_workspace_says_so() {
    let env = TestEnv::new();
    let file = env.file("plain.txt", "not a directory");
    let error = load(&file, &CANONICAL, &LoadOptions::default()).unwrap_err();
    assert!(matches!(error, LoadError::Root { path, .. } if path == file));
    let missing = load(
        &env.path().join("nowhere"),
        &CANONICAL,
        &LoadOptions::default(),
    )
    .unwrap();
    assert_eq!(missing.records().len(), 7);
}

#[test]
fn many_workspaces_stay_in_bounded_memory() {
    let env = TestEnv::new();
    let loaders = Loaders::new(LoadOptions::default(), 64 * 1024);
    for n in 0..50 {
        env.file(&format!("many/{n}/AGENTS.md"), "x".repeat(4000));
        let workspace = loaders
            .load(&env.path().join(format!("many/{n}")), &CANONICAL)
            .unwrap();
        assert_eq!(
            workspace
                .record("AGENTS.md")
                .unwrap()
                .content()
                .unwrap()
                .text
                .len(),
            4000
        );
    }
    for n in 0..50 {
        // Directories that cannot be read count as well.
        let file = env.file(&format!("files/{n}"), "no directory");
        loaders.load(&file, &CANONICAL).unwrap_err();
    }
    let (count, bytes) = loaders.usage();
    assert!(
        bytes <= 64 * 1024 && count < 50,
        "{count} workspaces, {bytes} bytes"
    );
}

#[test]
fn a_loader_is_shared_between_threads() {
    let env = eight_files();
    let loader = Loader::new(env.workspace(), &CANONICAL, &LoadOptions::default());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    assert_eq!(loader.load().unwrap().records().len(), 8);
                }
            });
        }
        for n in 0..50 {
            fs::write(env.workspace().join("SOUL.md"), format!("{n}")).unwrap();
        }
    });
}

#[test]
fn both_backends_load_the_same() {
    let env = eight_files();
    env.link("workspace/memory.md", "MEMORY.md");
    let both = |contract: &'static Contract| {
        [false, true].map(|portable| {
            let options = LoadOptions {
                portable,
                ..LoadOptions::default()
            };
            show(&load(&env.workspace(), contract, &options).unwrap())
        })
    };
    for contract in [&CANONICAL, &OPENCLAW_2026_4] {
        let [kernel, portable] = both(contract);
        assert_eq!(kernel, portable);
    }
}
