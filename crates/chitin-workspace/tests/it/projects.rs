//! The project that a workspace lies in.

use chitin_contract::Contract;
use chitin_test::TestEnv;
use chitin_workspace::project::project_of;
use serde_json::{Value, json};

fn contract(name: &str) -> &'static Contract {
    chitin_contract::by_name(name).unwrap()
}

fn project(env: &TestEnv, config: &Value) -> Option<String> {
    project_of(&env.workspace(), contract("openclaw-2026.9"), config)
}

#[test]
fn a_repository_is_named_by_its_origin_or_its_place() {
    let env = TestEnv::new();
    env.file("workspace/AGENTS.md", "Rules.");
    assert_eq!(project(&env, &Value::Null), None);
    env.file("workspace/.git/HEAD", "ref: refs/heads/main\n");
    let place = format!("path:{}", env.workspace().display());
    assert_eq!(project(&env, &Value::Null), Some(place.clone()));
    let other = project_of(&env.workspace(), contract("openclaw-2026.4"), &Value::Null);
    assert_eq!(other, None);
    for (address, name) in [
        (
            "https://Example.org/Boats/Log.git",
            Some("example.org/Boats/Log"),
        ),
        (
            "https://me:pass@example.org:8443/boats/log",
            Some("example.org/boats/log"),
        ),
        (
            "ssh://git@example.org:2222/boats/log.git",
            Some("example.org/boats/log"),
        ),
        (
            "git@example.org:boats/log.git",
            Some("example.org/boats/log"),
        ),
        (
            "example.org/boats/wood;oak",
            Some("example.org/boats/wood%3boak"),
        ),
        ("/srv/boats/log.git", None),
        ("file:///srv/boats/log.git", None),
        ("https://example.org/log.git", None),
        ("https://example.org/boats/../log.git", None),
    ] {
        let config = format!(
            "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = https://x.org/a/b\n[remote \"origin\"]\n\turl = {address}\n\tfetch = x\n"
        );
        env.file("workspace/.git/config", config);
        let expected = name.map_or_else(|| place.clone(), str::to_owned);
        assert_eq!(project(&env, &Value::Null), Some(expected), "{address}");
    }
}

#[test]
fn a_workspace_inside_a_repository_belongs_to_it_and_settings_name_another() {
    let env = TestEnv::new();
    env.file("workspace/AGENTS.md", "Rules.");
    env.file(".git/HEAD", "ref: refs/heads/main\n");
    let place = format!("path:{}", env.path().display());
    assert_eq!(project(&env, &json!({})), Some(place));
    env.file(
        "yard/.git/config",
        "[remote \"origin\"]\n\turl = git@example.org:yard/main.git\n",
    );
    let named = env.path().join("yard");
    let settings = json!({"agents": {"defaults": {"repoRoot": named}}});
    assert_eq!(
        project(&env, &settings),
        Some("example.org/yard/main".to_owned())
    );
    // A worktree names the directory that has the configuration.
    env.file("workspace/.git", "gitdir: ../yard/.git/worktrees/one\n");
    env.file("yard/.git/worktrees/one/commondir", "../..\n");
    assert_eq!(
        project(&env, &json!({})),
        Some("example.org/yard/main".to_owned())
    );
}
