//! Hearts that beat: when, for whom, where their words go, and what leaves no trace.

use crate::stage::{Setting, Stage, finished, message};
use chitin_contract::CANONICAL;
use chitin_gateway::Topic;
use chitin_gateway::heartbeat::{BeatOutcome, BeatReport, Beats, Skip, Task, task_prompt, tasks};
use chitin_gateway::route::Peer;
use chitin_protocol::session_key::ChatType;
use chitin_store::SessionStore;
use proptest::prelude::*;
use serde_json::{Value, json};

const MINUTE: i64 = 60_000;
const MAIN: &str = "agent:main:main";

fn every(settings: Value) -> Value {
    let mut heartbeat = json!({"every": "30m", "target": "last"});
    if let Value::Object(settings) = settings {
        for (name, value) in settings {
            heartbeat[name] = value;
        }
    }
    json!({"agents": {"defaults": {"heartbeat": heartbeat}}})
}

fn setting(replies: &[Value], settings: Value) -> Setting {
    let setting = Setting::replies(replies).config(every(settings));
    setting
        .env
        .file("workspace/HEARTBEAT.md", "- Look at the board.\n");
    setting
}

/// Ada says something in private, which is the main conversation.
async fn ada_speaks(stage: &Stage) {
    let mut incoming = message("-", "Morning");
    incoming.inbound.peer = Some(Peer {
        kind: ChatType::Direct,
        id: "ada".to_owned(),
    });
    let id = stage.gateway.new_job_id();
    let mut events = stage.gateway.subscribe(Topic::Job(id.clone()));
    incoming.job_id = Some(id);
    stage.gateway.accept(incoming).await.unwrap();
    finished(&mut events).await;
}

async fn beat(stage: &Stage, beats: &mut Beats) -> Vec<BeatReport> {
    stage.clock.push(31 * MINUTE);
    let reports = stage.gateway.beat(beats).await;
    stage.rest().await;
    reports
}

fn skipped(reports: &[BeatReport]) -> Vec<Skip> {
    let skips = reports.iter().filter_map(|report| match &report.outcome {
        BeatOutcome::Skipped { reason } => Some(*reason),
        BeatOutcome::Ran { .. } | BeatOutcome::Failed { .. } => None,
    });
    skips.collect()
}

#[tokio::test]
async fn what_needs_attention_goes_to_the_last_place_and_the_same_is_not_said_twice_in_a_day() {
    let alert = json!({"text": "HEARTBEAT_OK\n\nThe saw is still running, and has been since six o'clock in the morning. Somebody should go and look at it before the afternoon shift comes, because the blade was new only on Monday and the guard has not been put back. The office has been told twice and nobody has come. The dog is barking at it. This needs a person, today, with gloves and the key."});
    let stage = setting(
        &[
            json!({"text": "Morning."}),
            json!({"text": "Hm.", "toolCalls": [{"name": "none", "arguments": {}}], "expect": {"contains": ["HEARTBEAT.md"]}}),
            alert.clone(),
            alert.clone(),
            alert,
        ],
        json!({}),
    )
    .stage();
    ada_speaks(&stage).await;
    let mut beats = stage.gateway.heartbeats();
    beat(&stage, &mut beats).await;
    beat(&stage, &mut beats).await;
    let sent = stage.surface.sent();
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(sent[1].starts_with("chat:direct:ada: The saw is still running"));
    stage.clock.push(24 * 60 * MINUTE);
    beat(&stage, &mut beats).await;
    assert_eq!(stage.surface.sent().len(), 3);
}

#[tokio::test]
async fn a_beat_that_found_nothing_says_nothing_and_leaves_the_session_as_old_as_it_was() {
    let stage = setting(
        &[
            json!({"text": "Morning."}),
            json!({"text": "**HEARTBEAT_OK**"}),
        ],
        json!({}),
    )
    .stage();
    ada_speaks(&stage).await;
    let store = stage.host.file_store("main");
    let before = store.find(MAIN).unwrap().unwrap().updated_at;
    let mut beats = stage.gateway.heartbeats();
    let reports = beat(&stage, &mut beats).await;
    assert!(matches!(reports[0].outcome, BeatOutcome::Ran { .. }));
    assert_eq!(stage.surface.sent(), ["chat:direct:ada: Morning."]);
    let after = store.find(MAIN).unwrap().unwrap();
    assert_eq!(after.updated_at, before);
    assert_eq!(after.extra["lastTo"], "direct:ada");
}

#[tokio::test]
async fn beats_are_left_out_for_a_reason() {
    let quiet = json!({"activeHours": {"start": "10:00", "end": "10:00"}});
    let stage = setting(&[], quiet).stage();
    let mut beats = stage.gateway.heartbeats();
    assert!(
        stage.gateway.beat(&mut beats).await.is_empty(),
        "not due yet"
    );
    assert_eq!(skipped(&beat(&stage, &mut beats).await), [Skip::QuietHours]);

    let empty = setting(&[], json!({}));
    empty
        .env
        .file("workspace/HEARTBEAT.md", "# Later\n\n- [ ]\n");
    let stage = empty.stage();
    let mut beats = stage.gateway.heartbeats();
    assert_eq!(
        skipped(&beat(&stage, &mut beats).await),
        [Skip::EmptyHeartbeatFile]
    );

    let busy = setting(
        &[
            json!({"text": "Slow.", "delayMs": 400}),
            json!({"text": "HEARTBEAT_OK"}),
        ],
        json!({}),
    )
    .stage();
    let mut beats = busy.gateway.heartbeats();
    busy.say("yard", "Work").await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    busy.clock.push(31 * MINUTE);
    assert_eq!(
        skipped(&busy.gateway.beat(&mut beats).await),
        [Skip::RequestsInFlight]
    );
    busy.rest().await;
    // It comes again soon, not in half an hour.
    busy.clock.push(6_000);
    assert_eq!(busy.gateway.beat(&mut beats).await.len(), 1);
    busy.rest().await;
}

#[tokio::test]
async fn only_tasks_that_are_due_are_asked_for_and_none_is_no_beat() {
    let ok = |expect: Value| json!({"text": "HEARTBEAT_OK", "expect": expect});
    let both = json!({"contains": ["- board: Look at the board.", "- saw: Listen to the saw.", "Keep it short."]});
    let stage = setting(
        &[ok(both), ok(json!({"contains": ["- board: Look"]}))],
        json!({"every": "30m"}),
    );
    stage.env.file(
        "workspace/HEARTBEAT.md",
        "# Yard\n\ntasks:\n\n- name: board\n  interval: 1h\n  prompt: \"Look at the board.\"\n- name: saw\n  interval: 1d\n  prompt: Listen to the saw.\n- name: idle\n\nKeep it short.\n",
    );
    let stage = stage.stage();
    let mut beats = stage.gateway.heartbeats();
    assert!(skipped(&beat(&stage, &mut beats).await).is_empty());
    assert_eq!(skipped(&beat(&stage, &mut beats).await), [Skip::NoTasksDue]);
    assert!(skipped(&beat(&stage, &mut beats).await).is_empty());
    let store = stage.host.file_store("main");
    let told = store.read(MAIN).unwrap().entries;
    let told: Vec<String> = told
        .iter()
        .map(|entry| format!("{:?}", entry.body))
        .collect();
    assert_eq!(
        told.iter()
            .filter(|it| it.contains("- board: Look"))
            .count(),
        2
    );
    assert_eq!(
        told.iter()
            .filter(|it| it.contains("- saw: Listen"))
            .count(),
        1
    );
}

#[tokio::test]
async fn a_beat_can_have_a_session_a_context_and_a_place_of_its_own() {
    let own = json!({"isolatedSession": true, "lightContext": true, "target": "chat", "to": "channel:office"});
    let alert = json!({"text": "The saw runs."});
    let stage = setting(&[alert.clone(), alert], own).stage();
    let mut beats = stage.gateway.heartbeats();
    beat(&stage, &mut beats).await;
    assert_eq!(stage.surface.sent(), ["chat:channel:office: The saw runs."]);
    let store = stage.host.file_store("main");
    assert!(store.find(MAIN).unwrap().is_none());
    assert!(store.find("agent:main:main:heartbeat").unwrap().is_some());
}

#[tokio::test]
async fn without_a_place_nothing_is_said_and_a_channel_may_want_to_hear_nothing() {
    let alert = json!({"text": "The saw runs."});
    let stage = setting(&[alert], json!({"target": "none"})).stage();
    let mut beats = stage.gateway.heartbeats();
    beat(&stage, &mut beats).await;
    assert!(stage.surface.sent().is_empty());

    let mut config = every(json!({"target": "chat", "to": "channel:office"}));
    config["channels"] =
        json!({"defaults": {"heartbeat": {"showAlerts": false, "useIndicator": false}}});
    let setting = Setting::default().config(config);
    let stage = setting.stage();
    let mut beats = stage.gateway.heartbeats();
    assert_eq!(
        skipped(&beat(&stage, &mut beats).await),
        [Skip::AlertsDisabled]
    );
}

#[tokio::test]
async fn one_timer_lets_all_hearts_beat_until_the_gateway_ends() {
    let config = json!({"agents": {"list": [
        {"id": "main", "heartbeat": {"every": "1s"}}, {"id": "ops", "heartbeat": {"every": "1s"}}]}});
    let ok = json!({"text": "HEARTBEAT_OK"});
    let replies: Vec<Value> = std::iter::repeat_n(ok, 20).collect();
    let stage = Setting::replies(&replies).config(config).stage();
    let agents = stage.gateway.start_heartbeats();
    assert_eq!(agents.len(), 2);
    tokio::time::sleep(std::time::Duration::from_millis(1_600)).await;
    assert!(
        stage
            .gateway
            .drain(std::time::Duration::from_secs(10))
            .await
    );
    for agent in ["main", "ops"] {
        let key = format!("agent:{agent}:main");
        let store = stage.host.file_store(agent);
        assert!(store.find(&key).unwrap().is_some(), "{key}");
    }
}

proptest! {
    /// Whatever a file says, a task that is read is told of as it is, and no other is.
    #[test]
    fn a_task_is_told_of_or_not(text in "(tasks:\n|- name: [ab\"]{0,3}\n|  interval: [0-9]{1,3}[mh]?\n|  prompt: [a-z\"']{0,6}\n|\n|# x\n|y){0,14}") {
        if let Some((tasks, rest)) = tasks(&text) {
            let (told, untold) = tasks.split_at(tasks.len() / 2);
            let due: Vec<&Task> = told.iter().collect();
            let words = task_prompt(&due, "");
            prop_assert!(told.iter().all(|task| task.is_in(&words)));
            prop_assert!(untold.iter().all(|task| !task.is_in(&words) || told.contains(task)
                || told.iter().any(|other| other.name == task.name && other.prompt == task.prompt)));
            prop_assert!(tasks.iter().all(|task| task.every_ms > 0));
            prop_assert!(!rest.starts_with("tasks:\n- name"));
        }
    }

    /// A beat is never due twice for the same instant, never before its time, and a long sleep brings one, not many.
    #[test]
    fn beats_come_at_their_times_and_once(every in 1u32..200, steps in prop::collection::vec(0i64..400 * MINUTE, 1..40)) {
        let config = json!({"agents": {"defaults": {"heartbeat": {"every": format!("{every}m")}}}});
        let interval = i64::from(every) * MINUTE;
        let mut beats = Beats::read(&config, &CANONICAL, 0);
        let (mut now, mut last) = (0, 0);
        for step in steps {
            now += step;
            for due in beats.take_due(now) {
                prop_assert!(due.due_ms <= now && due.due_ms > last);
                prop_assert_eq!(due.due_ms % interval, 0);
                prop_assert!(now - due.due_ms < interval);
                last = due.due_ms;
            }
            prop_assert!(beats.next_ms().is_some_and(|next| next > now && next <= now + interval));
        }
    }
}
