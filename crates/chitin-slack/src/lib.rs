//! Slack as a surface: direct messages, channels and threads.
//!
//! In: what people write on Slack, over Socket Mode or over HTTP, and the words that a gateway wants said. Out: messages that are handed
//! to [`chitin_gateway::Gateway::notice`], and calls of Slack's Web API. It decides nothing: who is heard, which session it is and where an
//! answer stands is the gateway's business. A token is sent to Slack's own hosts only, and shown nowhere.
//!
//! ```
//! use chitin_slack::SlackSettings;
//! let section = serde_json::json!({"mode": "http", "webhookPath": "slack/events"});
//! let issues = SlackSettings::read(&section).err().unwrap_or_default();
//! assert_eq!(issues[0].path, "webhookPath");
//! ```
//!
//! Reading order: `slack.rs` (the surface), `account.rs`, `web/` (calls), `socket/` and `webhook.rs` (what comes in), `event.rs`, `receive.rs`.

mod account;
mod act;
mod compat;
mod emoji;
pub mod event;
mod files;
pub mod mrkdwn;
mod people;
mod probe;
mod receive;
mod recent;
mod send;
mod settings;
pub mod signature;
mod slack;
mod socket;
mod web;
mod webhook;

pub use compat::ID;
pub use settings::{SettingIssue, SlackSettings};
pub use slack::{Slack, SlackError, SlackNotes, SlackTokens};
pub use socket::envelope;
