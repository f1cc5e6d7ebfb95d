//! A panic in a turn: whoever waits is told, people are told, and the session goes on.

use crate::stage::{Pace, Setting, message};
use chitin_gateway::events::EventKind;
use chitin_gateway::jobs::JobStatus;
use chitin_gateway::{JobPlacement, ListenerEvent, Topic};
use chitin_store::JobLog;
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A stage whose model panics in the middle of its first answer.
fn breaking() -> Setting {
    breaking_after(Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)))
}

/// The same, as soon as there are permits.
fn breaking_after(permits: Arc<Semaphore>) -> Setting {
    Setting::replies(&[
        json!({"text": "Never whole."}),
        json!({"text": "Second.", "times": 0}),
    ])
    .pace(Pace::PanicOnce(Arc::default(), permits))
}

#[tokio::test]
async fn a_turn_that_panics_fails_and_the_next_message_of_the_session_is_served() {
    let stage = breaking().stage();
    let id = stage.gateway.new_job_id();
    let mut events = stage.gateway.subscribe(Topic::Job(id.clone()));
    let mut first = message("yard", "One");
    first.job_id = Some(id.clone());
    stage.gateway.accept(first).await.unwrap();
    let outcome = loop {
        let Some(ListenerEvent::Happening(happening)) = events.next().await else {
            continue;
        };
        if let EventKind::Finished { outcome } = &happening.what {
            break outcome.clone();
        }
    };
    assert_eq!(outcome.status, JobStatus::Failed);
    let error = outcome.error.unwrap();
    assert!(error.contains("the model's client broke"), "{error}");
    stage.rest().await;
    let sent = stage.surface.sent();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(
        sent[0].starts_with("chat:channel:yard: This did not work: an internal error"),
        "{sent:?}"
    );
    let notes = stage.notes.lock().unwrap().clone();
    let told = notes
        .iter()
        .filter(|note| note.contains(&id) && note.contains("panicked: the model's client broke"));
    assert_eq!(told.count(), 1, "{notes:?}");
    assert!(!stage.gateway.is_open(&id));

    stage.say_and_wait("yard", "Two").await;
    assert_eq!(
        stage.surface.sent().last().unwrap(),
        "chat:channel:yard: Second."
    );
    stage.rest().await;
    // Nothing is left open: after a restart nothing runs again.
    let directory = stage.host.state.join("gateway");
    drop(stage.gateway);
    let (_, open) = JobLog::open(&directory).unwrap();
    assert!(open.is_empty(), "{open:?}");
}

#[tokio::test]
async fn messages_that_wait_behind_a_turn_that_panics_are_served() {
    let config = json!({"messages": {"queue": {"mode": "followup", "debounceMs": 0}}});
    let permits = Arc::new(Semaphore::new(0));
    let stage = breaking_after(permits.clone()).config(config).stage();
    stage.say("yard", "One").await;
    let placed = stage.gateway.accept(message("yard", "Two")).await.unwrap();
    assert_eq!(placed.place, JobPlacement::Waits);
    permits.add_permits(Semaphore::MAX_PERMITS);
    stage.rest().await;
    assert_eq!(
        stage.surface.sent().last().unwrap(),
        "chat:channel:yard: Second."
    );
}

#[tokio::test]
async fn a_child_that_panics_is_told_of_as_failed() {
    let stage = Setting::replies(&[
        json!({"when": "[Subagent Task]: Break", "text": "Never."}),
        json!({"text": "", "toolCalls": [{"name": "sessions_spawn", "arguments": {"task": "Break"}}]}),
        json!({"when": "status: failed: an internal error", "text": "It broke."}),
        json!({"text": ""}),
    ])
    .pace(Pace::PanicOnce(
        Arc::default(),
        Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
    ))
    .stage();
    stage.say_and_wait("yard", "Do it").await;
    stage.rest().await;
    assert_eq!(stage.surface.sent(), ["chat:channel:yard: It broke."]);
}
