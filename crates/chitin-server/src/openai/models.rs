//! Agents as models.

use crate::body::{Body, json};
use crate::problem::Problem;
use crate::shared::Shared;
use chitin_gateway::Gateway;
use hyper::{Response, StatusCode};
use serde_json::{Value, json as value};

/// The default agent, as a model.
const DEFAULT: &str = "chitin";
/// What the others begin with.
const PREFIX: &str = "chitin/";

/// Returns the agent that a model is.
pub(crate) fn agent(gateway: &Gateway, model: &str) -> Result<String, Problem> {
    let agents = gateway.parts().host.agents();
    let unknown = || {
        let model = crate::problem::short(model);
        let message = format!("There is no model `{model}`.");
        Problem::new(StatusCode::NOT_FOUND, "model_not_found", message)
            .hint("`GET /v1/models` lists them.")
            .param("model")
    };
    let wanted = if model == DEFAULT {
        let default = gateway.routing().default_agent();
        default.map_err(|_| unknown())?.to_string()
    } else {
        model.strip_prefix(PREFIX).ok_or_else(unknown)?.to_owned()
    };
    let known = agents.iter().any(|agent| agent.id == wanted);
    known.then_some(wanted).ok_or_else(unknown)
}

/// Lists the models.
pub(crate) fn models(shared: &Shared) -> Response<Body> {
    let agents = shared.gateway.parts().host.agents();
    let mut data = vec![entry(DEFAULT)];
    data.extend(
        agents
            .iter()
            .map(|agent| entry(&format!("{PREFIX}{}", agent.id))),
    );
    json(StatusCode::OK, &value!({"object": "list", "data": data}))
}

/// Shows one model.
pub(crate) fn model(shared: &Shared, id: &str) -> Result<Response<Body>, Problem> {
    agent(&shared.gateway, id)?;
    Ok(json(StatusCode::OK, &entry(id)))
}

fn entry(id: &str) -> Value {
    value!({"id": id, "object": "model", "created": 0, "owned_by": "chitin"})
}
