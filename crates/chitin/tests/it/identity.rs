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
    let (_, said) = run(&env, &["memory", "facts", "dock", "--user", "ada"]);
    let offer = format!("`chitin sessions adopt {} ", old.as_str().unwrap());
    assert!(said.contains(&offer), "{said}");
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
    assert!(
        notes.contains("the conversation started in another directory"),
        "{notes}"
    );
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
fn ten_thousand_directories_with_sessions_are_kept_apart() {
    let env = two_directories();
    run(&env, &["run", "harbor", "-m", SECRET]);
    let state = env.home().join(".chitin");
    let entries = fs::read_dir(state.join("agents")).unwrap();
    let harbor = entries.last().unwrap().unwrap().path().join("sessions");
    let index = fs::read(harbor.join("sessions.json")).unwrap();
    for at in 0..10_000 {
        let sessions = state.join(format!("agents/yard-{at:08x}/sessions"));
        fs::create_dir_all(&sessions).unwrap();
        fs::write(sessions.join("sessions.json"), &index).unwrap();
        fs::write(state.join(format!("directories/1-{at:x}.json")), "{}").unwrap();
    }
    assert!(request(&env, "harbor").contains("PURPLE-42"));
    assert!(!request(&env, "garden").contains("PURPLE-42"));
    let (listed, _) = run(&env, &["sessions", "--dir", "harbor", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn a_workspace_on_a_read_only_disk_answers_and_says_what_it_cannot_write() {
    if !chitin_test::needs::bwrap() {
        return;
    }
    let env = two_directories();
    let harbor = env.path().join("harbor");
    let call = r#"call write {"path": "notes.md", "content": "x"}"#;
    let program = env!("CARGO_BIN_EXE_chitin");
    let mut command = std::process::Command::new("bwrap");
    command.args(["--dev-bind", "/", "/", "--ro-bind"]);
    command.args([&harbor, &harbor]);
    command.args(["--", program, "run", "harbor", "-m", call]);
    command.current_dir(env.path()).env("HOME", env.home());
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, notes) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}\n{notes}");
    assert!(said.contains("notes.md"), "{said}");
    assert!(said.contains("Read-only file system"), "{said}");
    assert!(!harbor.join("notes.md").exists());
    assert!(request(&env, "harbor").contains("notes.md"), "it is kept");
}

/// Tells whether memory finds something that was said.
fn remembers(env: &TestEnv, directory: &str, asked: &str, word: &str) -> bool {
    let arguments = ["memory", "search", asked, directory, "--json"];
    let output = plain_command(env, &arguments).output().unwrap();
    String::from_utf8_lossy(&output.stdout).contains(word)
}

#[test]
fn what_was_said_before_a_move_and_by_a_link_is_remembered() {
    let env = two_directories();
    run(&env, &["run", "harbor", "-m", "The vault is ZEBRA99."]);
    run(
        &env,
        &["run", "harbor", "--new", "-m", "The gate is KOALA12."],
    );
    fs::rename(env.path().join("harbor"), env.path().join("dock")).unwrap();
    let (_, notes) = run(&env, &["run", "dock", "-m", "hello"]);
    let old = notes.split("sessions adopt ").nth(1).unwrap();
    let old = old.split(' ').next().unwrap();
    let adopt = ["sessions", "adopt", old, "dock", "--replace"];
    let (said, _) = run(&env, &adopt);
    assert!(
        said.contains("1 conversation from before a reset, for memory"),
        "{said}"
    );
    run(&env, &["run", "dock", "--new", "-m", "hello again"]);
    assert!(remembers(&env, "dock", "vault", "ZEBRA99"));
    assert!(remembers(&env, "dock", "gate", "KOALA12"));

    env.link("plot", "garden");
    run(&env, &["run", "plot", "-m", "The shed is WALRUS77."]);
    run(&env, &["run", "plot", "--new", "-m", "hello"]);
    assert!(remembers(&env, "garden", "shed", "WALRUS77"));
    assert!(!remembers(&env, "dock", "shed", "WALRUS77"));
}

#[test]
fn directories_that_changed_places_are_said() {
    let env = two_directories();
    run(&env, &["run", "harbor", "-m", SECRET]);
    run(&env, &["run", "garden", "-m", "my secret is GREEN-7"]);
    for (from, to) in [("harbor", "x"), ("garden", "harbor"), ("x", "garden")] {
        fs::rename(env.path().join(from), env.path().join(to)).unwrap();
    }
    let (_, notes) = run(&env, &["run", "harbor", "-m", "hello", "--dry-run"]);
    assert!(
        notes.contains("the conversation started in another directory"),
        "{notes}"
    );
    assert!(notes.contains("sessions adopt garden-"), "{notes}");
}

#[test]
fn a_directory_that_configuration_names_later_offers_its_conversation() {
    let env = two_directories();
    run(&env, &["run", "harbor", "-m", SECRET]);
    // A path in the file is not that of the directory in which a command is typed.
    let config = json!({"agents": {"quay": {"workspace": "../../harbor"}}});
    env.file("home/.chitin/chitin.json5", config.to_string());
    let (_, notes) = run(&env, &["run", "harbor", "-m", "hello", "--dry-run"]);
    let said = "is kept as agent `harbor-";
    assert!(notes.contains(said) && notes.contains("`quay`"), "{notes}");
    let old = notes.split("sessions adopt ").nth(1).unwrap();
    let old = old.split(' ').next().unwrap();
    run(&env, &["sessions", "adopt", old, "harbor"]);
    assert!(request(&env, "harbor").contains("PURPLE-42"));
    let (_, notes) = run(&env, &["run", "harbor", "-m", "hello", "--dry-run"]);
    assert!(!notes.contains("sessions adopt"), "{notes}");
}

#[test]
fn a_workspace_that_is_composed_twice_counts_once_and_pack_refuses_it() {
    let env = two_directories();
    env.link("plot", "garden");
    let others = ["--with", "garden", "--with", "plot", "--with", "harbor"];
    let mut arguments = vec!["context", "harbor", "--text"];
    arguments.extend(others);
    let (shown, notes) = run(&env, &arguments);
    assert_eq!(shown.matches("Keep the garden.").count(), 1, "{shown}");
    assert_eq!(shown.matches("Keep the harbor.").count(), 1, "{shown}");
    assert_eq!(notes.matches("is named twice").count(), 2, "{notes}");
    let pack = ["pack", "harbor", "--with", "garden"];
    let output = plain_command(&env, &pack).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(said.contains("`--with` cannot be packed"), "{said}");
}
