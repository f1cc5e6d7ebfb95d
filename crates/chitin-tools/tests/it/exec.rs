//! The `exec` tool, in real sandboxes.
#![expect(
    clippy::disallowed_methods,
    reason = "the test sets the scene with real files"
)]

use crate::sandbox_lab::{KEY, Lab, eventually, is_running};
use chitin_protocol::message::Block;
use chitin_protocol::settings::{ApprovalSetting, ExecSettings, SandboxSetting};
use chitin_tools::approval::{ApprovalRules, Gate};
use chitin_tools::exec::{ExecLimits, ExecTool};
use chitin_tools::process::{Jobs, ProcessTool};
use chitin_tools::sandbox::SandboxRefusal;
use chitin_tools::{Approval, Approver, CallContext, Tool, ToolOutcome};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

pub(crate) struct Nobody;

impl Approver for Nobody {
    fn ask<'a>(&'a self, _: chitin_tools::ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        async { Approval::Nobody(None) }.boxed()
    }
}

/// The tools of an agent in a lab.
pub(crate) struct Bench {
    pub(crate) lab: Lab,
    pub(crate) exec: ExecTool,
    pub(crate) process: ProcessTool,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) progress: Mutex<String>,
    pub(crate) limit: usize,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(SandboxSetting::Auto, &ExecSettings::default())
    }

    pub(crate) fn with(sandbox: SandboxSetting, settings: &ExecSettings) -> Self {
        let lab = Lab::new(sandbox);
        let gate = Arc::new(Gate::new(ApprovalRules::new(None, settings, None)));
        let jobs = Arc::new(Jobs::new(settings.jobs));
        let exec = ExecTool::new(
            Arc::clone(&lab.sandbox),
            Arc::clone(&gate),
            Some(Arc::clone(&jobs)),
            Arc::new(|text| text.replace(KEY, "[redacted]")),
            ExecLimits::from_settings(settings),
        );
        Self {
            process: ProcessTool::new(Arc::clone(&jobs), gate),
            lab,
            exec,
            jobs,
            progress: Mutex::default(),
            limit: 20_000,
        }
    }

    pub(crate) async fn call(&self, tool: &dyn Tool, arguments: Value) -> ToolOutcome {
        self.call_until(tool, arguments, &CancellationToken::new(), "main")
            .await
    }

    pub(crate) async fn call_until(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        cancel: &CancellationToken,
        session_key: &str,
    ) -> ToolOutcome {
        let progress = |text: &str| self.progress.lock().unwrap().push_str(text);
        let workspace = self.lab.env.workspace();
        let context = CallContext {
            workspace: &workspace,
            skill_roots: &[],
            state_roots: &[],
            agent: &chitin_workspace::adapter::LazyDefinition::none(),
            rights: &chitin_tools::Rights::default(),
            session_key,
            call_id: "call",
            cancel,
            max_output_bytes: self.limit,
            progress: &progress,
            approver: &Nobody,
        };
        let outcome = tool.call(arguments, &context).await;
        assert!(text(&outcome).len() <= self.limit);
        outcome
    }

    pub(crate) async fn exec(&self, arguments: Value) -> ToolOutcome {
        self.call(&self.exec, arguments).await
    }

    pub(crate) async fn process(&self, arguments: Value) -> ToolOutcome {
        self.call(&self.process, arguments).await
    }
}

pub(crate) fn text(outcome: &ToolOutcome) -> String {
    outcome
        .content
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some(text.text.as_str()),
            _ => None,
        })
        .collect()
}

pub(crate) fn details(outcome: &ToolOutcome) -> &Value {
    outcome.details.as_ref().unwrap()
}

#[tokio::test]
async fn output_and_errors_come_in_order_with_how_it_ended() {
    let bench = Bench::new();
    let outcome = bench
        .exec(json!({"command": "echo one; echo two >&2; echo three; printf '\\377'; exit 7"}))
        .await;
    assert_eq!(text(&outcome), "one\ntwo\nthree\n\u{fffd}\n[exit code 7]");
    assert!(!outcome.is_error);
    let details = details(&outcome);
    assert_eq!(details["exitCode"], 7);
    assert_eq!(details["status"], "completed");
    assert_eq!(details["truncatedBytes"], 0);
    let reached = bench.lab.sandbox.reach().unwrap();
    assert_eq!(details["sandbox"]["level"], reached.level.name());
    assert_eq!(details["sandbox"]["files"], "enforced");
    assert!(details["durationMs"].is_u64());
}

#[tokio::test]
async fn signals_directories_variables_and_empty_output_are_told() {
    let bench = Bench::new();
    bench.lab.env.directory_at("workspace/sub");
    let run = async |arguments| text(&bench.exec(arguments).await);
    assert!(
        run(json!({"command": "kill -9 $$"}))
            .await
            .contains("SIGKILL")
    );
    assert_eq!(
        run(json!({"command": "true"})).await,
        "[exit code 0, no output]"
    );
    assert!(
        run(json!({"command": "pwd", "workdir": "sub"}))
            .await
            .ends_with("/workspace/sub")
    );
    assert_eq!(
        run(json!({"command": "echo $X", "env": {"X": "y z"}})).await,
        "y z"
    );
    for workdir in ["../home", "nothing", "/root", "sub/../.."] {
        let outcome = bench
            .exec(json!({"command": "pwd", "workdir": workdir}))
            .await;
        assert!(outcome.is_error, "{workdir}");
    }
    for arguments in [
        json!({}),
        json!({"command": ""}),
        json!({"command": 1}),
        json!([]),
        json!({"command": "a\0b"}),
    ] {
        assert!(bench.exec(arguments.clone()).await.is_error, "{arguments}");
    }
}

#[tokio::test]
async fn a_gigabyte_of_output_fills_nothing_and_hangs_nothing() {
    let bench = Bench::new();
    let before = resident();
    let began = Instant::now();
    let outcome = bench
        .exec(json!({"command": "echo first; head -c 1000000000 /dev/zero | tr '\\0' 'x'; echo; echo last", "yieldMs": 300_000}))
        .await;
    let text = text(&outcome);
    assert!(
        text.starts_with("first\n") && text.ends_with("last"),
        "{}",
        &text[..100]
    );
    assert_eq!(details(&outcome)["outputBytes"], 1_000_000_012_u64);
    assert!(details(&outcome)["truncatedBytes"].as_u64().unwrap() > 999_000_000);
    assert!(began.elapsed() < Duration::from_mins(4));
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes more in memory");
}

fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[tokio::test]
async fn a_command_that_hangs_is_ended_with_its_tree() {
    let bench = Bench::new();
    let marker = format!("41{}.7", std::process::id());
    let outcome = bench
        .exec(json!({"command": format!("echo begun; setsid sleep {marker} & sleep {marker}"), "timeout": 0.5}))
        .await;
    assert!(outcome.is_error);
    assert!(
        text(&outcome).starts_with("begun\n[timed out after"),
        "{}",
        text(&outcome)
    );
    assert_eq!(details(&outcome)["timedOut"], true);
    assert!(!is_running(&marker));
}

#[tokio::test]
async fn a_cancelled_call_ends_soon_and_keeps_what_was_printed() {
    let bench = Bench::new();
    let marker = format!("42{}.7", std::process::id());
    let cancel = CancellationToken::new();
    let (stop, waiting) = (cancel.clone(), marker.clone());
    let stopping = tokio::spawn(async move {
        // It sleeps, so it has printed: only the name of that process has the marker.
        while !is_running(&waiting) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        stop.cancel();
        Instant::now()
    });
    let shell = format!("4$((1+1)){}.7", std::process::id());
    let command = json!({"command": format!("echo partial; sleep {shell}")});
    let outcome = bench
        .call_until(&bench.exec, command, &cancel, "main")
        .await;
    assert!(stopping.await.unwrap().elapsed() < Duration::from_secs(5));
    assert!(outcome.is_error && text(&outcome).starts_with("partial\n"));
    assert!(!is_running(&marker) && !is_running(&shell));
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_nothing_behind() {
    let bench = Bench::new();
    let marker = format!("43{}.7", std::process::id());
    let call = bench.exec(json!({"command": format!("sleep {marker}")}));
    let dropped = tokio::time::timeout(Duration::from_millis(700), call).await;
    assert!(dropped.is_err());
    assert!(eventually(|| !is_running(&marker)));
}

#[tokio::test]
async fn progress_is_told_and_secrets_are_not() {
    let bench = Bench::new();
    let command = format!(
        "echo start; sleep 0.5; printf {}; sleep 0.5; echo {}; echo {KEY} >&2; sleep 0.5",
        &KEY[..6],
        &KEY[6..]
    );
    let outcome = bench.exec(json!({ "command": command })).await;
    assert_eq!(text(&outcome), "start\n[redacted]\n[redacted]");
    let progress = bench.progress.lock().unwrap().clone();
    assert!(progress.starts_with("start\n"), "{progress}");
    assert!(!progress.contains(KEY), "{progress}");
}

#[tokio::test]
async fn what_is_not_allowed_does_not_run() {
    let settings = ExecSettings {
        approvals: Some(ApprovalSetting::Ask),
        allow: Some(vec!["echo *".to_owned()]),
        ..ExecSettings::default()
    };
    let bench = Bench::with(SandboxSetting::Auto, &settings);
    assert_eq!(
        text(&bench.exec(json!({"command": "echo yes"})).await),
        "yes"
    );
    let outcome = bench.exec(json!({"command": "echo yes; touch made"})).await;
    assert!(outcome.is_error && text(&outcome).contains("there is nobody to ask"));
    assert_eq!(details(&outcome)["status"], "denied");
    assert!(!bench.lab.env.workspace().join("made").exists());
}

#[tokio::test]
async fn without_a_sandbox_nothing_runs_unasked_and_loaders_are_refused() {
    let bench = Bench::with(SandboxSetting::None, &ExecSettings::default());
    let outcome = bench.exec(json!({"command": "echo x"})).await;
    assert!(
        outcome.is_error && text(&outcome).contains("It would run without a sandbox"),
        "{}",
        text(&outcome)
    );

    let full = ExecSettings {
        approvals: Some(ApprovalSetting::Full),
        ..ExecSettings::default()
    };
    let bench = Bench::with(SandboxSetting::None, &full);
    let outcome = bench
        .exec(json!({"command": "echo $ANTHROPIC_API_KEY ran"}))
        .await;
    assert_eq!(text(&outcome), "ran");
    assert_eq!(details(&outcome)["sandbox"]["level"], "none");
    assert_eq!(details(&outcome)["sandbox"]["files"], "missing");
    let outcome = bench
        .exec(json!({"command": "true", "env": {"LD_PRELOAD": "./x.so"}}))
        .await;
    assert!(outcome.is_error);
}

#[tokio::test]
async fn where_no_sandbox_works_the_command_is_refused_with_a_hint() {
    let lab = Lab::with(SandboxSetting::Auto, |config| {
        config.helper = "/nothing/here".into();
    });
    let refusal = lab.sandbox.reach().unwrap_err();
    assert!(matches!(refusal, SandboxRefusal::NoLevel { tried } if tried.len() == 2));
    let exec = ExecTool::new(
        Arc::clone(&lab.sandbox),
        Arc::new(Gate::default()),
        None,
        Arc::new(str::to_owned),
        ExecLimits::default(),
    );
    let bench = Bench::new();
    let outcome = bench.call(&exec, json!({"command": "echo x"})).await;
    assert!(
        outcome.is_error && text(&outcome).contains("exec.sandbox"),
        "{}",
        text(&outcome)
    );
}

#[test]
fn the_schema_says_what_the_tool_takes() {
    let bench = Bench::new();
    let schema = &bench.exec.spec().parameters;
    assert_eq!(schema["required"], json!(["command"]));
    let names: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "command",
            "workdir",
            "timeout",
            "background",
            "yieldMs",
            "env"
        ]
    );
}
