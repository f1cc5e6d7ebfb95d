//! Homes in files.

use crate::home::{HEADER, HELLO, TestHome, only, said};
use chitin_config::env::Env;
use chitin_openclaw::{Home, HomeContract, HomeError, HomeOptions, HomePaths};
use secrecy::ExposeSecret;
use std::path::Path;

const INDEX: &str = "agents/main/sessions/sessions.json";

#[test]
fn a_torn_last_line_is_one_unreadable_record() {
    let home = TestHome::new();
    home.file(INDEX, r#"{"agent:main:main":{"sessionId":"s1"}}"#);
    home.file(
        "agents/main/sessions/s1.jsonl",
        format!("{HEADER}\n{HELLO}\n{{\"type\":\"mess"),
    );
    let contents = home.read();
    let summary = &only(&contents).summary;
    assert_eq!((summary.records, summary.unreadable()), (3, 1));
    assert_eq!(summary.last_user_text.as_deref(), Some("Hello."));
}

#[test]
fn a_torn_index_gives_the_sessions_before_the_end() {
    let home = TestHome::new();
    home.file(
        INDEX,
        r#"{"agent:main:main":{"sessionId":"s1"},"agent:main:b":{"sess"#,
    );
    home.file("agents/main/sessions/s1.jsonl", HEADER);
    let contents = home.read();
    assert_eq!(only(&contents).summary.records, 1);
    assert!(said(&contents).contains("no JSON"), "{}", said(&contents));
}

#[test]
fn a_transcript_that_a_killed_migration_moved_is_found() {
    let home = TestHome::new();
    home.file(
        INDEX,
        r#"{"agent:main:main":{"sessionId":"s1"},"agent:main:b":{"sessionId":"s2"}}"#,
    );
    let moved = "agents/main/session-sqlite-import-archive/agent_main_main.s1.jsonl.imported-17";
    home.file(moved, format!("{HEADER}\n{HELLO}\n"));
    let contents = home.read();
    let records: Vec<u64> = contents
        .sessions
        .iter()
        .map(|found| found.summary.records)
        .collect();
    assert_eq!(records, [0, 2]);
    assert_eq!(contents.left_behind, [moved]);
    assert_eq!(
        said(&contents),
        "agents/main/sessions/s2.jsonl: The transcript of `agent:main:b` is missing."
    );
}

#[test]
fn an_empty_value_counts_as_unset_and_the_process_wins() {
    let home = TestHome::new();
    home.file(
        "openclaw.json",
        "{env: {vars: {A: 'vars', B: 'vars', C: 'vars'}, D: 'plain', shellEnv: {enabled: false}}}",
    );
    home.file(".env", "A=file\nB=\nC=file\n");
    let env = Env::new("/").with("C", "process").with("A", "");
    let contents = home.read_with(&env);
    let found: Vec<_> = contents
        .env
        .iter()
        .map(|key| (&*key.key, key.winner, key.value.expose_secret()))
        .collect();
    assert_eq!(
        found,
        [
            ("A", ".env", "file"),
            ("B", "config env.vars", "vars"),
            ("C", "process environment", "process"),
            ("D", "config env", "plain"),
        ]
    );
}

#[test]
fn a_renamed_file_of_credentials_is_the_last_resort() {
    let home = TestHome::new();
    let store =
        r#"{"version":1,"profiles":{"acme:a":{"type":"api_key","provider":"acme","key":"k-1"}}}"#;
    home.file(
        "agents/main/agent/auth-profiles.json.migrated-2026-x",
        store,
    );
    let contents = home.read();
    assert_eq!(contents.auth_profiles.len(), 1);
    assert_eq!(contents.auth_profiles[0].from, "file:migrated");
    assert!(
        !format!("{contents:?}").contains("k-1"),
        "a secret is printed"
    );

    home.file(
        "agents/main/agent/auth-profiles.json",
        store.replace("acme:a", "acme:b"),
    );
    let contents = home.read();
    let ids: Vec<_> = contents
        .auth_profiles
        .iter()
        .map(|found| &*found.id)
        .collect();
    assert_eq!(ids, ["acme:b"]);
}

#[test]
fn references_stay_references() {
    let home = TestHome::new();
    let store = r#"{"profiles":{
        "a:x":{"type":"api_key","provider":"a","keyRef":{"source":"exec","provider":"p","id":"i"}},
        "b:y":{"type":"oauth","provider":"b","access":"at-1","refresh":"rt-1","expires":5}}}"#;
    home.file("agents/main/agent/auth-profiles.json", store);
    let contents = home.read();
    let shown = serde_json::to_value(&contents.auth_profiles).unwrap();
    assert_eq!(
        shown,
        serde_json::json!([
            {"scope": "agent:main", "id": "a:x", "provider": "a", "kind": "api_key", "from": "file",
             "ref": {"source": "exec", "provider": "p", "id": "i"}},
            {"scope": "agent:main", "id": "b:y", "provider": "b", "kind": "oauth", "from": "file", "expires": 5},
        ])
    );
}

#[test]
fn a_home_without_a_configuration_has_the_agents_of_its_directories() {
    let home = TestHome::new();
    home.file("agents/old/sessions/s1.jsonl", HEADER);
    let contents = home.read();
    let agents: Vec<_> = contents
        .agents
        .iter()
        .map(|agent| (&*agent.id, agent.from))
        .collect();
    assert_eq!(agents, [("main", "default"), ("old", "directory")]);
    assert_eq!(contents.contract, HomeContract::Files);
    assert_eq!(contents.other_transcripts[0].kind, "unindexed");
}

#[test]
fn a_configuration_that_is_broken_is_said_and_the_rest_is_read() {
    let home = TestHome::new();
    home.file("openclaw.json", "{ agents: ");
    home.file("agents/main/sessions/s1.jsonl", HEADER);
    let contents = home.read();
    assert!(
        said(&contents).contains("configuration cannot be used"),
        "{}",
        said(&contents)
    );
    assert_eq!(contents.other_transcripts.len(), 1);
}

#[test]
fn a_copied_home_is_read_where_it_is_now() {
    let home = TestHome::new();
    home.file(
        "openclaw.json",
        r#"{"agents":{"list":[{"id":"main","workspace":"/nowhere/.openclaw/workspace","agentDir":"/nowhere/.openclaw/agents/main/agent"}]}}"#,
    );
    home.file("workspace/MEMORY.md", "x")
        .file("workspace/skills/a/SKILL.md", "x");
    home.file(INDEX, r#"{"agent:main:main":{"sessionId":"s1","sessionFile":"/nowhere/.openclaw/agents/main/sessions/s1.jsonl"}}"#);
    home.file("agents/main/sessions/s1.jsonl", HEADER);
    let contents = home.read();
    assert_eq!(only(&contents).summary.records, 1);
    assert_eq!(contents.skills.len(), 1);
    assert_eq!(
        contents.workspace_markdown[0].1,
        ["MEMORY.md", "skills/a/SKILL.md"]
    );
}

#[test]
fn a_directory_without_anything_of_openclaws_is_no_home() {
    let directory = tempfile::tempdir().unwrap();
    let open = |path: &Path| Home::open(&HomePaths::at(path), HomeOptions::new("/tmp"));
    assert!(matches!(
        open(directory.path()),
        Err(HomeError::NotAHome { .. })
    ));
    assert!(matches!(
        open(&directory.path().join("no")),
        Err(HomeError::Missing { .. })
    ));
}

#[test]
fn a_home_is_where_openclaw_would_look_for_it() {
    let env = Env::new("/w").with("HOME", "/home/kim");
    let state = |env: &Env, profile| {
        HomePaths::of(env, profile).map(|paths| paths.state.display().to_string())
    };
    assert_eq!(state(&env, None).unwrap(), "/home/kim/.openclaw");
    assert_eq!(
        state(&env, Some("work")).unwrap(),
        "/home/kim/.openclaw-work"
    );
    assert!(state(&env, Some("../x")).is_err());
    let named = env.clone().with("OPENCLAW_STATE_DIR", "~/claw");
    assert_eq!(state(&named, None).unwrap(), "/home/kim/claw");
    let moved = env.clone().with("OPENCLAW_HOME", "/other");
    assert_eq!(state(&moved, None).unwrap(), "/other/.openclaw");
    let config = env.with("OPENCLAW_CONFIG_PATH", "/etc/claw.json");
    assert_eq!(
        HomePaths::of(&config, None).unwrap().config,
        Path::new("/etc/claw.json")
    );
}
