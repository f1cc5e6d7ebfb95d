//! A server that begins anew: a newer program or another configuration takes over, and nobody notices.

use super::Serving;
use crate::run::Talk;
use chitin_test::model_server::Format;
use serde_json::json;
use std::time::Instant;

#[test]
fn a_restart_turns_nobody_away_and_loses_no_message() {
    let script: Vec<_> = (0..40)
        .map(|_| json!({"text": "It is on the board.", "delayMs": 30}))
        .collect();
    let talk = Talk::new(Format::Anthropic, &script);
    let serving = Serving::start(&talk, &[]);
    let began = Instant::now();
    let mut taken = Vec::new();
    for round in 0..3 {
        for number in 0..5 {
            // Before, while and after the process is replaced: a connection is always taken, and a message never lost.
            let text = format!("{round} {number}");
            let body =
                json!({"text": text, "session": format!("agent:main:round-{round}-{number}")});
            let key = [
                ("authorization", format!("Bearer {}", serving.token)),
                ("idempotency-key", text),
            ];
            serving.wait_until("it is taken", |serving| {
                let (status, _) =
                    serving.ask_raw("POST", "/api/messages", &key, Some(&body.to_string()));
                // 503 is what a server that is about to end says; whoever gets it asks again.
                assert!(matches!(status, 202 | 503), "{status}");
                status == 202
            });
            taken.push(format!("agent:main:round-{round}-{number}"));
            if number == 2 {
                serving.begin_anew();
            }
        }
    }
    serving.rest();
    for session in taken {
        let (status, shown) = serving.ask("GET", &format!("/api/sessions/{session}"), None);
        assert_eq!(status, 200, "{session}: {shown}");
        let said = shown["history"].to_string();
        assert_eq!(
            said.matches("It is on the board.").count(),
            1,
            "{session}: {said}"
        );
    }
    let (_, after) = serving.ask("GET", "/api/status", None);
    let uptime = after["uptimeMs"].as_u64().unwrap();
    assert!(
        u128::from(uptime) < began.elapsed().as_millis(),
        "it never began anew: {after}"
    );
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn another_configuration_holds_after_a_restart() {
    let talk = Talk::new(Format::Anthropic, &[]);
    let serving = Serving::start(&talk, &[]);
    let contract = |serving: &Serving| {
        let (_, status) = serving.ask("GET", "/api/status", None);
        status["contract"].as_str().map(str::to_owned)
    };
    assert_eq!(contract(&serving).as_deref(), Some("canonical"));
    talk.configure(json!({"contract": "openclaw-2026.9"}));
    serving.begin_anew();
    serving.wait_until("the new configuration holds", |serving| {
        contract(serving).as_deref() == Some("openclaw-2026.9")
    });
    assert_eq!(serving.end(), Some(0));
}

/// Breaks something, asks for a restart, and returns what the log says. The server must go on as it was.
fn refused(talk: &Talk, serving: &Serving, breaking: impl FnOnce()) -> String {
    let notes = || Serving::log(talk).matches("not restarted").count();
    let before = notes();
    breaking();
    serving.begin_anew();
    serving.wait_until("the restart is refused", |_| notes() > before);
    let body = json!({"text": "hi", "wait": true});
    let (status, said) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!(status, 200, "{said}");
    let log = Serving::log(talk);
    let line = log.lines().rfind(|line| line.contains("not restarted"));
    line.unwrap_or_default().to_owned()
}

#[test]
fn a_restart_that_could_not_serve_is_refused_and_the_server_goes_on() {
    let script: Vec<_> = (0..8).map(|_| json!({"text": "Here."})).collect();
    let talk = Talk::new(Format::Anthropic, &script);
    let serving = Serving::start(&talk, &[]);
    let settings = talk.env.home().join(".chitin/chitin.json5");
    let token = talk.env.home().join(".chitin/server-token");
    let read = |path: &std::path::Path| std::fs::read_to_string(path).unwrap();
    let (good, good_token) = (read(&settings), read(&token));
    let write = |path: &std::path::Path, text: &str| std::fs::write(path, text).unwrap();

    let log = refused(&talk, &serving, || write(&settings, "{ server: "));
    assert!(log.contains("chitin.json5"), "{log}");
    let log = refused(&talk, &serving, || {
        write(&settings, "{ server: { port: 'x' } }");
    });
    assert!(log.contains("server.port"), "{log}");
    write(&settings, &good);
    for text in ["", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"] {
        let log = refused(&talk, &serving, || write(&token, text));
        assert!(log.contains("contains no token"), "{log}");
    }
    write(&token, &good_token);
    // Without its workspace the running server cannot answer either; it is there again as soon as the directory is.
    let (here, away) = (talk.env.workspace(), talk.env.path().join("away"));
    std::fs::rename(&here, &away).unwrap();
    serving.begin_anew();
    serving.wait_until("the restart is refused", |_| {
        Serving::log(&talk).matches("not restarted").count() == 5
    });
    std::fs::rename(&away, &here).unwrap();
    assert_eq!(serving.ask("GET", "/api/status", None).0, 200);
    // Mended, it restarts.
    talk.configure(json!({"contract": "openclaw-2026.9"}));
    serving.begin_anew();
    serving.wait_until("the new configuration holds", |serving| {
        let (_, status) = serving.ask("GET", "/api/status", None);
        status["contract"].as_str() == Some("openclaw-2026.9")
    });
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn whether_a_server_could_start_is_checked_beside_a_running_one() {
    let talk = Talk::new(Format::Anthropic, &[]);
    let serving = Serving::start(&talk, &[]);
    let checked = |more: &[&str]| {
        let mut command = crate::process::command(&talk.env, &["serve", "--check"]);
        let command = command.arg(talk.env.workspace()).args(more);
        command.output().unwrap()
    };
    let output = checked(&[]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.starts_with("A server could start for: "), "{said}");
    let output = checked(&["--token-file", "nowhere"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(serving.end(), Some(0));
}
