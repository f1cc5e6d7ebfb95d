//! The protocol: JSON-RPC 2.0, one message a line, version 1.
//!
//! The host asks, the plugin answers. Whatever a plugin writes is parsed here and nowhere else, and is taken as a whole or
//! not at all: unknown fields, missing fields and fields of another type make an answer unusable. The grammar of every
//! message stands in `docs/reference/plugin-protocol.md`.

mod definition;
mod engine;
mod handshake;
mod lines;
mod message;

pub use definition::definition;
pub(crate) use engine::AssembleParams;
pub use engine::{
    BootstrapParams, CompactAnswer, CompactParams, CompactRoom, IngestParams, assembled,
    bootstrapped, compacted, ingested,
};
pub use handshake::{AdapterOffer, EngineOffer, Handshake, PluginOffer, handshake};
pub use lines::LineBuffer;
pub use message::{MessageError, PluginMessage, RpcError, parse, request_line};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The version of the protocol.
pub const VERSION: u64 = 1;
/// The longest line in either direction, in bytes, without its line end.
pub const LONGEST_LINE: usize = 8 << 20;
/// How many notifications a plugin may write while it is asked something.
pub const MOST_NOTIFICATIONS: usize = 1_000;
/// The code of an answer that says that a method is not known.
pub const METHOD_NOT_FOUND: i64 = -32_601;

/// The methods that a plugin is asked.
pub mod method {
    /// The handshake, always first.
    pub const INITIALIZE: &str = "initialize";
    /// Asks an adapter whether it claims a directory.
    pub const SUPPORTS: &str = "adapter/supports";
    /// Asks an adapter for the definition of a directory.
    pub const LOAD: &str = "adapter/load";
    /// Tells an engine the records of a session that existed before.
    pub const BOOTSTRAP: &str = "engine/bootstrap";
    /// Tells an engine one message.
    pub const INGEST: &str = "engine/ingest";
    /// Asks an engine what the model sees.
    pub const ASSEMBLE: &str = "engine/assemble";
    /// Asks an engine to shorten a conversation.
    pub const COMPACT: &str = "engine/compact";
}

/// Reads an answer of `adapter/supports`.
pub fn supports(value: Value) -> Result<bool, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Supports {
        supports: bool,
    }
    typed::<Supports>(value).map(|answer| answer.supports)
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}
