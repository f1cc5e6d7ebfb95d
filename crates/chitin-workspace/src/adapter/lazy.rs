//! The definition of an agent for whoever works for it: tools, engines, guards (A10).

use super::definition::AgentDefinition;
use std::fmt;
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// An agent's definition, made when somebody first asks for it. Clones share what was made.
#[derive(Clone, Default)]
pub struct LazyDefinition(Option<Arc<Inner>>);

struct Inner {
    load: Box<dyn Fn() -> Result<AgentDefinition, DefinitionError> + Send + Sync>,
    made: OnceLock<Result<Arc<AgentDefinition>, DefinitionError>>,
}

/// Why there is no definition.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct DefinitionError(pub String);

impl LazyDefinition {
    /// Makes the definition with `load`, once, when it is asked for.
    pub fn new(
        load: impl Fn() -> Result<AgentDefinition, DefinitionError> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(Inner {
            load: Box::new(load),
            made: OnceLock::new(),
        })))
    }

    /// Stands for an agent that was not made of a directory: asking gives an error.
    pub const fn none() -> Self {
        Self(None)
    }

    /// Returns the definition. The first call reads the directory and may wait for a plugin, so it does not belong on an
    /// asynchronous worker.
    pub fn get(&self) -> Result<Arc<AgentDefinition>, DefinitionError> {
        match &self.0 {
            Some(inner) => inner
                .made
                .get_or_init(|| (inner.load)().map(Arc::new))
                .clone(),
            None => Err(DefinitionError(
                "The agent was not made of a directory, so it has no definition.".to_owned(),
            )),
        }
    }

    /// Returns the definition if it costs nothing: it was made before, or there is none.
    pub fn made(&self) -> Option<Result<Arc<AgentDefinition>, DefinitionError>> {
        match &self.0 {
            Some(inner) => inner.made.get().cloned(),
            None => Some(self.get()),
        }
    }
}

impl fmt::Debug for LazyDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.made() {
            Some(Ok(definition)) => definition.name.clone(),
            Some(Err(error)) => error.to_string(),
            None => "not made yet".to_owned(),
        };
        f.debug_tuple("LazyDefinition").field(&name).finish()
    }
}
