//! A message that is sent again under its key gets its outcome, and one that cannot be done is refused before it is accepted.

use super::Serving;
use crate::run::Talk;
use chitin_test::model_server::Format;
use serde_json::{Value, json};

fn send(serving: &Serving, key: &str, body: &Value) -> (u16, Value) {
    let head = [
        ("authorization", format!("Bearer {}", serving.token)),
        ("idempotency-key", key.to_owned()),
    ];
    serving.ask_raw("POST", "/api/messages", &head, Some(&body.to_string()))
}

#[test]
fn a_repeated_key_gets_the_outcome_after_a_restart_and_without_the_transcript() {
    let talk = Talk::new(
        Format::Anthropic,
        &[json!({"text": "It is on the board.", "times": 0})],
    );
    let serving = Serving::start(&talk, &[]);
    let body = json!({"text": "Put it on the board.", "wait": true});
    let (status, first) = send(&serving, "once", &body);
    assert_eq!(
        (status, first["text"].as_str()),
        (200, Some("It is on the board.")),
        "{first}"
    );
    serving.rest();
    serving.kill();
    std::fs::remove_dir_all(talk.env.home().join(".chitin/agents")).unwrap();
    let serving = Serving::start(&talk, &[]);
    for wait in [true, false] {
        let body = json!({"text": "Put it on the board.", "wait": wait});
        let (status, again) = send(&serving, "once", &body);
        assert_eq!(status, 200, "{again}");
        assert_eq!(again["place"], "known");
        assert_eq!(again["status"], "ok");
        assert_eq!(again["text"], "It is on the board.");
    }
    assert_eq!(talk.server.requests().len(), 1, "it ran once");
}

#[test]
fn what_cannot_be_done_is_refused_before_it_is_accepted() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Heard.", "times": 0})]);
    let serving = Serving::start(&talk, &[]);
    let slip = json!({"text": "Hi.", "session": "agent:main:slakc:channel:1"});
    let (status, refused) = send(&serving, "slip", &slip);
    assert_eq!(status, 400, "{refused}");
    assert!(refused.to_string().contains("slack"), "{refused}");
    let workspace = talk.env.workspace();
    let away = talk.env.path().join("away");
    std::fs::rename(&workspace, &away).unwrap();
    let body = json!({"text": "Hi.", "wait": true});
    let (status, refused) = send(&serving, "gone", &body);
    assert_eq!(status, 503, "{refused}");
    std::fs::rename(&away, &workspace).unwrap();
    let (status, done) = send(&serving, "gone", &body);
    assert_eq!(
        (status, done["text"].as_str()),
        (200, Some("Heard.")),
        "{done}"
    );
}

#[test]
fn a_full_queue_answers_429_and_everything_accepted_is_answered() {
    let talk = Talk::new(
        Format::Anthropic,
        &[json!({"text": "Heard.", "delayMs": 300, "times": 0})],
    );
    let serving = Serving::start(&talk, &[]);
    let mut accepted = Vec::new();
    let mut refused = 0;
    for number in 0..40 {
        let key = format!("key-{number}");
        let (status, answer) = send(&serving, &key, &json!({"text": "Hi."}));
        match status {
            202 => accepted.push(key),
            429 => {
                assert_eq!(answer["error"]["code"], "queue_full");
                refused += 1;
            }
            other => unreachable!("{other}: {answer}"),
        }
    }
    assert!(
        refused > 0 && accepted.len() >= 21,
        "{refused} {}",
        accepted.len()
    );
    for key in accepted {
        let (status, done) = send(&serving, &key, &json!({"text": "Hi.", "wait": true}));
        assert_eq!(
            (status, done["status"].as_str()),
            (200, Some("ok")),
            "{done}"
        );
    }
}

#[test]
fn whoever_waits_in_an_outage_is_told_and_can_ask_later_by_key() {
    let down = json!({"error": {"status": 402, "message": "no credit"}, "times": 4});
    let talk = Talk::new(
        Format::Anthropic,
        &[down, json!({"text": "Heard.", "times": 0})],
    );
    let serving = Serving::start(&talk, &[]);
    let head = [
        ("authorization", format!("Bearer {}", serving.token)),
        ("idempotency-key", "patient".to_owned()),
    ];
    let body = json!({"text": "Hi.", "wait": true}).to_string();
    let (status, head, answer) = serving.exchange("POST", "/api/messages", &head, Some(&body));
    assert_eq!(status, 202, "{answer}");
    assert!(head.contains("retry-after: "), "{head}");
    let reason = answer["delayed"]["reason"].as_str().unwrap();
    assert!(reason.contains("no credit"), "{answer}");
    let hasty =
        json!({"text": "Hi.", "wait": true, "retrySeconds": 0, "session": "agent:main:hasty"});
    serving.wait_until("it is answered", |serving| {
        let (status, answer) = send(serving, "patient", &json!({"text": "Hi.", "wait": true}));
        assert!(matches!(status, 200 | 202), "{answer}");
        status == 200
    });
    let (status, answer) = send(&serving, "hasty", &hasty);
    assert_eq!(
        (status, answer["text"].as_str()),
        (200, Some("Heard.")),
        "{answer}"
    );
    assert_eq!(
        talk.server.requests().len(),
        6,
        "four failed, two were answered"
    );
}

#[test]
fn a_model_that_talks_garbage_for_a_while_delays_a_message_and_does_not_end_it() {
    let garbage = |fault: &str| json!({"fault": fault, "text": "Lost.", "times": 1});
    let talk = Talk::new(
        Format::Anthropic,
        &[
            garbage("malformed"),
            garbage("html"),
            json!({"text": "Heard.", "times": 0}),
        ],
    );
    let serving = Serving::start(&talk, &[]);
    let mut answer = Value::Null;
    serving.wait_until("it is answered", |serving| {
        let (status, said) = send(serving, "patient", &json!({"text": "Hi.", "wait": true}));
        assert!(matches!(status, 200 | 202), "{said}");
        answer = said;
        status == 200
    });
    assert_eq!(answer["text"], "Heard.", "{answer}");
}

#[test]
fn a_message_does_not_fail_with_an_impatient_one_that_waited_before_it() {
    let down =
        json!({"when": "Hasty.", "error": {"status": 402, "message": "no credit"}, "times": 1});
    let begin = json!({"when": "Begin.", "text": "Begun.", "delayMs": 600});
    let talk = Talk::new(
        Format::Anthropic,
        &[begin, down, json!({"text": "Heard.", "times": 0})],
    );
    let serving = Serving::start(&talk, &[]);
    let taken = |key: &str, body: Value| assert_eq!(send(&serving, key, &body).0, 202);
    taken("begin", json!({"text": "Begin."}));
    taken(
        "hasty",
        json!({"text": "Hasty.", "queue": "collect", "retrySeconds": 0}),
    );
    taken("patient", json!({"text": "Patient.", "queue": "collect"}));
    for (key, text, status) in [("hasty", "Hasty.", "failed"), ("patient", "Patient.", "ok")] {
        let (_, ended) = send(&serving, key, &json!({"text": text, "wait": true}));
        assert_eq!(ended["status"], status, "{ended}");
    }
}

#[test]
fn a_token_that_is_damaged_is_refused_at_the_start() {
    let talk = Talk::new(Format::Anthropic, &[]);
    assert_eq!(Serving::start(&talk, &[]).end(), Some(0));
    let file = talk.env.home().join(".chitin/server-token");
    let token = std::fs::read(&file).unwrap();
    for damaged in [
        [&[0; 16], &token[16..]].concat(),
        [&token[..40], &[0xff, 0xfe, 7]].concat(),
        token[..15].to_vec(),
    ] {
        std::fs::write(&file, &damaged).unwrap();
        let mut command = crate::process::command(&talk.env, &["serve", "--check"]);
        let output = command.arg(talk.env.workspace()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{damaged:?}: {said}");
        assert!(said.contains("server-token"), "{said}");
    }
}
