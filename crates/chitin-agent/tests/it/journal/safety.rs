//! What never happens: a secret in a log, a file before the request is out, a turn that fails for a log, lines that mix.

use super::{EVERYTHING, Plan, Scene};
use chitin_agent::journal::{self, Journal, JournalRedactor, TurnMoment};
use chitin_contract::TraceRules;
use chitin_model::StreamEvent;
use chitin_protocol::message::{Block, StopReason};
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Everything that stands below a directory, in one text.
fn everything(directory: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text += &everything(&path);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            text += &String::from_utf8_lossy(&bytes);
            if journal::is_recording(&bytes) {
                let file = journal::read(&path).unwrap();
                let events = file.events().map(|event| event.value.to_string());
                let bodies = file.requests().filter_map(|request| request.body);
                text.extend(events.chain(bodies));
            }
        }
    }
    text
}

#[test]
fn a_journal_that_is_off_touches_nothing() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let mut journal = scene.journal(&[("CHITIN_TRAJECTORY", "off")]);
    assert!(journal.is_off() && Journal::off().is_off());
    scene.turn(&mut journal, &Plan::default());
    assert!(!scene.state().exists());
}

#[test]
fn no_file_is_touched_before_the_request_is_out() {
    let scene = Scene::new(TraceRules::OPENCLAW_2026_4);
    let mut journal = scene.journal(&EVERYTHING);
    let plan = Plan::default();
    scene.begin(&mut journal, &plan);
    assert!(!scene.state().exists());
    let messages = [chitin_protocol::message::Message::user("hi", super::NOON)];
    scene.request(&mut journal, &plan, 1, &messages);
    let types = super::order(&super::events(&scene.trajectory()), "type");
    assert_eq!(
        types, "session.started trace.metadata context.compiled prompt.submitted",
        "all that is known stands on the disk while the model thinks"
    );
}

#[test]
fn a_turn_that_dies_before_its_request_is_still_recorded() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let mut journal = scene.journal(&[]);
    scene.begin(&mut journal, &Plan::default());
    drop(journal);
    assert_eq!(super::events(&scene.trajectory()).len(), 2);
}

#[test]
fn what_cannot_be_written_is_said_once_and_never_stops_a_turn() {
    let scene = Scene::new(TraceRules::CANONICAL);
    scene
        .env
        .file("state/logs", "a file where a directory should be");
    let mut journal = scene.journal(&EVERYTHING);
    for _ in 0..3 {
        scene.turn(&mut journal, &Plan::default());
    }
    let notes = scene.notes.lock().unwrap().join("\n");
    for log in [
        "anthropic-payload",
        "raw-stream",
        "cache-trace",
        "trajectory/",
    ] {
        assert_eq!(notes.matches(log).count(), 1, "{log} in {notes}");
    }
    assert_eq!(
        scene.env.read("state/logs"),
        "a file where a directory should be"
    );
}

#[test]
fn only_the_owner_can_read_what_is_written() {
    let scene = Scene::new(TraceRules::OPENCLAW_2026_4);
    scene.turn(&mut scene.journal(&EVERYTHING), &Plan::default());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let logs = scene.state().join("logs");
    for name in [
        "anthropic-payload.jsonl",
        "raw-stream.jsonl",
        "cache-trace.jsonl",
    ] {
        assert_eq!(mode(&logs.join(name)), 0o600, "{name}");
    }
    assert_eq!(mode(&scene.trajectory()), 0o600);
    assert_eq!(mode(&logs), 0o700);
}

#[test]
fn two_journals_on_one_log_never_mix_their_lines() {
    let scene = Scene::new(TraceRules::OPENCLAW_2026_4);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let scene = &scene;
            scope.spawn(move || {
                let mut journal = scene.journal(&EVERYTHING);
                for turn in 0..5 {
                    scene.turn(
                        &mut journal,
                        &Plan {
                            run_id: format!("run-{number}-{turn}"),
                            prompt: "lantern ".repeat(4000),
                            ..Plan::default()
                        },
                    );
                }
            });
        }
    });
    // Reading fails on a line that is not whole.
    assert_eq!(scene.log("cache-trace.jsonl").len(), 4 * 5 * 10);
    assert_eq!(super::events(&scene.trajectory()).len(), 4 * 5 * 7);
}

#[test]
fn moments_outside_a_turn_are_passed_over() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let mut journal = scene.journal(&EVERYTHING);
    journal.observe(TurnMoment::Compacted);
    journal.observe(TurnMoment::SessionAfter { messages: &[] });
    scene.turn(&mut journal, &Plan::default());
    journal.observe(TurnMoment::SessionAfter { messages: &[] });
    let stages = super::order(&scene.log("cache-trace.jsonl"), "stage");
    assert_eq!(stages.matches("session:after").count(), 1);
}

#[test]
fn a_key_that_comes_in_pieces_is_in_none_of_them() {
    let key = "sk-ant-api03-Zq7Lw2Xv9Kp4Rt6Yb1Nc8Md3Fg5Hj0AsEuIoPz";
    let scene = Scene::new(TraceRules::CANONICAL);
    let mut journal = scene.journal(&EVERYTHING);
    let plan = Plan::default();
    scene.begin(&mut journal, &plan);
    let messages = [chitin_protocol::message::Message::user("hi", super::NOON)];
    scene.request(&mut journal, &plan, 1, &messages);
    let tee = journal.tee().unwrap();
    let index = 0;
    journal.observe(TurnMoment::Streamed(&StreamEvent::TextStart { index }));
    for piece in key.as_bytes().chunks(5) {
        let delta = String::from_utf8(piece.to_vec()).unwrap();
        tee.0(format!("data: {delta}\n\n").as_bytes());
        journal.observe(TurnMoment::Streamed(&StreamEvent::TextDelta {
            index,
            delta,
        }));
    }
    let message = super::answer(
        vec![Block::text(format!("It is {key}"))],
        StopReason::Stop,
        0,
    );
    journal.observe(TurnMoment::Streamed(&StreamEvent::Done(Box::new(
        message.clone(),
    ))));
    journal.observe(TurnMoment::Answered {
        call: 1,
        message: &message,
    });
    drop(journal);
    let written = everything(&scene.state());
    for piece in key.as_bytes()[15..]
        .chunks(5)
        .filter(|piece| piece.len() == 5)
    {
        let piece = std::str::from_utf8(piece).unwrap();
        assert!(!written.contains(piece), "{piece}");
    }
    assert_eq!(scene.log("raw-stream.jsonl")[1]["delta"], "[redacted]");
}

#[test]
fn an_address_is_recorded_without_what_may_be_a_key() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let plan = Plan {
        url: "https://joe:hunter2@models.example:8443/v1/x?key=abc#y".to_owned(),
        ..Plan::default()
    };
    scene.turn(&mut scene.journal(&[]), &plan);
    let request = &super::events(&scene.trajectory())[4]["data"];
    assert_eq!(request["url"], "https://models.example:8443/v1/x");
}

#[test]
fn pictures_are_named_by_their_digest_not_copied() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let picture = "iVBORw0KGgo".repeat(400);
    let message = serde_json::json!({"role": "user", "content": [
        {"type": "image", "data": picture, "mimeType": "image/png"},
        {"type": "text", "text": format!("data:image/png;base64,{picture}")},
    ]});
    let plan = Plan {
        history: vec![serde_json::from_value(message).unwrap()],
        ..Plan::default()
    };
    scene.turn(&mut scene.journal(&EVERYTHING), &plan);
    let written = everything(&scene.state());
    assert!(!written.contains(&picture[..200]));
    assert!(
        written.contains("<3300 bytes, sha256 "),
        "its length and digest stay"
    );
    assert!(written.contains("data:image/png;base64,<3300 bytes"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Wherever a key stands: in no log, no trajectory, no summary.
    #[test]
    fn a_key_is_in_no_log(
        tail in "[A-Za-z0-9]{40}",
        prefix in prop::sample::select(vec!["sk-ant-api03-", "ghp_", "sk-proj-"]),
        before in "[a-z ]{0,12}",
    ) {
        // A random tail could be all of one kind; real keys are not.
        let key = format!("{prefix}aZ9{tail}");
        let scene = Scene::new(TraceRules::CANONICAL);
        let variables = [&EVERYTHING[..], &[("CHITIN_CACHE_TRACE_PROMPT", "1")]].concat();
        scene.turn(&mut scene.journal(&variables), &Plan {
            system: format!("{before} {key} "),
            prompt: format!("my key is {key}"),
            tool_output: format!("KEY={key}\n"),
            history: vec![chitin_protocol::message::Message::user(format!("`{key}`"), 1)],
            ..Plan::default()
        });
        let secret = &key[prefix.len() + 8..];
        prop_assert!(!everything(&scene.state()).contains(secret));
        prop_assert!(!scene.summaries.lock().unwrap().join("\n").contains(secret));
    }

    /// A field whose name says that it is a secret is never written, whatever it holds.
    #[test]
    fn a_field_that_is_called_a_secret_is_never_written(value in "[a-z]{12,20}") {
        let mut object = serde_json::json!({
            "apiKey": value, "Authorization": value, "x-api-key": value,
            "deep": [{"client_secret": value}], "password": value,
        });
        prop_assert!(JournalRedactor::default().value(&mut object));
        prop_assert!(!object.to_string().contains(&value));
    }
}

#[test]
fn a_secret_that_is_the_name_of_a_field_is_taken_out() {
    let redactor = JournalRedactor::new(|text| text.replace("hunter2", "[redacted]").into());
    let mut object = serde_json::json!({ "arguments": [{ "hunter2": "x", "path": "a.txt" }] });
    assert!(redactor.value(&mut object));
    let expected = serde_json::json!({ "arguments": [{ "[redacted]": "x", "path": "a.txt" }] });
    assert_eq!(object, expected);
    assert!(!redactor.value(&mut object));
}
