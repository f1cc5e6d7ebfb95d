//! The handshake: which version, who, and what is offered.

use super::{VERSION, typed};
use crate::fault::PluginFault;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const LONGEST_NAME: usize = 100;
const MOST_OFFERS: usize = 16;

/// The members of a handshake that are not about one offer.
const OWN_MEMBERS: [&str; 4] = ["protocolVersion", "name", "version", "offers"];

/// What a plugin can offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum PluginOffer {
    /// Claims directories and makes agent definitions of them.
    Adapter,
    /// Decides what of a conversation a model sees again.
    ContextEngine,
    /// Something that this version does not know, such as a channel, by its name. It is not used.
    Other(String),
}

impl PluginOffer {
    /// Returns the name in the protocol.
    pub fn name(&self) -> &str {
        match self {
            Self::Adapter => "adapter",
            Self::ContextEngine => "contextEngine",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for PluginOffer {
    fn from(name: String) -> Self {
        match name.as_str() {
            "adapter" => Self::Adapter,
            "contextEngine" => Self::ContextEngine,
            _ => Self::Other(name),
        }
    }
}

impl From<PluginOffer> for String {
    fn from(offer: PluginOffer) -> Self {
        offer.name().to_owned()
    }
}

/// What a plugin says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Handshake {
    /// The version of the protocol.
    pub protocol_version: u64,
    /// The plugin's own name.
    pub name: String,
    /// The plugin's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it offers.
    pub offers: Vec<PluginOffer>,
    /// More about its adapter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<AdapterOffer>,
    /// More about its context engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_engine: Option<EngineOffer>,
}

/// More about an adapter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdapterOffer {
    /// Its place in the order; lower is asked first.
    #[serde(default)]
    pub priority: Option<i32>,
}

/// More about a context engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EngineOffer {
    /// Whether it decides itself when to compact.
    #[serde(default)]
    pub owns_compaction: Option<bool>,
    /// Whether it wants the agent's definition with `engine/bootstrap` and `engine/assemble`.
    #[serde(default)]
    pub definition: Option<bool>,
}

impl Handshake {
    /// Tells whether something is offered.
    pub fn offers(&self, offer: &PluginOffer) -> bool {
        self.offers.contains(offer)
    }
}

/// Leaves out what is said about offers that this version does not know, so that a plugin which also serves a later version keeps
/// what it offers to this one.
fn without_unknown_offers(mut value: Value) -> Value {
    let unknown: Vec<String> = value["offers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|offer| Some(PluginOffer::from(offer.as_str()?.to_owned())))
        .filter(|offer| matches!(offer, PluginOffer::Other(_)))
        .map(String::from)
        .filter(|name| !OWN_MEMBERS.contains(&name.as_str()))
        .collect();
    if let Some(members) = value.as_object_mut() {
        members.retain(|name, _| !unknown.contains(name));
    }
    value
}

/// Reads the answer of `initialize`.
pub fn handshake(value: Value) -> Result<Handshake, PluginFault> {
    // The version comes first: an answer of another version may have another form.
    if let Some(theirs) = value.get("protocolVersion").and_then(Value::as_u64)
        && theirs != VERSION
    {
        return Err(PluginFault::WrongVersion {
            theirs,
            ours: VERSION,
        });
    }
    let bad = |reason: String| PluginFault::BadAnswer {
        method: super::method::INITIALIZE,
        reason,
    };
    let handshake: Handshake = typed(without_unknown_offers(value)).map_err(bad)?;
    let too_long = |text: &str| text.chars().count() > LONGEST_NAME;
    let odd =
        |text: &str| text.trim().is_empty() || too_long(text) || text.contains(char::is_control);
    if odd(&handshake.name) || handshake.version.as_deref().is_some_and(odd) {
        return Err(bad(format!(
            "`name` and `version` must be text of 1 to {LONGEST_NAME} characters"
        )));
    }
    if handshake.offers.len() > MOST_OFFERS {
        return Err(bad(format!("`offers` has more than {MOST_OFFERS} entries")));
    }
    if handshake.offers.iter().any(|offer| odd(offer.name())) {
        return Err(bad(format!(
            "names in `offers` must be text of 1 to {LONGEST_NAME} characters"
        )));
    }
    Ok(handshake)
}
