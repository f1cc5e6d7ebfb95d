//! An acknowledgement is a promise, and a refusal means that nothing happened.

use crate::stage::{Pace, Setting, Stage, message};
use chitin_contract::OPENCLAW_2026_4;
use chitin_gateway::{
    EarlierJob, IncomingMessage, IntakeRefusal, JobPlacement, JobStatus, StoredOutcome,
};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Semaphore;

fn named(id: &str, text: &str) -> IncomingMessage {
    IncomingMessage {
        job_id: Some(id.to_owned()),
        ..message("yard", text)
    }
}

async fn ended(stage: &Stage, job_id: &str) -> StoredOutcome {
    match stage.gateway.earlier(job_id).await {
        EarlierJob::Ended(ended) => *ended,
        other => unreachable!("{job_id}: {other:?}"),
    }
}

/// Begins anew with the same disk.
fn again(stage: Stage, replies: &[serde_json::Value]) -> Stage {
    let Stage { env, gateway, .. } = stage;
    drop(gateway);
    Setting {
        env,
        ..Setting::replies(replies)
    }
    .stage()
}

#[tokio::test]
async fn a_message_sent_twice_at_once_is_known_only_when_the_first_is_on_the_disk() {
    let stage = Setting::replies(&[json!({"text": "Once."})]).stage();
    let log = stage.host.state.join("gateway");
    std::fs::remove_dir_all(&log).unwrap();
    std::fs::write(&log, "in the way").unwrap();
    let both = || {
        let (one, other) = (named("twice", "Hi."), named("twice", "Hi."));
        async { tokio::join!(stage.gateway.accept(one), stage.gateway.accept(other)) }
    };
    let (one, other) = both().await;
    assert!(matches!(one, Err(IntakeRefusal::Store(_))), "{one:?}");
    assert!(matches!(other, Err(IntakeRefusal::Store(_))), "{other:?}");
    std::fs::remove_file(&log).unwrap();
    let (one, other) = both().await;
    let places = [one.unwrap().place, other.unwrap().place];
    assert!(places.contains(&JobPlacement::Known), "{places:?}");
    stage.rest().await;
    assert_eq!(stage.surface.sent().len(), 1);
}

#[tokio::test]
async fn a_full_queue_refuses_and_what_was_accepted_is_done() {
    let permits = Arc::new(Semaphore::new(0));
    let stage = Setting::replies(&[json!({"text": "Heard.", "times": 0})])
        .pace(Pace::Permits(Arc::clone(&permits)))
        .stage();
    let mut taken = Vec::new();
    for number in 0..60 {
        match stage
            .gateway
            .accept(named(&format!("j{number}"), "Hi."))
            .await
        {
            Ok(accepted) => taken.push(accepted.job_id),
            Err(IntakeRefusal::QueueFull { waiting }) => assert_eq!(waiting, 20),
            Err(other) => unreachable!("{other}"),
        }
    }
    assert_eq!(taken.len(), 21, "one runs and twenty wait");
    permits.add_permits(1000);
    stage.rest().await;
    for job in &taken {
        assert_eq!(ended(&stage, job).await.outcome.status, JobStatus::Ok);
    }
    // What was refused can be sent again under the same name.
    let again = stage.gateway.accept(named("j59", "Hi.")).await.unwrap();
    assert_eq!(again.place, JobPlacement::Runs);
    stage.rest().await;
}

#[tokio::test]
async fn where_a_release_drops_messages_their_senders_are_told() {
    let permits = Arc::new(Semaphore::new(0));
    let stage = Setting {
        contract: &OPENCLAW_2026_4,
        ..Setting::replies(&[json!({"text": "Heard.", "times": 0})])
    }
    .pace(Pace::Permits(Arc::clone(&permits)))
    .stage();
    for number in 0..25 {
        stage
            .gateway
            .accept(named(&format!("j{number}"), "Hi."))
            .await
            .unwrap();
    }
    permits.add_permits(1000);
    stage.rest().await;
    let mut dropped = 0;
    for number in 0..25 {
        let outcome = ended(&stage, &format!("j{number}")).await.outcome;
        if outcome.status == JobStatus::Dropped {
            assert_eq!(outcome.error.as_deref(), Some("newer messages replaced it"));
            dropped += 1;
        } else {
            assert_eq!(outcome.text, "Heard.");
        }
    }
    assert_eq!(dropped, 4);
}

#[tokio::test]
async fn how_a_message_ended_is_known_after_a_restart_without_its_transcript() {
    let stage = Setting::replies(&[json!({"text": "It is on the board."})]).stage();
    stage.gateway.accept(named("asked", "Hi.")).await.unwrap();
    stage.rest().await;
    std::fs::remove_dir_all(stage.host.state.join("agents")).unwrap();
    let stage = again(stage, &[]);
    let repeated = stage.gateway.accept(named("asked", "Hi.")).await.unwrap();
    assert_eq!(repeated.place, JobPlacement::Known);
    let kept = ended(&stage, "asked").await;
    assert_eq!(kept.outcome.text, "It is on the board.");
    assert_eq!(kept.outcome.status, JobStatus::Ok);
    assert_eq!(stage.gateway.earlier("another").await, EarlierJob::Unknown);
    // A day later the name may be used again.
    stage.clock.push(25 * 60 * 60 * 1000);
    assert_eq!(stage.gateway.earlier("asked").await, EarlierJob::Unknown);
}

#[tokio::test]
async fn a_message_that_was_merged_ends_as_the_one_that_took_its_place() {
    let permits = Arc::new(Semaphore::new(0));
    let stage = Setting::replies(&[json!({"text": "First."}), json!({"text": "Both."})])
        .pace(Pace::Permits(Arc::clone(&permits)))
        .stage();
    for id in ["a", "b", "c"] {
        stage.gateway.accept(named(id, "Hi.")).await.unwrap();
    }
    permits.add_permits(1000);
    stage.rest().await;
    assert_eq!(ended(&stage, "a").await.outcome.text, "First.");
    assert_eq!(ended(&stage, "b").await.outcome.text, "Both.");
    assert_eq!(ended(&stage, "c").await.outcome.text, "Both.");
}
