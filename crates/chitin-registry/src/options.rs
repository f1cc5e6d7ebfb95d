//! What a caller decides.

use secrecy::SecretString;
use std::time::Duration;

/// How registries are reached.
#[derive(Debug, Clone)]
pub struct RegistryOptions {
    /// Whether plain HTTP is spoken.
    pub plain_http: PlainHttp,
    /// Certificates of further authorities to trust, each a PEM text.
    pub extra_roots: Vec<Vec<u8>>,
    /// A proxy to go through. The environment is not asked.
    pub proxy: Option<SecretString>,
    /// How long to wait for what.
    pub timeouts: RegistryTimeouts,
    /// What becomes of failures that may pass.
    pub retries: Retries,
    /// How many blobs move at once.
    pub concurrency: usize,
    /// How much of a blob goes up in one request; more, where a registry wants more.
    pub chunk_bytes: u64,
    /// Artifacts with more bytes than this are not pulled.
    pub max_artifact_bytes: u64,
    /// How we introduce ourselves.
    pub user_agent: String,
}

impl Default for RegistryOptions {
    fn default() -> Self {
        Self {
            plain_http: PlainHttp::Never,
            extra_roots: Vec::new(),
            proxy: None,
            timeouts: RegistryTimeouts::default(),
            retries: Retries::default(),
            concurrency: 3,
            chunk_bytes: 8 * 1024 * 1024,
            max_artifact_bytes: 4 * 1024 * 1024 * 1024,
            user_agent: concat!("chitin/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// Whether plain HTTP is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainHttp {
    /// HTTPS only.
    Never,
    /// Plain HTTP, which is refused for any host but this machine.
    Loopback,
}

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegistryTimeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the beginning of an answer, the time to send a piece of a blob included.
    pub answer: Duration,
    /// For the next byte of an answer.
    pub idle: Duration,
}

impl Default for RegistryTimeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            answer: Duration::from_mins(5),
            idle: Duration::from_mins(1),
        }
    }
}

/// What becomes of failures that may pass: cut connections, an overloaded or broken registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// How often something is tried again without getting further.
    pub attempts: u32,
    /// How long to wait before the second try; doubled each time.
    pub first_delay: Duration,
    /// Never longer than that, whatever the registry asks for.
    pub longest_delay: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            attempts: 4,
            first_delay: Duration::from_millis(250),
            longest_delay: Duration::from_secs(30),
        }
    }
}
