//! The model settings of several agents in one process (B14).

use super::runtime::{self, Overrides, RuntimeFileOutcome, RuntimeSettings};
use std::collections::BTreeMap;

/// What the `RUNTIME.md` of each agent set, and what holds for agents without one.
#[derive(Debug, Clone, Default)]
pub struct RuntimeFileSettings {
    default: Option<RuntimeSettings>,
    agents: BTreeMap<String, RuntimeSettings>,
}

impl RuntimeFileSettings {
    /// Reads the `RUNTIME.md` of an agent. What it sets belongs to that agent; the first that sets anything is also the
    /// default, and later ones never change it.
    pub fn load(
        &mut self,
        agent: &str,
        text: &str,
        overrides: Overrides<'_>,
    ) -> RuntimeFileOutcome {
        let applied = runtime::apply(text, overrides, self.of(agent));
        if let Some(settings) = &applied.settings {
            self.default.get_or_insert_with(|| settings.clone());
            self.agents.insert(agent.to_owned(), settings.clone());
        }
        applied
    }

    /// Returns the settings of an agent: its own, else the default.
    pub fn of(&self, agent: &str) -> Option<&RuntimeSettings> {
        self.agents.get(agent).or(self.default.as_ref())
    }

    /// Returns the settings of agents without a `RUNTIME.md`.
    pub const fn common(&self) -> Option<&RuntimeSettings> {
        self.default.as_ref()
    }
}
