//! Who gets a message, and in which session (R5–R14).
//!
//! In: the bindings, agents and session settings of an `openclaw.json`, read once into a [`Routing`]; then, for each
//! message, an [`Inbound`]. Out: a [`Route`], or an [`RouteExplanation`] that says of every binding why it holds or not.
//!
//! ```
//! use chitin_gateway::route::{Inbound, Peer, Routing};
//! use chitin_protocol::session_key::ChatType;
//! use chitin_contract::CANONICAL;
//!
//! let config = serde_json::json!({
//!     "agents": {"list": [{"id": "main", "default": true}, {"id": "ops"}]},
//!     "bindings": [{"agentId": "ops", "match": {"channel": "discord", "guildId": "g1"}}],
//! });
//! let routing = Routing::read(&config, &CANONICAL);
//! let inbound = Inbound {
//!     channel: "discord".to_owned(),
//!     peer: Some(Peer { kind: ChatType::Channel, id: "42".to_owned() }),
//!     guild_id: Some("g1".to_owned()),
//!     ..Inbound::default()
//! };
//! let route = routing.resolve(&inbound)?;
//! assert_eq!(route.session_key, "agent:ops:discord:channel:42");
//! # Ok::<(), chitin_gateway::route::RouteError>(())
//! ```

mod binding;
pub(crate) mod bindings;
mod error;
mod explain;
mod find;
mod identity;
mod inbound;
mod routing;
mod selected;
mod sessions;

pub use binding::{MatchedBy, Mismatch};
pub use error::RouteError;
pub use explain::{BindingVerdict, Choice, Considered, RouteExplanation};
pub use inbound::{Inbound, Peer};
pub use routing::{Route, RoutePolicy, Routing};
pub use sessions::thread_suffix;
