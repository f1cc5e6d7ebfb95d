//! What was recorded of a session's turns.

use super::prompt::Prompt;
use crate::{AgentFactory, Host};
use crate::{ErrorKind, RuntimeError};
use chitin_agent::journal::{self, RecordedRun, RecordedTurns, TraceEvent, TraceFile};
use chitin_context::sections::ToolFact;
use chitin_protocol::tool::ToolSpec;
use chitin_server::workspace_api::WorkspaceApiError;
use chitin_store::SessionStore;
use std::path::PathBuf;
use std::sync::Arc;

/// The part of a prompt that is about the session alone.
const EXTRA: &str = "extra-context";

/// Finds the files of all recorded sessions.
pub(super) fn files(host: &Host) -> Result<Vec<PathBuf>, WorkspaceApiError> {
    Ok(crate::traces::files(host)?)
}

/// Finds the turns that were recorded of a session; none when nothing was.
pub(super) fn of(
    host: &Host,
    factory: &AgentFactory,
    session: &str,
) -> Result<Option<RecordedTurns>, WorkspaceApiError> {
    let entry = factory.store.find(session);
    let entry = entry.map_err(|error| unreadable(Box::new(error)))?;
    let Some(id) = entry.map(|entry| entry.session_id) else {
        return Ok(None);
    };
    let path = files(host)?.into_iter().find(|path| is_of(path, &id));
    path.map(|path| RecordedTurns::read(&path).map_err(|error| unreadable(Box::new(error))))
        .transpose()
}

/// Tells whether a file is the record of a session.
pub(super) fn is_of(path: &std::path::Path, session_id: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let rest = name.strip_prefix(session_id);
    !session_id.is_empty() && rest.is_some_and(|rest| rest.starts_with('.'))
}

/// Reads what was recorded of a session.
pub(super) fn read(path: &std::path::Path) -> Result<TraceFile, WorkspaceApiError> {
    journal::read(path).map_err(|error| unreadable(Box::new(error)))
}

/// Returns the model that a turn asked, as `provider/name`.
pub(super) fn model(run: &RecordedRun<'_>) -> Option<String> {
    let value = &run.contexts().last().or(run.events.first().copied())?.value;
    let word = |name: &str| value[name].as_str().filter(|word| !word.is_empty());
    Some(format!("{}/{}", word("provider")?, word("modelId")?))
}

/// Returns the tools that a turn offered, as its prompt spoke of them.
pub(super) fn tools(run: &RecordedRun<'_>) -> Option<Vec<ToolFact>> {
    let tools = run.contexts().last()?.data()["tools"].as_array()?;
    let fact = |tool: &serde_json::Value| {
        let description = tool["description"].as_str().unwrap_or_default();
        Some(ToolFact {
            name: tool["name"].as_str()?.into(),
            summary: crate::context::first_sentence(description).into(),
        })
    };
    let mut facts: Vec<ToolFact> = tools.iter().map(fact).collect::<Option<_>>()?;
    let metadata = run.event("trace.metadata").map(TraceEvent::data);
    if let Some(order) = metadata.and_then(journal::fragments::tools) {
        let place = |fact: &ToolFact| order.iter().position(|name| **name == *fact.name);
        facts.sort_by_key(place);
    }
    Some(facts)
}

/// Returns the definitions of the tools that a turn offered, if they were recorded.
pub(super) fn definitions(run: &RecordedRun<'_>) -> Option<Vec<ToolSpec>> {
    let tools = run.contexts().last()?.data().get("tools")?;
    serde_json::from_value(tools.clone()).ok()
}

/// Returns what a turn was told about its session alone, such as the task of a run that another one began.
pub(super) fn extra(prompt: &Prompt) -> Option<Arc<str>> {
    let part = prompt.parts.iter().find(|part| part.name == EXTRA)?;
    let text = prompt.text[part.range.clone()].trim_matches('\n');
    // The heading is ours.
    let own = match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("## ") => rest,
        Some(_) | None => text,
    };
    Some(own.into())
}

fn unreadable(source: Box<dyn std::error::Error + Send + Sync>) -> WorkspaceApiError {
    RuntimeError::new(ErrorKind::User, "Could not read the recording.")
        .caused_by(source)
        .into()
}
