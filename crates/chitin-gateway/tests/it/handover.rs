//! The work of a gateway goes to another process: what waits meanwhile, and what the other one is told.

use crate::stage::{Pace, Setting, message};
use chitin_gateway::IntakeRefusal;
use chitin_gateway::handover::FromPredecessor;
use chitin_store::{JobLog, OpenItem};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

const MOMENT: Duration = Duration::from_secs(10);

/// Opens the job log as the next process does.
fn next_process(state: &std::path::Path) -> Vec<OpenItem> {
    JobLog::open(&state.join("gateway")).unwrap().1
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_wait_while_it_is_decided_and_are_accepted_if_nobody_takes_over() {
    let stage = Setting::replies(&[json!({"text": "Here."}), json!({"text": "Here."})]).stage();
    let hand_over = stage.gateway.hand_over(MOMENT).await.unwrap();
    hand_over.release().unwrap();
    let gateway = stage.gateway.clone();
    let waiting = tokio::spawn(async move { gateway.accept(message("yard", "Hi")).await });
    // The next process begins, and gives up.
    assert!(next_process(&stage.host.state).is_empty());
    assert!(!waiting.is_finished());
    hand_over.take_back().unwrap();
    drop(hand_over);
    waiting.await.unwrap().unwrap();
    stage.rest().await;
    assert_eq!(stage.surface.sent(), ["chat:channel:yard: Here."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_waited_are_the_next_ones_and_it_hears_how_turns_end() {
    let words = Arc::new(Semaphore::new(0));
    let pace = Pace::Permits(Arc::clone(&words));
    let stage = Setting::replies(&[json!({"text": "Done."})])
        .pace(pace)
        .stage();
    let job = stage.say("yard", "Do it").await;
    while stage
        .gateway
        .busy()
        .iter()
        .all(|busy| busy.job_id.is_none())
    {
        tokio::task::yield_now().await;
    }
    let hand_over = stage.gateway.hand_over(MOMENT).await.unwrap();
    let key = "agent:main:chat:channel:yard";
    assert_eq!(hand_over.sessions(), [key]);
    hand_over.release().unwrap();
    let gateway = stage.gateway.clone();
    let waiting = tokio::spawn(async move { gateway.accept(message("barn", "Hi")).await });
    let open = next_process(&stage.host.state);
    assert_eq!(open.iter().map(|item| &item.id).collect::<Vec<_>>(), [&job]);
    let mut told = hand_over.done();
    let refused = waiting.await.unwrap();
    assert!(matches!(refused, Err(IntakeRefusal::Restarting)));
    words.add_permits(100);
    assert!(stage.gateway.turns_ended(MOMENT).await);
    let mut said = Vec::new();
    while let Ok(one) = told.try_recv() {
        said.push(match one {
            FromPredecessor::Changes(changes) => format!("{} changes", changes.len()),
            FromPredecessor::Ended(_) => "ended".to_owned(),
            FromPredecessor::Free(key) => key,
        });
    }
    // That chunks were sent, how it ended, and that the session is free: in this order.
    let (changes, rest) = said.split_at(said.len() - 2);
    assert_eq!(rest, ["ended", key]);
    assert!(!changes.is_empty(), "{said:?}");
    assert!(
        changes.iter().all(|one| one.ends_with(" changes")),
        "{said:?}"
    );
    assert_eq!(stage.surface.sent(), ["chat:channel:yard: Done."]);
    assert_eq!(
        next_process(&stage.host.state).len(),
        1,
        "only the next one writes"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_being_accepted_is_waited_for_but_not_for_ever() {
    let stage = Setting::replies(&[json!({"text": "Here."})]).stage();
    let first = stage.gateway.hand_over(MOMENT).await.unwrap();
    assert!(
        stage
            .gateway
            .hand_over(Duration::from_millis(1))
            .await
            .is_none()
    );
    drop(first);
    stage.say_and_wait("yard", "Hi").await;
}
