//! A workspace and calls of tools in it.

use chitin_test::TestEnv;
use chitin_tools::{Approval, Approver, CallContext, Tool, ToolOutcome};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Nobody is there to be asked.
#[derive(Debug)]
pub(crate) struct Nobody;

impl Approver for Nobody {
    fn ask<'a>(&'a self, _: chitin_tools::ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        async { Approval::Nobody(None) }.boxed()
    }
}

/// How much text an outcome may have in tests that do not care.
pub(crate) const ROOM: usize = 50_000;

/// Calls a tool in a workspace.
pub(crate) fn call(env: &TestEnv, tool: &dyn Tool, arguments: Value) -> ToolOutcome {
    call_within(env, tool, arguments, ROOM)
}

/// Calls a tool in a workspace, with a bound of its text.
pub(crate) fn call_within(
    env: &TestEnv,
    tool: &dyn Tool,
    arguments: Value,
    room: usize,
) -> ToolOutcome {
    call_with(env, tool, arguments, room, &CancellationToken::new())
}

/// Calls a tool in a workspace, with a way to stop it.
pub(crate) fn call_with(
    env: &TestEnv,
    tool: &dyn Tool,
    arguments: Value,
    room: usize,
    cancel: &CancellationToken,
) -> ToolOutcome {
    let workspace = env.workspace();
    let context = CallContext {
        workspace: &workspace,
        skill_roots: &[],
        state_roots: &[],
        agent: &chitin_workspace::adapter::LazyDefinition::none(),
        rights: &chitin_tools::Rights::default(),
        session_key: "agent:main:main",
        call_id: "call-1",
        cancel,
        max_output_bytes: room,
        progress: &|_| {},
        approver: &Nobody,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(tool.call(arguments, &context))
}

/// Returns the text of an outcome that must be none of failure.
pub(crate) fn done(outcome: &ToolOutcome) -> String {
    assert!(!outcome.is_error, "{outcome:?}");
    text(outcome)
}

/// Returns the text of an outcome that must be one of failure.
pub(crate) fn failed(outcome: &ToolOutcome) -> String {
    assert!(outcome.is_error, "{outcome:?}");
    text(outcome)
}

fn text(outcome: &ToolOutcome) -> String {
    let texts: Vec<&str> = outcome
        .content
        .iter()
        .filter_map(|block| block.as_text())
        .collect();
    texts.join("\n")
}
