//! The settings of the HTTP server, from what is configured.

use super::address::listen_address;
use super::token::Token;
use crate::Configuration;
use crate::error::RuntimeError;
use chitin_server::{Reach, ServerSettings};
use std::time::Duration;

/// Puts together what was asked for and what is configured: `listen` is an address, a port or both, as for `chitin serve --listen`.
pub fn server_settings(
    configuration: &Configuration,
    token: &Token,
    listen: Option<&str>,
    allow_remote: bool,
) -> Result<ServerSettings, RuntimeError> {
    let said = &configuration.server;
    let address = listen_address(said, listen)?;
    let mut settings = ServerSettings::new(address, token.secret.clone());
    if allow_remote || said.allow_remote == Some(true) {
        settings.reach = Reach::Everybody;
    }
    settings.hosts = said.hosts.clone().unwrap_or_default();
    settings.origins = said.origins.clone().unwrap_or_default();
    let limits = &mut settings.limits;
    if let Some(bytes) = said.max_body_bytes {
        limits.body = bytes as usize;
    }
    if let Some(connections) = said.max_connections {
        limits.connections = connections as usize;
        // Most of the room is for those who have shown the token.
        limits.strangers = limits.strangers.min(limits.connections.div_ceil(4));
        limits.streams = connections as usize;
    }
    if let Some(requests) = said.requests_per_minute {
        limits.requests_per_second = requests.div_ceil(60);
        limits.request_burst = requests;
    }
    if let Some(seconds) = said.drain_seconds {
        limits.drain_time = Duration::from_secs(u64::from(seconds));
    }
    Ok(settings)
}
