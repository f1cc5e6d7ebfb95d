//! Which engines there are, who owns them, and which one a configuration picks (C2, C3).

use super::{ContextEngine, EngineError, Legacy};
use crate::compat::{CORE_OWNER, LEGACY_ENGINE};
use chitin_protocol::text::trim_js;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Makes an engine.
pub type EngineFactory = Box<dyn Fn() -> Result<Arc<dyn ContextEngine>, String> + Send + Sync>;

struct Registered {
    owner: String,
    factory: EngineFactory,
    /// Why it is not used any more.
    quarantined: Option<String>,
}

/// What a try to register an engine came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registration {
    /// The id is the registrant's.
    Registered,
    /// Somebody has the id already.
    Taken {
        /// Who.
        owner: String,
    },
}

/// The engine that a configuration picked.
#[derive(Clone)]
pub struct Resolved {
    /// The engine.
    pub engine: Arc<dyn ContextEngine>,
    /// Why it is not the one that was asked for, if it is not.
    pub note: Option<String>,
}

impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolved")
            .field("engine", &self.engine.info().id)
            .field("note", &self.note)
            .finish()
    }
}

/// The engines that there are. The built-in one is always among them.
pub struct EngineRegistry {
    engines: BTreeMap<String, Registered>,
}

impl fmt::Debug for EngineRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owners = self.engines.iter().map(|(id, one)| (id, &one.owner));
        f.debug_map().entries(owners).finish()
    }
}

impl Default for EngineRegistry {
    fn default() -> Self {
        let legacy = Registered {
            owner: CORE_OWNER.to_owned(),
            factory: Box::new(|| Ok(Arc::new(Legacy))),
            quarantined: None,
        };
        Self {
            engines: BTreeMap::from([(LEGACY_ENGINE.to_owned(), legacy)]),
        }
    }
}

impl EngineRegistry {
    /// Returns a registry with the built-in engine.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers an engine. The first registrant owns an id.
    pub fn register(&mut self, id: &str, owner: &str, factory: EngineFactory) -> Registration {
        if let Some(known) = self.engines.get(id) {
            return Registration::Taken {
                owner: known.owner.clone(),
            };
        }
        self.engines.insert(
            id.to_owned(),
            Registered {
                owner: owner.to_owned(),
                factory,
                quarantined: None,
            },
        );
        Registration::Registered
    }

    /// Remembers that an engine failed: from now on the built-in one stands in. That one is never set aside.
    pub fn quarantine(&mut self, id: &str, reason: &str) {
        if let Some(known) = self.engines.get_mut(id).filter(|_| id != LEGACY_ENGINE) {
            known.quarantined.get_or_insert_with(|| reason.to_owned());
        }
    }

    /// Makes the engine of this id. One that is unknown, was set aside, cannot be made or calls itself by another id
    /// gives way to the built-in one, with a note. The built-in one failing is an error.
    pub fn resolve(&self, id: &str) -> Result<Resolved, EngineError> {
        let problem = match self.make(id) {
            Ok(engine) => return Ok(Resolved { engine, note: None }),
            Err(problem) => problem,
        };
        if id == LEGACY_ENGINE {
            return Err(EngineError::NotStarted {
                id: id.to_owned(),
                reason: problem,
            });
        }
        let engine = self
            .make(LEGACY_ENGINE)
            .map_err(|_| EngineError::NoDefault { id: id.to_owned() })?;
        Ok(Resolved {
            engine,
            note: Some(format!(
                "The context engine `{id}` is not used: {problem} The built-in one, `{LEGACY_ENGINE}`, stands in."
            )),
        })
    }

    fn make(&self, id: &str) -> Result<Arc<dyn ContextEngine>, String> {
        let known = self
            .engines
            .get(id)
            .ok_or("no engine of this id is registered.")?;
        if let Some(reason) = &known.quarantined {
            return Err(format!("it failed before: {reason}."));
        }
        let engine =
            (known.factory)().map_err(|reason| format!("it could not be started: {reason}."))?;
        match engine.info().id {
            own if own == id => Ok(engine),
            own => Err(format!("it calls itself `{own}`.")),
        }
    }
}

/// Returns the id of the engine that a configuration asks for, or the built-in one's.
pub fn slot(config: &Value) -> &str {
    config["plugins"]["slots"]["contextEngine"]
        .as_str()
        .map(trim_js)
        .filter(|id| !id.is_empty())
        .unwrap_or(LEGACY_ENGINE)
}
