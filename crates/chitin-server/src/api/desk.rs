//! What a page asks about workspaces: handed to whoever knows them.

use super::sessions::{agent_of, key, number, unknown_agent};
use crate::body::{Body, json, read_json};
use crate::desk::{Ask, Trouble};
use crate::problem::{Face, Problem};
use crate::route::{Part, Query};
use crate::shared::Shared;
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use serde::Deserialize;

/// How many traces a list has, if nothing else is asked for.
const LISTED: usize = 50;
/// How many at most.
const MOST_LISTED: usize = 500;
/// The longest path of a file, in bytes.
const LONGEST_PATH: usize = 1024;
/// The longest thing that is looked for, in bytes.
const LONGEST_QUERY: usize = 4096;

/// A file, as its author wants it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Save {
    text: String,
    version: Option<String>,
}

/// A file, as it might be.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Preview {
    path: String,
    text: String,
    #[serde(default)]
    session: Option<String>,
}

/// Answers what is asked about an agent.
pub(crate) async fn agent(
    shared: &Shared,
    agent: String,
    part: Part,
    query: &Query,
    request: Request<Incoming>,
) -> Result<Response<Body>, Problem> {
    let agents = shared.gateway.parts().host.agents();
    if !agents.iter().any(|one| one.id == agent) {
        return Err(unknown_agent(&agent));
    }
    let (head, body) = request.into_parts();
    let ask = match part {
        Part::Files => Ask::Files { agent },
        Part::File if head.method == Method::PUT => {
            let path = path(query.get("path"))?;
            let save: Save = read_json(&head.headers, body, shared).await?;
            Ask::Save {
                agent,
                path,
                text: save.text,
                version: save.version,
            }
        }
        Part::File => Ask::File {
            agent,
            path: path(query.get("path"))?,
        },
        Part::Preview => {
            let preview: Preview = read_json(&head.headers, body, shared).await?;
            let session = preview.session.as_deref();
            let session = session.map(|text| key(shared, text)).transpose()?;
            Ask::Preview {
                agent,
                path: path(Some(&preview.path))?,
                text: preview.text,
                session,
            }
        }
        Part::Skills => Ask::Skills { agent },
        Part::Findings => Ask::Findings { agent },
        Part::Memory => {
            let wanted = query.get("q").map(str::to_owned);
            if wanted
                .as_ref()
                .is_some_and(|text| text.len() > LONGEST_QUERY)
            {
                return Err(Problem::bad("The query is too long.").param("q"));
            }
            Ask::Memory {
                agent,
                query: wanted,
                limit: query
                    .get("limit")
                    .map(|_| number(query, "limit", 1))
                    .transpose()?,
            }
        }
    };
    answer(shared, ask).await
}

fn path(path: Option<&str>) -> Result<String, Problem> {
    match path {
        Some(path) if !path.is_empty() && path.len() <= LONGEST_PATH => Ok(path.to_owned()),
        _ => Err(Problem::bad("`path` must name a file of the workspace.").param("path")),
    }
}

/// Lists the turns of a session.
pub(crate) async fn turns(shared: &Shared, text: &str) -> Result<Response<Body>, Problem> {
    let session = key(shared, text)?;
    let agent = agent_of(&shared.gateway, &session)?;
    answer(shared, Ask::Turns { agent, session }).await
}

/// Says what the model got in a turn.
pub(crate) async fn lens(
    shared: &Shared,
    text: &str,
    query: &Query,
) -> Result<Response<Body>, Problem> {
    let session = key(shared, text)?;
    let agent = agent_of(&shared.gateway, &session)?;
    let turn = query.get("turn").filter(|turn| *turn != "next");
    let ask = Ask::Lens {
        agent,
        session,
        turn: turn.map(str::to_owned),
    };
    answer(shared, ask).await
}

/// Lists what turns left behind.
pub(crate) async fn traces(shared: &Shared, query: &Query) -> Result<Response<Body>, Problem> {
    let session = query.get("session").map(|text| key(shared, text));
    let ask = Ask::Traces {
        agent: query.get("agent").map(str::to_owned),
        session: session.transpose()?,
        limit: number(query, "limit", LISTED)?.min(MOST_LISTED),
    };
    answer(shared, ask).await
}

/// Shows one of them.
pub(crate) async fn trace(shared: &Shared, id: String) -> Result<Response<Body>, Problem> {
    answer(shared, Ask::Trace { id }).await
}

async fn answer(shared: &Shared, ask: Ask) -> Result<Response<Body>, Problem> {
    match shared.ask(ask).await {
        Ok(answer) => Ok(json(StatusCode::OK, &answer)),
        Err(mut error) => {
            let current = match &mut error.trouble {
                Trouble::Conflict { current } => Some(std::mem::take(current)),
                _ => None,
            };
            let problem = Problem::from(error);
            let Some(current) = current else {
                return Err(problem);
            };
            // Its author sees both, and chooses.
            let mut body = problem.body(Face::Own);
            body["current"] = *current;
            Ok(json(problem.status, &body))
        }
    }
}
