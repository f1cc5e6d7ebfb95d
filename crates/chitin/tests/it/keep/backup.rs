//! `chitin backup` and `chitin restore`: a backup is tried by restoring it and going on.

use super::{call, code, everything, files, home, json_of, shown};
use crate::process::{chitin, command};
use crate::run::Talk;
use crate::serve::Serving;
use crate::undo::kills::{Dice, begin, killed_after};
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

/// Runs a command with another home.
fn elsewhere(talk: &Talk, home: &Path, arguments: &[&str]) -> Output {
    let mut command = command(&talk.env, arguments);
    command.env("CHITIN_HOME", home).output().unwrap()
}

fn restored(talk: &Talk, backup: &str, name: &str) -> PathBuf {
    let home = talk.env.path().join(name);
    let output = elsewhere(talk, &home, &["restore", backup]);
    assert_eq!(code(&output), 0, "{}", shown(&output));
    home
}

fn backed_up(talk: &Talk, name: &str) -> Value {
    let output = chitin(&talk.env, &["--json", "backup", name]);
    assert_eq!(code(&output), 0, "{}", shown(&output));
    json_of(&output)
}

fn ask(serving: &Serving, key: &str, text: &str) -> (u16, Value) {
    serving.send(key, &json!({"text": text, "wait": true}))
}

#[test]
fn a_restored_home_goes_on_where_the_backup_was_made() {
    let down = json!({"error": {"status": 402, "message": "no credit"}, "times": 3});
    let talk = Talk::new(
        Format::Anthropic,
        &[
            call(
                "write",
                json!({"path": "board.md", "content": "oak: 4\nlarch: 5\n"}),
            ),
            json!({"text": "The oak is counted."}),
            json!({"text": "It is a larch."}),
            down,
            json!({"text": "Late, but heard.", "times": 0}),
        ],
    );
    talk.configure(everything());
    let serving = Serving::start(&talk, &[]);
    let (status, first) = ask(&serving, "first", "Count the oak again.");
    assert_eq!(
        (status, first["text"].as_str()),
        (200, Some("The oak is counted.")),
        "{first}"
    );
    let (status, second) = ask(&serving, "second", "Which tree is it?");
    assert_eq!(
        (status, second["text"].as_str()),
        (200, Some("It is a larch.")),
        "{second}"
    );
    let open = json!({"text": "And the elm?"});
    assert_eq!(serving.send("third", &open).0, 202);
    serving.wait_until("it is tried", |_| talk.server.requests().len() > 3);
    let report = backed_up(&talk, "one.tar.gz");
    let file = talk.env.path().join("one.tar.gz");
    assert_eq!(
        std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(report["secrets"], json!(["server-token"]), "{report:#}");
    serving.kill();
    // The home is lost.
    let sessions = chitin(&talk.env, &["--json", "sessions"]);
    let lost = talk.env.path().join("lost");
    std::fs::rename(home(&talk), &lost).unwrap();
    let output = chitin(&talk.env, &["restore", "one.tar.gz"]);
    assert_eq!(code(&output), 0, "{}", shown(&output));
    let keys = |output: &Output| {
        let sessions = json_of(output);
        let sessions = sessions["sessions"].as_array().unwrap().clone();
        sessions
            .into_iter()
            .map(|one| one["key"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        keys(&chitin(&talk.env, &["--json", "sessions"])),
        keys(&sessions)
    );
    // Every file that only grows is a beginning of what it was, up to a whole line; what is replaced is the same.
    let (before, after) = (files(&lost), files(&home(&talk)));
    for (name, bytes) in &after {
        let was = &before[name];
        if name.ends_with(".jsonl") && !name.contains("gateway/") {
            assert!(was.starts_with(bytes) && bytes.ends_with(b"\n"), "{name}");
        }
        let mode = std::fs::metadata(home(&talk).join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
    for kept in [
        "chitin.json5",
        "server-token",
        "agents/main/sessions/sessions.json",
    ] {
        assert!(after.contains_key(kept), "{kept}");
    }
    assert!(
        after.keys().any(|name| name.starts_with("logs/")),
        "recordings are kept"
    );
    let found = chitin(
        &talk.env,
        &["--json", "memory", "search", "larch", "workspace"],
    );
    assert!(shown(&found).contains("sessions/"), "{}", shown(&found));
    let undone = chitin(&talk.env, &["undo"]);
    assert_eq!(code(&undone), 0, "{}", shown(&undone));
    assert_eq!(talk.env.read("workspace/board.md"), "oak: 3\nlarch: 5\n");
    let serving = Serving::start(&talk, &[]);
    let requests = talk.server.requests().len();
    let (status, again) = ask(&serving, "second", "Which tree is it?");
    assert_eq!(
        (status, &again["text"], &again["place"]),
        (200, &json!("It is a larch."), &json!("known")),
        "{again}"
    );
    serving.wait_until("the open message is answered", |serving| {
        let (status, third) = ask(serving, "third", "And the elm?");
        status == 200 && third["text"] == "Late, but heard."
    });
    assert!(talk.server.requests().len() > requests);
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn backups_under_load_have_every_message_answered_or_open() {
    let script: Vec<Value> = vec![json!({"text": "Heard.", "delayMs": 15, "times": 0})];
    let talk = Talk::new(Format::Anthropic, &script);
    let serving = Serving::start(&talk, &[]);
    let sent = 60;
    let mut backups = Vec::new();
    for number in 0..sent {
        let body = json!({
            "text": format!("message {number}"), "session": format!("agent:main:load-{}", number % 6),
        });
        let (status, accepted) = serving.send(&format!("load-{number}"), &body);
        assert_eq!(status, 202, "{accepted}");
        if number % 15 == 14 {
            let name = format!("load-{number}.tar.gz");
            backed_up(&talk, &name);
            backups.push((name, number));
        }
    }
    serving.rest();
    serving.kill();
    for (name, number) in backups {
        let home = restored(&talk, &name, &name.replace(".tar.gz", ""));
        let serving = Serving::start_with(&talk, |command| {
            command.env("CHITIN_HOME", &home);
        });
        serving.rest();
        assert_eq!(serving.end(), Some(0));
        let sessions = home.join("agents/main/sessions");
        let mut found = Vec::new();
        for (name, bytes) in files(&sessions) {
            if !name.ends_with(".jsonl") || name.contains("trajectory") {
                continue;
            }
            let text = String::from_utf8(bytes).unwrap();
            let mut asked = 0;
            for line in text.lines() {
                let record: Value = serde_json::from_str(line).unwrap();
                let message = &record["message"];
                match message["role"].as_str() {
                    Some("user") => {
                        asked += 1;
                        found.push(message["content"].to_string());
                    }
                    Some("assistant") => asked = 0,
                    _ => {}
                }
            }
            assert_eq!(asked, 0, "{name}: the last message has no answer\n{text}");
        }
        let text = found.join("\n");
        for earlier in 0..=number {
            let marked = format!("message {earlier}");
            let times = text
                .match_indices(&marked)
                .filter(|(at, _)| {
                    !text[at + marked.len()..].starts_with(|c: char| c.is_ascii_digit())
                })
                .count();
            assert_eq!(times, 1, "{name}: {marked} of {number}\n{text}");
        }
    }
}

#[test]
fn an_existing_file_and_a_home_in_use_are_refused() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Heard.", "times": 0})]);
    talk.answer("Hello.");
    backed_up(&talk, "one.tar.gz");
    let taken = chitin(&talk.env, &["backup", "one.tar.gz"]);
    assert_eq!(code(&taken), 3, "{}", shown(&taken));
    let before = files(&home(&talk));
    let full = chitin(&talk.env, &["restore", "one.tar.gz"]);
    assert_eq!(code(&full), 5, "{}", shown(&full));
    let inside = chitin(&talk.env, &["backup", "home/.chitin/inside.tar.gz"]);
    assert_eq!(code(&inside), 2, "{}", shown(&inside));
    let json = chitin(&talk.env, &["--json", "backup", "-"]);
    assert_eq!(code(&json), 2, "{}", shown(&json));
    assert_eq!(files(&home(&talk)), before, "nothing changed");
    let again = chitin(&talk.env, &["backup", "one.tar.gz", "--force"]);
    assert_eq!(code(&again), 0, "{}", shown(&again));
    let serving = Serving::start(&talk, &[]);
    let served = chitin(&talk.env, &["restore", "one.tar.gz", "--force"]);
    assert_eq!(code(&served), 5, "{}", shown(&served));
    assert!(shown(&served).contains("a server at"), "{}", shown(&served));
    assert_eq!(serving.end(), Some(0));
    talk.env.file("home/.chitin/mine.txt", "mine");
    let forced = chitin(&talk.env, &["--json", "restore", "one.tar.gz", "--force"]);
    assert_eq!(code(&forced), 0, "{}", shown(&forced));
    let aside = json_of(&forced)["setAside"].as_str().unwrap().to_owned();
    assert_eq!(
        std::fs::read_to_string(Path::new(&aside).join("mine.txt")).unwrap(),
        "mine"
    );
    assert!(!home(&talk).join("mine.txt").exists());
    assert_eq!(talk.answer("Still there?").trim(), "Heard.");
    assert_eq!(talk.messages().len(), 4);
}

#[test]
fn a_backup_goes_through_a_pipe_and_secrets_stay_out_on_request() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Heard.", "times": 0})]);
    talk.answer("Hello.");
    Serving::start(&talk, &[]).kill();
    talk.env
        .file("home/.chitin/registries.json", "{\"auths\": {}}");
    let piped = chitin(&talk.env, &["backup", "-", "--without-secrets"]);
    assert_eq!(code(&piped), 0, "{}", shown(&piped));
    let home = talk.env.path().join("piped");
    let mut restore = command(&talk.env, &["restore", "-"]);
    let mut restore = restore
        .env("CHITIN_HOME", &home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    restore
        .stdin
        .take()
        .unwrap()
        .write_all(&piped.stdout)
        .unwrap();
    let output = restore.wait_with_output().unwrap();
    assert_eq!(code(&output), 0, "{}", shown(&output));
    let there = files(&home);
    for secret in ["server-token", "registries.json"] {
        assert!(!there.contains_key(secret), "{secret}");
    }
    assert!(there.contains_key("chitin.json5"));
    let said = shown(&elsewhere(&talk, &home, &["sessions"]));
    assert!(said.contains("agent:main:main"), "{said}");
}

#[test]
fn a_killed_backup_leaves_no_file_and_a_killed_restore_the_old_home_or_the_new_one() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Heard.", "times": 0})]);
    talk.answer("Hello.");
    for number in 0..300 {
        talk.env.file(
            &format!("home/.chitin/plugin-data/p/{number}"),
            "x".repeat(3000),
        );
    }
    backed_up(&talk, "one.tar.gz");
    let new = files(&restored(&talk, "one.tar.gz", "whole"));
    let mut dice = Dice(20);
    let old = talk.env.path().join("other/state");
    let mut finished = 0;
    for round in 0..25 {
        talk.env.file("other/state/mine.txt", "mine");
        let mut restore = command(&talk.env, &["restore", "one.tar.gz", "--force"]);
        let child = begin(restore.env("CHITIN_HOME", &old));
        killed_after(child, dice.below(60_000));
        let now = files(&old);
        if now.contains_key("mine.txt") {
            assert_eq!(now.len(), 1, "round {round}: the old home");
        } else {
            assert_eq!(now, new, "round {round}: the new home");
            finished += 1;
        }
        std::fs::remove_dir_all(&old).unwrap();
        // What was set aside is whole, too.
        for entry in std::fs::read_dir(talk.env.path().join("other")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if name.contains("before-restore") {
                let aside = files(&path);
                assert!(aside == new || aside.len() == 1, "round {round}: {name}");
                std::fs::remove_dir_all(&path).unwrap();
            }
        }
        let name = format!("killed-{round}.tar.gz");
        let child = begin(&mut command(&talk.env, &["backup", &name]));
        let was_killed = killed_after(child, dice.below(60_000));
        let file = talk.env.path().join(&name);
        if was_killed && file.exists() {
            let checked = chitin(&talk.env, &["restore", "--check", &name]);
            assert_eq!(code(&checked), 0, "a file that has its name is whole");
        }
    }
    // Another restore clears away what was left beside the home.
    let output = elsewhere(&talk, &old, &["restore", "one.tar.gz"]);
    assert_eq!(code(&output), 0, "{}", shown(&output));
    let beside = std::fs::read_dir(talk.env.path().join("other")).unwrap();
    let beside: Vec<_> = beside.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside, ["state"], "{finished} of 25 finished");
}
