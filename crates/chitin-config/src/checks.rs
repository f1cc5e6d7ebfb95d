//! Rules that a table of keys cannot say.

use super::keys::{BUILT_IN_PROVIDERS, SEARCH_PROVIDERS};
use super::load::value_at;
use super::scan::Step;
use super::shape::Check;
use super::validate::{Finding, matching};
use chitin_protocol::agent_id::{self, AgentId};
use chitin_protocol::nearest::nearest;
use chitin_protocol::text::trim_js;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) fn run(check: Check, value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    match check {
        Check::Duration => duration(value, path, found),
        Check::ByteSize => byte_size(value, path, found),
        Check::Heartbeat => heartbeat(value, path, found),
        Check::AllowOrAlsoAllow => {
            if filled(value, "allow") && filled(value, "alsoAllow") {
                let mut finding = Finding::soft(
                    path,
                    "`allow` and `alsoAllow` cannot both be set in one place.",
                );
                finding.point = Some(below(path, "alsoAllow"));
                finding.hint = Some(
                    "move the entries of `alsoAllow` into `allow`, or drop `allow` and use `profile`"
                        .to_owned(),
                );
                found.push(finding);
            }
        }
        Check::ExecModeAlone => {
            let set = |key| value.get(key).is_some();
            if set("mode") && (set("security") || set("ask")) {
                found.push(Finding::soft(
                    &below(path, "mode"),
                    "`mode` cannot stand beside `security` or `ask`.",
                ));
            }
        }
        Check::BindingPeer => {
            if value["type"] != "acp" {
                return;
            }
            let id = value.pointer("/match/peer/id").and_then(Value::as_str);
            if id.is_none_or(|id| trim_js(id).is_empty()) {
                found.push(Finding::soft(
                    &below(&below(path, "match"), "peer"),
                    "A binding of type `acp` needs the id of one conversation.",
                ));
            }
        }
        Check::BroadcastAgents => broadcast(value, &roster(value), path, found),
        Check::BindingAndBroadcastAgents => {
            let roster = roster(value);
            owners(value, &roster, found);
            bindings(value, &roster, path, found);
            broadcast(value, &roster, path, found);
        }
        Check::Interval => {
            if value.as_str().is_some_and(|text| !text.is_empty()) {
                duration(value, path, found);
            }
        }
        Check::ActiveHours => active_hours(value, path, found),
        Check::Ownership => ownership(value, path, found),
        Check::Avatar => avatar(value, path, found),
        Check::Sandbox => sandbox(value, path, found),
        Check::BrowserProfile => browser_profile(value, path, found),
        Check::WebAddress => web_address(value, path, found),
        Check::TailscaleBind => tailscale_bind(value, path, found),
        Check::TailscaleAuth => tailscale_auth(value, path, found),
        Check::NamedProvider => named_provider(value, path, found),
        Check::McpServer => mcp_server(value, path, found),
        Check::CustomProvider => custom_provider(value, path, found),
        Check::SearchSettings => search_settings(value, path, found),
    }
}

fn below(path: &[Step], key: &str) -> Vec<Step> {
    [path, &[Step::Key(key.to_owned())]].concat()
}

fn filled(value: &Value, key: &str) -> bool {
    value
        .get(key)
        .and_then(Value::as_array)
        .is_some_and(|list| !list.is_empty())
}

/// Text as the recorded programs would spell a value that may be text or a number.
fn spelled(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(trim_js(text).to_lowercase()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn said<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().map(trim_js).unwrap_or_default()
}

/// Of several agents one is marked, or it is said that none is.
fn ownership(agents: &Value, path: &[Step], found: &mut Vec<Finding>) {
    let Some(entries) = agents["entries"].as_object() else {
        return;
    };
    let mut fault = |key: &str, message: &str, hint: &str| {
        let mut finding = Finding::soft(&below(path, key), message);
        finding.hint = (!hint.is_empty()).then(|| hint.to_owned());
        finding.point = agents.get(key).is_none().then(|| below(path, "entries"));
        found.push(finding);
    };
    let explicit = agents["ownership"] == "explicit";
    let marked = entries
        .values()
        .filter(|entry| entry["default"] == Value::Bool(true))
        .count();
    let mut ids = BTreeSet::new();
    if marked > 1 {
        fault(
            "entries",
            "More than one agent is marked with `default: true`.",
            "mark one",
        );
    }
    if explicit && marked > 0 {
        fault(
            "ownership",
            "`ownership: \"explicit\"` cannot stand beside `default: true`.",
            "drop one of them",
        );
    }
    if entries.len() > 1 && marked == 0 && !explicit {
        fault(
            "ownership",
            "Nothing says who owns what belongs to none of several agents.",
            "say `ownership: \"explicit\"`, or mark one agent with `default: true`",
        );
    }
    for id in entries.keys() {
        if !ids.insert(AgentId::normalize(id)) {
            found.push(Finding::soft(
                &below(&below(path, "entries"), id),
                format!("`{id}` is another spelling of an agent that is there already."),
            ));
        }
    }
}

/// A picture of an agent may not lie outside its workspace.
fn avatar(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    let text = value.as_str().map(trim_js).unwrap_or_default();
    let lower = text.to_ascii_lowercase();
    if text.is_empty()
        || ["data:", "http://", "https://"]
            .iter()
            .any(|s| lower.starts_with(s))
    {
        return;
    }
    let has_scheme = text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    let mut depth = 0_i32;
    let climbs = text.split('/').any(|part| {
        depth += match part {
            ".." => -1,
            "" | "." => 0,
            _ => 1,
        };
        depth < 0
    });
    if text.starts_with('~') || text.starts_with('/') || has_scheme || climbs {
        found.push(Finding::soft(
            path,
            "Expected a path inside the workspace, a web address or a `data:` address.",
        ));
    }
}

fn sandbox(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    let docker = &value["docker"];
    let joins = docker["dangerouslyAllowContainerNamespaceJoin"] == Value::Bool(true);
    for part in ["docker", "browser"] {
        let (settings, path) = (&value[part], below(path, part));
        let network = said(settings, "network").to_lowercase();
        if network == "host" || (network.starts_with("container:") && !joins) {
            found.push(Finding::soft(
                &below(&path, "network"),
                "A sandbox may not share a network with the machine or another container.",
            ));
        }
        for profile in ["seccompProfile", "apparmorProfile"] {
            if said(settings, profile).eq_ignore_ascii_case("unconfined") {
                let message = "A sandbox may not be unconfined.";
                found.push(Finding::soft(&below(&path, profile), message));
            }
        }
        let binds = settings["binds"].as_array();
        for (index, bind) in binds.into_iter().flatten().enumerate() {
            if bind.as_str().is_some_and(|bind| !bind.starts_with('/')) {
                let mut at = below(&path, "binds");
                at.push(Step::Index(index));
                found.push(Finding::soft(&at, "Expected an absolute path first."));
            }
        }
    }
}

fn browser_profile(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    let driver = said(value, "driver");
    let reached = value.get("cdpPort").is_some() || !said(value, "cdpUrl").is_empty();
    if !reached && driver != "existing-session" && driver != "extension" {
        found.push(Finding::soft(
            path,
            "A profile needs `cdpPort` or `cdpUrl`.",
        ));
    }
    if value.get("userDataDir").is_some() && driver != "existing-session" {
        found.push(Finding::soft(
            path,
            "`userDataDir` needs `driver: \"existing-session\"`.",
        ));
    }
    if value.get("cdpUrl").is_some() && driver == "extension" {
        found.push(Finding::soft(
            path,
            "`cdpUrl` has no place beside `driver: \"extension\"`.",
        ));
    }
}

fn web_address(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    let text = value.as_str().unwrap_or_default().to_ascii_lowercase();
    if !text.starts_with("http://") && !text.starts_with("https://") {
        let message = "Expected an address that starts with `http://` or `https://`.";
        found.push(Finding::soft(path, message));
    }
}

/// Returns how a tailnet reaches the gateway, if it does.
fn tailscale(gateway: &Value) -> Option<&str> {
    let mode = gateway["tailscale"]["mode"].as_str()?;
    ["serve", "funnel"].contains(&mode).then_some(mode)
}

fn tailscale_bind(gateway: &Value, path: &[Step], found: &mut Vec<Finding>) {
    let bind = gateway["bind"].as_str().unwrap_or("loopback");
    let own = gateway["customBindHost"].as_str().unwrap_or_default();
    let local = bind == "loopback" || (bind == "custom" && own.starts_with("127."));
    if let (Some(mode), false) = (tailscale(gateway), local) {
        let message =
            format!("With `tailscale.mode: \"{mode}\"` the gateway has to listen on loopback.");
        found.push(Finding::soft(&below(path, "bind"), message));
    }
}

fn tailscale_auth(gateway: &Value, path: &[Step], found: &mut Vec<Finding>) {
    if let (Some(mode), true) = (tailscale(gateway), gateway["auth"]["mode"] == "none") {
        let message =
            format!("With `tailscale.mode: \"{mode}\"` there has to be a way to tell who asks.");
        found.push(Finding::soft(&below(&below(path, "auth"), "mode"), message));
    }
}

fn named_provider(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    let Some(providers) = value["providers"].as_object().filter(|p| !p.is_empty()) else {
        return;
    };
    let provider = said(value, "provider").to_lowercase();
    let named = !provider.is_empty();
    if named && !providers.contains_key(&provider) {
        let message = format!("`{provider}` is none of `providers`.");
        found.push(Finding::soft(&below(path, "provider"), message));
    } else if !named && providers.len() > 1 {
        let mut finding = Finding::soft(
            &below(path, "provider"),
            "`provider` has to say which of `providers` is meant.",
        );
        finding.point = Some(below(path, "providers"));
        found.push(finding);
    }
}

fn mcp_server(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    const EARLIER: [&str; 8] = [
        "connectTimeout",
        "connect_timeout",
        "timeout",
        "workingDirectory",
        "supports_parallel_tool_calls",
        "ssl_verify",
        "client_cert",
        "client_key",
    ];
    for key in EARLIER.into_iter().filter(|key| value.get(key).is_some()) {
        let mut finding = Finding::soft(path, format!("`{key}` is not a known key here."));
        finding.point = Some(below(path, key));
        found.push(finding);
    }
    if value.get("disabled").is_some() {
        let mut finding = Finding::soft(&below(path, "disabled"), "`disabled` is no longer read.");
        finding.hint = Some("say `enabled: false`".to_owned());
        found.push(finding);
    }
    if value["transport"] == "stdio" && said(value, "command").is_empty() {
        found.push(Finding::soft(
            &below(path, "transport"),
            "`stdio` needs a `command`.",
        ));
    }
    if value.get("url").is_some() {
        web_address(&value["url"], &below(path, "url"), found);
    }
}

/// Only of the providers that the release brings it is known where they are and what they have.
fn custom_provider(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    let known = matches!(path.last(), Some(Step::Key(id)) if BUILT_IN_PROVIDERS.contains(&trim_js(id).to_lowercase().as_str()));
    if known {
        return;
    }
    let lacks = [
        ("baseUrl", said(value, "baseUrl").is_empty()),
        ("models", !value["models"].is_array()),
    ];
    for (key, _) in lacks.into_iter().filter(|(_, lacking)| *lacking) {
        let mut finding = Finding::soft(&below(path, key), format!("`{key}` is missing."));
        finding.point = value.get(key).is_none().then(|| path.to_vec());
        found.push(finding);
    }
}

fn search_settings(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    let Some(Step::Key(key)) = path.last() else {
        return;
    };
    if key == "apiKey" || (SEARCH_PROVIDERS.contains(&key.as_str()) && value.is_object()) {
        let mut finding = Finding::soft(
            path,
            "What belongs to one search provider has another place now.",
        );
        finding.hint = Some("move it to `plugins.entries.<plugin>.config.webSearch`".to_owned());
        found.push(finding);
    }
}

fn duration(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    if spelled(value).is_some_and(|text| !is_amount(&text, &["ms", "s", "m", "h", "d"])) {
        found.push(Finding::soft(
            path,
            "Expected a duration such as `30s`, `15m`, `2h` or `7d`.",
        ));
    }
}

fn byte_size(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    const UNITS: [&str; 9] = ["b", "kb", "mb", "gb", "tb", "k", "m", "g", "t"];
    if spelled(value).is_some_and(|text| !is_amount(&text, &UNITS)) {
        found.push(Finding::soft(
            path,
            "Expected a size such as `500kb`, `2mb` or `1gb`.",
        ));
    }
}

/// Tells whether the text is a number with or without one of the units, or several with units, such as `1h30m`.
fn is_amount(text: &str, units: &[&str]) -> bool {
    let mut rest = text;
    let mut parts = 0;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let is_number = match number.split_once('.') {
            Some((whole, fraction)) => digits(whole) && digits(fraction),
            None => digits(number),
        };
        let end = after
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let is_unit = units.contains(&unit) || (unit.is_empty() && parts == 0);
        if !is_number || !is_unit {
            return false;
        }
        parts += 1;
        rest = after;
    }
    parts > 0
}

fn heartbeat(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    // Without an interval nothing else of the block counts, so nothing else is judged.
    let Some(every) = value.get("every").and_then(Value::as_str) else {
        return;
    };
    if every.is_empty() {
        return;
    }
    duration(
        &Value::String(every.to_owned()),
        &below(path, "every"),
        found,
    );
    active_hours(&value["activeHours"], &below(path, "activeHours"), found);
}

fn active_hours(value: &Value, path: &[Step], found: &mut Vec<Finding>) {
    for (key, midnight_ends) in [("start", false), ("end", true)] {
        let text = value[key].as_str().unwrap_or_default();
        if !text.is_empty() && !is_time(text, midnight_ends) {
            found.push(Finding::soft(
                &below(path, key),
                "Expected a time of day as `HH:MM`; `24:00` only as an end.",
            ));
        }
    }
}

fn is_time(text: &str, midnight_ends: bool) -> bool {
    let &[h1, h2, b':', m1, m2] = text.as_bytes() else {
        return false;
    };
    if ![h1, h2, m1, m2].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let hour = u32::from(h1 - b'0') * 10 + u32::from(h2 - b'0');
    let minute = u32::from(m1 - b'0') * 10 + u32::from(m2 - b'0');
    minute < 60 && (hour < 24 || (hour == 24 && minute == 0 && midnight_ends))
}

/// The ids of the configured agents, as written.
fn roster(config: &Value) -> BTreeSet<String> {
    let entries = config.pointer("/agents/entries").and_then(Value::as_object);
    if let Some(entries) = entries.filter(|entries| !entries.is_empty()) {
        return entries.keys().cloned().collect();
    }
    let list = config.pointer("/agents/list").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|agent| Some(agent.get("id")?.as_str()?.to_owned()))
        .collect()
}

fn unknown_agent(path: &[Step], id: &str, roster: &BTreeSet<String>) -> Finding {
    let mut finding = Finding::soft(path, format!("There is no agent `{id}`."));
    finding.hint = nearest(id, roster.iter().map(String::as_str))
        .map(|near| format!("did you mean `{near}`?"));
    finding
}

/// Agents that own something of all agents have to be there.
fn owners(config: &Value, roster: &BTreeSet<String>, found: &mut Vec<Finding>) {
    let ids: BTreeSet<_> = if roster.is_empty() {
        BTreeSet::from([AgentId::normalize(agent_id::MAIN)])
    } else {
        roster.iter().map(|id| AgentId::normalize(id)).collect()
    };
    for pattern in [
        "agents.defaults.heartbeat.agentId",
        "agents.defaults.systemAgent.agentId",
        "talk.agentId",
    ] {
        for path in matching(config, pattern) {
            let id = value_at(config, &path).and_then(Value::as_str);
            if let Some(id) = id.filter(|id| !ids.contains(&AgentId::normalize(id))) {
                found.push(unknown_agent(&path, id, roster));
            }
        }
    }
}

fn bindings(config: &Value, roster: &BTreeSet<String>, path: &[Step], found: &mut Vec<Finding>) {
    if roster.is_empty() {
        return;
    }
    let normal: BTreeSet<_> = roster.iter().map(|id| AgentId::normalize(id)).collect();
    let bound = config.get("bindings").and_then(Value::as_array);
    for (index, binding) in bound.into_iter().flatten().enumerate() {
        let Some(id) = binding.get("agentId").and_then(Value::as_str) else {
            continue;
        };
        if id != agent_id::MAIN && !normal.contains(&AgentId::normalize(id)) {
            let mut at = below(path, "bindings");
            at.push(Step::Index(index));
            found.push(unknown_agent(&below(&at, "agentId"), id, roster));
        }
    }
}

fn broadcast(config: &Value, roster: &BTreeSet<String>, path: &[Step], found: &mut Vec<Finding>) {
    if roster.is_empty() {
        return;
    }
    let groups = config.get("broadcast").and_then(Value::as_object);
    for (peer, agents) in groups.into_iter().flatten() {
        let agents = agents.as_array().map(Vec::as_slice).unwrap_or_default();
        for (index, agent) in agents.iter().enumerate() {
            let Some(id) = agent.as_str().filter(|id| !roster.contains(*id)) else {
                continue;
            };
            let mut at = below(&below(path, "broadcast"), peer);
            at.push(Step::Index(index));
            found.push(unknown_agent(&at, id, roster));
        }
    }
}
