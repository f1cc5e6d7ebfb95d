//! A home that an older version wrote is one that today's binary goes on with: configuration, conversations, the job log, recorded turns
//! and artifacts.
//!
//! `tests/data/home_of_0165168` was written by the binary of that commit: two turns of `run`, a `pack` and a `sign`, and a `serve` that was
//! killed in the middle of a turn. Only paths are put in their place here, and the address of the model.
#![expect(
    clippy::disallowed_methods,
    reason = "the home is copied, and looked at behind the binary's back"
)]

use crate::process::plain_command;
use crate::run::{Talk, text};
use crate::serve::Serving;
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

const SESSION: &str = "agent:main:main";

/// Puts the home into a new environment, with a model that answers from a script.
fn older_home(script: &[Value]) -> Talk {
    let talk = Talk::new(Format::Anthropic, script);
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/home_of_0165168");
    for name in std::fs::read_dir(talk.env.workspace()).unwrap() {
        std::fs::remove_file(name.unwrap().path()).unwrap();
    }
    for (from, to) in [
        ("harbor", talk.env.workspace()),
        ("chitin", talk.env.home().join(".chitin")),
        ("openclaw", talk.env.home().join(".openclaw")),
    ] {
        copy(&talk, &data.join(from), &to);
    }
    talk
}

/// Copies a directory. What is text is written as if the home had always been here.
fn copy(talk: &Talk, from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    let (home, workspace) = (talk.env.home(), talk.env.workspace());
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(talk, &entry.path(), &target);
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap();
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => text
                .replace("/home/ada/harbor", workspace.to_str().unwrap())
                .replace("~/harbor", workspace.to_str().unwrap())
                .replace("/home/ada", home.to_str().unwrap())
                .replace("http://127.0.0.1:9", &talk.server.url())
                .into_bytes(),
            Err(error) => error.into_bytes(),
        };
        std::fs::write(target, bytes).unwrap();
    }
}

fn done(talk: &Talk, arguments: &[&str]) -> Output {
    let output = plain_command(&talk.env, arguments).output().unwrap();
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    output
}

fn shown(talk: &Talk, arguments: &[&str]) -> Value {
    serde_json::from_slice(&done(talk, arguments).stdout).unwrap()
}

/// The messages of a request, as the model got them.
fn asked(talk: &Talk, request: usize) -> Vec<String> {
    let requests = talk.server.requests();
    let body: Value = serde_json::from_slice(&requests[request].body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    messages.iter().map(Value::to_string).collect()
}

#[test]
fn run_goes_on_with_the_conversation() {
    let talk = older_home(&[json!({"text": "Five, as on Monday."})]);
    let said = done(&talk, &["run", "-m", "How many boards of larch?"]);
    assert_eq!(text(&said.stdout).trim(), "Five, as on Monday.");
    let asked = asked(&talk, 0);
    assert!(asked[0].contains("The larch came on Monday: five boards."));
    assert!(asked[1].contains("Noted: the larch came on Monday"));
    assert!(
        asked
            .iter()
            .any(|message| message.contains("oak: 3\\nlarch: 5"))
    );
    assert!(asked.last().unwrap().contains("How many boards of larch?"));
    let last = talk.messages().pop().unwrap();
    assert_eq!(last["content"][0]["text"], "Five, as on Monday.");
}

#[test]
fn sessions_trace_and_the_configuration_are_read() {
    let talk = older_home(&[]);
    let valid = text(&done(&talk, &["config", "validate"]).stdout);
    assert!(valid.contains("chitin.json5` is valid."), "{valid}");
    let sessions = shown(&talk, &["sessions", "--json"]).to_string();
    assert!(sessions.contains(SESSION), "{sessions}");
    let conversation = text(&done(&talk, &["sessions", "show", SESSION]).stdout);
    assert!(
        conversation.contains("Please read the board."),
        "{conversation}"
    );
    let traces = shown(&talk, &["trace", "--json"]).to_string();
    assert!(traces.contains(SESSION), "{traces}");
    let turns = text(&done(&talk, &["trace", "show", SESSION]).stdout);
    assert!(turns.contains("Please read the board."), "{turns}");
    assert!(turns.contains("read {\"path\":\"board.md\"}"), "{turns}");
}

#[test]
fn serve_runs_the_job_that_was_open_and_no_other() {
    let talk = older_home(&[json!({"text": "Five, counted twice."})]);
    let serving = Serving::start(&talk, &[]);
    assert!(
        talk.server
            .wait_for_requests(1, std::time::Duration::from_mins(1))
    );
    serving.rest();
    let path = format!("/api/sessions/{SESSION}");
    let (status, session) = serving.ask("GET", &path, None);
    let history = session["history"].to_string();
    assert_eq!(status, 200, "{session}");
    assert_eq!(
        history.matches("Five, counted twice.").count(),
        1,
        "{history}"
    );
    assert_eq!(
        history.matches("Count again, please.").count(),
        1,
        "{history}"
    );
    assert!(
        asked(&talk, 0)
            .last()
            .unwrap()
            .contains("Count again, please.")
    );
    assert_eq!(talk.server.requests().len(), 1);
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn an_artifact_in_the_store_is_verified_and_unpacked_to_the_same_files() {
    let talk = older_home(&[]);
    // Its signature binds no name, as those of that version: whoever wants it to count says so.
    let key = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/home_of_0165168/ada.pub.pem");
    let verify = ["verify", "harbor:1.0.0", "--trust", key.to_str().unwrap()];
    let refused = plain_command(&talk.env, &verify).output().unwrap();
    assert!(text(&refused.stderr).contains("unbound: \"accept\""));
    let policy = json!({"default": "require", "unbound": "accept", "keys": {"ada": std::fs::read_to_string(&key).unwrap()}});
    talk.env
        .file("home/.chitin/trust.json5", policy.to_string());
    done(&talk, &["verify", "harbor:1.0.0"]);
    done(&talk, &["unpack", "harbor:1.0.0", "out"]);
    for file in ["AGENTS.md", "SOUL.md", "skills/yard/SKILL.md"] {
        let (packed, out) = (format!("workspace/{file}"), format!("out/{file}"));
        assert_eq!(talk.env.read(&out), talk.env.read(&packed), "{file}");
    }
}
