//! A channel session begins three runs: one is isolated and answers, one is forked and takes too long, one is bound to a
//! thread and is stopped. Each is told of once, where it belongs, whatever happens to the server meanwhile.

use super::{Serving, place};
use crate::process::chitin;
use crate::run::{Talk, lines, text};
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

const PARENT: &str = "agent:main:web:channel:yard";

fn script() -> Vec<Value> {
    let spawn = |arguments: Value| json!({"name": "sessions_spawn", "arguments": arguments});
    vec![
        json!({"when": "[Subagent Task]: Count the lanterns", "times": 0, "text": "Seven lanterns.", "delayMs": 300}),
        json!({"when": "[Subagent Task]: Read the whole log", "times": 0, "text": "Too late.", "delayMs": 30_000}),
        json!({"when": "[Subagent Task]: Paint the fence", "times": 0, "text": "Never.", "delayMs": 30_000}),
        json!({"when": "[Internal task completion event]", "times": 0, "text": "Noted by the parent."}),
        json!({"when": "Start all three", "text": "Three at once.", "toolCalls": [
            spawn(json!({"task": "Count the lanterns", "label": "lanterns"})),
            spawn(json!({"task": "Read the whole log", "label": "log", "context": "fork", "runTimeoutSeconds": 1})),
            spawn(json!({"task": "Paint the fence", "label": "fence", "thread": true, "mode": "session"})),
        ]}),
        json!({"when": "Start all three", "times": 0, "text": "They are at work."}),
    ]
}

/// The children of the parent, by label.
fn children(serving: &Serving) -> BTreeMap<String, Value> {
    let (_, listed) = serving.ask("GET", "/api/sessions", None);
    let sessions = listed["sessions"].as_array().cloned().unwrap_or_default();
    let children = sessions
        .into_iter()
        .filter(|session| session["spawnedBy"] == PARENT);
    children
        .map(|child| {
            (
                child["label"].as_str().unwrap_or_default().to_owned(),
                child,
            )
        })
        .collect()
}

/// What the parent was told, by the name of the announce.
fn announces(talk: &Talk) -> Vec<(String, String)> {
    let sessions = talk.env.home().join(".chitin/agents/main/sessions");
    let index = std::fs::read(sessions.join("sessions.json")).unwrap();
    let index: Value = serde_json::from_slice(&index).unwrap();
    let id = index[PARENT]["sessionId"].as_str().unwrap();
    let records = lines(&std::fs::read(sessions.join(format!("{id}.jsonl"))).unwrap());
    records
        .into_iter()
        .filter_map(|record| {
            let key = record["message"]["idempotencyKey"].as_str()?.to_owned();
            let text = record["message"]["content"].to_string();
            key.starts_with("announce:").then_some((key, text))
        })
        .collect()
}

/// What `context` prints of a session.
fn prompt_of(talk: &Talk, more: &[&str]) -> String {
    let shown = chitin(
        &talk.env,
        &[&["context", "workspace", "--text"], more].concat(),
    );
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    text(&shown.stdout)
}

#[test]
fn context_shows_what_a_child_is_told() {
    let first = "[Subagent Task]: Count the lanterns";
    let spawn = json!({"name": "sessions_spawn", "arguments": {"task": "Count the lanterns", "label": "lanterns", "mode": "session", "thread": true}});
    let script = [
        json!({"when": first, "times": 0, "text": "Seven lanterns."}),
        json!({"when": "Count them", "toolCalls": [spawn]}),
        json!({"times": 0, "text": "Noted."}),
    ];
    let talk = Talk::new(Format::Anthropic, &script);
    let serving = Serving::start(&talk, &[]);
    serving.say("yard", "Count them");
    serving.wait_until("there is a child", |serving| children(serving).len() == 1);
    serving.rest();
    let child = children(&serving)["lanterns"]["key"]
        .as_str()
        .unwrap()
        .to_owned();
    let shown = prompt_of(&talk, &["--session", &child]);
    let section = shown.find("# Subagent Context").map(|at| &shown[at..]);
    let section = section.unwrap_or_else(|| panic!("{shown}"));
    assert!(section.contains("- Label: lanterns"), "{section}");
    assert!(
        section.contains(&format!("- Requester session: {PARENT}.")),
        "{section}"
    );
    assert!(
        section.contains(&format!("- Your session: {child}.")),
        "{section}"
    );
    // A look at a session that is still to be begun, and one that only has such a key.
    assert!(prompt_of(&talk, &["--run", "subagent"]).contains("# Subagent Context"));
    let typed = ["--session", "agent:main:subagent:typed"];
    assert!(!prompt_of(&talk, &typed).contains("# Subagent Context"));
}

#[test]
fn three_children_are_told_of_once_each_where_they_belong() {
    let talk = Talk::new(Format::Anthropic, &script());
    let serving = Serving::start(&talk, &[]);
    let heard = serving.listen();
    serving.say("yard", "Start all three");
    serving.wait_until("there are three", |serving| children(serving).len() == 3);
    let fence = children(&serving)["fence"]["key"]
        .as_str()
        .unwrap()
        .to_owned();
    std::thread::sleep(Duration::from_millis(500));
    let (status, _) = serving.ask(
        "POST",
        &format!("/api/sessions/{fence}/stop"),
        Some(&json!({})),
    );
    assert_eq!(status, 200);
    serving.wait_until("all are told", |_| announces(&talk).len() >= 3);
    serving.rest();
    let told = announces(&talk);
    let about = |label: &str| {
        let found: Vec<&String> = told
            .iter()
            .filter(|(_, text)| text.contains(&format!("task: {label}")))
            .map(|(_, text)| text)
            .collect();
        assert_eq!(found.len(), 1, "{label}: {told:#?}");
        found[0].clone()
    };
    assert!(about("lanterns").contains("Seven lanterns."));
    assert!(about("lanterns").contains("status: completed successfully"));
    assert!(about("log").contains("status: timed out"));
    assert!(about("fence").contains("status: failed"));
    assert_eq!(told.len(), 3);
    // What the parent says of the fence goes to the fence's own thread, the rest to its channel.
    let heard = heard.lock().unwrap();
    let places: Vec<&str> = heard
        .iter()
        .filter(|event| event["kind"] == "delivered" && event["text"] == "Noted by the parent.")
        .filter_map(|event| event["to"].as_str())
        .collect();
    let in_thread = |place: &&&str| place.starts_with("web:channel:yard:thread:");
    assert_eq!(places.iter().filter(in_thread).count(), 1, "{places:?}");
    let in_channel = places.iter().filter(|place| **place == "web:channel:yard");
    assert_eq!(in_channel.count(), 2, "{places:?}");
    // The forked child had its parent's words, the isolated one had not.
    let with = |needle: &str, other: &str| {
        talk.server
            .requests()
            .iter()
            .map(|request| crate::run::text(&request.body))
            .any(|body| body.contains(needle) && body.contains(other))
    };
    assert!(with(
        "[Subagent Task]: Read the whole log",
        "Start all three"
    ));
    assert!(!with(
        "[Subagent Task]: Count the lanterns",
        "Start all three"
    ));
}

/// Whether the server dies before, while or after the runs begin: nothing is told twice, nothing is forgotten.
#[test]
fn after_a_crash_every_child_is_finished_or_reported_exactly_once() {
    let mut most = 0;
    for delay in [20, 120, 350, 700] {
        let talk = Talk::new(Format::Anthropic, &script());
        let serving = Serving::start(&talk, &[]);
        serving.say("yard", "Start all three");
        std::thread::sleep(Duration::from_millis(delay));
        serving.kill();
        let serving = Serving::start(&talk, &[]);
        // The one that would take long is stopped; the others end by themselves.
        serving.wait_until("the rest is done", |serving| {
            if let Some(fence) = children(serving).get("fence") {
                let key = fence["key"].as_str().unwrap();
                serving.ask(
                    "POST",
                    &format!("/api/sessions/{key}/stop"),
                    Some(&json!({})),
                );
            }
            let (_, status) = serving.ask("GET", "/api/status", None);
            status["busy"].as_array().is_some_and(Vec::is_empty)
        });
        let children = children(&serving);
        let told = announces(&talk);
        for child in children.values() {
            let key = child["key"].as_str().unwrap();
            let about = told.iter().filter(|(name, _)| name.contains(key));
            assert_eq!(
                about.count(),
                1,
                "killed after {delay} ms: {key}\n{told:#?}"
            );
        }
        assert_eq!(told.len(), children.len(), "killed after {delay} ms");
        most = most.max(children.len());
        assert_eq!(serving.end(), Some(0));
    }
    assert_eq!(most, 3, "at least one crash came when all three were there");
}

#[test]
fn a_message_is_answered_in_its_own_channel_and_thread() {
    let talk = Talk::new(Format::Anthropic, &[json!({"times": 0, "text": "Here."})]);
    let serving = Serving::start(&talk, &[]);
    let mut thread = place("yard");
    thread["threadId"] = json!("t1");
    for from in [place("yard"), place("dock"), thread] {
        let body = json!({"text": "Where?", "from": from, "wait": true});
        let (status, done) = serving.ask("POST", "/api/messages", Some(&body));
        assert_eq!(
            (status, done["text"].as_str()),
            (200, Some("Here.")),
            "{done}"
        );
    }
    let (_, listed) = serving.ask("GET", "/api/sessions", None);
    let mut keys: Vec<&str> = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|session| session["key"].as_str())
        .collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "agent:main:web:channel:dock",
            "agent:main:web:channel:yard",
            "agent:main:web:channel:yard:thread:t1",
        ]
    );
}

#[test]
fn rooms_with_different_tools_do_not_share_an_agent() {
    let reply = |room: &str, tool: &str, lacks: &str| {
        json!({
            "when": format!("in the {room}"), "text": "Here.", "times": 0,
            "expect": {"contains": [format!(r#""name":"{tool}""#)], "lacks": [format!(r#""name":"{lacks}""#)]},
        })
    };
    let script = [
        reply("yard", "read", "exec"),
        reply("dock", "exec", "write"),
    ];
    let talk = Talk::new(Format::Anthropic, &script);
    let config = json!({"channels": {"web": {"channels": {
        "yard": {"tools": {"deny": ["exec"]}},
        "dock": {"toolsBySender": {"id:ada": {"deny": ["write"]}}},
    }}}});
    talk.env
        .file("home/.openclaw/openclaw.json", config.to_string());
    let serving = Serving::start(&talk, &[]);
    for room in ["yard", "dock", "yard"] {
        let text = format!("What is in the {room}?");
        let body = json!({"text": text, "from": place(room), "wait": true});
        let (status, done) = serving.ask("POST", "/api/messages", Some(&body));
        assert_eq!(
            (status, done["text"].as_str()),
            (200, Some("Here.")),
            "{done}"
        );
    }
}

/// With `expectsCompletionMessage: false` nobody relays a child's reply, so that it goes to the child's own thread.
#[test]
fn a_child_that_nobody_waits_for_replies_in_its_own_thread() {
    let spawn = json!({"name": "sessions_spawn", "arguments": {
        "task": "Plan the fence", "thread": true, "mode": "session", "expectsCompletionMessage": false,
    }});
    let talk = Talk::new(
        Format::Anthropic,
        &[
            json!({"when": "[Subagent Task]: Plan the fence", "times": 0, "text": "Oak, forty posts."}),
            json!({"when": "Start the plan", "text": "", "toolCalls": [spawn]}),
            json!({"times": 0, "text": "It is planned in a thread."}),
        ],
    );
    let serving = Serving::start(&talk, &[]);
    let heard = serving.listen();
    serving.say("yard", "Start the plan");
    serving.wait_until("the child has replied", |_| {
        let heard = heard.lock().unwrap();
        let mut heard = heard.iter();
        heard.any(|event| event["kind"] == "delivered" && event["text"] == "Oak, forty posts.")
    });
    serving.rest();
    let heard = heard.lock().unwrap();
    let places: Vec<&str> = heard
        .iter()
        .filter(|event| event["kind"] == "delivered" && event["text"] == "Oak, forty posts.")
        .filter_map(|event| event["to"].as_str())
        .collect();
    assert_eq!(places.len(), 1, "{places:?}");
    assert!(
        places[0].starts_with("web:channel:yard:thread:"),
        "{places:?}"
    );
    assert!(announces(&talk).is_empty(), "the parent stays silent");
}
