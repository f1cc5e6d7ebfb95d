//! What an agent remembers.

use super::{said, value};
use crate::commands;
use chitin_runtime::AgentFactory;
use chitin_runtime::Host;
use chitin_server::{DeskError, Trouble};
use serde_json::Value;

/// How many results there are at most.
const MOST: usize = 100;

/// Searches an agent's memory, or says how it stands.
pub(super) fn answer(
    host: &Host,
    factory: &AgentFactory,
    query: Option<&str>,
    limit: Option<usize>,
) -> Result<Value, DeskError> {
    let Some(query) = query else {
        let standing = commands::memory::standing(host, &factory.setup, &factory.memory);
        return value(&standing.map_err(said)?);
    };
    if query.trim().is_empty() {
        return Err(DeskError::new(
            Trouble::Bad,
            "There is nothing to look for.",
        ));
    }
    let limit = limit.map(|limit| limit.min(MOST));
    let found = commands::memory::find(&factory.memory, query, limit);
    value(&found.map_err(said)?)
}
