//! A conversation with a server over two streams, from the first word to an answer.

use super::connection::{CallError, Connection, not_begun};
use super::outcome::outcome;
use crate::exec::Redact;
use crate::tool::ToolOutcome;
use serde_json::Map;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// Connects over two streams, asks for the tools and calls the first three; returns what they gave back. Each step may take so
/// long. A door for fuzzing: otherwise a server is a program, and no program can be started for every input.
#[doc(hidden)]
pub async fn speak(
    output: impl AsyncRead + Send + Unpin + 'static,
    input: impl AsyncWrite + Send + Unpin + 'static,
    patience: Duration,
    redact: &Redact,
) -> Result<Vec<ToolOutcome>, String> {
    let late = |_| "it is late".to_owned();
    let connecting = tokio::time::timeout(patience, Connection::over(output, input));
    let connection = connecting.await.map_err(late)?;
    let connection = connection.map_err(|error| not_begun(&error))?;
    let listing = tokio::time::timeout(patience, connection.list());
    let listed = listing.await.map_err(late)??;
    let mut outcomes = Vec::new();
    for tool in listed.tools.iter().take(3) {
        let calling = tokio::time::timeout(patience, connection.call(&tool.name, Map::new()));
        match calling.await.map_err(late)? {
            Ok(answer) => outcomes.push(outcome(&answer, 1000, redact)),
            Err(CallError::Gone { reason, .. } | CallError::Refused(reason)) => {
                outcomes.push(ToolOutcome::error(reason));
            }
        }
    }
    Ok(outcomes)
}
