//! What `chitin serve` is made of: a host of agents, and the token that clients must know.

mod address;
mod desk;
mod logins;
mod networks;
mod notify;
pub(crate) mod restart;
mod telemetry;
mod token;

pub(crate) use address::listen_address;
pub(crate) use desk::ServeDesk;
pub(crate) use logins::LoginFile;
pub(crate) use networks::Networks;
pub(crate) use notify::Notifier;
pub(crate) use telemetry::Telemetry;
pub(crate) use token::{FILE as TOKEN_FILE, Token, token};
