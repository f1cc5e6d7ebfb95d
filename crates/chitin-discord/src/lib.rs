//! Discord as a surface: people talk to an agent in direct messages, channels, threads and forum posts.
//!
//! In: the `channels.discord` section of a configuration ([`Settings`]) and a token for each account. Out: a [`Discord`], which
//! sends ([`chitin_gateway::Surface`]), and hears ([`chitin_gateway::surface::Network`]). It decides nothing about who may speak:
//! everything that it hears is handed to [`chitin_gateway::Gateway::notice`]. It writes nothing but how far it was ([`Memory`]), never shows a
//! token, and a text that it sends wakes nobody who is not in the conversation.
//!
//! Reading order: `discord.rs` (the surface), `listen/` (the connection), `ears/` (what is heard), `send.rs` and `act/` (what is done), `rest/` (requests and
//! their limits).
//!
//! ```
//! use chitin_discord::Settings;
//!
//! let section = serde_json::json!({"mediaMaxMb": 4, "actions": {"pins": false}});
//! let settings = Settings::read(&section).map_err(|issues| format!("{issues:?}"))?;
//! assert_eq!(settings.accounts.len(), 1, "one account, called `default`");
//! # Ok::<(), String>(())
//! ```

mod account;
mod act;
mod compat;
mod discord;
mod ears;
mod fetch;
mod ids;
mod listen;
mod memory;
mod places;
mod probe;
mod rest;
mod rooms;
mod send;
mod settings;
mod standing;
mod wire;
mod words;

pub use compat::ID;
pub use discord::{Discord, DiscordError, Note};
pub use ears::Ears;
pub use memory::Memory;
pub use settings::{AccountSettings, Intents, SettingIssue, Settings};
