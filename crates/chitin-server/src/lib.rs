//! The gateway over HTTP and WebSocket.
//!
//! In: requests on a socket, nearly always of this machine. Out: messages for the gateway, and what happens to them, as
//! JSON, as server-sent events or over a WebSocket. `/v1/chat/completions` speaks as OpenAI does, so that its clients can
//! talk to an agent. Everything is bounded: bodies, headers, connections, streams, and the time that each may take.
//!
//! It speaks no TLS. It listens on the loopback address, or, when told so, on another one behind a proxy that does.
//!
//! ```no_run
//! # async fn example(gateway: chitin_gateway::Gateway, stop: tokio::sync::oneshot::Receiver<()>) {
//! use chitin_server::{Server, ServerSettings};
//!
//! let token = "a-random-token-of-the-owner".into();
//! let settings = ServerSettings::new(([127, 0, 0, 1], 0).into(), token);
//! let Ok(bound) = Server::bind(settings) else { return };
//! let address = bound.address();
//! let ended = bound.serve(gateway, async { drop(stop.await) }).await;
//! # let _ = (address, ended.drained);
//! # }
//! ```
//!
//! Reading order: `server.rs` (sockets, the end), `answer.rs` (one request), `auth.rs` and `login.rs` (who may),
//! `operations.rs` (what there is), then `api/`, `openai/`. The page itself is in `page/`; what it asks about workspaces is `workspace_api/`.

mod answer;
mod api;
mod attached;
mod auth;
mod body;
mod compat;
mod connection;
mod error;
mod feed;
mod follow;
mod forward;
mod images;
mod login;
mod metrics;
pub mod openai;
pub mod openapi;
pub mod operations;
mod page;
mod phase;
mod rate;
pub mod route;
mod server;
mod settings;
mod shared;
mod socket;
mod stall;
mod strangers;
mod web;
mod webhook;
pub mod workspace_api;

pub use attached::{Attached, RedactValue};
pub use error::ApiError;
pub use login::{KeptLogin, LoginChange, LoginId, Register};
pub use server::{Bound, Doors, Ended, Server};
pub use settings::{BindError, Limits, Reach, ServerSettings};
pub use web::WebSurface;
pub use workspace_api::{WorkspaceApi, WorkspaceApiError, WorkspaceApiErrorKind};
