//! `sessions` as a user meets it.
#![expect(
    clippy::disallowed_methods,
    reason = "files are compared byte for byte and looked at"
)]

use crate::process::{chitin, command, transcript};
use chitin_test::{TestEnv, needs};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

const TALK: &str = concat!(
    r#"{"type":"session","version":3,"id":"11111111-1111-4111-8111-111111111111","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/workspace"}"#,
    "\n",
    r#"{"type":"model_change","id":"00000001","parentId":null,"timestamp":"2026-03-01T09:00:00.000Z","provider":"anthropic","modelId":"claude"}"#,
    "\n",
    r#"{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-03-01T09:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"When is high \u001b[31mwater?"}],"timestamp":1772355601000}}"#,
    "\n",
    r#"{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2026-03-01T09:00:02.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"I look at the table."},{"type":"text","text":"Let me **look**."},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"TIDES.md"}}],"provider":"anthropic","model":"claude","stopReason":"toolUse","timestamp":1772355602000}}"#,
    "\n",
    r#"{"type":"message","id":"00000004","parentId":"00000003","timestamp":"2026-03-01T09:00:03.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"```\nnoon\n```"}],"isError":false,"timestamp":1772355603000}}"#,
    "\n",
    r#"{"type":"message","id":"00000005","parentId":"00000004","timestamp":"2026-03-01T09:00:04.000Z","message":{"role":"assistant","content":[{"type":"text","text":"At noon."}],"provider":"anthropic","model":"claude","stopReason":"stop","timestamp":1772355604000}}"#,
    "\n",
);

const INDEX: &str = r#"{
  "agent:main:main": {
    "sessionId": "11111111-1111-4111-8111-111111111111", "updatedAt": 1772355604000,
    "modelProvider": "anthropic", "model": "claude", "contextTokens": 200000, "totalTokens": 12345,
    "estimatedCostUsd": 0.0123
  },
  "agent:main:cron:tides": { "sessionId": "22222222-2222-4222-8222-222222222222", "updatedAt": 1772000000000 }
}"#;

const SESSIONS: &str = "agents/main/sessions";

/// Puts two sessions into a home directory.
fn keep(env: &TestEnv, home: &str) {
    let talk = TALK.replace(
        "11111111-1111-4111-8111-111111111111",
        "22222222-2222-4222-8222-222222222222",
    );
    env.file(&format!("home/{home}/{SESSIONS}/sessions.json"), INDEX);
    env.file(
        &format!("home/{home}/{SESSIONS}/11111111-1111-4111-8111-111111111111.jsonl"),
        TALK,
    );
    env.file(
        &format!("home/{home}/{SESSIONS}/22222222-2222-4222-8222-222222222222.jsonl"),
        talk.lines().next().unwrap().to_owned() + "\n",
    );
}

#[test]
fn sessions_are_listed_and_shown() {
    if !needs::time_zones() {
        return;
    }
    let env = TestEnv::new();
    let mut story = transcript(&env, &["sessions"]);
    keep(&env, ".chitin");
    story += &transcript(&env, &["sessions"]);
    story += &transcript(&env, &["sessions", "show", "main"]);
    story += &transcript(&env, &["sessions", "show", "main", "--tail", "1"]);
    story += &transcript(&env, &["sessions", "show", "cron:tides", "--agent", "main"]);
    story += &transcript(&env, &["sessions", "show", "mian"]);
    story += &transcript(&env, &["sessions", "show", "something-else-entirely"]);
    story += &transcript(&env, &["sessions", "list", "--json"]);
    insta::assert_snapshot!(story);
}

#[test]
fn openclaws_sessions_are_read_and_nothing_of_them_changes() {
    let env = TestEnv::new();
    keep(&env, ".openclaw");
    let before = tree(&env, ".openclaw");
    let listed = transcript(&env, &["sessions", "--openclaw"]);
    assert!(listed.contains("agent:main:cron:tides"), "{listed}");
    assert!(
        listed.contains(
            "2 sessions of OpenClaw's agent `main` in `~/.openclaw/agents/main/sessions`."
        ),
        "{listed}"
    );
    let shown = transcript(
        &env,
        &["sessions", "show", "main", "--openclaw", "--tail", "1"],
    );
    assert!(shown.contains("At noon."), "{shown}");
    let copied = chitin(&env, &["sessions", "export", "main", "--openclaw"]);
    assert_eq!(copied.stdout, TALK.as_bytes());
    let file = format!("home/.openclaw/{SESSIONS}/11111111-1111-4111-8111-111111111111.jsonl");
    let mut story = transcript(&env, &["sessions", "import", &file, "--as", "old"]);
    story += &transcript(&env, &["sessions", "import", &file, "--as", "old"]);
    story += &transcript(
        &env,
        &["sessions", "import", &file, "--as", "old", "--replace"],
    );
    story += &transcript(&env, &["sessions", "import", &file]);
    story += &transcript(&env, &["sessions", "import", "workspace"]);
    story += &transcript(&env, &["sessions", "import", "nowhere.jsonl"]);
    insta::assert_snapshot!(story);
    assert_eq!(tree(&env, ".openclaw"), before);
    let copied = chitin(&env, &["sessions", "export", "old"]);
    assert_eq!(copied.stdout, TALK.as_bytes());
}

/// Every file below a directory of the home, with what is in it.
fn tree(env: &TestEnv, home: &str) -> Vec<(String, Vec<u8>)> {
    let directory = env.home().join(home).join(SESSIONS);
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn an_export_is_exact_private_and_replaces_nothing() {
    let env = TestEnv::new();
    keep(&env, ".chitin");
    let name = format!("home/.chitin/{SESSIONS}/11111111-1111-4111-8111-111111111111.jsonl");
    env.file(&name, format!("{TALK}{{\"torn"));
    assert_eq!(
        chitin(&env, &["sessions", "export", "main"]).stdout,
        TALK.as_bytes()
    );
    let mut story = transcript(&env, &["sessions", "export", "main", "--out", "talk.jsonl"]);
    assert_eq!(env.read("talk.jsonl"), TALK);
    let mode = fs::metadata(env.path().join("talk.jsonl"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    story += &transcript(&env, &["sessions", "export", "main", "--out", "talk.jsonl"]);
    story += &transcript(
        &env,
        &["sessions", "export", "main", "--out", "no/such/place"],
    );
    story += &transcript(
        &env,
        &["sessions", "export", "main", "--format", "markdown"],
    );
    insta::assert_snapshot!(story);
    assert!(
        env.read(&name).ends_with("{\"torn"),
        "nothing is repaired by reading"
    );
}

#[test]
fn a_reader_of_an_export_that_goes_away_is_no_error() {
    let env = TestEnv::new();
    keep(&env, ".chitin");
    let name = format!("home/.chitin/{SESSIONS}/11111111-1111-4111-8111-111111111111.jsonl");
    let last = TALK.lines().last().unwrap();
    env.file(&name, format!("{TALK}{}", format!("{last}\n").repeat(5000)));
    let mut child = command(&env, &["sessions", "export", "main"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn only_what_is_named_goes() {
    if !needs::time_zones() {
        return;
    }
    let env = TestEnv::new();
    keep(&env, ".chitin");
    for name in [
        "11111111-1111-4111-8111-111111111111",
        "22222222-2222-4222-8222-222222222222",
    ] {
        let path = env.home().join(format!(".chitin/{SESSIONS}/{name}.jsonl"));
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_772_000_000);
        fs::File::options()
            .append(true)
            .open(path)
            .unwrap()
            .set_modified(old)
            .unwrap();
    }
    let mut story = transcript(&env, &["sessions", "prune"]);
    story += &transcript(&env, &["sessions", "prune", "--older-than", "soon"]);
    story += &transcript(&env, &["sessions", "prune", "--keep", "1", "--dry-run"]);
    assert_eq!(tree(&env, ".chitin").len(), 3, "a dry run takes nothing");
    story += &transcript(&env, &["sessions", "prune", "--keep", "1"]);
    story += &transcript(&env, &["sessions", "prune", "--older-than", "1000000d"]);
    story += &transcript(&env, &["sessions"]);
    insta::assert_snapshot!(story);
}
