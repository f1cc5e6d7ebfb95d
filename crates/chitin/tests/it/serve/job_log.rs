//! The job log of a running server: damaged, deleted, out of reach, of an earlier version.

use super::Serving;
use crate::process::chitin;
use crate::run::{Talk, text};
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A talk whose model takes its time for some messages.
fn answering(delay_ms: u64) -> Talk {
    let slow = json!({"when": "slow", "text": "At last.", "delayMs": delay_ms, "times": 0});
    let quick = json!({"text": "Heard.", "times": 0});
    Talk::new(Format::Anthropic, &[slow, quick])
}

fn gateway(talk: &Talk) -> PathBuf {
    talk.env.home().join(".chitin/gateway")
}

fn post(serving: &Serving, text: &str) -> (u16, Value) {
    let body = json!({"text": text, "session": format!("agent:main:{text}")});
    serving.ask("POST", "/api/messages", Some(&body))
}

fn ready(serving: &Serving) -> (u16, String) {
    let (status, body) = serving.ask("GET", "/ready", None);
    (status, body.to_string())
}

fn metrics(serving: &Serving) -> String {
    let head = [("authorization", format!("Bearer {}", serving.token))];
    serving.read_text("/metrics", &head)
}

fn replies(serving: &Serving, session: &str) -> usize {
    let (_, shown) = serving.ask("GET", &format!("/api/sessions/agent:main:{session}"), None);
    shown["history"].to_string().matches("At last.").count()
}

#[test]
fn a_job_log_that_is_deleted_under_a_running_server_is_made_again() {
    let talk = answering(600);
    let serving = Serving::start(&talk, &[]);
    assert_eq!(post(&serving, "slow-1").0, 202);
    std::fs::remove_dir_all(gateway(&talk)).unwrap();
    assert_eq!(post(&serving, "slow-2").0, 202);
    serving.kill();
    assert!(Serving::log(&talk).contains("was deleted or replaced"));
    let serving = Serving::start(&talk, &[]);
    serving.wait_until("both are answered", |serving| {
        replies(serving, "slow-1") == 1 && replies(serving, "slow-2") == 1
    });
}

#[test]
fn while_the_job_log_cannot_be_written_messages_are_refused() {
    let talk = answering(1);
    let serving = Serving::start(&talk, &[]);
    assert_eq!(ready(&serving).0, 200);
    std::fs::remove_dir_all(gateway(&talk)).unwrap();
    std::fs::write(gateway(&talk), "a file in the way").unwrap();
    let (status, refused) = post(&serving, "refused");
    assert_eq!(status, 503, "{refused}");
    assert_eq!(refused["error"]["code"], "store");
    let (status, reasons) = ready(&serving);
    assert_eq!(status, 503);
    assert!(reasons.contains("job_log_failing"), "{reasons}");
    assert!(metrics(&serving).contains("chitin_job_log_writable 0"));
    std::fs::remove_file(gateway(&talk)).unwrap();
    // Nobody needs to send anything for it to be found out.
    serving.wait_until("it is ready again", |serving| ready(serving).0 == 200);
    assert_eq!(post(&serving, "accepted").0, 202);
    serving.rest();
    let (status, _) = serving.ask("GET", "/api/sessions/agent:main:refused", None);
    assert_eq!(status, 404, "nothing happened to what was refused");
    let log = Serving::log(&talk);
    assert!(log.contains("cannot be written"), "{log}");
    assert!(log.contains("can be written again"), "{log}");
}

#[test]
fn a_damaged_job_log_is_set_aside_and_told() {
    let talk = answering(600);
    let serving = Serving::start(&talk, &[]);
    assert_eq!(post(&serving, "slow-1").0, 202);
    assert_eq!(post(&serving, "slow-2").0, 202);
    serving.kill();
    let file = gateway(&talk).join("ledger.jsonl");
    let mut bytes = std::fs::read(&file).unwrap();
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes[second + 40] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let doctor = text(&chitin(&talk.env, &["doctor", "--offline"]).stdout);
    assert!(doctor.contains("is damaged"), "{doctor}");

    let serving = Serving::start(&talk, &[]);
    let (status, body) = ready(&serving);
    assert_eq!(status, 200);
    assert!(
        body.contains("degraded") && body.contains("job_log_damaged"),
        "{body}"
    );
    assert!(metrics(&serving).contains("chitin_job_log_damaged 1"));
    assert!(
        Serving::log(&talk).contains("1 line is lost"),
        "{}",
        Serving::log(&talk)
    );
    serving.wait_until("the other one is answered", |serving| {
        replies(serving, "slow-2") == 1
    });
    assert_eq!(serving.end(), Some(0));
    let doctor = text(&chitin(&talk.env, &["doctor", "--offline"]).stdout);
    assert!(doctor.contains("ledger.jsonl.damaged-"), "{doctor}");
    let serving = Serving::start(&talk, &[]);
    assert!(ready(&serving).1.contains(r#""ready""#), "it was mended");
}

#[test]
fn a_job_log_in_another_order_and_with_other_line_ends_loses_no_job() {
    let talk = answering(600);
    let serving = Serving::start(&talk, &[]);
    assert_eq!(post(&serving, "slow-1").0, 202);
    assert_eq!(post(&serving, "slow-2").0, 202);
    serving.kill();
    let file = gateway(&talk).join("ledger.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = whole.lines().collect();
    lines.reverse();
    std::fs::write(&file, lines.join("\r\n") + "\r\n").unwrap();
    let serving = Serving::start(&talk, &[]);
    assert!(ready(&serving).1.contains("job_log_damaged"));
    serving.wait_until("both are answered", |serving| {
        replies(serving, "slow-1") == 1 && replies(serving, "slow-2") == 1
    });
    let log = Serving::log(&talk);
    assert!(log.contains("that count are out of order"), "{log}");
}

#[test]
fn an_earlier_version_can_go_on_after_a_downgrade_and_a_newer_one_after_it() {
    let talk = answering(600);
    let serving = Serving::start(&talk, &[]);
    assert_eq!(post(&serving, "slow-1").0, 202);
    let refused = chitin(&talk.env, &["storage", "downgrade"]);
    assert_eq!(refused.status.code(), Some(3), "a server has it");
    serving.kill();
    let done = chitin(&talk.env, &["storage", "downgrade", "--json"]);
    let done: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(done["openJobs"], 1, "{done}");
    let file = gateway(&talk).join("ledger.jsonl");
    let earlier = std::fs::read_to_string(&file).unwrap();
    let first: Value = serde_json::from_str(earlier.lines().next().unwrap()).unwrap();
    assert_eq!(first[0]["do"], "open");
    let serving = Serving::start(&talk, &[]);
    serving.wait_until("it is answered", |serving| replies(serving, "slow-1") == 1);
}
