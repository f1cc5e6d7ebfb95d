//! A message in, a turn, words out: in order, once each, whatever happens in between.

use crate::stage::{Setting, finished, message};
use chitin_gateway::{IntakeRefusal, JobPlacement, SurfaceError, Topic};
use chitin_store::SessionStore;
use serde_json::json;

#[tokio::test]
async fn a_message_gets_its_answer_where_it_was_written() {
    let stage = Setting::replies(&[json!({"text": "Five larch."})]).stage();
    stage.say_and_wait("yard", "What is on the board?").await;
    assert_eq!(stage.surface.sent(), ["chat:channel:yard: Five larch."]);
    let store = stage.host.file_store("main");
    assert!(
        store
            .find("agent:main:chat:channel:yard")
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn text_between_tools_goes_out_as_it_comes() {
    let stage = Setting::replies(&[
        json!({"text": "Let me look.", "toolCalls": [{"name": "none", "arguments": {}}]}),
        json!({"text": "Nothing there."}),
    ])
    .stage();
    stage.say_and_wait("yard", "Look").await;
    assert_eq!(
        stage.surface.sent(),
        [
            "chat:channel:yard: Let me look.",
            "chat:channel:yard: Nothing there."
        ]
    );
}

#[tokio::test]
async fn the_same_message_handed_in_twice_is_taken_once() {
    let stage = Setting::replies(&[json!({"text": "One."}), json!({"text": "Two."})]).stage();
    let mut incoming = message("yard", "Hello");
    incoming.message_id = Some("77".to_owned());
    let first = stage.gateway.accept(incoming.clone()).await.unwrap();
    let second = stage.gateway.accept(incoming).await.unwrap();
    assert_eq!(first.job_id, second.job_id);
    assert_eq!(second.place, JobPlacement::Known);
    stage.rest().await;
    assert_eq!(stage.surface.sent(), ["chat:channel:yard: One."]);
}

#[tokio::test]
async fn messages_that_come_while_a_turn_runs_are_taken_together() {
    let config = json!({"messages": {"queue": {"mode": "collect", "debounceMs": 0}}});
    let stage = Setting::replies(&[
        json!({"text": "First.", "delayMs": 300}),
        json!({"text": "Both.", "expect": {"contains": ["two", "three"]}}),
    ])
    .config(config)
    .stage();
    stage.say("yard", "one").await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let id = stage.gateway.new_job_id();
    let mut events = stage.gateway.subscribe(Topic::Job(id.clone()));
    let mut second = message("yard", "two");
    second.job_id = Some(id);
    let placed = stage.gateway.accept(second).await.unwrap();
    assert_eq!(placed.place, JobPlacement::Waits);
    stage.say("yard", "three").await;
    finished(&mut events).await;
    stage.rest().await;
    assert_eq!(
        stage.surface.sent(),
        ["chat:channel:yard: First.", "chat:channel:yard: Both."]
    );
}

#[tokio::test]
async fn a_turn_that_runs_hears_what_is_said_meanwhile() {
    let config = json!({"messages": {"queue": {"mode": "steer"}}});
    let stage = Setting::replies(&[
        json!({"text": "Going left.", "delayMs": 200}),
        json!({"text": "Going right.", "expect": {"contains": ["No, right"]}}),
    ])
    .config(config)
    .stage();
    stage.say("yard", "Go").await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let placed = stage.gateway.accept(message("yard", "No, right")).await;
    assert_eq!(placed.unwrap().place, JobPlacement::Steers);
    stage.rest().await;
    assert_eq!(
        stage.surface.sent(),
        [
            "chat:channel:yard: Going left.",
            "chat:channel:yard: Going right."
        ]
    );
}

#[tokio::test]
async fn a_newer_message_takes_the_place_of_a_turn_that_may_be_interrupted() {
    let config = json!({"messages": {"queue": {"mode": "interrupt"}}});
    let stage = Setting::replies(&[
        json!({"text": "Never heard.", "delayMs": 10_000}),
        json!({"text": "Here."}),
    ])
    .config(config)
    .stage();
    stage.say("yard", "Wait for it").await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    stage.say("yard", "Now").await;
    stage.rest().await;
    assert_eq!(stage.surface.sent(), ["chat:channel:yard: Here."]);
}

#[tokio::test]
async fn a_surface_that_fails_for_a_moment_gets_the_words_later() {
    let stage = Setting::replies(&[json!({"text": "Five larch."})]).stage();
    stage.surface.fail(vec![SurfaceError::soon("busy")]);
    stage.say_and_wait("yard", "Board?").await;
    assert_eq!(stage.surface.sent(), ["chat:channel:yard: Five larch."]);
}

#[tokio::test]
async fn what_cannot_be_taken_in_is_refused_and_the_rest_goes_on() {
    let stage = Setting::replies(&[json!({"text": "Here."})]).stage();
    let refusal = |incoming| {
        let gateway = stage.gateway.clone();
        async move { gateway.accept(incoming).await.unwrap_err().to_string() }
    };
    let mut stranger = message("yard", "Hi");
    stranger.agent = Some("mian".to_owned());
    let mut odd = message("yard", "Hi");
    odd.session = Some("agent:nobody:main".to_owned());
    let said = [
        refusal(message("yard", "  ")).await,
        refusal(message("yard", &"x".repeat(2 << 20))).await,
        refusal(stranger).await,
        refusal(odd).await,
    ];
    insta::assert_snapshot!(said.join("\n"), @r"
    the message is empty
    the message is too large: its text has 2097152 bytes, the limit is 1048576
    there is no agent `mian`
    there is no agent `nobody`
    ");
    stage.say_and_wait("yard", "Still there?").await;
    assert_eq!(stage.surface.sent(), ["chat:channel:yard: Here."]);
    stage.gateway.drain(std::time::Duration::from_secs(5)).await;
    let late = stage.gateway.accept(message("yard", "Hello?")).await;
    assert!(matches!(late, Err(IntakeRefusal::Closing)));
}

/// A process that dies leaves its ledger and its transcripts. What is in them is done once.
#[test]
fn what_a_crash_leaves_open_is_done_once() {
    let replies = [
        json!({"text": "Slow.", "delayMs": 60_000}),
        json!({"text": "Done at last."}),
    ];
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let env = {
        let runtime = runtime();
        let stage = runtime.block_on(async {
            let stage = Setting::replies(&replies[..1]).stage();
            stage.say("yard", "Do it").await;
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            assert_eq!(stage.gateway.busy().len(), 1);
            stage
        });
        // All tasks are gone at once; nobody is told to stop.
        drop(runtime);
        stage.env
    };
    runtime().block_on(async {
        let again = Setting {
            env,
            ..Setting::replies(&replies[1..])
        };
        let stage = again.stage();
        stage.rest().await;
        assert_eq!(stage.surface.sent(), ["chat:channel:yard: Done at last."]);
        let store = stage.host.file_store("main");
        let branch = store.read("agent:main:chat:channel:yard").unwrap();
        let told = branch.entries.iter();
        let told = told.filter(|entry| format!("{:?}", entry.body).contains("Do it"));
        assert_eq!(told.count(), 1, "the words are in the transcript once");
    });
}

#[tokio::test]
async fn an_answer_that_means_nothing_is_sent_nowhere() {
    let stage = Setting::replies(&[
        json!({"text": "NO_REPLY"}),
        json!({"text": "Noted. NO_REPLY"}),
    ])
    .stage();
    stage.say_and_wait("yard", "Not for you").await;
    assert_eq!(stage.surface.sent(), [""; 0]);
    stage.say_and_wait("yard", "Nor this").await;
    assert_eq!(stage.surface.sent(), ["chat:channel:yard: Noted."]);
}

#[tokio::test]
async fn a_long_answer_is_cut_to_what_the_surface_takes_and_points_at_its_question_once() {
    let long = format!(
        "{}\n\n```rust\n{}```\n",
        "word ".repeat(500),
        "let x = 1;\n".repeat(60)
    );
    let stage = Setting::replies(&[json!({"text": long})])
        .config(json!({"channels": {"chat": {"replyToMode": "first"}}}))
        .stage();
    let mut incoming = message("yard", "Tell me everything");
    incoming.message_id = Some("55".to_owned());
    stage.gateway.accept(incoming).await.unwrap();
    stage.rest().await;
    let sent = stage.surface.outgoing();
    assert!(sent.len() > 1);
    for message in &sent {
        assert!(message.text.encode_utf16().count() <= 2_000);
        assert_eq!(
            message.text.matches("```").count() % 2,
            0,
            "{}",
            message.text
        );
    }
    let replies: Vec<bool> = sent
        .iter()
        .map(|message| message.reply_to.is_some())
        .collect();
    assert!(replies[0]);
    assert!(replies[1..].iter().all(|reply| !reply));
}

#[tokio::test]
async fn blocks_of_an_answer_go_out_while_it_is_written_where_that_is_wanted() {
    let paragraph = |name: &str| format!("{name} {}", "goes on and on ".repeat(20));
    let text = ["One", "Two", "Three"].map(paragraph).join("\n\n");
    let config = json!({"agents": {"defaults": {
        "blockStreamingDefault": "on",
        "blockStreamingChunk": {"minChars": 100, "maxChars": 400},
    }}});
    let stage = Setting::replies(&[json!({"text": text})])
        .config(config)
        .stage();
    stage.say_and_wait("yard", "Tell me").await;
    let sent = stage.surface.sent().join(" ");
    assert!(stage.surface.sent().len() >= 3);
    for name in ["One", "Two", "Three"] {
        assert_eq!(sent.matches(name).count(), 1, "{sent}");
    }
}
