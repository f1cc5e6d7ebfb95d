//! Exact-bytes clients of model providers, and models that need none.
//!
//! In: a [`ModelRequest`] in the words of [`chitin_protocol::message`]. Out: a [`Prepared`] request, whose body was built to bytes
//! once, and then a stream of [`StreamEvent`]s. The bytes that are hashed are the bytes that are logged and sent. This
//! crate knows nothing of agents, tools that run, transcripts or the workspace; keys, clocks and environment are handed in.

mod compat;
pub mod cost;
pub mod embeddings;
pub mod error;
pub mod http;
pub mod keys;
mod local;
pub mod model;
mod normalise;
pub mod offline;
pub mod providers;
pub mod record;
mod recording;
pub mod replay;
pub mod request;
pub mod retry;
pub mod scripted;
pub mod stream;
pub mod wire;

pub use embeddings::{BlockingEmbedder, RemoteEmbedder};
pub use error::ModelError;
pub use http::{HttpModel, ModelEndpoint, ModelTimeouts};
pub use model::{EventStream, Model, Prepared, Tee};
pub use offline::OfflineModel;
pub use record::RecordModel;
pub use replay::ReplayModel;
pub use request::{Api, ModelRequest, Retention};
pub use retry::{Jitter, RetryPolicy};
pub use scripted::ScriptedModel;
pub use stream::StreamEvent;
