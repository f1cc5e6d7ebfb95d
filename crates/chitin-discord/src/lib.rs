//! Discord as a surface: people talk to an agent in direct messages, channels, threads and forum posts.
//!
//! In: the `channels.discord` section of a configuration ([`DiscordSettings`]) and a token for each account. Out: a [`Discord`], which
//! sends ([`chitin_gateway::Surface`]), and hears ([`chitin_gateway::surface::Network`]). It decides nothing about who may speak:
//! everything that it hears is handed to [`chitin_gateway::Gateway::notice`]. It writes nothing but how far it was ([`PositionStore`]), never shows a
//! token, and a text that it sends wakes nobody who is not in the conversation.
//!
//! Reading order: `discord.rs` (the surface), `listen/` (the connection), `intake/` (incoming messages), `send.rs` and `act/` (what is done), `rest/` (requests and
//! their limits).
//!
//! ```
//! use chitin_discord::DiscordSettings;
//!
//! let section = serde_json::json!({"mediaMaxMb": 4, "actions": {"pins": false}});
//! let settings = DiscordSettings::read(&section).map_err(|issues| format!("{issues:?}"))?;
//! assert_eq!(settings.accounts.len(), 1, "one account, called `default`");
//! # Ok::<(), String>(())
//! ```

mod account;
mod account_state;
mod act;
mod compat;
mod discord;
mod fetch;
mod ids;
mod intake;
mod listen;
mod places;
mod positions;
mod probe;
mod rest;
mod rooms;
mod send;
mod settings;
mod text;
mod wire;

pub use compat::ID;
pub use discord::{Discord, DiscordError, DiscordNotes};
pub use intake::Ears;
pub use positions::PositionStore;
pub use settings::{AccountSettings, DiscordSettings, Intents, SettingIssue};
