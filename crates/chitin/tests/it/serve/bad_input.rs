//! What a server refuses, and that the rest is unaffected.

use super::{Serving, place};
use crate::process::command;
use crate::run::{Talk, text};
use chitin_test::model_server::Format;
use serde_json::json;

#[test]
fn strangers_and_nonsense_are_refused_and_others_are_served() {
    let talk = Talk::new(Format::Anthropic, &[json!({"times": 0, "text": "Here."})]);
    let serving = Serving::start(&talk, &[]);
    let wrong = [("authorization", "Bearer wrong-token-0123456789".to_owned())];
    let cases = [
        serving.ask_raw("GET", "/api/status", &[], None).0,
        serving.ask_raw("GET", "/api/status", &wrong, None).0,
        serving.ask("GET", "/api/nothing", None).0,
        serving.ask("POST", "/api/messages", Some(&json!({"text": " "}))).0,
        serving.ask("POST", "/api/messages", Some(&json!({"text": "x", "agent": "mian"}))).0,
        serving.ask("POST", "/api/messages", Some(&json!({"text": "x".repeat(9 << 20)}))).0,
        serving.ask("POST", "/v1/chat/completions", Some(&json!({"model": "chitin/nobody", "messages": [{"role": "user", "content": "x"}]}))).0,
    ];
    assert_eq!(cases, [401, 401, 404, 400, 404, 413, 404]);
    let body = json!({"text": "Still there?", "from": place("yard"), "wait": true});
    let (status, done) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!((status, done["text"].as_str()), (200, Some("Here.")));
}

#[test]
fn a_second_server_with_the_same_state_is_refused() {
    let talk = Talk::new(Format::Anthropic, &[]);
    let _serving = Serving::start(&talk, &[]);
    let second = command(&talk.env, &["serve", "--listen", "127.0.0.1:0"])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(3));
    let said = talk.env.redact(&text(&second.stderr));
    insta::assert_snapshot!(said);
}

#[test]
fn an_address_that_others_reach_must_be_allowed_and_a_workspace_must_be_there() {
    let talk = Talk::new(Format::Anthropic, &[]);
    let open = command(&talk.env, &["serve", "--listen", "0.0.0.0:0"])
        .output()
        .unwrap();
    assert_eq!(open.status.code(), Some(3));
    let odd = command(&talk.env, &["serve", "--listen", "yard"])
        .output()
        .unwrap();
    assert_eq!(odd.status.code(), Some(2));
    let gone = command(&talk.env, &["serve", "nowhere"]).output().unwrap();
    assert_eq!(gone.status.code(), Some(3));
    let said = text(&open.stderr) + &text(&odd.stderr) + &text(&gone.stderr);
    insta::assert_snapshot!(talk.env.redact(&said));
}

#[test]
fn any_number_of_connections_without_the_token_keeps_nobody_out() {
    use std::io::Write;
    use std::net::TcpStream;
    // Both ends of each are descriptors of some process.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let count = limit
        .map_or(1500, |limit| limit.saturating_sub(200))
        .min(1500);
    let talk = Talk::new(Format::Anthropic, &[json!({"times": 0, "text": "Here."})]);
    let serving = Serving::start(&talk, &[]);
    let mut crowd = Vec::new();
    for i in 0..count {
        let mut stranger = TcpStream::connect(&serving.address).unwrap();
        if i % 2 == 0 {
            let _ = stranger.write_all(b"GET /api/status HTTP/1.1\r\nhost:");
        }
        crowd.push(stranger);
    }
    for _ in 0..3 {
        assert_eq!(serving.ask("GET", "/api/status", None).0, 200);
    }
    let body = json!({"text": "Still there?", "from": place("yard"), "wait": true});
    let (status, done) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!((status, done["text"].as_str()), (200, Some("Here.")));
}
