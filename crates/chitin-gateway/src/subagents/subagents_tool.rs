//! `subagents`: the children of this session: lists, steers and stops them.

use super::{ChildState, OpenChild};
use crate::gateway::{Gateway, WeakGateway};
use crate::sessions::SessionMessage;
use crate::sessions::visible::Sight;
use crate::tools::{alive, aside, outcome, refused};
use chitin_protocol::origin::Origin;
use chitin_protocol::tool::ToolSpec;
use chitin_tools::schema::spec_on_file;
use chitin_tools::{CallContext, ToolOutcome, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const DESCRIPTION: &str = "Lists the children of this session, says something to one while it works, or stops it with all that it began.";

/// How far back children that are done are listed, in minutes, when nothing is said.
const USUAL_MINUTES: u32 = 30;
/// The furthest back, in minutes.
const MOST_MINUTES: u32 = 24 * 60;
/// How many children that are done are listed at most.
const MOST_RECENT: usize = 50;
/// How long a task is shown, in characters.
const TASK_CHARS: usize = 200;

chitin_tools::schema_on_file!(Arguments, "subagents.json");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// What to do; left out, `list`.
    #[serde(default)]
    action: Option<Do>,
    /// The child: its session key, run id, label or number in the list; `all` to stop all.
    #[serde(default)]
    target: Option<String>,
    /// What to say to it.
    #[serde(default)]
    message: Option<String>,
    /// How far back children that are done are listed, in minutes.
    #[serde(default)]
    recent_minutes: Option<u32>,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Do {
    /// List them.
    List,
    /// Say something to one.
    Steer,
    /// Stop one, or all.
    Kill,
}

/// Lists, steers and stops children.
#[derive(Debug)]
pub(crate) struct Subagents {
    spec: ToolSpec,
    gateway: WeakGateway,
}

impl Subagents {
    pub(crate) fn new(gateway: &WeakGateway) -> Self {
        Self {
            spec: spec_on_file("subagents", DESCRIPTION, PARAMETERS),
            gateway: gateway.clone(),
        }
    }
}

impl TypedTool for Subagents {
    type Arguments = Arguments;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        asked: Arguments,
        context: &CallContext<'_>,
    ) -> Result<ToolOutcome, String> {
        let gateway = alive(&self.gateway)?;
        let caller = context.session_key;
        Ok(match asked.action.unwrap_or(Do::List) {
            Do::List => list(&gateway, caller, asked.recent_minutes).await,
            Do::Steer => {
                let origins = context.rights.untrusted.of_this_session(caller);
                steer(&gateway, caller, &asked, &self.spec.name, origins).await
            }
            Do::Kill => kill(&gateway, caller, asked.target.as_deref()),
        })
    }
}

async fn list(gateway: &Gateway, caller: &str, recent_minutes: Option<u32>) -> ToolOutcome {
    let open = gateway.open_children(caller);
    let minutes = recent_minutes.unwrap_or(USUAL_MINUTES).min(MOST_MINUTES);
    let since = gateway.parts().clock.now_ms() - i64::from(minutes) * 60_000;
    let (looking, from) = (gateway.clone(), caller.to_owned());
    let seen = aside(move || Sight::of(&looking, &from).all()).await;
    let recent: Vec<Value> = seen
        .unwrap_or_default()
        .into_iter()
        .filter(|seen| {
            seen.entry.spawned_by.as_deref() == Some(caller)
                && seen.entry.ended_at.is_some_and(|ended| ended >= since)
                && open.iter().all(|child| child.session_key != seen.key)
        })
        .take(MOST_RECENT)
        .map(|seen| {
            json!({
                "sessionKey": seen.key,
                "label": seen.entry.label,
                "status": seen.entry.status,
                "endedAt": seen.entry.ended_at,
                "runtimeMs": seen.entry.runtime_ms,
            })
        })
        .collect();
    let active: Vec<Value> = open
        .iter()
        .enumerate()
        .map(|(index, child)| {
            let task: String = child.task.chars().take(TASK_CHARS).collect();
            json!({
                "index": index + 1,
                "sessionKey": child.session_key,
                "runId": child.run_id,
                "label": child.label,
                "task": task,
                "state": child.state,
                "startedAt": child.since_ms,
                "children": child.children,
            })
        })
        .collect();
    outcome(&json!({
        "status": "ok",
        "action": "list",
        "total": active.len() + recent.len(),
        "active": active,
        "recent": recent,
    }))
}

async fn steer(
    gateway: &Gateway,
    caller: &str,
    asked: &Arguments,
    tool: &str,
    origins: Vec<Origin>,
) -> ToolOutcome {
    let child = match find(gateway, caller, asked.target.as_deref()) {
        Ok(child) => child,
        Err(error) => return refused(error),
    };
    let words = asked.message.as_deref().unwrap_or_default();
    if words.trim().is_empty() {
        return refused("Say what the child is to hear, in `message`.");
    }
    match child.state {
        ChildState::Running | ChildState::Waiting => {}
        ChildState::Queued => {
            return refused("The child has not begun yet: it waits for room. Try again later.");
        }
        ChildState::Done => return refused("The child is done. You are being told of its result."),
    }
    let letter = SessionMessage {
        from: caller,
        to: &child.session_key,
        agent_id: &child.agent_id,
        words,
        tool,
        job_id: gateway.new_job_id(),
        origins,
    };
    match gateway.bring(letter).await {
        Ok(accepted) => outcome(&json!({
            "status": "accepted",
            "action": "steer",
            "sessionKey": child.session_key,
            "runId": accepted.job_id,
            "place": accepted.place,
        })),
        Err(refusal) => refused(format!("It could not be sent: {refusal}.")),
    }
}

fn kill(gateway: &Gateway, caller: &str, target: Option<&str>) -> ToolOutcome {
    if target.map(str::trim) == Some("all") {
        let children = gateway.open_children(caller);
        let killed: usize = children
            .iter()
            .map(|child| gateway.stop_child(&child.session_key))
            .sum();
        return outcome(
            &json!({"status": "ok", "action": "kill", "target": "all", "killed": killed}),
        );
    }
    let child = match find(gateway, caller, target) {
        Ok(child) => child,
        Err(error) => return refused(error),
    };
    let killed = gateway.stop_child(&child.session_key);
    let status = if killed == 0 { "done" } else { "ok" };
    outcome(&json!({
        "status": status,
        "action": "kill",
        "sessionKey": child.session_key,
        "label": child.label,
        "killed": killed,
        "note": "You are not told of it again.",
    }))
}

/// Finds a child of a session by whatever name a model gives it.
fn find(gateway: &Gateway, caller: &str, target: Option<&str>) -> Result<OpenChild, String> {
    let children = gateway.open_children(caller);
    let target = target.map(str::trim).filter(|target| !target.is_empty());
    let Some(target) = target else {
        return Err("Say which child, in `target`.".to_owned());
    };
    let number: Option<usize> = target.trim_start_matches('#').parse().ok();
    let by_number = number.and_then(|number| children.get(number.checked_sub(1)?));
    let named = |child: &&OpenChild| {
        child.session_key == target
            || child.run_id == target
            || child.label.as_deref() == Some(target)
    };
    let mut found = children.iter().filter(named);
    match (found.next().or(by_number), found.next()) {
        (Some(child), None) => Ok(child.clone()),
        (Some(_), Some(_)) => Err(format!(
            "Several children are called `{target}`. Use a session key."
        )),
        (None, _) => Err(format!(
            "No child of this session that is at work is called `{target}`."
        )),
    }
}
