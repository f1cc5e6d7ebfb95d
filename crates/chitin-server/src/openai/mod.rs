//! The endpoints that OpenAI's clients know, so that they can talk to an agent.
//!
//! An agent is a model here: `chitin` is the default one, `chitin/<agent>` any. Sessions remember, so only the last thing
//! that the user said is a turn; what stands before it is given to a session that remembers nothing yet.

mod complete;
mod models;
mod reply;
mod request;
mod stream;
mod telling;
mod words;

pub(crate) use complete::complete;
pub(crate) use models::{Model, ModelList, model, models};
pub(crate) use reply::{ChatCompletion, ChatCompletionChunk};
pub(crate) use request::ChatCompletionRequest;
pub use request::{ChatMessage, ChatRequest, Role};
