//! Session keys and configuration, as recorded from whole runtimes.

use crate::{Check, Outcome};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::session_key::{
    self as keys, ChatType, IdentityLinks, PeerKey, SessionKey, ThreadSuffix,
};
use serde_json::{Value, json};

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let actual = match check.case.op.as_str() {
        "session-key.classify" => classify(check),
        "session-key.agent-id" => {
            json!({"normalized": AgentId::normalize(text(check.input, "value"))})
        }
        "session-key.build-peer" => build_peer(check),
        "session-key.thread" => thread(check.input),
        _ => return Outcome::NotYet,
    };
    Outcome::judge(check.expected, &actual)
}

fn text<'a>(input: &'a Value, name: &str) -> &'a str {
    input.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn classify(check: &Check<'_>) -> Value {
    let (key, grammar) = (text(check.input, "sessionKey"), check.contract.session_keys);
    let thread = keys::split_thread(key);
    json!({
        "shape": keys::shape(key, grammar),
        "parsed": SessionKey::parse(key, grammar),
        "isSubagent": keys::is_subagent(key, grammar),
        "isCron": keys::is_cron(key, grammar),
        "isCronRun": keys::is_cron_run(key, grammar),
        "isAcp": keys::is_acp(key, grammar),
        "subagentDepth": keys::subagent_depth(key, grammar),
        "thread": {"baseSessionKey": thread.base, "threadId": thread.thread_id},
        "conversation": keys::conversation(key),
        "requestKey": keys::request_key(key, grammar),
        "storeKeyForAgentOps": keys::store_key(key, "ops", "", grammar),
    })
}

fn build_peer(check: &Check<'_>) -> Value {
    let input = check.input;
    let links: IdentityLinks = input
        .get("identityLinks")
        .and_then(Value::as_object)
        .map(|links| {
            links
                .iter()
                .map(|(name, ids)| (name.clone(), strings(ids)))
                .collect()
        })
        .unwrap_or_default();
    let peer = PeerKey {
        agent_id: text(input, "agentId"),
        main_key: text(input, "mainKey"),
        channel: text(input, "channel"),
        account_id: text(input, "accountId"),
        kind: ChatType::parse(text(input, "peerKind")).unwrap_or(ChatType::Direct),
        peer_id: text(input, "peerId"),
        dm_scope: word(input, "dmScope").unwrap_or_default(),
        group_scope: word(input, "groupScope").unwrap_or_default(),
        identity_links: &links,
        grammar: check.contract.session_keys,
    };
    json!({"sessionKey": keys::build_peer_key(&peer), "historyKey": keys::history_key(&peer)})
}

fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

/// Reads one of our own words from a case.
fn word<T: serde::de::DeserializeOwned>(input: &Value, name: &str) -> Option<T> {
    serde_json::from_value(input.get(name)?.clone()).ok()
}

fn thread(input: &Value) -> Value {
    let suffix = match input.get("useSuffix").and_then(Value::as_bool) {
        Some(false) => ThreadSuffix::Off,
        Some(true) | None => ThreadSuffix::LowerCase,
    };
    let key = keys::thread_key(
        text(input, "baseSessionKey"),
        text(input, "threadId"),
        input.get("parentSessionKey").and_then(Value::as_str),
        suffix,
    );
    json!(key)
}
