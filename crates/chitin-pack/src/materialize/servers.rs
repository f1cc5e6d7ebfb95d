//! MCP servers and subagents, as their layers have them.

use crate::error::{ErrorClass, PackError};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A server that is reached by a command or at an address. Secrets are declared elsewhere and never written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Server {
    pub(super) command: Option<String>,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) url: Option<String>,
    pub(super) transport: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
}

/// An agent that this one may call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Subagent {
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) instructions: String,
    #[serde(default)]
    pub(super) model: Option<String>,
}

/// Keeps a value from ending the line it stands in.
pub(super) fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// Reads the servers, sorted by name.
pub(super) fn servers(mcp: Option<&Value>) -> Result<BTreeMap<String, Server>, PackError> {
    members(mcp, "servers", "the MCP layer")
}

/// Reads the subagents, sorted by name.
pub(super) fn subagents(layer: Option<&Value>) -> Result<BTreeMap<String, Subagent>, PackError> {
    members(layer, "agents", "the subagents layer")
}

fn members<T: for<'de> Deserialize<'de>>(
    layer: Option<&Value>,
    member: &str,
    what: &str,
) -> Result<BTreeMap<String, T>, PackError> {
    let Some(found) = layer.and_then(|layer| layer.get(member)) else {
        return Ok(BTreeMap::new());
    };
    BTreeMap::deserialize(found).map_err(|error| {
        PackError::new(
            ErrorClass::InvalidField,
            format!("{what} is not of the form"),
        )
        .caused_by(error)
    })
}
