//! What an agent remembers.

use super::value;
use crate::AgentFactory;
use chitin_server::{DeskError, Trouble};
use serde_json::Value;

/// The maximum number of results.
const MOST: usize = 100;

/// Searches an agent's memory, or says how it stands.
pub(super) fn answer(
    factory: &AgentFactory,
    query: Option<&str>,
    limit: Option<usize>,
) -> Result<Value, DeskError> {
    let Some(query) = query else {
        return value(&factory.memory.status()?);
    };
    if query.trim().is_empty() {
        return Err(DeskError::new(Trouble::Bad, "The query is empty."));
    }
    let limit = limit.map(|limit| limit.min(MOST));
    let found = factory.memory.find(query, limit);
    value(&found?)
}
