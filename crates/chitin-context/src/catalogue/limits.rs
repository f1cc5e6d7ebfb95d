//! The limits that hold for one agent (S54, S55, S57).

use chitin_config::agents;
use chitin_contract::{CatalogueRules, Contract};
use chitin_protocol::agent_id::AgentId;
use serde::Serialize;
use serde_json::Value;

/// How many skills are listed, and how long the list may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogueLimits {
    /// How many skills are listed at most.
    pub max_skills: usize,
    /// How long the list may be, in UTF-16 units.
    pub max_chars: usize,
}

impl Default for CatalogueLimits {
    fn default() -> Self {
        Self {
            max_skills: CatalogueRules::MAX_SKILLS,
            max_chars: CatalogueRules::MAX_CHARS,
        }
    }
}

/// Reads the limits of an agent: its own, else those of all agents, else the contract's.
pub fn limits(config: &Value, agent: Option<&str>, contract: &Contract) -> CatalogueLimits {
    let defaults = CatalogueLimits::default();
    let of_all = |key: &str| {
        config
            .pointer("/skills/limits")
            .and_then(|limits| number(limits.get(key)?))
    };
    let own = agent.map(AgentId::normalize).and_then(|id| {
        agents::roster(config, contract)
            .into_iter()
            .find(|entry| entry.id == id)
            .and_then(|entry| {
                let limits = entry.settings.get("skillsLimits")?;
                number(limits.get("maxSkillsPromptChars")?)
            })
    });
    CatalogueLimits {
        max_skills: of_all("maxSkillsInPrompt").unwrap_or(defaults.max_skills),
        max_chars: own
            .or_else(|| of_all("maxSkillsPromptChars"))
            .unwrap_or(defaults.max_chars),
    }
}

/// A whole number; one below zero counts as zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and the cast saturates"
)]
fn number(value: &Value) -> Option<usize> {
    value.as_f64().map(|number| number.max(0.0) as usize)
}
