//! `sessions_send`: says something to another session, and waits for its answer if wanted.

use super::SessionMessage;
use super::visible::Sight;
use crate::events::{EventKind, ListenerEvent, Subscription, Topic};
use crate::gateway::WeakGateway;
use crate::jobs::{JobOutcome, JobStatus};
use crate::tools::{alive, aside, outcome, refused};
use chitin_protocol::tool::ToolSpec;
use chitin_tools::schema::spec_on_file;
use chitin_tools::{CallContext, GuardedDeed, ToolOutcome, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

const DESCRIPTION: &str = "Says something to another session that this one sees. Waits for the answer and returns it; with `timeoutSeconds` 0 it returns at once.";

/// How long is waited for an answer when nothing is said, in seconds.
const USUAL_SECONDS: f64 = 30.0;
/// How long is waited at most, in seconds.
const MOST_SECONDS: f64 = 600.0;
/// How long an answer is, in characters.
const REPLY_CHARS: usize = 32_000;

chitin_tools::schema_on_file!(Arguments, "sessions_send.json");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The session, by its key.
    #[serde(default)]
    session_key: Option<String>,
    /// The session, by what it is called.
    #[serde(default)]
    label: Option<String>,
    /// The agent that a session of that label is of.
    #[serde(default)]
    agent_id: Option<String>,
    /// What to say.
    message: String,
    /// How long to wait for the answer, in seconds; left out, 30. With 0 nobody waits.
    #[serde(default)]
    timeout_seconds: Option<f64>,
}

/// Sends a message to a session.
#[derive(Debug)]
pub(crate) struct SessionsSend {
    spec: ToolSpec,
    gateway: WeakGateway,
}

impl SessionsSend {
    pub(crate) fn new(gateway: &WeakGateway) -> Self {
        Self {
            spec: spec_on_file("sessions_send", DESCRIPTION, PARAMETERS),
            gateway: gateway.clone(),
        }
    }
}

impl TypedTool for SessionsSend {
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
        let (from, finding) = (caller.to_owned(), gateway.clone());
        let (key, label, agent) = (asked.session_key, asked.label, asked.agent_id);
        let found = aside(move || {
            let sight = Sight::of(&finding, &from);
            match (key, label) {
                (Some(key), _) => sight.find(&key),
                (None, Some(label)) => sight.find_label(&label, agent.as_deref()),
                (None, None) => Err("Say which session, in `sessionKey` or `label`.".to_owned()),
            }
        });
        let seen = match found.await {
            Some(Ok(seen)) => seen,
            Some(Err(error)) => return Ok(refused(error)),
            None => return Ok(refused("The sessions could not be read.")),
        };
        if seen.key == caller {
            return Ok(refused("A session does not send to itself."));
        }
        if seen.entry.spawned_by.as_deref() != Some(caller) {
            let what = format!("send a message to the session `{}`", seen.key);
            let deed = GuardedDeed {
                tool: &self.spec.name,
                entry: &self.spec.name,
                what: &what,
            };
            context.may(deed).await?;
        }
        let run_id = gateway.new_job_id();
        let mut events = gateway.subscribe(Topic::Job(run_id.clone()));
        let letter = SessionMessage {
            from: caller,
            to: &seen.key,
            agent_id: &seen.agent_id,
            words: &asked.message,
            tool: &self.spec.name,
            job_id: run_id.clone(),
            origins: context.rights.untrusted.of_this_session(caller),
        };
        if let Err(refusal) = gateway.bring(letter).await {
            return Ok(refused(format!("It could not be sent: {refusal}.")));
        }
        drop(gateway);
        let said = json!({"runId": run_id, "sessionKey": seen.key});
        let wait = asked.timeout_seconds.unwrap_or(USUAL_SECONDS);
        if !wait.is_finite() || wait <= 0.0 {
            return Ok(outcome(&with(said, json!({"status": "accepted"}))));
        }
        let wait = Duration::from_secs_f64(wait.min(MOST_SECONDS));
        let ended = tokio::select! {
            ended = tokio::time::timeout(wait, end_of(&mut events)) => ended.ok().flatten(),
            () = context.cancel.cancelled() => {
                let came = json!({"status": "accepted", "note": "Nobody waits for the answer any more."});
                return Ok(outcome(&with(said, came)));
            }
        };
        let theirs = ended.as_ref().map(|ended| ended.origins.clone());
        let origins = context
            .rights
            .untrusted
            .of_session(&seen.key, theirs.unwrap_or_default());
        Ok(outcome(&with(said, answer(ended))).from(origins))
    }
}

/// Waits until the message is dealt with.
async fn end_of(events: &mut Subscription) -> Option<JobOutcome> {
    while let Some(heard) = events.next().await {
        let ListenerEvent::Happening(happening) = heard else {
            continue;
        };
        match &happening.what {
            EventKind::Finished { outcome } => return Some(outcome.clone()),
            EventKind::Dropped { .. } => return None,
            EventKind::Accepted { .. }
            | EventKind::Turn { .. }
            | EventKind::Delivered { .. }
            | EventKind::NotDelivered { .. }
            | EventKind::Merged { .. }
            | EventKind::Delayed { .. }
            | EventKind::Spawned { .. }
            | EventKind::ApprovalRequested { .. }
            | EventKind::ApprovalResolved { .. } => {}
        }
    }
    None
}

fn answer(ended: Option<JobOutcome>) -> Value {
    match ended {
        Some(outcome) if outcome.status == JobStatus::Ok => {
            let reply: String = outcome.text.chars().take(REPLY_CHARS).collect();
            json!({"status": "ok", "reply": reply})
        }
        Some(outcome) => {
            let error = outcome
                .error
                .unwrap_or_else(|| "its turn was stopped".to_owned());
            json!({"status": "error", "error": error})
        }
        None => json!({
            "status": "timeout",
            "error": "There is no answer yet. The session goes on with it; `sessions_history` shows what comes of it."
        }),
    }
}

/// Puts the fields of two objects together.
fn with(mut one: Value, other: Value) -> Value {
    if let (Value::Object(one), Value::Object(other)) = (&mut one, other) {
        one.extend(other);
    }
    one
}
