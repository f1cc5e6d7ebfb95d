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
