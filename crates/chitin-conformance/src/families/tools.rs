//! The catalogue of tools, profiles and policies, as recorded from whole runtimes.

use crate::{Check, Outcome};
use chitin_tools::policy::{
    Companions, PolicyConfig, PolicyInput, SenderKind, effective_tools, groups, profile_policy,
};
use serde_json::{Map, Value, json};

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let actual = match check.case.op.as_str() {
        "tools.catalog" => catalogue(check),
        "tools.profile" => profile(check),
        "tools.policy" => policy(check),
        _ => return Outcome::NotYet,
    };
    Outcome::judge(check.expected, &actual)
}

fn catalogue(check: &Check<'_>) -> Value {
    let rules = &check.contract.runtime.tools;
    let ids: Vec<_> = rules.catalogue.iter().map(|tool| tool.id).collect();
    let groups: Map<String, Value> = groups(rules)
        .into_iter()
        .map(|(name, tools)| (name, json!(tools)))
        .collect();
    json!({"ids": ids, "groups": groups})
}

fn profile(check: &Check<'_>) -> Value {
    let name = check.input["profile"].as_str().unwrap_or_default();
    let policy = profile_policy(&check.contract.runtime.tools, name)
        .map(|policy| json!({"allow": policy.allow, "deny": policy.deny}));
    json!({ "policy": policy })
}

fn policy(check: &Check<'_>) -> Value {
    let input = check.input;
    let config = PolicyConfig::from_value(&input["cfg"]);
    let plugin_tools: Vec<(String, Vec<String>)> = input["pluginTools"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(id, tools)| {
            let tools = tools.as_array().into_iter().flatten();
            let names = tools.filter_map(Value::as_str).map(str::to_owned);
            (id.clone(), names.collect())
        })
        .collect();
    let grammar = check.contract.session_keys;
    let key = input["sessionKey"].as_str().unwrap_or_default();
    let verdict = effective_tools(
        &check.contract.runtime.tools,
        &PolicyInput {
            depth: input["spawnDepth"]
                .as_u64()
                .and_then(|depth| u32::try_from(depth).ok()),
            provider: input["modelProvider"].as_str(),
            model: input["modelId"].as_str(),
            sender: match input["senderIsOwner"].as_bool() {
                Some(false) => SenderKind::Other,
                Some(true) | None => SenderKind::Owner,
            },
            plugin_tools: &plugin_tools,
            companions: Companions::LeftOut,
            ..PolicyInput::new(&config, grammar, key)
        },
    );
    json!({ "tools": verdict.allowed })
}
