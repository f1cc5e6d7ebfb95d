//! What configuration says about delivery, through the real server: how an answer is shown while it is written, what a thread's
//! session is told that begins without the thread's past, and how long a parent may take to react to an announce.

use super::Serving;
use crate::run::{Talk, text};
use chitin_test::model_server::Format;
use serde_json::{Value, json};

/// A talk whose `openclaw.json` says something, served with a mailbox.
fn serve(script: &[Value], config: &Value) -> (Talk, Serving) {
    let talk = Talk::new(Format::Anthropic, script);
    talk.env
        .file("home/.openclaw/openclaw.json", config.to_string());
    let mailbox = talk.env.path().join("mailbox");
    let serving = Serving::start(&talk, &["--files", mailbox.to_str().unwrap()]);
    (talk, serving)
}

/// Puts a message into the mailbox, whole at once: half of one would be read as it is.
#[expect(
    clippy::disallowed_methods,
    reason = "a message is moved into the mailbox as another program would do it"
)]
fn post(talk: &Talk, name: &str, message: &Value) {
    let written = talk
        .env
        .file(&format!("mailbox/{name}.json"), message.to_string());
    let place = talk.env.path().join(format!("mailbox/in/{name}.json"));
    std::fs::rename(written, place).unwrap();
}

/// What stands in the mailbox's `out/`, in its order.
fn out(talk: &Talk) -> Vec<Value> {
    let out = talk.env.path().join("mailbox/out");
    let mut names: Vec<_> = std::fs::read_dir(out)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    names.sort();
    let records = names.iter().map(|path| std::fs::read(path).unwrap());
    records
        .map(|bytes| serde_json::from_slice(&bytes).unwrap())
        .collect()
}

#[test]
fn progress_is_shown_as_the_channel_says_and_the_answer_takes_its_place() {
    let (talk, serving) = serve(
        &[
            json!({"text": "", "toolCalls": [{"name": "read", "arguments": {"path": "board.md"}}]}),
            json!({"text": "Five larch.", "delayMs": 2_500}),
        ],
        &json!({"channels": {"directory": {"streaming": "progress"}}}),
    );
    post(
        &talk,
        "1",
        &json!({"text": "Board?", "peer": {"kind": "channel", "id": "yard"}, "owner": true}),
    );
    serving.wait_until("it is answered", |_| {
        out(&talk)
            .iter()
            .any(|record| record["text"] == "Five larch.")
    });
    serving.rest();
    let records = out(&talk);
    let kinds: Vec<(&str, &str)> = records
        .iter()
        .map(|record| {
            let field = |name: &str| record[name].as_str().unwrap_or_default();
            (field("kind"), field("text"))
        })
        .collect();
    assert_eq!(
        kinds,
        [
            ("message", "Working on it…\n- read"),
            ("edit", "Five larch.")
        ],
        "{records:#?}"
    );
}

#[test]
fn a_thread_without_its_past_is_told_how_to_read_it() {
    let (talk, serving) = serve(
        &[json!({"times": 0, "text": "Larch."})],
        &json!({
            "channels": {"directory": {"thread": {"initialHistoryLimit": 0}}},
            "tools": {"alsoAllow": ["message"]},
        }),
    );
    for (name, words) in [("1", "Well?"), ("2", "And?")] {
        let before = talk.server.requests().len();
        let message = json!({"text": words, "peer": {"kind": "channel", "id": "yard"}, "thread": "t9", "owner": true});
        post(&talk, name, &message);
        serving.wait_until("it is asked", |_| talk.server.requests().len() > before);
        serving.rest();
    }
    let requests = talk.server.requests();
    for request in &requests {
        let body = text(&request.body);
        let hint = "earlier messages of the thread are not part of this conversation";
        assert_eq!(body.matches(hint).count(), 1, "{body}");
        assert!(body.contains("\\\"threadId\\\": \\\"t9\\\""), "{body}");
    }
}

#[test]
fn a_parent_that_does_not_react_to_an_announce_in_time_is_asked_again() {
    let spawn = json!({"name": "sessions_spawn", "arguments": {"task": "Count the lanterns"}});
    let (talk, serving) = serve(
        &[
            json!({"when": "[Subagent Task]: Count the lanterns", "times": 0, "text": "Seven."}),
            json!({"when": "[Internal task completion event]", "text": "Never.", "delayMs": 50_000}),
            json!({"when": "[Internal task completion event]", "times": 0, "text": "There are seven."}),
            json!({"when": "How many", "text": "", "toolCalls": [spawn]}),
            json!({"times": 0, "text": "I have asked."}),
        ],
        &json!({"agents": {"defaults": {"subagents": {"announceTimeoutMs": 500}}}}),
    );
    let heard = serving.listen();
    serving.say("yard", "How many?");
    let relayed = |heard: &[Value]| {
        let told = heard
            .iter()
            .filter(|event| event["kind"] == "delivered" && event["text"] == "There are seven.");
        told.count()
    };
    serving.wait_until("it is relayed", |_| relayed(&heard.lock().unwrap()) > 0);
    serving.rest();
    assert_eq!(relayed(&heard.lock().unwrap()), 1);
    drop(talk);
}
