//! A turn that is stopped ends soon, whatever its model does.

use crate::flush_stage::{SESSION, Setting, Stage};
use chitin_agent::turn::TurnInput;
use chitin_protocol::message::StopReason;
use chitin_test::TestEnv;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

#[tokio::test(start_paused = true)]
async fn a_model_that_goes_on_after_a_stop_has_one_grace_period() {
    let env = TestEnv::new();
    let setting = Setting {
        heedless: Some(Duration::from_millis(50)),
        ..Setting::default()
    };
    let stage = Stage::set(&env, &setting, &[]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let stopping = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(2)).await;
        stop.cancel();
        Instant::now()
    });
    let input = TurnInput {
        session_key: SESSION.to_owned(),
        words: "Count".to_owned(),
        ..TurnInput::default()
    };
    let played = tokio::time::timeout(Duration::from_secs(10), stage.play(input, cancel))
        .await
        .unwrap();
    let took = stopping.await.unwrap().elapsed();
    assert!(took <= Duration::from_millis(300), "{took:?}");
    assert!(took >= Duration::from_millis(150), "{took:?}");
    let report = played.report.unwrap();
    assert_eq!(report.stop_reason, StopReason::Aborted);
    // What was said until then is kept.
    assert!(report.text.starts_with("on on on"), "{}", report.text);
    assert!(stage.transcript().contains("on on on"));
}
