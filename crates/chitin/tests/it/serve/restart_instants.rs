//! A restart in which the next process, or this one, ends at the worst moment.

use super::Serving;
use crate::process::command;
use crate::run::Talk;
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A server whose program can be replaced by another one.
struct Replaceable {
    talk: Talk,
    serving: Serving,
    program: PathBuf,
}

impl Replaceable {
    fn start(script: &[Value]) -> Self {
        Self::start_with(script, |_| {})
    }

    fn start_with(script: &[Value], surroundings: impl FnOnce(&mut Command)) -> Self {
        let talk = Talk::new(Format::Anthropic, script);
        let program = talk.env.path().join("chitin");
        put_program(&program);
        let plain = command(&talk.env, &[]);
        let mut own = Command::new(&program);
        own.args(["serve", "--json", "--listen", "127.0.0.1:0"])
            .current_dir(talk.env.path())
            .env_clear();
        for (name, value) in plain.get_envs() {
            own.env(name, value.unwrap_or_default());
        }
        surroundings(&mut own);
        let serving = Serving::begin(&talk, own, &talk.env.workspace(), &[]);
        Self {
            talk,
            serving,
            program,
        }
    }

    /// Puts a script in the program's place.
    fn replace(&self, script: &str) {
        let next = self.program.with_extension("next");
        std::fs::write(&next, format!("#!/bin/bash\n{script}\n")).unwrap();
        std::fs::set_permissions(&next, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::rename(&next, &self.program).unwrap();
    }

    /// Puts the program back.
    fn mend(&self) {
        std::fs::remove_file(&self.program).unwrap();
        put_program(&self.program);
    }

    fn count(&self, what: &str) -> usize {
        Serving::log(&self.talk).matches(what).count()
    }

    /// Asks for a restart that must be refused; returns why it was.
    fn refused(&self) -> String {
        let before = self.count("not restarted");
        self.serving.begin_anew();
        self.serving
            .wait_until("it is refused", |_| self.count("not restarted") > before);
        let log = Serving::log(&self.talk);
        let line = log.lines().rfind(|line| line.contains("not restarted"));
        line.unwrap().to_owned()
    }

    fn restart(&self) {
        let before = self.count("serves from now on");
        self.serving.begin_anew();
        self.serving.wait_until("it restarted", |_| {
            self.count("serves from now on") > before
        });
    }

    fn answers(&self, text: &str) {
        let session = format!("agent:main:{text}");
        let body = json!({"text": text, "session": session, "wait": true});
        let (status, said) = self.serving.ask("POST", "/api/messages", Some(&body));
        assert_eq!(status, 200, "{said}\n{}", Serving::log(&self.talk));
    }
}

fn put_program(at: &Path) {
    let program = env!("CARGO_BIN_EXE_chitin");
    if std::fs::hard_link(program, at).is_err() {
        std::fs::copy(program, at).unwrap();
    }
}

#[test]
fn a_successor_that_crashes_at_any_moment_before_it_serves_changes_nothing() {
    let server = Replaceable::start(&[json!({"text": "Here.", "times": 0})]);
    // What the server says to it are lines on its standard input, which is a socket: the first is empty.
    let ready = r#"read -r empty; printf '"ready"\n' >&0; read -r take"#;
    for (script, why) in [
        ("exit 7".to_owned(), "ended with exit status: 7"),
        ("kill -9 $$".to_owned(), "signal: 9"),
        ("echo no >&2; exit 2".to_owned(), "exit status: 2"),
        (
            "read -r empty; echo nonsense >&0; exit 1".to_owned(),
            "ended with",
        ),
        (format!("{ready}; exit 1"), "ended with exit status: 1"),
        (format!("{ready}; kill -9 $$"), "signal: 9"),
        (
            format!(r#"{ready}; printf '{{"failed":"no luck"}}\n' >&0; exit 1"#),
            "no luck",
        ),
    ] {
        server.replace(&script);
        let log = server.refused();
        assert!(log.contains(why), "{script}: {log}");
        server.answers("still");
    }
    // It hangs while messages wait for it: they go on after five seconds.
    server.replace(&format!("{ready}; exec sleep 600"));
    let log = server.refused();
    assert!(log.contains("did not open the job log"), "{log}");
    server.answers("after");
    server.mend();
    server.restart();
    server.answers("mended");
    assert_eq!(server.serving.end(), Some(0));
}

#[test]
fn a_successor_that_hangs_before_it_could_serve_is_given_up() {
    let server = Replaceable::start(&[json!({"text": "Here.", "times": 0})]);
    server.replace("exec sleep 600");
    let log = server.refused();
    assert!(log.contains("gave no answer for 30 s"), "{log}");
    server.answers("still");
    assert_eq!(server.serving.end(), Some(0));
}

#[test]
fn a_successor_that_dies_once_it_serves_ends_the_server_and_everything_is_there_on_the_next_start()
{
    let slow = json!({"when": "slow", "text": "At last.", "delayMs": 700, "times": 0});
    let server = Replaceable::start(&[slow, json!({"text": "Here.", "times": 0})]);
    server.serving.say("slow", "slow");
    server.replace(
        r#"read -r empty; printf '"ready"\n' >&0; read -r take; printf '"taken"\n' >&0; read -r go; kill -9 $$"#,
    );
    server.serving.begin_anew();
    let Replaceable { talk, serving, .. } = server;
    assert_eq!(serving.wait(), Some(70));
    assert!(Serving::log(&talk).contains("The process that took over is gone."));
    let serving = Serving::start(&talk, &[]);
    serving.rest();
    assert_eq!(replies(&serving), 1);
    assert_eq!(serving.end(), Some(0));
}

/// Counts the slow replies.
fn replies(serving: &Serving) -> usize {
    let (_, sessions) = serving.ask("GET", "/api/sessions", None);
    let mut keys = sessions["sessions"].as_array().unwrap().iter();
    let session = keys.find_map(|one| {
        let key = one["sessionKey"].as_str().or(one["key"].as_str())?;
        key.contains("slow").then(|| key.to_owned())
    });
    let session = session.unwrap_or_else(|| unreachable!("{sessions}"));
    let (_, shown) = serving.ask("GET", &format!("/api/sessions/{session}"), None);
    shown["history"].to_string().matches("At last.").count()
}

#[test]
fn the_process_that_was_started_is_the_server_for_whoever_started_it() {
    let slow = json!({"when": "slow", "text": "At last.", "delayMs": 1500, "times": 0});
    let server = Replaceable::start(&[slow, json!({"text": "Here.", "times": 0})]);
    server.answers("first");
    server.restart();
    server.restart();
    server.answers("second");
    // Killed, it takes the server with it, and nothing is lost.
    server.serving.say("slow", "slow");
    server.restart();
    let Replaceable { talk, serving, .. } = server;
    let address = serving.address.clone();
    serving.kill();
    let gone = || std::net::TcpStream::connect(&address).is_err();
    let began = std::time::Instant::now();
    while !gone() {
        assert!(began.elapsed() < super::PATIENCE, "somebody still listens");
        std::thread::yield_now();
    }
    let serving = Serving::start(&talk, &[]);
    serving.rest();
    assert_eq!(replies(&serving), 1);
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn a_turn_goes_on_in_the_next_process_where_this_one_left_it() {
    let script = [
        json!({"when": "work", "toolCalls": [{"name": "exec", "arguments": {"command": "sleep 1; echo worked >> done.txt"}}]}),
        json!({"text": "It is done.", "times": 0}),
    ];
    let server = Replaceable::start(&script);
    let body = json!({"text": "work", "session": "agent:main:work", "wait": true});
    let (status, said) = std::thread::scope(|scope| {
        let asking = scope.spawn(|| server.serving.ask("POST", "/api/messages", Some(&body)));
        assert!(server.talk.server.wait_for_requests(1, super::PATIENCE));
        server.restart();
        asking.join().unwrap()
    });
    // Who waited with the first process hears it from there.
    assert_eq!(status, 200, "{said}\n{}", Serving::log(&server.talk));
    assert_eq!(said["text"], "It is done.", "{said}");
    let requests = server.talk.server.requests();
    assert_eq!(requests.len(), 2, "nothing is asked twice");
    assert_eq!(server.serving.end(), Some(0));
}

#[test]
fn a_restart_with_a_deleted_job_log_loses_nothing() {
    let slow = json!({"when": "slow", "text": "At last.", "delayMs": 700, "times": 0});
    let server = Replaceable::start(&[slow, json!({"text": "Here.", "times": 0})]);
    server.serving.say("slow", "slow");
    std::fs::remove_dir_all(server.talk.env.home().join(".chitin/gateway")).unwrap();
    server.restart();
    server.serving.rest();
    assert_eq!(replies(&server.serving), 1);
    assert_eq!(server.serving.end(), Some(0));
}
