//! Who may use which tool (R60–R67): layers of allow and deny lists, each of which can only take away.
//!
//! Everything here is a pure function of the contract's [`ToolRules`], the configuration and the facts of the session. The
//! verdict names, for every tool that is missing, the layer that took it away, so that a user can ask why.

mod config;
mod guest;
mod layers;
mod list;
mod profile;
mod verdict;

pub use config::PolicyConfig;
pub use guest::{GuestTools, WRITING};
pub use layers::{PolicyLayer, PolicyLayerKind};
pub use list::{ToolPolicy, normalize_name};
pub use profile::{groups, profile_policy};
pub use verdict::{RemovalReason, ToolRemoval, ToolVerdict, UnknownEntry};

use chitin_contract::ToolRules;
use chitin_protocol::session_key::KeyGrammar;
pub(crate) use list::matches;
use list::{Matcher, Names};
use std::collections::BTreeMap;

/// Tools of Chitin's own that no catalogue knows. Each only looks at files, so who may `read` may use them: a list that says
/// something about `read` says it about them too.
pub const COMPANIONS: [&str; 2] = ["list", "search"];

/// What the companions go by.
pub const COMPANIONS_OF: &str = "read";

/// Who wrote the message that started the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SenderKind {
    /// The owner of the agent, or nobody: a run that a schedule or the command line started.
    #[default]
    Owner,
    /// Somebody else.
    Other,
}

/// Everything that decides which tools a run has.
#[derive(Debug, Clone)]
pub struct PolicyInput<'a> {
    /// The configuration.
    pub config: &'a PolicyConfig,
    /// How session keys are read.
    pub grammar: KeyGrammar,
    /// The session.
    pub session_key: &'a str,
    /// The agent, where it is known better than from the key.
    pub agent_id: Option<&'a str>,
    /// How deep in a tree of subagents the session is, where that is stored; else the key says.
    pub depth: Option<u32>,
    /// The provider of the model.
    pub provider: Option<&'a str>,
    /// The model.
    pub model: Option<&'a str>,
    /// Who wrote the message.
    pub sender: SenderKind,
    /// Tools from elsewhere, by the id of what brings them. Tools of MCP servers come as `bundle-mcp`.
    pub plugin_tools: &'a [(String, Vec<String>)],
    /// Whether Chitin's own tools take part; conformance cases know only the catalogue.
    pub companions: Companions,
    /// The policy of the group or channel, if there is one.
    pub group: Option<ToolPolicy>,
    /// The policy of the sender, if there is one and the contract asks it.
    pub by_sender: Option<ToolPolicy>,
    /// The policy of the sandbox, if there is one.
    pub sandbox: Option<ToolPolicy>,
    /// What guests may use, in a turn that a guest's message started. This rule is ours, under every contract.
    pub guest: Option<GuestTools>,
}

/// Whether Chitin's own tools take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Companions {
    /// They do.
    Included,
    /// They do not.
    LeftOut,
}

impl<'a> PolicyInput<'a> {
    /// Describes a run of a session, started by the owner, with Chitin's own tools and none from elsewhere.
    pub const fn new(config: &'a PolicyConfig, grammar: KeyGrammar, session_key: &'a str) -> Self {
        Self {
            config,
            grammar,
            session_key,
            agent_id: None,
            depth: None,
            provider: None,
            model: None,
            sender: SenderKind::Owner,
            plugin_tools: &[],
            companions: Companions::Included,
            group: None,
            by_sender: None,
            sandbox: None,
            guest: None,
        }
    }
}

/// Says which tools a run has, in catalogue order, and why it lacks the others.
///
/// ```
/// use chitin_contract::ToolRules;
/// use chitin_protocol::session_key::KeyGrammar;
/// use chitin_tools::policy::{PolicyConfig, PolicyInput, effective_tools};
///
/// let config = PolicyConfig::from_value(&serde_json::json!({"tools": {"profile": "coding", "deny": ["exec"]}}));
/// let input = PolicyInput::new(&config, KeyGrammar::Lenient, "agent:main:main");
/// let verdict = effective_tools(&ToolRules::CANONICAL, &input);
/// assert!(verdict.allows("read") && !verdict.allows("exec"));
/// assert!(verdict.explain("exec").contains("tools.deny"));
/// ```
pub fn effective_tools(rules: &ToolRules, input: &PolicyInput<'_>) -> ToolVerdict {
    let names = names(rules, input);
    let layers = layers::layers(rules, input);
    let mut allowed = names.start.clone();
    let mut removed: BTreeMap<String, ToolRemoval> = BTreeMap::new();
    let mut unknown = Vec::new();
    for layer in &layers {
        let matcher = Matcher::new(rules, &names, &layer.policy);
        allowed.retain(|tool| match matcher.judge(tool) {
            None => true,
            Some(reason) => {
                removed.insert(
                    tool.clone(),
                    ToolRemoval {
                        layer: layer.kind,
                        path: layer.path_of(&reason),
                        reason,
                    },
                );
                false
            }
        });
        unknown.extend(matcher.unknown(layer));
    }
    ToolVerdict {
        known: names.start,
        allowed,
        removed,
        unknown,
        aliases: rules.aliases,
    }
}

/// Gathers every name that takes part, in order: the catalogue with our own tools behind `read`, then what plugins bring.
fn names(rules: &ToolRules, input: &PolicyInput<'_>) -> Names {
    let mut names = Names::default();
    for tool in rules.catalogue {
        names.start.push(tool.id.to_owned());
        if tool.id == COMPANIONS_OF && input.companions == Companions::Included {
            let ours = COMPANIONS
                .into_iter()
                .filter(|name| *name != "list" || rules.list_tool == "list");
            names.start.extend(ours.map(str::to_owned));
        }
    }
    for (plugin, tools) in input.plugin_tools {
        let own: Vec<String> = tools
            .iter()
            .map(|tool| normalize_name(rules, tool))
            .collect();
        names.start.extend(tools.iter().cloned());
        names.plugin_tools.extend(own.iter().cloned());
        names
            .plugins
            .entry(plugin.trim().to_lowercase())
            .or_default()
            .extend(own);
    }
    names
}
