//! What is the machine's or the model's fault leaves a job open: it is tried again, once it can be done it is done, and once only.

use crate::stage::{Setting, Stage, finished, message};
use chitin_contract::OPENCLAW_2026_9;
use chitin_gateway::{EarlierJob, IncomingMessage, JobOutcome, JobStatus, OutagePolicy, Topic};
use chitin_protocol::message::Message;
use chitin_protocol::transcript::EntryBody;
use chitin_store::SessionStore;
use serde_json::{Value, json};
use std::time::Duration;

const YARD: &str = "agent:main:chat:channel:yard";

fn quick() -> OutagePolicy {
    OutagePolicy {
        first_wait_ms: 50,
        longest_wait_ms: 200,
        ..OutagePolicy::default()
    }
}

fn setting(replies: &[Value]) -> Setting {
    Setting {
        outage: quick(),
        ..Setting::replies(replies)
    }
}

fn named(channel: &str, id: &str) -> IncomingMessage {
    IncomingMessage {
        job_id: Some(id.to_owned()),
        ..message(channel, &format!("Message {id}."))
    }
}

fn fails(status: u16) -> Value {
    json!({"error": {"status": status, "message": "overloaded"}})
}

async fn outcome(stage: &Stage, id: &str) -> JobOutcome {
    match stage.gateway.earlier(id).await {
        EarlierJob::Ended(ended) => ended.outcome,
        other => unreachable!("{other:?}"),
    }
}

async fn until(what: impl Fn() -> bool) {
    let waiting = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting)
        .await
        .unwrap();
}

/// Returns the roles of a session's messages.
fn roles(stage: &Stage) -> Vec<&'static str> {
    let branch = stage.host.file_store("main").read(YARD).unwrap();
    let messages = branch.entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Message(Message::User(_)) => Some("user"),
        EntryBody::Message(Message::Assistant(_)) => Some("assistant"),
        _ => None,
    });
    messages.collect()
}

#[tokio::test]
async fn a_model_that_is_down_for_a_while_delays_a_message_and_does_not_fail_it() {
    // A turn asks four times by itself; no money is not tried again in the turn.
    let mut replies = vec![fails(503); 4];
    replies.extend([fails(402), fails(402), json!({"text": "Back."})]);
    let stage = setting(&replies).stage();
    let mut events = stage.gateway.subscribe(Topic::Job("a".to_owned()));
    stage.gateway.accept(named("yard", "a")).await.unwrap();
    until(|| stage.gateway.figures().delayed == 1).await;
    let delay = stage
        .gateway
        .delay_of("a")
        .or_else(|| stage.gateway.busy()[0].delayed.clone());
    assert!(delay.is_none_or(|delay| delay.reason.contains("overloaded")));
    finished(&mut events).await;
    stage.rest().await;
    assert_eq!(outcome(&stage, "a").await.text, "Back.");
    assert_eq!(
        roles(&stage),
        ["user", "assistant"],
        "nothing is there twice"
    );
    let sent = stage.surface.sent();
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(
        sent[0].contains("delayed") && sent[1].ends_with("Back."),
        "{sent:?}"
    );
    let figures = stage.gateway.figures();
    assert_eq!(
        (figures.delayed, figures.open, figures.model_failures),
        (0, 0, 3)
    );
    let notes = stage.notes.lock().unwrap().clone();
    let about: Vec<_> = notes
        .iter()
        .filter(|note| note.contains("tried again"))
        .collect();
    assert_eq!(about.len(), 1, "once, not for each attempt: {notes:?}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again() {
    let cut = json!({"text": "It is on the", "cutAfter": 6});
    let stage = setting(&[cut, json!({"text": "It is on the board."})]).stage();
    stage.gateway.accept(named("yard", "a")).await.unwrap();
    stage.rest().await;
    assert_eq!(outcome(&stage, "a").await.text, "It is on the board.");
    assert_eq!(roles(&stage), ["user", "assistant"]);
    assert!(
        stage
            .surface
            .sent()
            .last()
            .unwrap()
            .ends_with("It is on the board.")
    );
}

#[tokio::test]
async fn a_broken_workspace_delays_its_session_and_no_other() {
    let stage = setting(&[json!({"text": "Heard.", "times": 0})]).stage();
    stage.host.broken.lock().unwrap().push(YARD.to_owned());
    for id in ["a", "b"] {
        stage.gateway.accept(named("yard", id)).await.unwrap();
    }
    until(|| stage.gateway.figures().machine_failures >= 3).await;
    stage.say_and_wait("pier", "Hi.").await;
    assert!(matches!(
        stage.gateway.earlier("a").await,
        EarlierJob::Open(_)
    ));
    stage.host.broken.lock().unwrap().clear();
    stage.rest().await;
    for id in ["a", "b"] {
        assert_eq!(outcome(&stage, id).await.status, JobStatus::Ok);
    }
    assert!(
        !stage
            .surface
            .sent()
            .iter()
            .any(|text| text.contains("did not work"))
    );
}

#[tokio::test]
async fn a_delayed_message_goes_on_after_a_restart_in_its_order() {
    let stage = setting(&[]).stage();
    stage.host.broken.lock().unwrap().push(YARD.to_owned());
    for id in ["a", "b", "c"] {
        let mut incoming = named("yard", id);
        incoming.queue.mode = Some(chitin_gateway::queue::QueueMode::Followup);
        stage.gateway.accept(incoming).await.unwrap();
    }
    until(|| stage.gateway.figures().delayed == 1).await;
    assert!(
        stage.gateway.drain(Duration::from_secs(10)).await,
        "it does not wait for the outage"
    );
    let Stage { env, gateway, .. } = stage;
    drop(gateway);
    let replies: Vec<Value> = ["1", "2", "3"]
        .iter()
        .map(|text| json!({"text": text}))
        .collect();
    let stage = Setting {
        env,
        ..setting(&replies)
    }
    .stage();
    stage.rest().await;
    for (id, text) in [("a", "1"), ("b", "2"), ("c", "3")] {
        assert_eq!(outcome(&stage, id).await.text, text);
    }
}

#[tokio::test]
async fn a_delayed_message_can_be_stopped() {
    let slow = OutagePolicy::default();
    let stage = Setting {
        outage: OutagePolicy {
            first_wait_ms: 60_000,
            ..slow
        },
        ..Setting::replies(&[json!({"text": "Next."})])
    }
    .stage();
    stage.host.broken.lock().unwrap().push(YARD.to_owned());
    stage.gateway.accept(named("yard", "a")).await.unwrap();
    until(|| stage.gateway.figures().delayed == 1).await;
    stage.host.broken.lock().unwrap().clear();
    assert_eq!(stage.gateway.stop(YARD), 1);
    stage.rest().await;
    assert_eq!(outcome(&stage, "a").await.status, JobStatus::Stopped);
    assert_eq!(stage.gateway.figures().delayed, 0);
    stage.say_and_wait("yard", "Hi.").await;
    assert!(stage.surface.sent()[0].ends_with("Next."));
}

#[tokio::test]
async fn after_the_time_that_is_set_a_message_fails_and_its_sender_is_told() {
    let stage = setting(&vec![fails(402); 1000]).stage();
    let mut never = named("yard", "never");
    never.retry_ms = Some(0);
    stage.gateway.accept(never).await.unwrap();
    stage.rest().await;
    assert_eq!(outcome(&stage, "never").await.status, JobStatus::Failed);
    stage.gateway.accept(named("yard", "late")).await.unwrap();
    until(|| stage.gateway.figures().delayed == 1).await;
    stage.clock.push(25 * 60 * 60 * 1000);
    stage.rest().await;
    let ended = stage.surface.sent();
    assert!(ended.last().unwrap().contains("did not work"), "{ended:?}");
}

#[tokio::test]
async fn where_a_release_tells_at_once_it_is_told_at_once() {
    let stage = Setting {
        contract: &OPENCLAW_2026_9,
        ..setting(&[fails(402)])
    }
    .stage();
    stage.gateway.accept(named("yard", "a")).await.unwrap();
    stage.rest().await;
    assert_eq!(outcome(&stage, "a").await.status, JobStatus::Failed);
    assert!(stage.surface.sent()[0].contains("did not work"));
}

#[tokio::test]
async fn what_the_model_refuses_for_its_content_is_not_tried_again() {
    let stage = setting(&[fails(400)]).stage();
    stage.gateway.accept(named("yard", "a")).await.unwrap();
    stage.rest().await;
    assert_eq!(outcome(&stage, "a").await.status, JobStatus::Failed);
    assert_eq!(stage.gateway.figures().model_failures, 0);
}

#[tokio::test]
async fn a_model_that_hangs_keeps_nobody_else_from_theirs() {
    let hangs = json!({"when": "Message slow", "text": "At last.", "delayMs": 15_000, "times": 0});
    let stage = Setting {
        outage: OutagePolicy {
            silent_ms: 100,
            ..quick()
        },
        ..Setting::replies(&[hangs, json!({"text": "Heard.", "times": 0})])
    }
    .config(json!({"agents": {"defaults": {"maxConcurrent": 1}}}))
    .stage();
    for number in 0..3 {
        let id = format!("slow-{number}");
        stage
            .gateway
            .accept(named(&format!("room-{number}"), &id))
            .await
            .unwrap();
    }
    let waiting = stage.say_and_wait("yard", "Hi.");
    tokio::time::timeout(Duration::from_secs(8), waiting)
        .await
        .unwrap();
}
