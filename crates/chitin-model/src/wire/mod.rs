//! The wire formats: requests to bytes, bytes to events. Pure functions; nothing here opens a socket.
//!
//! [`of`] gives the format of an [`Api`]; [`url`] joins a base URL and the format's path; [`Wire::body`] builds the bytes,
//! [`Wire::decoder`] reads the answer, and [`classify`] says what an answer means that is not one.
//!
//! A call whose arguments are not a JSON object is not lost: it comes with `{}` as arguments, and [`broken_arguments`]
//! gives the text that the model wrote, so that the caller can answer the call with an error instead of running it.

mod anthropic;
mod assembly;
pub mod cache;
mod completions;
mod decode;
mod failure;
mod history;
mod json;
mod lines;
mod ollama;
mod responses;
mod sse;

pub use failure::{classify, retry_after};
pub use json::{BROKEN_ARGUMENTS, broken_arguments, partial_json};
pub use lines::LineLimits;

use crate::error::ModelError;
use crate::request::{Api, ModelRequest};
use crate::stream::StreamEvent;
use chitin_contract::ProviderRules;
use chitin_protocol::message::Usage;
use chitin_protocol::tool::ToolSpec;
use serde_json::{Map, Value, json};

/// A wire format. Implemented once per provider's API.
pub trait Wire: Send + Sync {
    /// Which one it is.
    fn api(&self) -> Api;

    /// Returns what follows the base URL.
    fn path(&self) -> &'static str;

    /// Returns the headers besides authorisation, in order.
    fn headers(&self, request: &ModelRequest<'_>) -> Vec<(String, String)>;

    /// Returns the headers that carry the key: name, and the text that stands before it.
    fn key_headers(&self) -> &'static [(&'static str, &'static str)];

    /// Builds the body. The same request gives the same bytes.
    fn body(&self, request: &ModelRequest<'_>) -> Result<Vec<u8>, ModelError>;

    /// Returns the tool definitions of a request in this format's shape, as they stand in the body.
    fn tools(&self, request: &ModelRequest<'_>) -> Vec<Value>;

    /// Returns a decoder for the answer to a request, which tells everything that happens.
    fn decoder(&self, provider: &str, model: &str) -> Box<dyn Decoder> {
        self.decoder_by(provider, model, &ProviderRules::CANONICAL)
    }

    /// Returns a decoder that tells and keeps what a contract's program tells and keeps.
    fn decoder_by(&self, provider: &str, model: &str, rules: &ProviderRules) -> Box<dyn Decoder>;
}

/// Turns the bytes of an answer into events, whatever pieces they come in. The same bytes give the same events.
pub trait Decoder: Send {
    /// Takes some bytes. An error means that nothing was answered yet; later faults end in [`StreamEvent::Failed`].
    /// What comes after the end of the answer is ignored.
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<StreamEvent>) -> Result<(), ModelError>;

    /// The connection is closed: says what is left, which is an error when the answer is not complete.
    fn finish(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), ModelError>;

    /// The caller stops here: returns what has come so far, marked as aborted.
    fn abort(&mut self) -> StreamEvent;
}

/// Returns the wire format of an API. What models without a network are asked is written down as Chat Completions.
pub fn of(api: Api) -> &'static dyn Wire {
    match api {
        Api::AnthropicMessages => &anthropic::Anthropic,
        Api::OpenaiCompletions | Api::Offline | Api::Scripted => &completions::Completions,
        Api::OpenaiResponses => &responses::Responses,
        Api::Ollama => &ollama::Ollama,
    }
}

/// Returns where an API's own provider is reached; models without a network are not.
pub const fn default_base_url(api: Api) -> Option<&'static str> {
    match api {
        Api::AnthropicMessages => Some("https://api.anthropic.com"),
        Api::OpenaiCompletions | Api::OpenaiResponses => Some("https://api.openai.com/v1"),
        Api::Ollama => Some("http://127.0.0.1:11434"),
        Api::Offline | Api::Scripted => None,
    }
}

/// Joins a base URL and a format's path. Users write base URLs with and without `/v1`: OpenAI's formats want it where the
/// URL has no path at all; the others add their own.
pub fn url(wire: &dyn Wire, base_url: &str) -> String {
    let base = base_url.trim().trim_end_matches('/');
    let base = match wire.api() {
        Api::AnthropicMessages | Api::Ollama => base.strip_suffix("/v1").unwrap_or(base),
        Api::OpenaiCompletions | Api::OpenaiResponses | Api::Offline | Api::Scripted => base,
    };
    let has_path = base
        .split_once("://")
        .is_some_and(|(_, rest)| rest.contains('/'));
    let version = match wire.api() {
        Api::OpenaiCompletions | Api::OpenaiResponses if !has_path => "/v1",
        Api::OpenaiCompletions
        | Api::OpenaiResponses
        | Api::AnthropicMessages
        | Api::Ollama
        | Api::Offline
        | Api::Scripted => "",
    };
    format!("{base}{version}{}", wire.path())
}

/// Writes a body to bytes.
fn bytes(body: &Map<String, Value>) -> Result<Vec<u8>, ModelError> {
    serde_json::to_vec(body).map_err(|error| ModelError::Unbuildable(error.to_string()))
}

/// Adds up the tokens of an answer. The numbers are the provider's: they may be anything.
fn total(usage: &mut Usage) {
    usage.total_tokens = usage
        .input
        .saturating_add(usage.output)
        .saturating_add(usage.cache_read)
        .saturating_add(usage.cache_write);
}

/// The headers of formats that want nothing else.
fn json_headers() -> Vec<(String, String)> {
    vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("accept".to_owned(), "application/json".to_owned()),
    ]
}

/// A tool as Chat Completions and Ollama are told of it.
fn function_tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    })
}
