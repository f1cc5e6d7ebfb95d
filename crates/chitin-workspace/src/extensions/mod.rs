//! The five extension files, each read by the part that owns it.
//!
//! | file | module | gives |
//! |---|---|---|
//! | `CHANNELS.md` | [`channels`] | names of channels |
//! | `MCP.md` | [`mcp`] | servers to connect to |
//! | `PERMISSIONS.md` | [`permissions`] | policies, and decisions about messages |
//! | `RUNTIME.md` | [`runtime`], [`suggestion`] | model settings of one agent; what of them this program takes |
//! | `SKILLS.md` | [`skills`] | the prompt that the agent runs with |
//!
//! All of them are Markdown for people; what counts is found line by line, by one shared grammar.
//! Nothing here opens a connection, reads the clock or keeps state between agents.

mod agent_settings;
pub mod channels;
mod compat;
mod java_letters;
pub mod line;
mod live;
pub mod lookalike;
pub mod mcp;
pub mod permissions;
pub mod runtime;
mod secret;
pub mod skills;
pub mod suggestion;
mod uri;

pub use agent_settings::RuntimeFileSettings;
pub use line::Position;
pub use live::{LiveFile, LiveText};
pub use secret::Secret;
