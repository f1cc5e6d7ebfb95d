//! What a page asks about workspaces: handed to whoever knows them.

use super::sessions::{agent_of, key, number, unknown_agent};
use crate::body::{Body, json, read_json};
use crate::error::{ApiError, FileConflict};
use crate::route::Query;
use crate::shared::Shared;
use crate::workspace_api::{
    FileRequest, LensRequest, MemoryRequest, PreviewRequest, SaveFileRequest, TraceListRequest,
    WorkspaceApi, WorkspaceApiError, WorkspaceApiErrorKind,
};
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many traces a list has, if nothing else is asked for.
const LISTED: usize = 50;
/// How many at most.
const MOST_LISTED: usize = 500;
/// The longest path of a file, in bytes.
const LONGEST_PATH: usize = 1024;
/// The longest thing that is looked for, in bytes.
const LONGEST_QUERY: usize = 4096;

/// A file as its author wants it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaveFile {
    /// The new text.
    text: String,
    /// The version that its author read; null for a new file.
    version: Option<String>,
}

/// A file as it might be.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnsavedPreview {
    /// The path below the workspace.
    path: String,
    /// The text that it would have.
    text: String,
    /// The session; by default the agent's main session.
    #[serde(default)]
    session: Option<String>,
}

/// Lists the files of a workspace.
pub(crate) async fn files(shared: &Shared, agent: String) -> Result<Response<Body>, ApiError> {
    let agent = known(shared, agent)?;
    answer(shared, move |workspaces| workspaces.files(&agent)).await
}

/// Reads a file.
pub(crate) async fn file(
    shared: &Shared,
    agent: String,
    query: &Query,
) -> Result<Response<Body>, ApiError> {
    let request = FileRequest {
        agent: known(shared, agent)?,
        path: path(query.get("path"))?,
    };
    answer(shared, |workspaces| workspaces.file(request)).await
}

/// Writes a file. When it changed since its author read it, the author sees both and chooses.
pub(crate) async fn save_file(
    shared: &Shared,
    agent: String,
    query: &Query,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let agent = known(shared, agent)?;
    let (head, body) = request.into_parts();
    let path = path(query.get("path"))?;
    let save: SaveFile = read_json(&head.headers, body, shared).await?;
    let request = SaveFileRequest {
        agent,
        path,
        text: save.text,
        version: save.version,
    };
    let saved = shared.workspaces(|workspaces| workspaces.save_file(request));
    match saved.await {
        Ok(saved) => Ok(json(StatusCode::OK, &saved)),
        Err(error) => {
            let kind = error.kind.clone();
            let failed = ApiError::from(error);
            let WorkspaceApiErrorKind::Conflict { current } = kind else {
                return Err(failed);
            };
            let error = failed.details();
            Ok(json(failed.status, &FileConflict { error, current }))
        }
    }
}

/// Shows what the next turn would hold if a file had another text.
pub(crate) async fn preview(
    shared: &Shared,
    agent: String,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let agent = known(shared, agent)?;
    let (head, body) = request.into_parts();
    let preview: UnsavedPreview = read_json(&head.headers, body, shared).await?;
    let session = preview.session.as_deref();
    let request = PreviewRequest {
        agent,
        session: session.map(|text| key(shared, text)).transpose()?,
        path: path(Some(&preview.path))?,
        text: preview.text,
    };
    answer(shared, |workspaces| workspaces.preview(request)).await
}

/// Lists the skills of an agent.
pub(crate) async fn skills(shared: &Shared, agent: String) -> Result<Response<Body>, ApiError> {
    let agent = known(shared, agent)?;
    answer(shared, move |workspaces| workspaces.skills(&agent)).await
}

/// Checks a workspace.
pub(crate) async fn findings(shared: &Shared, agent: String) -> Result<Response<Body>, ApiError> {
    let agent = known(shared, agent)?;
    answer(shared, move |workspaces| workspaces.findings(&agent)).await
}

/// Describes an agent's memory, or searches it.
pub(crate) async fn memory(
    shared: &Shared,
    agent: String,
    query: &Query,
) -> Result<Response<Body>, ApiError> {
    let agent = known(shared, agent)?;
    let wanted = query.get("q").map(str::to_owned);
    let is_long = |text: &String| text.len() > LONGEST_QUERY;
    if wanted.as_ref().is_some_and(is_long) {
        return Err(ApiError::bad("The query is too long.").param("q"));
    }
    let limit = query.get("limit").map(|_| number(query, "limit", 1));
    let request = MemoryRequest {
        agent,
        query: wanted,
        limit: limit.transpose()?,
    };
    answer(shared, |workspaces| workspaces.memory(request)).await
}

/// Returns the agent if there is one with that id.
pub(super) fn known(shared: &Shared, agent: String) -> Result<String, ApiError> {
    let agents = shared.gateway.parts().host.agents();
    if agents.iter().any(|one| one.id == agent) {
        Ok(agent)
    } else {
        Err(unknown_agent(&agent))
    }
}

fn path(path: Option<&str>) -> Result<String, ApiError> {
    match path {
        Some(path) if !path.is_empty() && path.len() <= LONGEST_PATH => Ok(path.to_owned()),
        _ => Err(ApiError::bad("`path` must name a file of the workspace.").param("path")),
    }
}

/// Lists the turns of a session.
pub(crate) async fn turns(shared: &Shared, text: &str) -> Result<Response<Body>, ApiError> {
    let session = key(shared, text)?;
    let agent = agent_of(&shared.gateway, &session)?;
    answer(shared, move |workspaces| workspaces.turns(&agent, &session)).await
}

/// Says what the model got in a turn.
pub(crate) async fn lens(
    shared: &Shared,
    text: &str,
    query: &Query,
) -> Result<Response<Body>, ApiError> {
    let session = key(shared, text)?;
    let turn = query.get("turn").filter(|turn| *turn != "next");
    let request = LensRequest {
        agent: agent_of(&shared.gateway, &session)?,
        session,
        turn: turn.map(str::to_owned),
    };
    answer(shared, |workspaces| workspaces.lens(request)).await
}

/// Lists recorded sessions.
pub(crate) async fn traces(shared: &Shared, query: &Query) -> Result<Response<Body>, ApiError> {
    let session = query.get("session").map(|text| key(shared, text));
    let request = TraceListRequest {
        agent: query.get("agent").map(str::to_owned),
        session: session.transpose()?,
        limit: number(query, "limit", LISTED)?.min(MOST_LISTED),
    };
    answer(shared, |workspaces| workspaces.traces(request)).await
}

/// Shows one of them.
pub(crate) async fn trace(shared: &Shared, id: String) -> Result<Response<Body>, ApiError> {
    answer(shared, move |workspaces| workspaces.trace(&id)).await
}

pub(super) async fn answer<T: Serialize + Send + 'static>(
    shared: &Shared,
    work: impl FnOnce(&dyn WorkspaceApi) -> Result<T, WorkspaceApiError> + Send + 'static,
) -> Result<Response<Body>, ApiError> {
    Ok(json(StatusCode::OK, &shared.workspaces(work).await?))
}
