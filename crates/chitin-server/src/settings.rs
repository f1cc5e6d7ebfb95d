//! What a server is set up with, and what is refused.

use secrecy::{ExposeSecret, SecretString};
use std::net::SocketAddr;
use std::time::Duration;

/// The shortest token. With less, guessing would not be hopeless.
const SHORTEST_TOKEN: usize = 16;

/// What a server is set up with.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// Where it listens. Port 0 takes one that is free.
    pub address: SocketAddr,
    /// What a client must know.
    pub token: SecretString,
    /// Whether it may listen to other machines.
    pub reach: Reach,
    /// Names besides the loopback ones that a `Host` header may have, without ports.
    pub hosts: Vec<String>,
    /// Pages besides its own and those of this machine that may use it, as `https://host:port`.
    pub origins: Vec<String>,
    /// What is enough.
    pub limits: Limits,
}

/// Who can reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Only this machine.
    #[default]
    Loopback,
    /// Whoever can reach the address. There is no TLS: something else has to see to that.
    Everybody,
}

/// What is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The longest body, in bytes; also the longest message over a WebSocket.
    pub body: usize,
    /// The most bytes of bodies that are read at once.
    pub bodies: usize,
    /// The longest head of a request, in bytes.
    pub head: usize,
    /// The most header lines of a request.
    pub header_lines: usize,
    /// How long a client may take for the head of a request, and be idle between two.
    pub head_time: Duration,
    /// How long a client may take for a body.
    pub body_time: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub stall_time: Duration,
    /// How often a client that only listens is told that we are there. Twice this without a sign ends a WebSocket.
    pub keep_alive: Duration,
    /// The most connections at once.
    pub connections: usize,
    /// The most connections at once that have shown no token. Beyond it the oldest of them ends.
    pub strangers: usize,
    /// The most streams, sockets and waiting requests at once.
    pub streams: usize,
    /// The most topics that one WebSocket listens to.
    pub topics: usize,
    /// The most requests of one address at once.
    pub request_burst: u32,
    /// How many requests an address may send per second after that.
    pub requests_per_second: u32,
    /// The most wrong tokens of one address at once; one more is allowed every second.
    pub failure_burst: u32,
    /// How long turns may go on after the server was told to end.
    pub drain_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 8 << 20,
            bodies: 128 << 20,
            head: 32 << 10,
            header_lines: 64,
            head_time: Duration::from_secs(30),
            body_time: Duration::from_mins(1),
            stall_time: Duration::from_secs(30),
            keep_alive: Duration::from_secs(15),
            connections: 1024,
            strangers: 256,
            streams: 768,
            topics: 64,
            request_burst: 4_000,
            requests_per_second: 2_000,
            failure_burst: 10,
            drain_time: Duration::from_secs(30),
        }
    }
}

/// Why a server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Other machines could reach it, and nobody said that they may.
    #[error("`{0}` can be reached from other machines")]
    NotLoopback(SocketAddr),
    /// The token can be guessed.
    #[error("the token has fewer than {SHORTEST_TOKEN} characters")]
    WeakToken,
    /// The address cannot be had.
    #[error("could not listen on `{address}`: {source}")]
    Io {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
}

impl BindError {
    /// Returns what can be done about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotLoopback(_) => {
                "Listen on 127.0.0.1, or allow remote access and put a TLS proxy in front."
            }
            Self::WeakToken => "Use a random one, such as the output of `openssl rand -hex 32`.",
            Self::Io { .. } => "Use another port, or stop the program that uses this one.",
        }
    }
}

impl ServerSettings {
    /// Returns the usual settings: this machine only, the usual limits.
    pub fn new(address: SocketAddr, token: SecretString) -> Self {
        Self {
            address,
            token,
            reach: Reach::default(),
            hosts: Vec::new(),
            origins: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Refuses what is not safe.
    pub(crate) fn check(&self) -> Result<(), BindError> {
        if self.reach == Reach::Loopback && !self.address.ip().is_loopback() {
            return Err(BindError::NotLoopback(self.address));
        }
        if self.token.expose_secret().len() < SHORTEST_TOKEN {
            return Err(BindError::WeakToken);
        }
        Ok(())
    }
}
