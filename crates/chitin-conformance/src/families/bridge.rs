//! Bridge cases: a directory becomes an agent definition, extension files become settings, state is kept beside it.
#![expect(
    clippy::disallowed_methods,
    reason = "cases describe trees on purpose, and say what a file holds afterwards"
)]

mod state;

use crate::{Check, Outcome, tree};
use anyhow::{Context, Result};
use chitin_config::env::Env;
use chitin_workspace::adapter::{
    AdapterError, AdapterRegistry, AgentDefinition, DEFAULT_PRIORITY, NativeAdapter,
    OpenClawAdapter, WorkspaceAdapter, location,
};
use chitin_workspace::extensions::permissions::{
    CallerUsage, MessageDecision, Pattern, PermissionPolicy, PermissionRequest, PolicyRule,
    TimeWindow, WORKING_DAYS,
};
use chitin_workspace::extensions::runtime::{self, Overrides, RuntimeSettings, SuggestedEndpoint};
use chitin_workspace::extensions::{
    RuntimeFileSettings, Secret, channels, mcp, permissions, skills,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// The time at which messages come in this run.
const NOW: &str = "2026-03-02T10:00:00Z";

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let actual = match check.case.op.as_str() {
        "supports" => supports(check.input),
        "loader" => loader(check.input, check.expected),
        "load" => load(check.input, check.expected),
        "name" => name(check.input),
        "augment" => augment(check.input),
        "channels" => Ok(json!({ "channels": channels::parse(text(check.input, "text")) })),
        "mcp" => Ok(servers(check.input)),
        "permissions" => policies(check.input, check.expected),
        "runtime" => Ok(settings(check.input, check.expected)),
        "location" => located(check.input),
        "state-rules" => state::rules(check.input),
        "state-facts" => state::facts(check.input, check.expected),
        "state-conversation" => state::conversation(check.input),
        _ => return Outcome::NotYet,
    };
    match actual {
        Ok(actual) => Outcome::judge(check.expected, &actual),
        Err(error) => Outcome::Failed(format!("{error:#}\n")),
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    optional(value, key).unwrap_or_default()
}

fn optional<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// A directory of the given name with the files of a case in it.
struct Tree {
    _holder: TempDir,
    path: PathBuf,
}

impl Tree {
    fn new(name: &str, files: Option<&Value>) -> Result<Self> {
        let holder = TempDir::with_prefix("chitin-bridge-")?;
        let path = fs::canonicalize(holder.path())?.join(name);
        fs::create_dir(&path)?;
        if let Some(files) = files {
            tree::write_map(&path, files)?;
        }
        Ok(Self {
            _holder: holder,
            path,
        })
    }

    fn of(input: &Value) -> Result<Self> {
        let name = optional(input, "directoryName").unwrap_or("ws");
        Self::new(name, input.get("files"))
    }
}

fn supports(input: &Value) -> Result<Value> {
    let tree = Tree::of(input)?;
    let path = match optional(input, "pathSuffix") {
        Some(suffix) => PathBuf::from(format!("{}{suffix}", tree.path.display())),
        None => tree.path.clone(),
    };
    let claims: Map<String, Value> = AdapterRegistry::with_built_ins()
        .adapters()
        .iter()
        .map(|adapter| (adapter.name().to_owned(), adapter.supports(&path).into()))
        .collect();
    Ok(claims.into())
}

/// An adapter that a case adds.
struct Extra {
    name: String,
    priority: i32,
    claims: bool,
}

impl Extra {
    fn of(name: &str, described: &Value) -> Result<Self> {
        Ok(Self {
            name: name.to_owned(),
            priority: described
                .get("priority")
                .and_then(Value::as_i64)
                .map_or(Ok(DEFAULT_PRIORITY), i32::try_from)?,
            claims: described.get("supports") == Some(&Value::Bool(true)),
        })
    }
}

impl WorkspaceAdapter for Extra {
    fn supports(&self, _: &Path) -> bool {
        self.claims
    }

    fn load(&self, root: &Path) -> Result<AgentDefinition, AdapterError> {
        let mut definition = NativeAdapter.load(root)?;
        definition.adapter_name.clone_from(&self.name);
        Ok(definition)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn priority(&self) -> i32 {
        self.priority
    }
}

fn loader(input: &Value, expected: &Value) -> Result<Value> {
    let tree = Tree::of(input)?;
    let extra = input.get("extraAdapter").filter(|extra| !extra.is_null());
    let mut given: Vec<Arc<dyn WorkspaceAdapter>> = Vec::new();
    let order = input.get("registrationOrder").and_then(Value::as_array);
    for name in order.into_iter().flatten().filter_map(Value::as_str) {
        given.push(match name {
            "openclaw" => Arc::new(OpenClawAdapter::default()),
            "atmosphere-native" => Arc::new(NativeAdapter),
            _ => {
                let extra = extra.context("an adapter that the case does not describe")?;
                Arc::new(Extra::of(name, extra)?)
            }
        });
    }
    if let (None, Some(extra)) = (order, extra) {
        given.push(Arc::new(Extra::of(text(extra, "name"), extra)?));
    }
    let registry = AdapterRegistry::with_adapters(given);
    let adapters = registry.adapters();
    if expected.get("adapters").is_some() {
        let listed: Vec<_> = adapters
            .iter()
            .map(|adapter| json!({ "name": adapter.name(), "priority": adapter.priority() }))
            .collect();
        return Ok(json!({ "adapters": listed }));
    }
    let order: Vec<_> = adapters.iter().map(|adapter| adapter.name()).collect();
    let picked = registry.find(&tree.path);
    Ok(json!({ "order": order, "picked": picked.as_ref().map(|adapter| adapter.name()) }))
}

fn load(input: &Value, expected: &Value) -> Result<Value> {
    let tree = Tree::of(input)?;
    let suffix = optional(input, "pathSuffix").unwrap_or_default();
    let path = PathBuf::from(format!("{}{suffix}", tree.path.display()));
    let loaded = match optional(input, "loader") {
        Some("openclaw") => OpenClawAdapter::default().load(&path),
        Some("only") => {
            let registry = AdapterRegistry::new();
            registry.register(Arc::new(OpenClawAdapter::default()));
            registry.load(&path)
        }
        _ => AdapterRegistry::with_built_ins().load(&path),
    };
    let definition = match loaded {
        Ok(definition) => definition,
        Err(error) => {
            let class = match error {
                AdapterError::NoAdapter { .. } => "no-adapter",
                AdapterError::InvalidArgument { .. } => "invalid-argument",
                AdapterError::Unavailable { .. } => "unavailable",
            };
            return Ok(json!({ "ok": false, "errorClass": class }));
        }
    };
    let root = &definition.workspace_root;
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    let mut skill_paths: Vec<_> = definition
        .skill_paths
        .iter()
        .map(|skill| Value::from(relative(&skill.path(), root)))
        .collect();
    // The order inside one root is not the recorded program's to say; only that between the roots is.
    if let Some(recorded) = expected.get("skillPaths").and_then(Value::as_array)
        && same_inside_each_root(recorded, &skill_paths)
    {
        skill_paths.clone_from(recorded);
    }
    let extensions: Map<String, Value> = definition
        .extensions
        .iter()
        .map(|(name, text)| (name.to_owned(), text.into()))
        .collect();
    Ok(json!({
        "ok": true,
        "name": definition.name,
        "adapterName": definition.adapter_name,
        "rootIsNormalizedArgument": *root == normal,
        "identity": definition.identity,
        "persona": definition.persona,
        "userProfile": definition.user_profile,
        "operatingRules": definition.operating_rules,
        "systemPrompt": definition.system_prompt,
        "skillPaths": skill_paths,
        "extensions": extensions,
        "warnLogs": definition.warnings.len(),
    }))
}

fn same_inside_each_root(one: &[Value], other: &[Value]) -> bool {
    let sorted = |paths: &[Value]| -> Vec<(bool, String)> {
        let mut keys: Vec<_> = paths
            .iter()
            .filter_map(Value::as_str)
            .map(|path| (path.starts_with('.'), path.to_owned()))
            .collect();
        let roots_in_order = keys.is_sorted_by_key(|(second, _)| *second);
        keys.sort_unstable();
        if roots_in_order { keys } else { Vec::new() }
    };
    one.len() == other.len() && sorted(one) == sorted(other)
}

fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned()
}

fn name(input: &Value) -> Result<Value> {
    let files = json!({ "AGENTS.md": "R", "IDENTITY.md": text(input, "identity") });
    let tree = Tree::new(text(input, "directoryName"), Some(&files))?;
    let definition = AdapterRegistry::with_built_ins().load(&tree.path)?;
    Ok(json!({ "name": definition.name }))
}

fn augment(input: &Value) -> Result<Value> {
    let tree = Tree::of(input)?;
    let definition = AdapterRegistry::with_built_ins().load(&tree.path)?;
    let augmented = skills::augment(optional(input, "base"), &definition);
    Ok(json!({ "prompt": augmented.prompt }))
}

fn servers(input: &Value) -> Value {
    let found = mcp::parse(text(input, "text"));
    let count = |reason| {
        found
            .skipped
            .iter()
            .filter(|skipped| skipped.reason == reason)
            .count()
    };
    json!({
        "servers": found.servers,
        "warnLogs": count(mcp::SkipReason::BadUri),
        "infoLogs": count(mcp::SkipReason::NotHttp),
    })
}

fn policies(input: &Value, expected: &Value) -> Result<Value> {
    let Ok(mut permissions) = permissions::parse(text(input, "text"), text(input, "agentName"))
    else {
        return Ok(json!({ "ok": false, "errorClass": "invalid-argument" }));
    };
    let shown: Vec<Value> = permissions
        .policies
        .iter()
        .enumerate()
        .map(|(at, policy)| shown(policy, expected.pointer(&format!("/policies/{at}"))))
        .collect();
    // The clock of a recording is nobody's to know: such policies take no part in decisions.
    permissions
        .policies
        .retain(|policy| !matches!(policy.rule, PolicyRule::TimeWindow(_)));
    let roles: Vec<&str> = text(input, "roles")
        .split(',')
        .map(str::trim)
        .filter(|role| !role.is_empty())
        .collect();
    let mut usage = CallerUsage::default();
    let mut decisions = Vec::new();
    let messages = input.get("messages").and_then(Value::as_array);
    for message in messages.into_iter().flatten() {
        let request = PermissionRequest {
            message: &tree::text(message)?,
            roles: &roles,
            now: NOW.parse()?,
        };
        decisions.push(match permissions.admit(request, &mut usage) {
            MessageDecision::Admit => {
                json!({ "message": message, "decision": "admit", "by": null })
            }
            MessageDecision::Refuse { by, .. } => {
                json!({ "message": message, "decision": "deny", "by": by })
            }
        });
    }
    Ok(json!({
        "ok": true,
        "policies": shown,
        "decisions": decisions,
        "warnLogs": usize::from(permissions.says_nothing),
    }))
}

/// Shows a policy as the cases do.
fn shown(policy: &PermissionPolicy, expected: Option<&Value>) -> Value {
    let mut shown = json!({
        "name": policy.name,
        "type": policy.rule.kind(),
        "source": policy.source,
        "version": policy.version,
    });
    // No case at hand shows what some limits are called. A name that the case uses is taken over; the value is ours.
    let mut put = |names: &[&str], value: Value| {
        let known = names
            .iter()
            .find(|name| expected.is_some_and(|expected| expected.get(**name).is_some()));
        if let Some(name) = known.or(names.first()) {
            shown[*name] = value;
        }
    };
    match &policy.rule {
        PolicyRule::DenyList { patterns } | PolicyRule::AllowList { patterns } => put(
            &["patterns"],
            patterns.iter().map(Pattern::source).collect(),
        ),
        PolicyRule::Authorization { roles } => put(&["roles"], json!(roles)),
        PolicyRule::MessageLength { max_chars } => put(&["maxChars"], json!(max_chars)),
        // The program does not show how much these two allow.
        PolicyRule::RateLimit { .. } | PolicyRule::ConcurrencyLimit { .. } => {}
        PolicyRule::TimeWindow(window) => {
            put(&["start"], json!(TimeWindow::spelled(window.start)));
            put(&["end"], json!(TimeWindow::spelled(window.end)));
            put(&["zone"], json!(window.zone.name()));
            let days: Vec<_> = WORKING_DAYS
                .iter()
                .map(|day| format!("{day:?}").to_uppercase())
                .collect();
            put(&["days"], json!(format!("[{}]", days.join(", "))));
        }
        PolicyRule::KillSwitch => put(&["armed"], json!(false)),
    }
    shown
}

/// Loads several workspaces one after the other and tells which model each agent has, and one that has no workspace.
fn models(workspaces: &[Value], expected: &Value) -> Value {
    let (properties, env) = (BTreeMap::new(), Env::new("/"));
    let mut loaded = RuntimeFileSettings::default();
    for workspace in workspaces {
        let overrides = Overrides::new(&properties, &env);
        loaded.load(text(workspace, "agent"), text(workspace, "text"), overrides);
    }
    let agents = expected.as_object().into_iter().flatten();
    agents
        .map(|(agent, _)| {
            let settings = match agent.as_str() {
                "global" => loaded.common(),
                agent => loaded.of(agent),
            };
            (agent.clone(), json!(settings.map(|set| &set.model)))
        })
        .collect()
}

fn settings(input: &Value, expected: &Value) -> Value {
    if let Some(workspaces) = input["workspaces"].as_array() {
        return models(workspaces, expected);
    }
    let mut properties = BTreeMap::new();
    let mut env = Env::new("/");
    let overrides = input.get("overrides").and_then(Value::as_array);
    for (name, value) in overrides
        .into_iter()
        .flatten()
        .filter_map(|one| one.as_str()?.split_once('='))
    {
        match name.strip_prefix("prop:") {
            Some(property) => {
                properties.insert(property.to_owned(), value.to_owned());
            }
            None => env = env.with(name, value),
        }
    }
    let applied = runtime::apply(text(input, "text"), Overrides::new(&properties, &env), None);
    let mut actual = json!({ "applied": applied.settings.is_some() });
    match &applied.settings {
        Some(settings) => actual["settings"] = shown_settings(settings, &expected["settings"]),
        None => {
            // No case at hand shows this: settings that are absent, null or all unset are taken for the same.
            if let Some(unset) = expected.get("settings").and_then(Value::as_object) {
                actual["settings"] = unset.keys().map(|key| (key.clone(), Value::Null)).collect();
            } else if expected.get("settings").is_some() {
                actual["settings"] = Value::Null;
            }
        }
    }
    actual["warnLogs"] = applied.warnings.len().into();
    actual
}

fn shown_settings(settings: &RuntimeSettings, expected: &Value) -> Value {
    let placeholder = optional(expected, "baseUrl").filter(|url| url.starts_with('<'));
    let vendor = match settings.endpoint {
        SuggestedEndpoint::OpenAi => Some("openai"),
        SuggestedEndpoint::Gemini => Some("gemini"),
        SuggestedEndpoint::Local => Some("local"),
        SuggestedEndpoint::Fake | SuggestedEndpoint::Set(_) => None,
    };
    let url = match (vendor, placeholder) {
        // No case at hand shows the placeholder of the local endpoint: either name of it will do.
        (Some("local"), Some(shown)) if shown.contains("ollama") => shown.to_owned(),
        (Some(vendor), Some(_)) => format!("<{vendor} default endpoint>"),
        _ => settings.endpoint.url().to_owned(),
    };
    let model = match optional(expected, "model") {
        Some(shown) if shown.starts_with('<') && settings.model == runtime::DEFAULT_MODEL => shown,
        _ => &settings.model,
    };
    json!({
        "mode": settings.mode,
        "model": model,
        "baseUrl": url,
        "apiKey": settings.api_key.as_ref().map(Secret::expose),
        "temperature": number(settings.temperature, &expected["temperature"]),
        "maxTokens": settings.max_tokens,
        "topP": number(settings.top_p, &expected["topP"]),
        "stop": settings.stop,
    })
}

/// Takes `1` and `1.0` for the same number.
fn number(ours: Option<f64>, recorded: &Value) -> Value {
    if ours.is_some() && recorded.as_f64() == ours {
        recorded.clone()
    } else {
        ours.into()
    }
}

fn located(input: &Value) -> Result<Value> {
    let files = json!({ "with/AGENTS.md": "x", "plain/README.md": "x", "file.txt": "x" });
    let tree = Tree::new("locations", Some(&files))?;
    let at = |name: &str| tree.path.join(name).to_string_lossy().into_owned();
    let location = optional(input, "location").map(|location| {
        let Some((before, rest)) = location.split_once('<') else {
            return location.to_owned();
        };
        let (what, after) = rest.split_once('>').unwrap_or((rest, ""));
        let path = match what {
            what if what.contains("missing") => at("missing"),
            what if what.contains("with AGENTS.md") => at("with"),
            what if what.contains("directory") => at("plain"),
            _ => at("file.txt"),
        };
        format!("{before}{path}{after}")
    });
    let registry = AdapterRegistry::with_built_ins();
    let located = location::load(&registry, location.as_deref(), &Env::new(&tree.path));
    Ok(json!({
        "present": located.definition.is_some(),
        "adapterName": located.definition.map(|definition| definition.adapter_name),
        "warnLogs": usize::from(located.warning.is_some()),
    }))
}
