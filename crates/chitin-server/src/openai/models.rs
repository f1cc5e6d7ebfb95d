//! Agents as models.

use crate::body::{Body, json};
use crate::error::ApiError;
use crate::shared::Shared;
use chitin_gateway::Gateway;
use hyper::{Response, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;

/// The agents as models.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ModelList {
    /// Always `list`.
    object: &'static str,
    /// The models.
    data: Vec<Model>,
}

/// An agent as a model.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Model {
    /// `chitin`, or `chitin/` and the agent's id.
    id: String,
    /// Always `model`.
    object: &'static str,
    /// Always 0.
    created: i64,
    /// Always `chitin`.
    owned_by: &'static str,
}

/// The default agent, as a model.
const DEFAULT: &str = "chitin";
/// What the others begin with.
const PREFIX: &str = "chitin/";

/// Returns the agent that a model is.
pub(crate) fn agent(gateway: &Gateway, model: &str) -> Result<String, ApiError> {
    let agents = gateway.parts().host.agents();
    let unknown = || {
        let model = crate::error::short(model);
        let message = format!("There is no model `{model}`.");
        ApiError::new(StatusCode::NOT_FOUND, "model_not_found", message)
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
    let object = "list";
    json(StatusCode::OK, &ModelList { object, data })
}

/// Shows one model.
pub(crate) fn model(shared: &Shared, id: &str) -> Result<Response<Body>, ApiError> {
    agent(&shared.gateway, id)?;
    Ok(json(StatusCode::OK, &entry(id)))
}

fn entry(id: &str) -> Model {
    Model {
        id: id.to_owned(),
        object: "model",
        created: 0,
        owned_by: "chitin",
    }
}
