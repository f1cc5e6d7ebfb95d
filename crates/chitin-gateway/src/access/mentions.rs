//! Words by which an agent is called in a room where nobody points at it: `mentionPatterns`.

use chitin_protocol::agent_id::AgentId;
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use std::collections::HashMap;

/// The longest pattern that is read, in bytes.
const MOST_LENGTH: usize = 512;
/// How many patterns of one place are read.
const MOST_PATTERNS: usize = 50;
/// The most memory that one pattern may take, in bytes.
const MOST_MEMORY: usize = 1 << 20;
/// How much of a message is searched, in bytes.
const MOST_TEXT: usize = 16 * 1024;

/// Words by which agents are called.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    everywhere: Vec<Regex>,
    /// An agent's own take the place of those for all.
    agents: HashMap<String, Vec<Regex>>,
}

impl Patterns {
    /// Reads what a configuration says. A pattern that is none, or too costly, is passed over.
    pub(super) fn read(config: &Value) -> Self {
        let agents = &config["agents"];
        let listed = agents["list"].as_array().into_iter().flatten();
        let listed = listed.filter_map(|agent| Some((agent["id"].as_str()?, agent)));
        let entries = agents["entries"].as_object().into_iter().flatten();
        let entries = entries.map(|(id, agent)| (id.as_str(), agent));
        let own = listed.chain(entries).filter_map(|(id, agent)| {
            let patterns = compiled(&agent["groupChat"]["mentionPatterns"])?;
            Some((AgentId::normalize(id).to_string(), patterns))
        });
        Self {
            agents: own.collect(),
            everywhere: compiled(&config["messages"]["groupChat"]["mentionPatterns"])
                .unwrap_or_default(),
        }
    }

    /// Tells whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.everywhere.is_empty() && self.agents.is_empty()
    }

    /// Tells whether a text calls an agent.
    pub(super) fn call(&self, agent_id: &str, text: &str) -> bool {
        let patterns = self.agents.get(agent_id).unwrap_or(&self.everywhere);
        let text = crate::access::quote::cut(text, MOST_TEXT);
        patterns.iter().any(|pattern| pattern.is_match(text))
    }
}

fn compiled(value: &Value) -> Option<Vec<Regex>> {
    let texts = value.as_array()?.iter().filter_map(Value::as_str);
    let texts = texts.filter(|text| !text.trim().is_empty() && text.len() <= MOST_LENGTH);
    let patterns = texts.take(MOST_PATTERNS).filter_map(|text| {
        let mut pattern = RegexBuilder::new(text);
        pattern.case_insensitive(true).size_limit(MOST_MEMORY);
        pattern.build().ok()
    });
    Some(patterns.collect())
}
