//! What turns changed in a workspace, and taking it back.

use super::sessions::number;
use super::workspace::{answer, known};
use crate::body::{Body, read_json};
use crate::error::ApiError;
use crate::route::Query;
use crate::shared::Shared;
use crate::workspace_api::{ChangeListRequest, TurnChangesRequest, UndoMode};
use hyper::body::Incoming;
use hyper::{Request, Response};
use schemars::JsonSchema;
use serde::Deserialize;

/// How many turns are listed when nobody says.
const LISTED: usize = 50;

/// Which turn is undone.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UndoTurn {
    /// The number of the turn to whose beginning the workspace goes back.
    turn: u64,
    /// Whether files that were changed since are taken back too.
    #[serde(default)]
    force: bool,
}

/// Lists the turns that changed something.
pub(crate) async fn changes(
    shared: &Shared,
    agent: String,
    query: &Query,
) -> Result<Response<Body>, ApiError> {
    let request = ChangeListRequest {
        agent: known(shared, agent)?,
        limit: number(query, "limit", LISTED)?,
    };
    answer(shared, |workspaces| workspaces.changes(request)).await
}

/// Shows what a turn changed.
pub(crate) async fn turn_changes(
    shared: &Shared,
    agent: String,
    query: &Query,
) -> Result<Response<Body>, ApiError> {
    let request = wanted(shared, agent, query)?;
    answer(shared, |workspaces| workspaces.turn_changes(request)).await
}

/// Tells what an undo would do.
pub(crate) async fn undo_preview(
    shared: &Shared,
    agent: String,
    query: &Query,
) -> Result<Response<Body>, ApiError> {
    let request = wanted(shared, agent, query)?;
    answer(shared, |workspaces| {
        workspaces.undo(request, UndoMode::Preview)
    })
    .await
}

/// Takes turns back.
pub(crate) async fn undo(
    shared: &Shared,
    agent: String,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let agent = known(shared, agent)?;
    let (head, body) = request.into_parts();
    let UndoTurn { turn, force } = read_json(&head.headers, body, shared).await?;
    let mode = if force {
        UndoMode::Forced
    } else {
        UndoMode::Careful
    };
    let request = TurnChangesRequest { agent, turn };
    answer(shared, move |workspaces| workspaces.undo(request, mode)).await
}

fn wanted(shared: &Shared, agent: String, query: &Query) -> Result<TurnChangesRequest, ApiError> {
    let turn = query.get("turn").and_then(|turn| turn.parse().ok());
    let wrong = || ApiError::bad("`turn` must be the number of a turn.").param("turn");
    Ok(TurnChangesRequest {
        agent: known(shared, agent)?,
        turn: turn.ok_or_else(wrong)?,
    })
}
