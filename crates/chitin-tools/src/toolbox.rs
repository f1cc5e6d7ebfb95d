//! The tools that one run has.

use crate::output::{Bounded, Controls, OutputLimits, clean};
use crate::policy::{PolicyInput, ToolVerdict, UnknownEntry, effective_tools, normalize_name};
use crate::redact::Redactor;
use crate::tool::{CallContext, Tool, ToolOutcome};
use crate::untrusted::GuardedDeed;
use chitin_contract::ToolRules;
use chitin_protocol::message::Block;
use chitin_protocol::nearest::nearest;
use chitin_protocol::settings::OutputSettings;
use chitin_protocol::tool::ToolSpec;
use serde_json::Value;
use std::sync::Arc;

/// A tool that a run could have.
#[derive(Clone)]
pub enum ToolOffer {
    /// One of our own: its name is in the catalogue, or it is a companion of one that is.
    Own(Arc<dyn Tool>),
    /// One from elsewhere, such as an MCP server.
    From {
        /// What brings it, as policies name it.
        plugin: String,
        /// The tool.
        tool: Arc<dyn Tool>,
    },
}

impl std::fmt::Debug for ToolOffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} from {:?}", self.name(), self.plugin())
    }
}

impl ToolOffer {
    fn name(&self) -> &str {
        &self.tool().spec().name
    }

    fn tool(&self) -> &Arc<dyn Tool> {
        match self {
            Self::Own(tool) | Self::From { tool, .. } => tool,
        }
    }

    fn plugin(&self) -> Option<&str> {
        match self {
            Self::Own(_) => None,
            Self::From { plugin, .. } => Some(plugin),
        }
    }
}

/// How many lines an outcome may have when nobody says otherwise.
const USUAL_LINES: usize = 2000;

/// The tools that one run has, in an order that does not change from run to run: providers cache what stands first.
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    verdict: ToolVerdict,
    shadowed: Vec<String>,
    rules: ToolRules,
    redactor: Arc<Redactor>,
    max_bytes: Option<usize>,
    max_lines: usize,
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.specs().map(|spec| spec.name.as_str()).collect();
        f.debug_struct("Toolbox")
            .field("tools", &names)
            .finish_non_exhaustive()
    }
}

impl Toolbox {
    /// Takes those of the offered tools that the policy allows. The tools from elsewhere that `input` names are replaced by
    /// those that are offered.
    pub fn new(
        rules: &ToolRules,
        input: &PolicyInput<'_>,
        mut offers: Vec<ToolOffer>,
        redactor: Arc<Redactor>,
    ) -> Self {
        // Our own come first, by the catalogue; the others by name, whatever order their servers are in today.
        offers.sort_by(|a, b| {
            let key = |offer: &ToolOffer| {
                let plugin = offer.plugin().map(str::to_owned);
                let name = plugin.is_some().then(|| offer.name().to_owned());
                (plugin, name)
            };
            key(a).cmp(&key(b))
        });
        let mut shadowed = Vec::new();
        let mut kept: Vec<ToolOffer> = Vec::new();
        for offer in offers {
            let name = normalize_name(rules, offer.name());
            if kept
                .iter()
                .any(|known| normalize_name(rules, known.name()) == name)
            {
                shadowed.push(offer.name().to_owned());
            } else {
                kept.push(offer);
            }
        }
        let mut plugin_tools: Vec<(String, Vec<String>)> = Vec::new();
        for offer in &kept {
            let Some(plugin) = offer.plugin() else {
                continue;
            };
            match plugin_tools.iter_mut().find(|(known, _)| known == plugin) {
                Some((_, tools)) => tools.push(offer.name().to_owned()),
                None => plugin_tools.push((plugin.to_owned(), vec![offer.name().to_owned()])),
            }
        }
        let verdict = effective_tools(
            rules,
            &PolicyInput {
                plugin_tools: &plugin_tools,
                ..input.clone()
            },
        );
        let tools = verdict
            .allowed
            .iter()
            .filter_map(|name| kept.iter().find(|offer| offer.name() == name))
            .map(|offer| offer.tool().clone())
            .collect();
        Self {
            tools,
            verdict,
            shadowed,
            rules: *rules,
            redactor,
            max_bytes: None,
            max_lines: USUAL_LINES,
        }
    }

    /// Bounds the text of every outcome as the user wants it. The bound of a call holds as well.
    #[must_use]
    pub fn with_output(mut self, settings: &OutputSettings) -> Self {
        self.max_bytes = settings.max_bytes.map(|bytes| bytes as usize);
        self.max_lines = settings
            .max_lines
            .map_or(USUAL_LINES, |lines| lines as usize);
        self
    }

    /// Returns what takes secrets out of results.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Returns what a model is told, in order.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().map(|tool| tool.spec())
    }

    /// Finds a tool by the name that a model called, which may be an alias or in another letter case.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        let find = |wanted: &str| self.tools.iter().find(|tool| tool.spec().name == wanted);
        find(name).or_else(|| {
            let wanted = normalize_name(&self.rules, name);
            self.tools
                .iter()
                .find(|tool| normalize_name(&self.rules, &tool.spec().name) == wanted)
        })
    }

    /// Returns what the policy came to, to explain what is missing.
    pub const fn verdict(&self) -> &ToolVerdict {
        &self.verdict
    }

    /// Returns entries of allow lists that name nothing.
    pub fn unknown_entries(&self) -> &[UnknownEntry] {
        &self.verdict.unknown
    }

    /// Returns the names of tools that were left out because another one has the same name.
    pub fn shadowed(&self) -> &[String] {
        &self.shadowed
    }

    /// Runs a tool. What comes back has no secrets, no control characters and no more text than the bounds allow, whoever
    /// made the tool. Dropping the future leaves the call as the tool's own promises say.
    pub async fn call(
        &self,
        name: &str,
        arguments: Value,
        context: &CallContext<'_>,
    ) -> ToolOutcome {
        let outcome = match self.get(name) {
            Some(tool) => match denied(&tool.spec().name, context).await {
                Ok(()) => tool.call(arguments, context).await,
                Err(refusal) => ToolOutcome::error(refusal),
            },
            None => self.missing(name),
        };
        self.tidy(outcome, context.max_output_bytes)
    }

    /// Says that there is no such tool, why, and which one may be meant.
    pub fn missing(&self, name: &str) -> ToolOutcome {
        let written: String = name.chars().take(80).collect();
        let known = normalize_name(&self.rules, &written);
        let names: Vec<&str> = self.specs().map(|spec| spec.name.as_str()).collect();
        if let Some(removal) = self.verdict.removed.get(&known) {
            return ToolOutcome::error(removal.explain(&known));
        }
        let hint = match nearest(&written, names.iter().copied()) {
            Some(near) => format!("Did you mean `{near}`?"),
            None if names.is_empty() => "There are no tools in this turn.".to_owned(),
            None => format!(
                "Available tools: {}.",
                names
                    .iter()
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        };
        let reason = if self.verdict.allows(&known) {
            "is not available here"
        } else {
            "does not exist"
        };
        ToolOutcome::error(format!("The tool `{written}` {reason}. {hint}"))
    }

    fn tidy(&self, mut outcome: ToolOutcome, max_bytes: usize) -> ToolOutcome {
        let mut room = self.max_bytes.unwrap_or(max_bytes).min(max_bytes);
        let mut lines = self.max_lines;
        for block in &mut outcome.content {
            match block {
                Block::Text(block) => {
                    let text = clean(block.text.as_bytes(), Controls::Strip);
                    let mut bounded = Bounded::new(OutputLimits::bytes(room).lines(lines));
                    bounded.push(&self.redactor.redact(&text));
                    block.text = bounded.finish().text;
                    room = room.saturating_sub(block.text.len());
                    lines = lines.saturating_sub(block.text.lines().count());
                }
                Block::Other(value) => self.redactor.redact_value(value),
                Block::Thinking(_) | Block::Image(_) | Block::ToolCall(_) => {}
            }
        }
        if let Some(details) = &mut outcome.details {
            self.redactor.redact_value(details);
        }
        outcome
    }
}

/// Asks for a tool that the owner takes away from turns with untrusted text.
async fn denied(tool: &str, context: &CallContext<'_>) -> Result<(), String> {
    if !context.rights.untrusted.rules.denies(tool) {
        return Ok(());
    }
    let what = format!("call `{tool}`");
    let deed = GuardedDeed {
        tool,
        entry: tool,
        what: &what,
    };
    context.may(deed).await
}
