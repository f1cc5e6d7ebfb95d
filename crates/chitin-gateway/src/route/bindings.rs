//! Places that belong to a session: messages from there are its turns, whatever the configuration's bindings say (E7).

use super::Inbound;
use crate::gateway::{Gateway, Inner};
use crate::surface::Address;
use chitin_store::{JobChange, StoreError};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// What names of bindings in the ledger begin with.
pub(crate) const PREFIX: &str = "bind ";

/// A place, and the session that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Bound {
    pub(crate) place: Address,
    pub(crate) session_key: String,
    pub(crate) agent_id: String,
}

/// Places that belong to sessions.
#[derive(Debug, Default)]
pub(crate) struct Bindings(RwLock<HashMap<String, Bound>>);

impl Bindings {
    pub(crate) fn put(&self, bound: Bound) {
        let mut bindings = self.0.write().unwrap_or_else(PoisonError::into_inner);
        bindings.insert(name(&bound.place), bound);
    }
}

impl Gateway {
    /// Binds a place to a session, until it is freed: messages from there are turns of that session.
    pub async fn bind(
        &self,
        place: Address,
        session_key: &str,
        agent_id: &str,
    ) -> Result<(), StoreError> {
        let bound = Bound {
            place,
            session_key: session_key.to_owned(),
            agent_id: agent_id.to_owned(),
        };
        self.0.write(vec![bound.opening()]).await?;
        self.0.bindings.put(bound);
        Ok(())
    }

    /// Frees the places of a session.
    pub fn unbind(&self, session_key: &str) {
        self.0.unbind(session_key);
    }
}

impl Bound {
    /// Makes the change that lets it go.
    pub(crate) fn closing(&self) -> JobChange {
        JobChange::Close {
            id: name(&self.place),
        }
    }

    /// Makes the change that keeps it.
    pub(crate) fn opening(&self) -> JobChange {
        JobChange::Open {
            id: name(&self.place),
            body: serde_json::to_value(self).unwrap_or_default(),
        }
    }
}

impl Inner {
    /// Frees the places of a session.
    pub(crate) fn unbind(&self, session_key: &str) {
        let bindings = &self.bindings.0;
        let mut bindings = bindings.write().unwrap_or_else(PoisonError::into_inner);
        let mut freed = Vec::new();
        bindings.retain(|name, bound| {
            let keep = bound.session_key != session_key;
            if !keep {
                freed.push(JobChange::Close { id: name.clone() });
            }
            keep
        });
        if !freed.is_empty() {
            self.parts.ledger.note(freed);
        }
    }

    /// Returns the session, and its agent, that a message's place belongs to.
    pub(crate) fn bound_session(&self, inbound: &Inbound) -> Option<(String, String)> {
        let place = Address::of(&inbound.normalized())?;
        let bindings = &self.bindings.0;
        let bindings = bindings.read().unwrap_or_else(PoisonError::into_inner);
        let bound = bindings.get(&name(&place))?;
        Some((bound.session_key.clone(), bound.agent_id.clone()))
    }
}

fn name(place: &Address) -> String {
    let place = Address::of(&place.inbound().normalized()).unwrap_or_else(|| place.clone());
    let account = place.account_id.as_deref().unwrap_or_default();
    format!("{PREFIX}{account} {place}")
}
