//! Before a conversation is shortened, the agent writes down what it will forget: once, in one file, and unseen.

use crate::flush_stage::{ASKED, NOTE, Played, SESSION, Setting, Stage};
use chitin_agent::history::FlushOptions;
use chitin_agent::source::Occasion;
use chitin_agent::turn::TurnInput;
use chitin_contract::{CANONICAL, OPENCLAW_2026_9};
use chitin_guard::Root;
use chitin_protocol::event::TurnEvent;
use chitin_protocol::message::StopReason;
use chitin_protocol::settings::LimitSettings;
use chitin_test::TestEnv;
use chitin_workspace::filter::RunKind;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// An answer after which the window is nearly full: the next request goes over what is kept free.
fn full(text: &str) -> Value {
    json!({"text": text, "usage": {"input": 21_000, "output": 10}})
}

fn small(text: &str) -> Value {
    json!({"text": text, "usage": {"input": 900, "output": 10}})
}

/// What the model calls when it is asked to write things down.
fn calls(calls: &Value) -> Value {
    json!({"when": ASKED, "toolCalls": calls, "usage": {"input": 21_100, "output": 50}})
}

fn write(path: &str, content: &str) -> Value {
    json!({"name": "write", "arguments": {"path": path, "content": content}})
}

fn silent() -> Value {
    json!({"when": ASKED, "text": "NO_REPLY", "usage": {"input": 21_200, "output": 3}})
}

fn keeps_the_tide() -> [Value; 2] {
    let call = write(
        "memory/2026-04-30.md",
        "- High water is at six.\n- Ada has the keys.",
    );
    [calls(&json!([call])), silent()]
}

fn is_there(env: &TestEnv, file: &str) -> bool {
    let root = Root::open(&env.path()).unwrap();
    root.kind(Path::new(file)).is_some()
}

fn script(parts: &[&[Value]]) -> Vec<Value> {
    parts.concat()
}

#[tokio::test]
async fn what_would_be_forgotten_is_written_down_once_before_the_summary_and_nobody_sees_it() {
    let env = TestEnv::new();
    let replies = script(&[
        &[full("The tide turns at six.")],
        &keeps_the_tide(),
        &[
            small("A summary of the harbor."),
            small("Good."),
            small("Very good."),
        ],
    ]);
    let stage = Stage::set(&env, &Setting::default(), &replies);
    stage.say("When does the tide turn?").await.report.unwrap();
    assert_eq!(stage.model.flushes().len(), 0);

    let played = stage.say("And who has the keys?").await;

    let report = played.report.as_ref().unwrap();
    assert_eq!(report.text, "Good.");
    assert_eq!(report.usage.input, 21_100 + 21_200 + 900 + 900);
    assert_eq!(
        env.read(NOTE),
        "# 2026-04-30\n\n- High water is at six.\n- Ada has the keys.\n"
    );
    assert_eq!(
        played.notes(),
        ["wrote 2 lines to `memory/2026-04-30.md` before shortening the conversation"]
    );
    assert_eq!(played.summaries(), 1);
    let place = |wanted: fn(&TurnEvent) -> bool| played.events.iter().position(wanted).unwrap();
    assert!(
        place(|event| matches!(event, TurnEvent::Note { .. }))
            < place(|event| matches!(event, TurnEvent::Compacted { .. }))
    );
    // The listener hears of no text and no tool but those of the answer itself.
    for event in &played.events {
        assert!(!matches!(event, TurnEvent::ToolStarted { .. }), "{event:?}");
        assert!(!format!("{event:?}").contains("NO_REPLY"), "{event:?}");
    }
    let transcript = stage.transcript();
    assert!(!transcript.contains(ASKED) && !transcript.contains("High water"));
    assert!(transcript.contains("chitin:memory-flush"));
    assert_eq!(stage.entry().memory_flush_compaction_count, Some(0));
    assert_eq!(stage.entry().compaction_count, Some(1));

    // The window has room again.
    stage.say("Thanks.").await.report.unwrap();
    assert_eq!(stage.model.flushes().len(), 2);
}

#[tokio::test]
async fn the_request_repeats_the_conversation_to_the_byte_so_that_the_cache_holds() {
    let env = TestEnv::new();
    let replies = script(&[
        &[full("One.")],
        &keeps_the_tide(),
        &[small("Sum."), small("Two.")],
    ]);
    let stage = Stage::set(&env, &Setting::default(), &replies);
    stage.say("First.").await.report.unwrap();
    stage.say("Second.").await.report.unwrap();
    let asked = stage.model.asked();
    let same = |left: &str, right: &str| {
        let pairs = left.bytes().zip(right.bytes());
        pairs.take_while(|(left, right)| left == right).count()
    };
    // All but the closing brackets, which the next message pushes on.
    assert!(
        asked[0].len() - same(&asked[0], &asked[1]) < 40,
        "{}",
        asked[1]
    );
    assert!(
        asked[1].len() - same(&asked[1], &asked[2]) < 40,
        "{}",
        asked[2]
    );
    assert!(!asked[1].contains("Second."));
}

#[tokio::test]
async fn a_crash_between_the_note_and_the_summary_does_not_write_it_twice() {
    let env = TestEnv::new();
    let setting = Setting::default();
    let slow = json!({"text": "Never heard.", "delayMs": 60_000});
    let replies = script(&[&[full("One.")], &keeps_the_tide()[..1], &[slow]]);
    let stage = Stage::set(&env, &setting, &replies);
    stage.say("First.").await.report.unwrap();
    {
        let crashing = stage.say("Second.");
        tokio::pin!(crashing);
        // The process goes away once the note is written, while the model has not said that it is done.
        let written = async {
            while stage.entry().memory_flush_at.is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            _ = &mut crashing => unreachable!("the model does not answer"),
            () = written => {}
        }
    }
    drop(stage);
    let stage = Stage::set(&env, &setting, &[small("Sum."), small("Two.")]);
    let played = stage.say("Second, again.").await;
    played.report.as_ref().unwrap();
    assert_eq!(played.summaries(), 1);
    assert_eq!(stage.model.flushes().len(), 0);
    assert_eq!(env.read(NOTE).matches("High water").count(), 1);
}

#[tokio::test]
async fn a_model_that_writes_elsewhere_is_refused_and_told() {
    let env = TestEnv::new();
    env.file("workspace/MEMORY.md", "Mine.\n");
    env.file("workspace/memory/2026-04-30.md", "# Today\nUnended");
    let elsewhere = json!([
        write("MEMORY.md", "Gone."),
        write("memory/../SOUL.md", "Gone."),
        write("/etc/passwd", "Gone."),
        {"name": "exec", "arguments": {"command": "rm -r ."}},
        {"name": "read", "arguments": {"path": "MEMORY.md"}},
    ]);
    let full_path = env.workspace().join("memory/2026-04-30.md");
    let right = write(&full_path.to_string_lossy(), "- Kept.");
    let flush = [calls(&elsewhere), calls(&json!([right])), silent()];
    let replies = script(&[&[full("One.")], &flush, &[small("Sum."), small("Two.")]]);
    let stage = Stage::set(&env, &Setting::default(), &replies);
    stage.say("First.").await.report.unwrap();
    let played = stage.say("Second.").await;
    played.report.as_ref().unwrap();

    assert_eq!(env.read("workspace/MEMORY.md"), "Mine.\n");
    assert!(!is_there(&env, "workspace/SOUL.md"));
    assert_eq!(env.read(NOTE), "# Today\nUnended\n- Kept.\n");
    let told = &stage.model.flushes()[1];
    assert_eq!(
        told.matches("only appends to `memory/2026-04-30.md`")
            .count(),
        3
    );
    assert!(told.contains("Mine."), "looking is allowed: {told}");
    assert_eq!(
        played.notes(),
        ["wrote 1 line to `memory/2026-04-30.md` before shortening the conversation"]
    );
}

#[tokio::test]
async fn a_flush_that_fails_is_told_and_the_turn_goes_on() {
    let env = TestEnv::new();
    let broken = json!({"when": ASKED, "error": {"status": 500, "message": "broken"}});
    let replies = script(&[&[full("One.")], &[broken], &[small("Sum."), small("Two.")]]);
    let stage = Stage::set(&env, &Setting::default(), &replies);
    stage.say("First.").await.report.unwrap();
    let played = stage.say("Second.").await;
    assert_eq!(played.report.as_ref().unwrap().text, "Two.");
    assert!(
        played.notes()[0].starts_with("not all was written down"),
        "{:?}",
        played.notes()
    );
    assert_eq!(played.summaries(), 1);
    assert!(!is_there(&env, NOTE));
}

#[tokio::test]
async fn a_model_that_never_comes_to_an_end_is_asked_four_times() {
    let env = TestEnv::new();
    let endless = json!({
        "when": ASKED, "times": 0,
        "toolCalls": [write("memory/2026-04-30.md", "- Again.")],
        "usage": {"input": 21_100, "output": 50},
    });
    let replies = script(&[&[endless], &[full("One."), small("Sum."), small("Two.")]]);
    let stage = Stage::set(&env, &Setting::default(), &replies);
    stage.say("First.").await.report.unwrap();
    stage.say("Second.").await.report.unwrap();
    assert_eq!(stage.model.flushes().len(), 4);
    assert_eq!(env.read(NOTE).matches("Again").count(), 4);
}

#[tokio::test]
async fn what_the_flush_takes_counts_against_the_turns_limits() {
    let env = TestEnv::new();
    let limits = LimitSettings {
        calls: Some(2),
        ..LimitSettings::default()
    };
    let setting = Setting {
        limits,
        ..Setting::default()
    };
    let replies = script(&[&[full("One.")], &keeps_the_tide(), &[small("Sum.")]]);
    let stage = Stage::set(&env, &setting, &replies);
    stage.say("First.").await.report.unwrap();
    let Played { report, .. } = stage.say("Second.").await;
    assert_eq!(
        report.unwrap_err().to_string(),
        "stopped: the turn may ask the model 2 times"
    );
}

#[tokio::test]
async fn who_stops_the_turn_stops_the_flush() {
    let env = TestEnv::new();
    let slow = json!({"when": ASKED, "text": "Hm.", "delayMs": 60_000});
    let stage = Stage::set(
        &env,
        &Setting::default(),
        &[full("One."), slow, small("Cut off.")],
    );
    stage.say("First.").await.report.unwrap();
    let cancel = CancellationToken::new();
    let input = TurnInput {
        session_key: SESSION.to_owned(),
        words: "Second.".to_owned(),
        ..TurnInput::default()
    };
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    };
    let (played, ()) = tokio::join!(stage.play(input, cancel.clone()), stopping);
    assert_eq!(played.report.unwrap().stop_reason, StopReason::Aborted);
    assert_eq!(stage.entry().memory_flush_at, None);
    assert!(stage.transcript().contains("Second."));
}

#[tokio::test]
async fn heartbeats_children_and_agents_that_may_not_write_are_not_asked() {
    let denied = json!({"tools": {"deny": ["write"]}});
    let heartbeat = RunKind::Heartbeat;
    let cases = [
        (json!({}), "agent:main:main", heartbeat),
        (json!({}), "agent:main:cron:x", RunKind::Cron),
        (json!({}), "agent:main:subagent:x", RunKind::Default),
        (denied, "agent:main:main", RunKind::Default),
    ];
    for (config, session_key, run) in cases {
        let env = TestEnv::new();
        let setting = Setting {
            config,
            ..Setting::default()
        };
        let stage = Stage::set(
            &env,
            &setting,
            &[full("One."), small("Sum."), small("Two.")],
        );
        for words in ["First.", "Second."] {
            let input = TurnInput {
                session_key: session_key.to_owned(),
                words: words.to_owned(),
                occasion: Occasion {
                    run,
                    ..Occasion::default()
                },
                ..TurnInput::default()
            };
            let played = stage.play(input, CancellationToken::new()).await;
            played.report.unwrap();
        }
        assert_eq!(stage.model.flushes().len(), 0, "{session_key} {run:?}");
    }
}

#[tokio::test]
async fn notes_that_would_leave_the_workspace_through_a_link_are_not_asked_for() {
    let env = TestEnv::new();
    env.directory_at("workspace");
    let elsewhere = env.directory_at("elsewhere");
    env.link("workspace/memory", elsewhere);
    let replies = [full("One."), small("Sum."), small("Two.")];
    let stage = Stage::set(&env, &Setting::default(), &replies);
    stage.say("First.").await.report.unwrap();
    stage.say("Second.").await.report.unwrap();
    assert_eq!(stage.model.flushes().len(), 0);
}

#[tokio::test]
async fn a_session_that_is_reset_is_asked_again() {
    let env = TestEnv::new();
    let once = script(&[
        &[full("One.")],
        &keeps_the_tide(),
        &[full("Sum."), full("Two.")],
    ]);
    let replies = script(&[&once, &once]);
    let stage = Stage::set(&env, &Setting::default(), &replies);
    for new_session in [false, true] {
        let input = TurnInput {
            session_key: SESSION.to_owned(),
            words: "First.".to_owned(),
            new_session,
            ..TurnInput::default()
        };
        let played = stage.play(input, CancellationToken::new()).await;
        played.report.unwrap();
        assert_eq!(stage.entry().memory_flush_at, None);
        stage.say("Second.").await.report.unwrap();
        assert!(stage.entry().memory_flush_at.is_some());
    }
    assert_eq!(env.read(NOTE).matches("High water").count(), 2);
}

#[tokio::test]
async fn a_long_transcript_is_enough_and_one_flush_does_until_the_next_summary() {
    let env = TestEnv::new();
    let setting = Setting {
        contract: &OPENCLAW_2026_9,
        flush: Some(FlushOptions {
            force_transcript_bytes: Some(500),
            ..FlushOptions::default()
        }),
        ..Setting::default()
    };
    let replies = script(&[
        &[small("One.")],
        &keeps_the_tide(),
        &[small("Two."), small("Three.")],
    ]);
    let stage = Stage::set(&env, &setting, &replies);
    for words in ["First.", "Second.", "Third."] {
        assert_eq!(stage.say(words).await.summaries(), 0);
    }
    assert_eq!(stage.model.flushes().len(), 2);
    assert_eq!(
        stage.entry().memory_flush,
        Some(json!({"kind": "succeeded", "compactionCount": 0}))
    );
}

#[tokio::test]
async fn after_three_failures_it_is_left_until_the_next_summary() {
    let env = TestEnv::new();
    let setting = Setting {
        contract: &CANONICAL,
        flush: Some(FlushOptions {
            force_transcript_bytes: Some(500),
            ..FlushOptions::default()
        }),
        ..Setting::default()
    };
    let broken = json!({"when": ASKED, "times": 0, "error": {"status": 500, "message": "broken"}});
    let mut replies = vec![broken];
    replies.extend((0..6).map(|number| small(&format!("Answer {number}."))));
    let stage = Stage::set(&env, &setting, &replies);
    for _ in 0..6 {
        stage.say("Go on.").await.report.unwrap();
    }
    assert_eq!(stage.model.flushes().len(), 3);
}
