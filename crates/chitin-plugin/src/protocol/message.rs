//! One line: a JSON-RPC 2.0 message.

use super::LONGEST_LINE;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// The version of JSON-RPC.
const JSON_RPC: &str = "2.0";
/// The longest message of an error that is kept, in characters.
const LONGEST_MESSAGE: usize = 500;

/// What a plugin wrote.
#[derive(Debug, Clone, PartialEq)]
pub enum PluginMessage {
    /// An answer.
    Answer {
        /// The id of the request that it answers.
        id: u64,
        /// The result, or an error.
        outcome: Result<Value, RpcError>,
    },
    /// Something that nobody asked for and nobody answers.
    Notification {
        /// What it is.
        method: String,
    },
}

/// The error of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// The message, shortened.
    pub message: String,
}

/// Why a line is not a message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MessageError {
    /// It is too long.
    #[error("the line has more than {LONGEST_LINE} bytes")]
    TooLong,
    /// It is not JSON of the right form.
    #[error("the line is not a JSON-RPC message: {0}")]
    Malformed(String),
    /// It is a request, which plugins do not make.
    #[error("the line is a request (`{0}`), and plugins only answer")]
    Request(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    jsonrpc: String,
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Option<Value>,
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<RawError>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawError {
    code: i64,
    message: String,
    #[serde(default, rename = "data")]
    _data: Option<Value>,
}

/// Reads one line, without its line end.
pub fn parse(line: &[u8]) -> Result<PluginMessage, MessageError> {
    if line.len() > LONGEST_LINE {
        return Err(MessageError::TooLong);
    }
    let raw: Raw = serde_json::from_slice(line)
        .map_err(|error| MessageError::Malformed(shortened(&error.to_string())))?;
    let malformed = |what: &str| Err(MessageError::Malformed(what.to_owned()));
    if raw.jsonrpc != JSON_RPC {
        return malformed("`jsonrpc` is not \"2.0\"");
    }
    match raw {
        Raw {
            method: Some(method),
            id: None,
            result: None,
            error: None,
            ..
        } => Ok(PluginMessage::Notification { method }),
        Raw {
            method: Some(method),
            ..
        } => Err(MessageError::Request(shortened(&method))),
        Raw {
            params: Some(_), ..
        } => malformed("an answer has no `params`"),
        Raw {
            id, result, error, ..
        } => {
            let Some(id) = id.as_ref().and_then(Value::as_u64) else {
                return malformed("`id` is not the id of a request");
            };
            let outcome = match (result, error) {
                (Some(result), None) => Ok(result),
                (None, Some(error)) => Err(RpcError {
                    code: error.code,
                    message: shortened(&error.message),
                }),
                (Some(_), Some(_)) => return malformed("it has both `result` and `error`"),
                (None, None) => return malformed("it has neither `result` nor `error`"),
            };
            Ok(PluginMessage::Answer { id, outcome })
        }
    }
}

/// Writes a request as one line, with its line end.
pub fn request_line(id: u64, method: &str, params: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Outgoing<'a, P: Serialize> {
        jsonrpc: &'a str,
        id: u64,
        method: &'a str,
        params: &'a P,
    }
    let mut line = serde_json::to_vec(&Outgoing {
        jsonrpc: JSON_RPC,
        id,
        method,
        params,
    })?;
    line.push(b'\n');
    Ok(line)
}

/// Shortens a text of a plugin's, and takes out what could move a terminal's cursor.
fn shortened(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    clean.take(LONGEST_MESSAGE).collect()
}
