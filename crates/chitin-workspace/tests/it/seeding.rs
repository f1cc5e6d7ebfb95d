//! Filling a workspace: nothing is lost, and nothing is begun that cannot be finished.
#![expect(clippy::disallowed_methods, reason = "hostile trees are built by hand")]

use chitin_contract::{CANONICAL, OPENCLAW_2026_9};
use chitin_test::TestEnv;
use chitin_workspace::seed::{
    OnVanished, SeedError, SeedFiles, SeedRequest, Templates, plan, seed,
};
use std::fs;
use std::io;
use std::path::Path;

fn request(directory: &Path) -> SeedRequest<'_> {
    SeedRequest {
        directory,
        contract: &CANONICAL,
        files: SeedFiles::Templates,
        templates: None,
        now: "2026-03-01T00:00:00.000Z",
        state_directory: None,
        vanished: OnVanished::Refuse,
        git: None,
    }
}

fn names(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

#[test]
fn nothing_is_written_when_the_state_could_not_be_kept() {
    for plant in [
        (|env: &TestEnv| drop(env.link("workspace/.openclaw", "../home"))) as fn(&TestEnv),
        |env| drop(env.file("workspace/.openclaw", "a file")),
        |env| drop(env.directory_at("workspace/.openclaw/workspace-state.json")),
        |env| {
            env.directory_at("workspace/.openclaw");
            env.link("workspace/.openclaw/workspace-state.json", "../../home/x");
        },
    ] {
        let env = TestEnv::new();
        plant(&env);
        let error = seed(&request(&env.workspace())).unwrap_err();
        assert!(matches!(error, SeedError::Write(_)), "{error:?}");
        assert_eq!((names(&env.workspace()), names(&env.home())), (1, 0));
    }
}

/// A file that comes from a template is no sign of use, whoever wrote the template: set-up stays to be done.
#[test]
fn own_templates_leave_the_set_up_pending_under_every_contract() {
    for contract in chitin_contract::ALL {
        let env = TestEnv::new();
        for name in ["IDENTITY.md", "USER.md", "SOUL.md", "RUNTIME.md"] {
            env.file(&format!("mine/{name}"), format!("Our own {name}.\n"));
        }
        let templates = Templates::read(&env.path().join("mine")).unwrap();
        let workspace = env.workspace();
        let request = SeedRequest {
            contract,
            templates: Some(&templates),
            ..request(&workspace)
        };
        let planned = plan(&request).unwrap();
        let first = seed(&request).unwrap();
        assert_eq!(planned.created, first.created, "{}", contract.name);
        assert_eq!(env.read("workspace/RUNTIME.md"), "Our own RUNTIME.md.\n");
        let again = seed(&request).unwrap();
        assert_eq!(again.created, Vec::<&str>::new(), "{}", contract.name);
        assert_eq!(again.retired, None, "{}", contract.name);
        assert_eq!(first.status, again.status, "{}", contract.name);
    }
}

#[test]
fn a_repository_that_somebody_else_made_meanwhile_is_as_good() {
    let env = TestEnv::new();
    let other = |directory: &Path| {
        fs::create_dir(directory.join(".git"))?;
        fs::write(directory.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        Err(io::Error::other("could not lock the config file"))
    };
    let workspace = env.workspace();
    let seeded = seed(&SeedRequest {
        git: Some(&other),
        ..request(&workspace)
    });
    assert!(seeded.unwrap().brand_new);
    let failing = |_: &Path| Err(io::Error::other("no disk space"));
    let elsewhere = env.path().join("elsewhere");
    let error = seed(&SeedRequest {
        git: Some(&failing),
        ..request(&elsewhere)
    });
    assert!(matches!(error.unwrap_err(), SeedError::Git { .. }));
}

#[test]
fn skills_behind_a_link_show_that_a_workspace_is_used() {
    let env = TestEnv::new();
    env.files([("shared/one/SKILL.md", "---\ndescription: one\n---\n")]);
    env.link("workspace/skills", "shared");
    let workspace = env.workspace();
    let seeded = seed(&SeedRequest {
        contract: &OPENCLAW_2026_9,
        ..request(&workspace)
    });
    let seeded = seeded.unwrap();
    assert!(!seeded.brand_new);
    assert!(!seeded.created.contains(&"BOOTSTRAP.md"), "{seeded:?}");
}
