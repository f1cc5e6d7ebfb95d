//! `sessions_list`: the sessions that this one sees.

use super::sessions_history::{Shown, shown};
use super::visible::{Sight, VisibleSession};
use crate::gateway::{Gateway, WeakGateway};
use crate::tools::{alive, aside, outcome, refused};
use chitin_agent::turn::read_origins;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::origin::{Origin, add_origins};
use chitin_protocol::session_key::{self, ChatType};
use chitin_protocol::tool::ToolSpec;
use chitin_tools::schema::spec_on_file;
use chitin_tools::{CallContext, ToolConcurrency, ToolOutcome, TypedTool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashSet;

const DESCRIPTION: &str = "Lists the sessions that this one sees, the most recently used first: itself and those that it began, unless the user allows more.";

/// How many sessions are listed when nothing is said.
const USUAL: u32 = 50;
/// How many are listed at most.
const MOST: u32 = 200;
/// How many messages of each are shown at most.
const MOST_MESSAGES: u32 = 20;
/// How long a shown message is, in characters.
const MESSAGE_CHARS: usize = 400;
/// How many records of a session are looked at for them, and how many bytes of its transcript.
const MOST_READ: usize = 1_024;
const MOST_READ_BYTES: u64 = 2 << 20;

chitin_tools::schema_on_file!(Arguments, "sessions_list.json");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Only sessions of these kinds.
    #[serde(default)]
    kinds: Option<Vec<Kind>>,
    /// How many at most; left out, 50.
    #[serde(default)]
    limit: Option<u32>,
    /// Only those that were used within so many minutes.
    #[serde(default)]
    active_minutes: Option<u32>,
    /// How many of the last messages of each are shown; left out, none.
    #[serde(default)]
    message_limit: Option<u32>,
}

/// What kind of session it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// The main one of an agent.
    Main,
    /// One of a group or channel.
    Group,
    /// One of a schedule.
    Cron,
    /// One that another session began.
    Subagent,
    /// Any other.
    Other,
}

/// A session, as a model sees it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    key: String,
    kind: Kind,
    agent_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    session_id: String,
    updated_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spawned_by: Option<String>,
    busy: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<Shown>,
}

/// Lists sessions.
#[derive(Debug)]
pub(crate) struct SessionsList {
    spec: ToolSpec,
    gateway: WeakGateway,
}

impl SessionsList {
    pub(crate) fn new(gateway: &WeakGateway) -> Self {
        Self {
            spec: spec_on_file("sessions_list", DESCRIPTION, PARAMETERS),
            gateway: gateway.clone(),
        }
    }
}

impl TypedTool for SessionsList {
    type Arguments = Arguments;
    const CONCURRENCY: ToolConcurrency = ToolConcurrency::Shared;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        asked: Arguments,
        context: &CallContext<'_>,
    ) -> Result<ToolOutcome, String> {
        let gateway = alive(&self.gateway)?;
        let caller = context.session_key.to_owned();
        let listed = aside(move || list(&gateway, &caller, &asked)).await;
        Ok(match listed {
            Some((rows, theirs)) => {
                let mut origins = Vec::new();
                for (key, theirs) in theirs {
                    add_origins(
                        &mut origins,
                        &context.rights.untrusted.of_session(&key, theirs),
                    );
                }
                outcome(&json!({"count": rows.len(), "sessions": rows})).from(origins)
            }
            None => refused("The sessions could not be read."),
        })
    }
}

/// Returns the sessions, and where texts come from that are shown of them and are not the owner's.
fn list(
    gateway: &Gateway,
    caller: &str,
    asked: &Arguments,
) -> (Vec<Row>, Vec<(String, Vec<Origin>)>) {
    let mut origins = Vec::new();
    let busy: HashSet<String> = gateway
        .busy()
        .into_iter()
        .map(|session| session.session_key)
        .collect();
    let since = asked.active_minutes.map(|minutes| {
        let now = gateway.parts().clock.now_ms();
        now - i64::from(minutes) * 60_000
    });
    let limit = asked.limit.unwrap_or(USUAL).clamp(1, MOST) as usize;
    let messages = asked.message_limit.unwrap_or(0).min(MOST_MESSAGES) as usize;
    let seen = Sight::of(gateway, caller).all().into_iter();
    let rows = seen
        .map(|seen| (kind_of(gateway, &seen), seen))
        .filter(|(kind, seen)| {
            let kinds = asked.kinds.as_ref();
            kinds.is_none_or(|kinds| kinds.contains(kind))
                && since.is_none_or(|since| seen.entry.updated_at >= since)
        })
        .take(limit)
        .map(|(kind, seen)| Row {
            kind,
            busy: busy.contains(&seen.key),
            messages: if messages == 0 {
                Vec::new()
            } else {
                let (shown, theirs) = last(gateway, &seen, messages);
                origins.push((seen.key.clone(), theirs));
                shown
            },
            key: seen.key,
            agent_id: seen.agent_id,
            label: seen.entry.label,
            channel: seen.entry.channel,
            session_id: seen.entry.session_id,
            updated_at: seen.entry.updated_at,
            model: seen.entry.model,
            total_tokens: seen.entry.total_tokens,
            status: seen.entry.status,
            spawned_by: seen.entry.spawned_by,
        });
    (rows.collect(), origins)
}

fn kind_of(gateway: &Gateway, seen: &VisibleSession) -> Kind {
    let grammar = gateway.parts().contract.session_keys;
    let agent = AgentId::normalize(&seen.agent_id);
    if seen.key == gateway.routing().main_key(&agent) {
        Kind::Main
    } else if session_key::is_subagent(&seen.key, grammar) {
        Kind::Subagent
    } else if session_key::is_cron(&seen.key, grammar) {
        Kind::Cron
    } else {
        match session_key::chat_type(&seen.key) {
            Some(ChatType::Group | ChatType::Channel) => Kind::Group,
            Some(ChatType::Direct) | None => Kind::Other,
        }
    }
}

fn last(gateway: &Gateway, seen: &VisibleSession, most: usize) -> (Vec<Shown>, Vec<Origin>) {
    let store = gateway.parts().host.store(&seen.agent_id).ok();
    let Some(store) = store else {
        return (Vec::new(), Vec::new());
    };
    let branch = store.read_last(&seen.key, MOST_READ, MOST_READ_BYTES);
    let entries = branch.map(|branch| branch.entries).unwrap_or_default();
    let shown = entries.iter().rev().filter_map(|entry| shown(entry, false));
    let mut messages: Vec<Shown> = shown
        .take(most)
        .map(|message| message.cut(MESSAGE_CHARS))
        .collect();
    messages.reverse();
    let theirs = read_origins(&*store, &seen.key).unwrap_or_default();
    (messages, theirs)
}
