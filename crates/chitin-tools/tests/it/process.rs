//! The `process` tool and its registry.
#![expect(
    clippy::disallowed_methods,
    reason = "the test plays a process of its own and looks at the environment"
)]

use crate::exec::{Bench, details, text};
use crate::sandbox_lab::{eventually, is_running};
use chitin_protocol::settings::{ExecSettings, SandboxSetting};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_job_is_polled_fed_read_and_removed() {
    let bench = Bench::new();
    let started = bench
        .exec(json!({"command": "echo ready; while read line; do echo got $line; done; echo bye", "yieldMs": 300}))
        .await;
    assert!(
        text(&started).starts_with("ready\n[still running"),
        "{}",
        text(&started)
    );
    assert_eq!(details(&started)["status"], "running");
    let id = details(&started)["sessionId"].as_str().unwrap().to_owned();

    let list = bench.process(json!({"action": "list"})).await;
    assert!(
        text(&list).starts_with(&format!("{id}  running")),
        "{}",
        text(&list)
    );

    bench
        .process(json!({"action": "write", "sessionId": id, "data": "one\n"}))
        .await;
    let poll = bench
        .process(json!({"action": "poll", "sessionId": id, "timeout": 5000}))
        .await;
    assert_eq!(text(&poll), format!("got one\n[`{id}` is still running]"));
    let again = bench
        .process(json!({"action": "poll", "sessionId": id}))
        .await;
    assert_eq!(text(&again), format!("[`{id}` is still running]"));

    bench
        .process(json!({"action": "write", "id": id, "data": "two\n", "eof": true}))
        .await;
    assert!(eventually(|| bench
        .jobs
        .get("main", &id)
        .unwrap()
        .ending()
        .is_some()));
    let poll = bench
        .process(json!({"action": "poll", "sessionId": id}))
        .await;
    assert_eq!(text(&poll), "got two\nbye\n[exit code 0]");
    assert_eq!(details(&poll)["exitCode"], 0);

    let log = bench
        .process(json!({"action": "log", "sessionId": id, "offset": 1, "limit": 2}))
        .await;
    assert_eq!(text(&log), "got one\ngot two\n[lines 1 to 3 of 4]");
    let write = bench
        .process(json!({"action": "write", "sessionId": id, "data": "x"}))
        .await;
    assert!(write.is_error);
    bench
        .process(json!({"action": "remove", "sessionId": id}))
        .await;
    assert!(
        bench
            .process(json!({"action": "poll", "sessionId": id}))
            .await
            .is_error
    );
}

#[tokio::test]
async fn killing_ends_the_tree_and_sessions_do_not_see_each_other() {
    let bench = Bench::new();
    let marker = format!("51{}.7", std::process::id());
    let started = bench
        .exec(json!({"command": format!("setsid sleep {marker} & sleep {marker}"), "background": true}))
        .await;
    let id = details(&started)["sessionId"].as_str().unwrap().to_owned();
    assert!(eventually(|| is_running(&marker)));
    let kill = json!({"action": "kill", "sessionId": id});
    let other = bench
        .call_until(
            &bench.process,
            kill.clone(),
            &CancellationToken::new(),
            "other",
        )
        .await;
    assert!(other.is_error && is_running(&marker));
    let killed = bench.process(kill).await;
    assert!(
        text(&killed).contains("[stopped after"),
        "{}",
        text(&killed)
    );
    assert!(!is_running(&marker));
    for arguments in [
        json!({"action": "poll"}),
        json!({"action": "dance"}),
        json!({"action": "kill", "sessionId": "job-99"}),
    ] {
        assert!(bench.process(arguments).await.is_error);
    }
}

#[tokio::test]
async fn there_is_room_for_so_many_and_then_commands_stay_in_front() {
    let settings = ExecSettings {
        jobs: Some(2),
        ..ExecSettings::default()
    };
    let bench = Bench::with(SandboxSetting::Auto, &settings);
    for _ in 0..2 {
        let started = bench
            .exec(json!({"command": "sleep 30", "background": true}))
            .await;
        assert_eq!(details(&started)["status"], "running");
    }
    let third = bench
        .exec(json!({"command": "sleep 0.2; echo done", "background": true}))
        .await;
    assert_eq!(text(&third), "done");
    assert!(!bench.jobs.has_room());
}

#[tokio::test]
async fn a_job_that_prints_without_end_stays_small() {
    let bench = Bench::new();
    let started = bench.exec(json!({"command": "yes", "yieldMs": 300})).await;
    let id = details(&started)["sessionId"].as_str().unwrap().to_owned();
    // How much a busy machine lets `yes` print between two polls is not ours
    // to say, so poll until one of them had to leave bytes out.
    let mut cut = false;
    for _ in 0..100 {
        let poll = bench
            .process(json!({"action": "poll", "sessionId": id, "timeout": 200}))
            .await;
        assert!(text(&poll).len() <= bench.limit);
        let printed = details(&poll)["outputBytes"].as_u64().unwrap();
        cut |= text(&poll).contains("bytes omitted");
        if cut && printed > 1_000_000 {
            break;
        }
    }
    assert!(cut);
    let log = bench
        .process(json!({"action": "log", "sessionId": id, "limit": 1_000_000}))
        .await;
    assert!(text(&log).len() <= bench.limit);
    bench
        .process(json!({"action": "kill", "sessionId": id}))
        .await;
}

#[tokio::test]
async fn dropping_the_registry_ends_everything() {
    let bench = Bench::new();
    let marker = format!("52{}.7", std::process::id());
    for _ in 0..3 {
        let command = format!("setsid sh -c 'sleep {marker}; :' & sleep {marker}");
        bench
            .exec(json!({"command": command, "background": true}))
            .await;
    }
    assert!(eventually(|| is_running(&marker)));
    let began = Instant::now();
    drop(bench);
    assert!(!is_running(&marker));
    assert!(began.elapsed() < Duration::from_secs(3));
}

/// Plays Chitin in a process of its own: starts a job in the background and waits to be killed.
#[tokio::test]
#[ignore = "started by the test below"]
async fn a_process_with_a_job() {
    let marker = std::env::var("CHITIN_TEST_MARKER").unwrap();
    let sandbox = match std::env::var("CHITIN_TEST_SANDBOX").unwrap().as_str() {
        "none" => SandboxSetting::None,
        "landlock" => SandboxSetting::Landlock,
        _ => SandboxSetting::Bwrap,
    };
    let settings = ExecSettings {
        approvals: Some(chitin_protocol::settings::ApprovalSetting::Full),
        ..ExecSettings::default()
    };
    let bench = Bench::with(sandbox, &settings);
    let command = format!("setsid sleep {marker} & nohup sleep {marker} & sleep {marker}");
    bench
        .exec(json!({"command": command, "background": true}))
        .await;
    tokio::time::sleep(Duration::from_mins(1)).await;
}

#[test]
fn a_killed_process_leaves_no_job_behind() {
    for sandbox in ["none", "landlock", "bwrap"] {
        if sandbox != "none"
            && !crate::sandbox_lab::offered()
                .iter()
                .any(|(level, _)| level.name() == sandbox)
        {
            continue;
        }
        let marker = format!("53{}.7{}", std::process::id(), sandbox.len());
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["process::a_process_with_a_job", "--exact", "--ignored"])
            .env("CHITIN_TEST_MARKER", &marker)
            .env("CHITIN_TEST_SANDBOX", sandbox)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        assert!(
            eventually(|| is_running(&format!("sleep\0{marker}"))),
            "{sandbox}"
        );
        // SIGKILL: nothing of the process can run any more.
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(eventually(|| !is_running(&marker)), "{sandbox}");
    }
}
