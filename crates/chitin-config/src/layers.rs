//! Layers of configuration, and where each value came from.
//!
//! Built-in → `openclaw.json` → `chitin.json5` → environment → flags; the last layer that says something holds.

use super::chitin_json5::LoadedChitinConfig;
use super::load::{LoadedConfig, steps, value_at};
use super::scan::{Step, dotted};
use super::source::{ConfigFile, find};
use crate::env::Env;
use chitin_contract::Contract;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::config::{
    BudgetSetting, HardlinkSetting, LinkSetting, RefreshSetting, SmallWindowSetting,
};
use chitin_protocol::settings::{
    AccessSettings, ExecSettings, HistorySettings, LimitSettings, McpSettings, MemorySettings,
    SessionSettings, SubagentSettings, ToolSettings, TraceSettings, UndoSettings,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Where a value was said; later ones win.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ConfigLayer {
    /// Chitin itself, with the contract's numbers.
    BuiltIn,
    /// `openclaw.json`.
    OpenClaw,
    /// `chitin.json5`.
    Chitin,
    /// A variable of the environment.
    Environment,
    /// A flag of the command line.
    Flag,
}

impl ConfigLayer {
    /// Returns the layer as it stands in text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built in",
            Self::OpenClaw => "openclaw.json",
            Self::Chitin => "chitin.json5",
            Self::Environment => "environment",
            Self::Flag => "flag",
        }
    }
}

/// The settings that variables can make: variable and key.
const VARIABLES: [(&str, &str); 3] = [
    ("CHITIN_CONTRACT", "contract"),
    ("CHITIN_LINKS", "links"),
    ("CHITIN_HARDLINKS", "hardlinks"),
];

/// All layers, lowest first.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    contents: Vec<Content>,
}

#[derive(Debug, Clone)]
struct Content {
    layer: ConfigLayer,
    value: Value,
    files: Vec<ConfigFile>,
    /// What to call the source when it is no file.
    name: Option<String>,
}

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ValueExplanation {
    /// The dotted path that was asked for.
    pub path: String,
    /// The value that holds.
    pub value: Value,
    /// The layer that says it.
    pub layer: ConfigLayer,
    /// The file that says it.
    pub file: Option<PathBuf>,
    /// The line there, counted from one.
    pub line: Option<usize>,
    /// The column there, counted from one.
    pub column: Option<usize>,
    /// The variable or flag that says it.
    pub name: Option<String>,
    /// What lower layers say, nearest first.
    pub overridden: Vec<Overridden>,
}

/// A value that does not hold because a later layer says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Overridden {
    /// The value.
    pub value: Value,
    /// The layer that says it.
    pub layer: ConfigLayer,
    /// The file that says it.
    pub file: Option<PathBuf>,
    /// The line there, counted from one.
    pub line: Option<usize>,
}

/// The settings of Chitin that hold for one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChitinSettings {
    /// Further workspaces that are composed with the agent's own.
    pub with: Vec<String>,
    /// The name of the contract; none when nothing was said.
    pub contract: Option<String>,
    /// What links may do; none leaves it to the contract.
    pub links: Option<LinkSetting>,
    /// What becomes of files with a second name; none leaves it to the contract.
    pub hardlinks: Option<HardlinkSetting>,
    /// Further root files.
    pub root_files: Vec<String>,
    /// Exactly the files that a subagent gets, when that was said.
    pub subagent_files: Option<Vec<String>>,
    /// How many levels below a root skills are looked for, when that was said.
    pub skill_depth: Option<u32>,
    /// Where the skills of an OpenClaw release are, `auto` or `off`, when that was said.
    pub release_skills: Option<String>,
    /// The directory of the user's own templates, as it was written.
    pub templates: Option<String>,
    /// What files may take, when that was said.
    pub budget: Option<BudgetSetting>,
    /// What shrinks when the window is small, when that was said.
    pub small_window: Option<SmallWindowSetting>,
    /// Sections of the prompt that are left out.
    pub sections_off: Vec<String>,
    /// When an edit shows; none leaves it to the contract.
    pub refresh: Option<RefreshSetting>,
    /// The model to reckon with; none leaves it to what is built in.
    pub model: Option<String>,
    /// The models that are asked when the first cannot answer.
    pub fallbacks: Vec<String>,
    /// How deeply to think.
    pub thinking: Option<String>,
    /// How often a model is asked again after a failure that may pass.
    pub retries: Option<u32>,
    /// What a turn may take at most.
    pub limits: LimitSettings,
    /// What of a conversation is sent again.
    pub history: HistorySettings,
    /// What is open to others than the owner.
    pub access: AccessSettings,
    /// Which tools an agent has.
    pub tools: ToolSettings,
    /// How commands are run.
    pub exec: ExecSettings,
    /// Further tools, from servers.
    pub mcp: McpSettings,
    /// What is remembered, and how it is found again.
    pub memory: MemorySettings,
    /// The context engine; none leaves it to `openclaw.json`.
    pub context_engine: Option<String>,
    /// How long sessions last.
    pub sessions: SessionSettings,
    /// What becomes of sessions that others began.
    pub subagents: SubagentSettings,
    /// What is written down for people who debug.
    pub trace: TraceSettings,
    /// What is kept so that turns can be taken back.
    pub undo: UndoSettings,
}

impl Layers {
    /// Starts with what is built in.
    #[must_use]
    pub fn built_in(contract: &Contract) -> Self {
        let mut defaults = Map::new();
        let budgets = &contract.budgets;
        defaults.insert("bootstrapMaxChars".to_owned(), json!(budgets.max_chars));
        if let Some(total) = budgets.total_max_chars {
            defaults.insert("bootstrapTotalMaxChars".to_owned(), json!(total));
        }
        let value = json!({
            "contract": contract.name,
            "links": contract.loading.links,
            "hardlinks": contract.loading.hardlinks,
            "rootFiles": [],
            "subagentFiles": contract.filters.subagent_files,
            "agents": {"defaults": defaults},
        });
        Self::default().with(ConfigLayer::BuiltIn, value, Vec::new(), None)
    }

    /// Adds `openclaw.json`.
    #[must_use]
    pub fn with_openclaw(self, config: &LoadedConfig) -> Self {
        self.with(
            ConfigLayer::OpenClaw,
            config.value.clone(),
            config.files.clone(),
            None,
        )
    }

    /// Adds `chitin.json5`; what was not understood there says nothing.
    #[must_use]
    pub fn with_chitin(self, config: &LoadedChitinConfig) -> Self {
        let value = serde_json::to_value(&config.config).unwrap_or_default();
        self.with(ConfigLayer::Chitin, value, config.files.clone(), None)
    }

    /// Adds the variables that make settings; blank ones say nothing.
    #[must_use]
    pub fn with_environment(mut self, env: &Env) -> Self {
        for (variable, key) in VARIABLES {
            if let Some(text) = env.get(variable).filter(|text| !text.trim().is_empty()) {
                let value = json!({ key: text.trim() });
                self = self.with(
                    ConfigLayer::Environment,
                    value,
                    Vec::new(),
                    Some(variable.to_owned()),
                );
            }
        }
        self
    }

    /// Adds a flag of the command line.
    #[must_use]
    pub fn with_flag(self, flag: &str, key: &str, value: Value) -> Self {
        let mut object = Map::new();
        object.insert(key.to_owned(), value);
        self.with(
            ConfigLayer::Flag,
            Value::Object(object),
            Vec::new(),
            Some(flag.to_owned()),
        )
    }

    fn with(
        mut self,
        layer: ConfigLayer,
        value: Value,
        files: Vec<ConfigFile>,
        name: Option<String>,
    ) -> Self {
        self.contents.push(Content {
            layer,
            value,
            files,
            name,
        });
        // Callers may add layers in any order; their rank does not depend on it.
        self.contents.sort_by_key(|content| content.layer);
        self
    }

    /// Says which value holds at a dotted path, where it was said, and what it overrides.
    pub fn explain(&self, path: &str) -> Option<ValueExplanation> {
        // Keys may have dots in them, so each layer splits the path by what it holds.
        self.story(path, |content| steps(&content.value, path))
    }

    /// Explains every value that some layer says, sorted by path.
    pub fn all(&self) -> Vec<ValueExplanation> {
        let mut paths = BTreeSet::new();
        for content in &self.contents {
            leaves(&content.value, &mut Vec::new(), &mut paths);
        }
        paths
            .iter()
            .filter_map(|steps| self.story(&dotted(steps), |_| Some(steps.clone())))
            .collect()
    }

    fn story(
        &self,
        path: &str,
        split: impl Fn(&Content) -> Option<Vec<Step>>,
    ) -> Option<ValueExplanation> {
        let mut said = self.contents.iter().rev().filter_map(|content| {
            let steps = split(content)?;
            let value = value_at(&content.value, &steps)?.clone();
            Some((content, value, find(&content.files, &steps)))
        });
        let (content, value, place) = said.next()?;
        let overridden = said
            .map(|(content, value, place)| Overridden {
                value,
                layer: content.layer,
                file: place.as_ref().map(|place| place.file.clone()),
                line: place.map(|place| place.line),
            })
            .collect();
        Some(ValueExplanation {
            path: path.to_owned(),
            value,
            layer: content.layer,
            file: place.as_ref().map(|place| place.file.clone()),
            line: place.as_ref().map(|place| place.line),
            column: place.map(|place| place.column),
            name: content.name.clone(),
            overridden,
        })
    }

    /// Returns the path nearest to one that nobody says anything about.
    pub fn nearest(&self, path: &str) -> Option<String> {
        let all = self.all();
        let known = all.iter().map(|explanation| explanation.path.as_str());
        chitin_protocol::nearest::nearest(path, known).map(str::to_owned)
    }

    /// Returns the settings that hold for an agent: flags and variables first, then the agent's own, then all agents'.
    pub fn settings(&self, agent: Option<&AgentId>) -> ChitinSettings {
        ChitinSettings {
            with: self.setting("with", agent).unwrap_or_default(),
            contract: self
                .said_above("contract", agent, ConfigLayer::BuiltIn)
                .and_then(typed),
            links: self.setting("links", agent),
            hardlinks: self
                .said_above("hardlinks", agent, ConfigLayer::BuiltIn)
                .and_then(typed),
            root_files: self.setting("rootFiles", agent).unwrap_or_default(),
            subagent_files: self
                .said_above("subagentFiles", agent, ConfigLayer::BuiltIn)
                .and_then(typed),
            skill_depth: self.setting("skillDepth", agent),
            release_skills: self.setting("releaseSkills", agent),
            templates: self.setting("templates", agent),
            budget: self.setting("budget", agent),
            small_window: self.setting("smallWindow", agent),
            sections_off: self.setting("sectionsOff", agent).unwrap_or_default(),
            refresh: self.setting("refresh", agent),
            model: self
                .said_above("model", agent, ConfigLayer::BuiltIn)
                .and_then(typed),
            fallbacks: self.setting("fallbacks", agent).unwrap_or_default(),
            thinking: self.setting("thinking", agent),
            retries: self.setting("retries", agent),
            limits: self.setting("limits", agent).unwrap_or_default(),
            history: self.setting("history", agent).unwrap_or_default(),
            access: self.merged("access", agent).unwrap_or_default(),
            tools: self.setting("tools", agent).unwrap_or_default(),
            exec: self.setting("exec", agent).unwrap_or_default(),
            mcp: self.setting("mcp", agent).unwrap_or_default(),
            memory: self.merged("memory", agent).unwrap_or_default(),
            context_engine: self.setting("contextEngine", agent),
            sessions: self.setting("sessions", agent).unwrap_or_default(),
            subagents: self.merged("subagents", agent).unwrap_or_default(),
            trace: self.setting("trace", agent).unwrap_or_default(),
            undo: self.setting("undo", agent).unwrap_or_default(),
        }
    }

    /// Returns the agents for which a setting of ours is said apart from all others.
    pub fn agents_that_set(&self, key: &str) -> BTreeSet<AgentId> {
        let own = self
            .contents
            .iter()
            .filter(|c| c.layer != ConfigLayer::OpenClaw);
        own.filter_map(|content| content.value.get("agents")?.as_object())
            .flatten()
            .filter(|(_, entry)| entry.get(key).is_some())
            .map(|(id, _)| AgentId::normalize(id))
            .collect()
    }

    fn setting<T: DeserializeOwned>(&self, key: &str, agent: Option<&AgentId>) -> Option<T> {
        self.contents
            .iter()
            .rev()
            .find_map(|content| typed(content.setting(key, agent)?))
    }

    /// Looks a setting up whose parts may be said in different places: what an agent leaves out is taken from all agents'.
    fn merged<T: DeserializeOwned>(&self, key: &str, agent: Option<&AgentId>) -> Option<T> {
        let mut merged = Value::Null;
        for agent in [None, agent] {
            let said = self.contents.iter();
            for value in said.filter_map(|content| content.setting(key, agent)) {
                lay_over(&mut merged, value);
            }
        }
        typed(&merged)
    }

    fn said_above(&self, key: &str, agent: Option<&AgentId>, floor: ConfigLayer) -> Option<&Value> {
        self.contents
            .iter()
            .rev()
            .filter(|content| content.layer > floor)
            .find_map(|content| content.setting(key, agent))
    }
}

impl Content {
    /// Looks a setting of ours up; `openclaw.json` has none of them.
    fn setting(&self, key: &str, agent: Option<&AgentId>) -> Option<&Value> {
        if self.layer == ConfigLayer::OpenClaw {
            return None;
        }
        let own = agent.and_then(|agent| {
            let agents = self.value.get("agents")?.as_object()?;
            let (_, entry) = agents
                .iter()
                .find(|(id, _)| AgentId::normalize(id) == *agent)?;
            entry.get(key)
        });
        own.or_else(|| self.value.get(key))
    }
}

/// Lays a value over another: objects part by part, anything else as a whole.
pub fn lay_over(below: &mut Value, above: &Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                lay_over(below.entry(key.as_str()).or_insert(Value::Null), value);
            }
        }
        (below, above) => *below = above.clone(),
    }
}

fn typed<T: DeserializeOwned>(value: &Value) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}

/// Collects the paths of values that hold no further keys.
fn leaves(value: &Value, path: &mut Vec<Step>, paths: &mut BTreeSet<Vec<Step>>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, field) in fields {
                path.push(Step::Key(key.clone()));
                leaves(field, path, paths);
                path.pop();
            }
        }
        Value::Object(_)
        | Value::Array(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_) => {
            if !path.is_empty() {
                paths.insert(path.clone());
            }
        }
    }
}
