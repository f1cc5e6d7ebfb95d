//! The directory is the agent: what is said in one is never sent from another.
#![expect(
    clippy::disallowed_methods,
    reason = "directories are moved between the steps"
)]

use crate::process::plain_command;
use chitin_test::TestEnv;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const SECRET: &str = "my secret is PURPLE-42";

/// Runs it and returns stdout and stderr.
fn run(env: &TestEnv, arguments: &[&str]) -> (String, String) {
    let output = plain_command(env, arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    (text(&output.stdout), text(&output.stderr))
}

/// Two agents that no configuration knows.
fn two_directories() -> TestEnv {
    let env = TestEnv::new();
    env.file("harbor/AGENTS.md", "Keep the harbor.\n");
    env.file("garden/AGENTS.md", "Keep the garden.\n");
    env
}

/// The request that the next turn would send.
fn request(env: &TestEnv, directory: &str) -> String {
    run(
        env,
        &["run", directory, "-m", "hello", "--dry-run", "--json"],
    )
    .0
}

#[test]
fn what_is_said_in_one_directory_is_not_sent_from_another() {
    let env = two_directories();
    run(&env, &["run", "harbor", "-m", SECRET]);
    assert!(request(&env, "harbor").contains("PURPLE-42"));
    assert!(!request(&env, "garden").contains("PURPLE-42"));
    // Nor is it found by memory, which searches past conversations.
    let search = |directory| {
        let arguments = ["memory", "search", "secret PURPLE", directory, "--json"];
        let output = plain_command(&env, &arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).contains("PURPLE-42")
    };
    assert!(search("harbor"));
    assert!(!search("garden"));
    // The same directory by another spelling is the same agent.
    env.link("dock", "harbor");
    assert!(request(&env, "./garden/../dock").contains("PURPLE-42"));
}

#[test]
fn a_directory_that_configuration_gives_to_an_agent_is_that_agent() {
    let env = two_directories();
    let garden = env.path().join("garden");
    let openclaw =
        json!({"agents": {"list": [{"id": "main"}, {"id": "ops", "workspace": garden}]}});
    env.file("home/.openclaw/openclaw.json", openclaw.to_string());
    env.file("home/.openclaw/workspace/AGENTS.md", "Keep everything.\n");
    env.file(
        "home/.chitin/chitin.json5",
        json!({"agents": {"quay": {"workspace": env.path().join("harbor")}}}).to_string(),
    );
    let session = |directory: &str| {
        let (report, _) = run(&env, &["context", directory, "--json"]);
        let report: Value = serde_json::from_str(&report).unwrap();
        report["session"].as_str().unwrap().to_owned()
    };
    assert_eq!(session("garden"), "agent:ops:main");
    assert_eq!(session("harbor"), "agent:quay:main");
    assert_eq!(session("~/.openclaw/workspace"), "agent:main:main");
    env.file("elsewhere/AGENTS.md", "x");
    let own = session("elsewhere");
    assert!(own.starts_with("agent:elsewhere-"), "{own}");
    // An id finds its directory, too.
    let (shown, _) = run(&env, &["context", "--agent", "quay", "--text"]);
    assert!(shown.contains("Keep the harbor."));
}

#[test]
fn a_directory_that_was_moved_finds_its_conversation_again() {
    let env = two_directories();
    run(&env, &["run", "harbor", "-m", SECRET]);
    fs::rename(env.path().join("harbor"), env.path().join("dock")).unwrap();
    let (_, notes) = run(&env, &["run", "dock", "-m", "hello", "--dry-run"]);
    let said = notes
        .lines()
        .find(|line| line.contains("sessions adopt"))
        .unwrap();
    assert!(said.contains("harbor"), "{said}");
    let old = said.split("sessions adopt ").nth(1).unwrap();
    let old = old.split(' ').next().unwrap();
    // The offer stands after something was said here, and what it names works.
    let (_, notes) = run(&env, &["run", "dock", "-m", "hello"]);
    assert!(notes.contains("sessions adopt"), "{notes}");
    let output = plain_command(&env, &["sessions", "adopt", old, "dock"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let (adopted, _) = run(
        &env,
        &["sessions", "adopt", old, "dock", "--replace", "--json"],
    );
    let adopted: Value = serde_json::from_str(&adopted).unwrap();
    assert_eq!(adopted["adopted"].as_array().unwrap().len(), 1, "{adopted}");
    assert!(request(&env, "dock").contains("PURPLE-42"));
    // The old conversation is still there, and nothing is said of it any more.
    let (listed, _) = run(&env, &["sessions", "--agent", old, "--json"]);
    assert!(listed.contains(old), "{listed}");
    let (_, notes) = run(&env, &["run", "dock", "-m", "and now?"]);
    assert!(!notes.contains("sessions adopt"), "{notes}");
    // Another directory that gets the old name is not taken for it.
    env.file("harbor/AGENTS.md", "Another one.\n");
    fs::rename(env.path().join("harbor"), env.path().join("pier")).unwrap();
    assert!(!request(&env, "pier").contains("PURPLE-42"));
}

#[test]
fn facts_move_with_the_directory() {
    let env = two_directories();
    let facts = |directory: &str, more: &[&str]| -> Value {
        let fixed = ["memory", "facts", directory, "--user", "ada", "--json"];
        let (shown, _) = run(&env, &[&fixed[..], more].concat());
        serde_json::from_str(&shown).unwrap()
    };
    let old = facts("harbor", &["--add", "Prefers oak."])["agent"].clone();
    facts(
        "harbor",
        &["--day", "2026-03-02", "--add", "The larch came."],
    );
    fs::rename(env.path().join("harbor"), env.path().join("dock")).unwrap();
    assert_eq!(facts("dock", &[])["entries"], serde_json::json!([]));
    let adopt = ["sessions", "adopt", old.as_str().unwrap(), "dock", "--json"];
    let (adopted, _) = run(&env, &adopt);
    let adopted: Value = serde_json::from_str(&adopted).unwrap();
    assert_eq!(adopted["facts"], 2, "{adopted}");
    assert_eq!(facts("dock", &[])["entries"][0]["content"], "Prefers oak.");
    let notes = facts("dock", &["--day", "2026-03-02"]);
    assert_eq!(notes["entries"][0]["content"], "The larch came.");
    // What is there already does not come twice.
    let again = plain_command(&env, &adopt).output().unwrap();
    assert_eq!(again.status.code(), Some(3));
    assert_eq!(facts("dock", &[])["entries"].as_array().unwrap().len(), 1);
}

#[test]
fn serve_names_conversations_from_before() {
    let env = two_directories();
    run(&env, &["run", "harbor", "--agent", "main", "-m", SECRET]);
    let mut serving = plain_command(&env, &["serve", "harbor", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut listening = String::new();
    let mut out = BufReader::new(serving.stdout.take().unwrap());
    out.read_line(&mut listening).unwrap();
    let process = rustix::process::Pid::from_child(&serving);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    let said = serving.wait_with_output().unwrap().stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(
        said.contains("`chitin sessions adopt main"),
        "{listening}{said}"
    );
}

#[test]
fn conversations_from_before_are_offered_to_the_directory_where_they_began() {
    let env = two_directories();
    // What every directory did before it had sessions of its own.
    run(&env, &["run", "harbor", "--agent", "main", "-m", SECRET]);
    let (_, notes) = run(&env, &["run", "garden", "-m", "hello", "--dry-run"]);
    assert!(!notes.contains("adopt"), "{notes}");
    let (_, notes) = run(&env, &["run", "harbor", "-m", "hello", "--dry-run"]);
    assert!(notes.contains("`chitin sessions adopt main"), "{notes}");
    run(&env, &["sessions", "adopt", "main", "harbor"]);
    assert!(request(&env, "harbor").contains("PURPLE-42"));
    assert!(!request(&env, "garden").contains("PURPLE-42"));
}

#[test]
fn a_session_of_another_agent_is_not_continued_in_a_directory() {
    let env = two_directories();
    run(&env, &["run", "harbor", "-m", SECRET]);
    let (listed, _) = run(&env, &["sessions", "--dir", "harbor", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let key = listed["sessions"][0]["key"].as_str().unwrap();
    for key in [key, "agent:main:main"] {
        let arguments = ["run", "garden", "--session", key, "-m", "hi", "--dry-run"];
        let output = plain_command(&env, &arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{key}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("is a session of the agent"), "{said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn another_directory_at_an_old_path_is_said() {
    let env = two_directories();
    run(&env, &["run", "harbor", "-m", SECRET]);
    fs::remove_dir_all(env.path().join("harbor")).unwrap();
    // So that the inode is not used again for it.
    env.directory_at("held");
    env.file("harbor/AGENTS.md", "Another one.\n");
    let (_, notes) = run(&env, &["run", "harbor", "-m", "hello", "--dry-run"]);
    assert!(notes.contains("another one has its path now"), "{notes}");
}

#[test]
fn adopting_says_what_it_cannot_do() {
    let env = two_directories();
    let output = plain_command(&env, &["sessions", "adopt", "nobody", "harbor"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("The agent `nobody` has no sessions."),
        "{said}"
    );
}

#[test]
fn thousands_of_directories_with_sessions_cost_nothing() {
    let env = two_directories();
    fs::create_dir_all(env.path().join("home/.chitin/directories")).unwrap();
    for at in 0..2_000 {
        fs::create_dir_all(
            env.path()
                .join(format!("home/.chitin/agents/yard-{at:08x}/sessions")),
        )
        .unwrap();
        fs::write(
            env.path()
                .join(format!("home/.chitin/directories/1-{at:x}.json")),
            "{}",
        )
        .unwrap();
    }
    run(&env, &["run", "harbor", "-m", SECRET]);
    assert!(!request(&env, "garden").contains("PURPLE-42"));
}
