//! Schedules: kept in a file, run once at their times, whatever happens in between.

use crate::stage::{Setting, Stage};
use chitin_gateway::cron::tool::CronTool;
use chitin_gateway::cron::{CronDocument, CronFile, Schedule, not_before};
use chitin_store::SessionStore;
use chitin_tools::{Tool, ToolOffer};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

const HOUR: i64 = 3_600_000;
const YARD: &str = "agent:main:chat:channel:yard";

fn scheduled(setting: Setting) -> (Stage, CronFile) {
    let stage = setting.stage();
    let file = CronFile::new(&stage.host.state);
    stage.gateway.keep_schedules(file.clone());
    let tool = CronTool::new(&stage.gateway).unwrap();
    let offers = Arc::new(vec![ToolOffer::Own(Arc::new(tool) as Arc<dyn Tool>)]);
    stage.gateway.offer_tools(move |_| Arc::clone(&offers));
    (stage, file)
}

fn call(arguments: &Value) -> Value {
    json!({"toolCalls": [{"name": "cron", "arguments": arguments}]})
}

fn write(stage: &Stage, jobs: &Value) {
    let path = stage.host.state.join("cron");
    std::fs::create_dir_all(&path).unwrap();
    let document = json!({"version": 1, "jobs": jobs, "theirs": {"kept": true}});
    std::fs::write(path.join("jobs.json"), document.to_string()).unwrap();
}

async fn run_due(stage: &Stage) -> Vec<String> {
    let reports = stage.gateway.run_due().await.unwrap();
    stage.rest().await;
    let said = reports.into_iter();
    said.map(|report| report.job_id.or(report.reason).unwrap())
        .collect()
}

#[tokio::test]
async fn an_agent_schedules_something_and_hears_of_it_where_it_spoke() {
    let (stage, file) = scheduled(Setting::replies(&[
        call(&json!({"action": "add", "job": {
            "name": "Board", "schedule": {"kind": "every", "everyMs": HOUR},
            "payload": {"kind": "agentTurn", "message": "Look at the board."}}})),
        json!({"text": "I will look every hour."}),
        json!({"text": "Looking.", "toolCalls": [{"name": "none", "arguments": {}}],
            "expect": {"contains": ["[cron:", " Board] Look at the board."]}}),
        json!({"text": "Five larch."}),
        call(&json!({"action": "list"})),
        json!({"text": "One job."}),
    ]));
    stage
        .say_and_wait("yard", "Look at the board every hour")
        .await;
    assert!(run_due(&stage).await.is_empty(), "not due yet");
    stage.clock.push(HOUR);
    let runs = run_due(&stage).await;
    assert_eq!(runs.len(), 1);
    assert_eq!(
        stage.surface.sent()[1..],
        ["chat:channel:yard: Five larch."],
        "only the last words of a run are for people"
    );
    let document = file.read().unwrap();
    let entry = document.entries().next().unwrap();
    assert_eq!(entry.state.last_status.as_deref(), Some("ok"));
    let due = runs[0].rsplit(':').next().unwrap();
    let key = format!("agent:main:cron:{}:run:{due}", entry.id);
    assert!(stage.host.file_store("main").find(&key).unwrap().is_some());
    assert!(run_due(&stage).await.is_empty(), "once an hour is once");
    stage.say_and_wait("yard", "What is scheduled?").await;
    let told = format!("{:?}", stage.host.file_store("main").read(YARD).unwrap());
    assert!(told.contains("nextRunAt"));
}

#[tokio::test]
async fn what_was_missed_happens_once_and_what_happens_once_goes() {
    let (stage, file) = scheduled(Setting::replies(&[
        json!({"text": "Late."}),
        json!({"text": "Once."}),
    ]));
    write(
        &stage,
        &json!([
            {"id": "hourly", "schedule": {"kind": "cron", "expr": "0 * * * *", "staggerMs": 5}, "payload": {"kind": "agentTurn", "message": "A"},
             "delivery": {"mode": "announce", "channel": "chat", "to": "channel:yard"}, "state": {"nextRunAtMs": 1_000}},
            {"id": "once", "schedule": {"kind": "at", "at": "2026-01-01T00:00:00Z"}, "payload": {"kind": "agentTurn", "message": "B"},
             "delivery": {"mode": "none"}},
            {"id": "odd", "schedule": 5, "mine": "kept"},
        ]),
    );
    assert_eq!(
        run_due(&stage).await,
        ["cron:hourly:1000", "cron:once:1767225600000"]
    );
    assert!(run_due(&stage).await.is_empty());
    assert_eq!(stage.surface.sent().len(), 1);
    let text = String::from_utf8(file.read().unwrap().write()).unwrap();
    let kept: Value = serde_json::from_str(&text).unwrap();
    let ids: Vec<&str> = kept["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|job| job["id"].as_str())
        .collect();
    assert_eq!(ids, ["hourly", "odd"]);
    assert_eq!(kept["theirs"]["kept"], true);
    assert_eq!(kept["jobs"][0]["schedule"]["staggerMs"], 5);
    assert_eq!(kept["jobs"][1]["mine"], "kept");
}

/// The run is in the ledger, and the process dies before the file says so.
#[test]
fn a_restart_never_doubles_a_run() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let jobs = json!([{"id": "a", "schedule": {"kind": "every", "everyMs": HOUR}, "payload": {"message": "Go"},
        "delivery": {"channel": "chat", "to": "channel:yard"}, "state": {"nextRunAtMs": 1_000}}]);
    let env = {
        let runtime = runtime();
        let stage = runtime.block_on(async {
            let (stage, _) = scheduled(Setting::replies(&[json!({"text": "Done."})]));
            write(&stage, &jobs);
            assert_eq!(run_due(&stage).await, ["cron:a:1000"]);
            assert_eq!(stage.surface.sent(), ["chat:channel:yard: Done."]);
            write(&stage, &jobs);
            stage
        });
        drop(runtime);
        stage.env
    };
    runtime().block_on(async {
        let (stage, _) = scheduled(Setting {
            env,
            ..Setting::replies(&[json!({"text": "Again?"})])
        });
        assert_eq!(run_due(&stage).await, ["cron:a:1000"]);
        let store = stage.host.file_store("main");
        let told = format!("{:?}", store.read("agent:main:cron:a:run:1000").unwrap());
        assert!(!told.contains("Again?"), "the turn of that name is over");
    });
}

#[tokio::test]
async fn failures_put_the_next_run_off() {
    let (stage, file) = scheduled(Setting::replies(&[
        json!({"error": {"status": 400, "message": "No."}}),
    ]));
    write(
        &stage,
        &json!([{"id": "a", "schedule": {"kind": "every", "everyMs": 1_000}, "payload": {"message": "Go"},
        "state": {"nextRunAtMs": 1_000}}]),
    );
    run_due(&stage).await;
    let entry = file.read().unwrap().entries().next().unwrap().clone();
    assert_eq!(entry.state.last_status.as_deref(), Some("error"));
    assert!(entry.state.last_error.is_some());
    let put_off = entry.state.next_run_at_ms.unwrap() - entry.state.last_run_at_ms.unwrap();
    assert!(put_off >= 30_000, "{put_off}");
    assert_eq!(
        [0, 1, 3, 99].map(|failures| not_before(failures, 0)),
        [0, 30_000, 300_000, HOUR]
    );
}

#[tokio::test]
async fn what_cannot_be_scheduled_is_said_with_what_to_do() {
    let add = |schedule: Value, payload: Value| {
        call(&json!({"action": "add", "job": {"schedule": schedule, "payload": payload}}))
    };
    let words = json!({"kind": "agentTurn", "message": "Go"});
    let (stage, _) = scheduled(Setting::replies(&[
        add(json!({"kind": "cron", "expr": "every day"}), words.clone()),
        add(json!({"kind": "cron", "expr": "0 0 30 2 *"}), words.clone()),
        add(
            json!({"kind": "cron", "expr": "0 9 * * *", "tz": "Mars/Base"}),
            words.clone(),
        ),
        add(
            json!({"kind": "at", "at": "2020-01-01T00:00:00Z"}),
            words.clone(),
        ),
        add(json!({"kind": "every", "everyMs": 5}), words.clone()),
        add(json!({"kind": "sometimes"}), words),
        add(
            json!({"kind": "every", "everyMs": HOUR}),
            json!({"message": ""}),
        ),
        call(&json!({"action": "remove", "jobId": "nobody"})),
        call(&json!({"action": "update", "jobId": "nobody"})),
        call(&json!({"action": "run"})),
        json!({"text": "Oh."}),
    ]));
    stage.say_and_wait("yard", "Try").await;
    let branch = stage.host.file_store("main").read(YARD).unwrap();
    let results: Vec<String> = branch
        .entries
        .iter()
        .filter_map(|entry| {
            let value = serde_json::to_value(entry).ok()?;
            let message = &value["message"];
            let text = message["content"][0]["text"].as_str()?.to_owned();
            (message["role"] == "toolResult").then_some(text)
        })
        .collect();
    insta::assert_snapshot!(results.join("\n"));
}

#[test]
fn a_pattern_follows_the_clock_on_the_wall() {
    if !chitin_test::needs::time_zones() {
        return;
    }
    let daily: Schedule =
        serde_json::from_value(json!({"kind": "cron", "expr": "0 9 * * *", "tz": "Europe/Berlin"}))
            .unwrap();
    let next = |after: &str| {
        let after: jiff::Timestamp = after.parse().unwrap();
        let next = daily
            .next_after(after.as_millisecond(), 0, &TimeZone::UTC)
            .unwrap();
        jiff::Timestamp::from_millisecond(next.unwrap())
            .unwrap()
            .to_string()
    };
    // The clocks go forward on 29 March 2026.
    assert_eq!(next("2026-03-28T07:00:00Z"), "2026-03-28T08:00:00Z");
    assert_eq!(next("2026-03-28T08:00:00Z"), "2026-03-29T07:00:00Z");
}

proptest! {
    /// The next time is after now, the same when asked again, and intervals keep their step.
    #[test]
    fn the_next_time_is_always_later(after in 0i64..4_000_000_000_000, every in 1_000i64..100 * HOUR, made in 0i64..4_000_000_000_000) {
        let schedule: Schedule = serde_json::from_value(json!({"kind": "every", "everyMs": every})).unwrap();
        let next = schedule.next_after(after, made, &TimeZone::UTC).unwrap().unwrap();
        prop_assert!(next > after);
        prop_assert_eq!((next - made).rem_euclid(every), 0);
        prop_assert!(next <= after.max(made) + every);
    }

    /// A file is read or refused, never half understood: what is written again reads the same.
    #[test]
    fn a_file_that_is_read_is_written_as_it_was(text in ".{0,80}", number in any::<i64>()) {
        let made = json!({"version": number, "x": text, "jobs": [
            {"id": text, "schedule": {"kind": "every", "everyMs": number, "y": 1}, "payload": {"message": text}},
            {"id": number}, text]}).to_string();
        for bytes in [text.as_bytes(), made.as_bytes()] {
            if let Ok(document) = CronDocument::read(bytes) {
                let again = CronDocument::read(&document.write()).unwrap();
                prop_assert_eq!(again, document);
            }
        }
    }
}
