//! Session keys and configuration, as recorded from whole runtimes.

use crate::{Check, Outcome, tree};
use chitin_config::IncludeProblem;
use chitin_config::env::Env;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::session_key::{
    self as keys, ChatType, IdentityLinks, PeerKey, SessionKey, ThreadSuffix,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let actual = match check.case.op.as_str() {
        "session-key.classify" => classify(check),
        "session-key.agent-id" => {
            json!({"normalized": AgentId::normalize(text(check.input, "value"))})
        }
        "session-key.build-peer" => build_peer(check),
        "session-key.thread" => thread(check.input),
        "config.env" => variables(check.input),
        "config.include" => match include(check.input) {
            Ok(actual) => actual,
            Err(error) => return Outcome::Failed(format!("cannot build the files: {error:#}\n")),
        },
        "config.validate" => return validate(check),
        "config.command" => match command(check) {
            Ok(actual) => actual,
            Err(error) => return Outcome::Failed(format!("{error:#}\n")),
        },
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

/// The recorded programs name their errors by class; the wording is each program's own.
fn failure(class: &str) -> Value {
    json!({"error": "{MESSAGE}", "errorName": class})
}

fn variables(input: &Value) -> Value {
    let mut value = input.get("object").cloned().unwrap_or_default();
    let env = input.get("env").unwrap_or(&Value::Null);
    match chitin_config::substitute(&mut value, |name| env.get(name)?.as_str()) {
        Ok(()) => json!({ "value": value }),
        Err(_) => failure("MissingEnvVarError"),
    }
}

fn include(input: &Value) -> anyhow::Result<Value> {
    let directory = tempfile::tempdir()?;
    let mut files = input
        .get("files")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_else(Map::new);
    let object = input.get("object").unwrap_or(&Value::Null);
    files.insert("openclaw.json".to_owned(), json!(object.to_string()));
    tree::write_map(directory.path(), &Value::Object(files))?;
    let read = chitin_config::read_with_includes(&directory.path().join("openclaw.json"));
    Ok(match read {
        Ok(included) => json!({ "value": included.value }),
        Err(error) if matches!(*error.problem, IncludeProblem::Cycle(_)) => {
            failure("CircularIncludeError")
        }
        Err(_) => failure("ConfigIncludeError"),
    })
}

/// The verdict of the release's command on a file, and where it finds fault. The root is an empty path there as here.
fn command(check: &Check<'_>) -> anyhow::Result<Value> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("openclaw.json");
    let config = check.input.get("config").unwrap_or(&Value::Null);
    tree::write_map(
        directory.path(),
        &json!({"openclaw.json": config.to_string()}),
    )?;
    let mut env = Env::new(directory.path()).with("HOME", directory.path().to_string_lossy());
    let set = check.input.get("env").and_then(Value::as_object);
    for (name, value) in set.into_iter().flatten() {
        env = env.with(name, value.as_str().unwrap_or_default());
    }
    let Some(loaded) = chitin_config::load(&path, &env, check.contract.config)? else {
        anyhow::bail!("the file is not there");
    };
    let errors: BTreeSet<_> = loaded
        .issues
        .iter()
        .filter(|issue| issue.severity == chitin_config::IssueSeverity::Error)
        .map(|issue| issue.path.as_str())
        .collect();
    Ok(json!({"valid": loaded.is_valid(), "errors": errors}))
}

/// Compares the verdict and the paths; the order of findings and their wording are each program's own.
fn validate(check: &Check<'_>) -> Outcome {
    let config = check.input.get("config").unwrap_or(&Value::Null);
    let issues = chitin_config::validate(config, check.contract.config);
    let mut ours: Vec<&str> = issues.iter().map(|issue| issue.path.as_str()).collect();
    let recorded = check.expected.get("issues").and_then(Value::as_array);
    let mut theirs: Vec<&str> = recorded
        .into_iter()
        .flatten()
        .filter_map(|issue| issue.get("path")?.as_str())
        .collect();
    ours.sort_unstable();
    theirs.sort_unstable();
    Outcome::judge(
        &json!({"ok": check.expected.get("ok"), "paths": theirs}),
        &json!({"ok": issues.is_empty(), "paths": ours}),
    )
}
