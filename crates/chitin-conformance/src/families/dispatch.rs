//! Who gets a message, when it is dealt with, and what a parent hears of its children.

use crate::{Check, Outcome};
use anyhow::{Context, Result};
use chitin_config::agents;
use chitin_gateway::heartbeat::{self, ActiveHours, HeartbeatSettings};
use chitin_gateway::queue::{QueueSettings, QueueWish, lane, mode};
use chitin_gateway::route::{Inbound, Peer, Routing};
use chitin_gateway::subagents::announce::{
    self, ActionClass, CompletionEvent, CompletionTarget, Requester,
};
use chitin_gateway::subagents::{SessionCapabilities, prompt};
use chitin_protocol::agent_id::{self, AgentId};
use chitin_protocol::session_key::ChatType;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let judged = match check.case.op.as_str() {
        "route.resolve" => Ok(route(check)),
        "queue.mode" => Ok(queue_mode(check)),
        "queue.settings" => Ok(queue_settings(check)),
        "lane" => Ok(lane_name(check)),
        "lane.concurrency" => Ok(concurrency(check)),
        "heartbeat.interval" => Ok(interval(check)),
        "heartbeat.empty" => Ok(empty(check)),
        "heartbeat.active-hours" => active_hours(check),
        "subagent.role" => Ok(role(check)),
        "subagent.prompt-headings" => Ok(headings(check)),
        "announce.ids" => Ok(ids(check)),
        "announce.action-line" => Ok(action_line(check)),
        "announce.event-text" => Ok(event_text(check)),
        _ => return Outcome::NotYet,
    };
    match judged {
        Ok(actual) => Outcome::judge(check.expected, &actual),
        Err(error) => Outcome::Failed(format!("{error:#}\n")),
    }
}

fn text<'a>(input: &'a Value, name: &str) -> &'a str {
    input.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn words(input: &Value, name: &str) -> Option<String> {
    match &input[name] {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Reads a number as the recorded programs do: cut to a whole one that is not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative; the cast saturates"
)]
fn whole(input: &Value, name: &str) -> Option<u32> {
    Some(input.get(name)?.as_f64()?.max(0.0) as u32)
}

fn route(check: &Check<'_>) -> Value {
    let inbound = &check.input["inbound"];
    let peer = |name: &str| {
        let peer = inbound.get(name).filter(|peer| peer.is_object())?;
        let kind = text(peer, "kind").trim().to_lowercase();
        Some(Peer {
            kind: ChatType::parse(&kind).unwrap_or(ChatType::Channel),
            id: words(peer, "id").unwrap_or_default(),
        })
    };
    let roles = inbound["memberRoleIds"].as_array();
    let inbound = Inbound {
        channel: text(inbound, "channel").to_owned(),
        account_id: words(inbound, "accountId"),
        peer: peer("peer"),
        parent_peer: peer("parentPeer"),
        guild_id: words(inbound, "guildId"),
        team_id: words(inbound, "teamId"),
        member_role_ids: roles
            .into_iter()
            .flatten()
            .filter_map(|role| role.as_str().map(str::to_owned))
            .collect(),
        thread_id: None,
        sender_id: None,
    };
    let routing = Routing::read(&check.input["cfg"], check.contract);
    match routing.resolve(&inbound) {
        Ok(route) => {
            let mut route = json!(route);
            // The recorded function knows nothing of threads; their keys have cases of their own.
            if let Some(fields) = route.as_object_mut() {
                fields.remove("threadSessionKey");
                fields.remove("parentSessionKey");
            }
            route
        }
        Err(_) => json!({"error": "{MESSAGE}"}),
    }
}

fn queue_mode(check: &Check<'_>) -> Value {
    let rules = &check.contract.runtime.dispatch.queue;
    json!({"mode": mode::parse(text(check.input, "raw"), rules.old_words)})
}

fn queue_settings(check: &Check<'_>) -> Value {
    let rules = &check.contract.runtime.dispatch.queue;
    let input = check.input;
    let inline = QueueWish {
        mode: mode::parse(text(input, "inlineMode"), rules.old_words),
        ..QueueWish::default()
    };
    let options = &input["inlineOptions"];
    let given = QueueWish::of_session(
        &json!({
            "queueDebounceMs": options["debounceMs"],
            "queueCap": options["cap"],
            "queueDrop": options["dropPolicy"],
        }),
        rules,
    );
    let inline = QueueWish {
        mode: inline.mode,
        ..given
    };
    let session = QueueWish::of_session(&input["sessionEntry"], rules);
    let channel = input["channel"].as_str();
    json!(QueueSettings::resolve(
        &input["cfg"],
        channel,
        &inline,
        &session,
        rules
    ))
}

fn lane_name(check: &Check<'_>) -> Value {
    let rules = &check.contract.runtime.dispatch.lanes;
    match check.input.get("sessionKey") {
        Some(key) => json!({"lane": lane::session_lane(key.as_str().unwrap_or_default())}),
        None => json!({"lane": lane::global_lane(text(check.input, "globalLane"), rules)}),
    }
}

fn concurrency(check: &Check<'_>) -> Value {
    let rules = &check.contract.runtime.dispatch.lanes;
    json!(lane::TurnConcurrency::read(&check.input["cfg"], rules))
}

fn interval(check: &Check<'_>) -> Value {
    let config = &check.input["cfg"];
    let agent = check.input["agentId"].as_str().map(AgentId::normalize);
    let agent = agent
        .or_else(|| agents::default_agent(config, check.contract).ok())
        .unwrap_or_else(|| AgentId::normalize(agent_id::MAIN));
    let settings = HeartbeatSettings::read(config, &agent, check.contract);
    let every = settings.every.map(|every| every.as_millis());
    json!({"intervalMs": every.and_then(|every| u64::try_from(every).ok())})
}

fn empty(check: &Check<'_>) -> Value {
    let comments = check.contract.runtime.dispatch.heartbeat.comments;
    let content = check.input["content"].as_str();
    json!({"empty": content.is_some_and(|content| heartbeat::is_empty(content, comments))})
}

fn active_hours(check: &Check<'_>) -> Result<Value> {
    let hours = ActiveHours::read(&check.input["heartbeat"]["activeHours"]);
    let now = &check.input["now"];
    let now: Timestamp = match now.as_i64() {
        Some(milliseconds) => Timestamp::from_millisecond(milliseconds)?,
        None => now.as_str().context("no time")?.parse()?,
    };
    let user = text(check.input, "userTimezone");
    let user = TimeZone::get(if user.is_empty() { "UTC" } else { user })?;
    Ok(json!({"active": hours.contain(now, &user, &TimeZone::UTC)}))
}

fn role(check: &Check<'_>) -> Value {
    let limits = &check.contract.runtime.subagents.limits;
    let depth = whole(check.input, "depth").unwrap_or(0);
    let most = whole(check.input, "maxSpawnDepth").unwrap_or(limits.default_depth);
    json!(SessionCapabilities::at(depth, most))
}

fn headings(check: &Check<'_>) -> Value {
    let input = check.input;
    let limits = &check.contract.runtime.subagents.limits;
    let written = prompt::system_prompt(&prompt::ChildFacts {
        depth: whole(input, "childDepth").unwrap_or(1),
        max_depth: whole(input, "maxSpawnDepth").unwrap_or(limits.default_depth),
        label: input["label"].as_str(),
        requester_session: input["requesterSessionKey"].as_str(),
        requester_channel: input["requesterOrigin"]["channel"].as_str(),
        session: text(input, "childSessionKey"),
        thread: None,
    });
    let headings: Vec<&str> = written
        .lines()
        .filter(|line| line.starts_with('#'))
        .collect();
    let facts: Vec<&str> = written
        .lines()
        .skip_while(|line| *line != "## Session Context")
        .filter(|line| line.starts_with("- "))
        .collect();
    json!({"headings": headings, "sessionContextLines": facts})
}

fn ids(check: &Check<'_>) -> Value {
    let id = announce::announce_id(
        text(check.input, "childSessionKey"),
        text(check.input, "childRunId"),
    );
    json!({"announceId": id, "idempotencyKey": announce::idempotency_key(&id)})
}

fn action_line(check: &Check<'_>) -> Value {
    let input = check.input;
    let requester = match input["requesterIsSubagent"].as_bool() {
        Some(true) => Requester::Internal,
        Some(false) | None => Requester::Visible,
    };
    let target = match text(input, "completionTarget") {
        "parent" => CompletionTarget::Parent,
        _ => CompletionTarget::Usual,
    };
    let action = announce::action(
        requester,
        input["expectsCompletionMessage"].as_bool().unwrap_or(false),
        target,
        &check.contract.runtime.subagents.announce,
    );
    let silent = if action.may_stay_silent {
        ":may-stay-silent"
    } else {
        ""
    };
    // Cases count the private variant among reviews by the parent (R42).
    let class = match action.class {
        ActionClass::Private => ActionClass::ParentReview,
        class @ (ActionClass::InternalUpdate
        | ActionClass::ParentReview
        | ActionClass::UserDelivery) => class,
    };
    json!({"action": format!("{{GUIDANCE:{}{silent}}}", class.as_str())})
}

/// Writes the block, with each line that is our own wording shown as such.
fn event_text(check: &Check<'_>) -> Value {
    let events = check.input["events"].as_array().map(Vec::as_slice);
    let events: Vec<CompletionEvent> = events
        .unwrap_or_default()
        .iter()
        .map(|event| CompletionEvent {
            source: text(event, "source").to_owned(),
            session_key: text(event, "childSessionKey").to_owned(),
            session_id: words(event, "childSessionId"),
            announce_type: text(event, "announceType").to_owned(),
            task_label: text(event, "taskLabel").to_owned(),
            status: text(event, "status").to_owned(),
            status_label: text(event, "statusLabel").to_owned(),
            result: text(event, "result").to_owned(),
            stats_line: words(event, "statsLine"),
            action: text(event, "replyInstruction").to_owned(),
        })
        .collect();
    let written = announce::block(&events, &check.contract.runtime.subagents.announce);
    let shown: Vec<&str> = written
        .split('\n')
        .map(|line| {
            if announce::GUIDANCE.contains(&line) {
                "{GUIDANCE}"
            } else {
                line
            }
        })
        .collect();
    json!({"text": shown.join("\n")})
}
