//! What can go wrong between us and a model, as data.

use std::time::Duration;

/// Why a model could not be asked, or its answer not be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ModelError {
    /// The key is missing or the provider does not take it.
    #[error("{provider} does not accept the key: {message}")]
    Unauthorized {
        /// The provider.
        provider: String,
        /// What it said.
        message: String,
    },
    /// Too many requests, or the provider is overloaded.
    #[error("{provider} asks to wait: {message}")]
    RateLimited {
        /// The provider.
        provider: String,
        /// What it said.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// The request itself is wrong; asking again gives the same.
    #[error("{provider} refuses the request ({status}): {message}")]
    Rejected {
        /// The provider.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The conversation does not fit into the model's window.
    #[error("{provider} says that the conversation is too long: {message}")]
    TooLong {
        /// The provider.
        provider: String,
        /// What it said.
        message: String,
    },
    /// The provider failed; asking again may help.
    #[error("{provider} failed ({status}): {message}")]
    Upstream {
        /// The provider.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// The provider cannot be reached, or the connection broke.
    #[error("{provider} cannot be reached: {message}")]
    Unreachable {
        /// The provider.
        provider: String,
        /// What happened.
        message: String,
    },
    /// The provider did not answer in time.
    #[error("{provider} did not answer within {seconds} s")]
    TimedOut {
        /// The provider.
        provider: String,
        /// How long we waited.
        seconds: u64,
    },
    /// The answer is not what the wire format says.
    #[error("{provider} answered something that is not understood: {message}")]
    Malformed {
        /// The provider.
        provider: String,
        /// What is wrong with it.
        message: String,
    },
    /// A script has no more replies, a recording does not know the request, or the like.
    #[error("{0}")]
    Unscripted(String),
    /// The request cannot be built.
    #[error("{0}")]
    Unbuildable(String),
    /// The caller stopped it.
    #[error("stopped")]
    Cancelled,
}

impl ModelError {
    /// Tells whether asking again, or asking another model, may help.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Upstream { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. } => true,
            Self::Unauthorized { .. }
            | Self::Rejected { .. }
            | Self::TooLong { .. }
            | Self::Malformed { .. }
            | Self::Unscripted(_)
            | Self::Unbuildable(_)
            | Self::Cancelled => false,
        }
    }

    /// Tells whether another model may do better.
    pub const fn others_may_help(&self) -> bool {
        match self {
            // No money, no permission, no such model; 429 is how some say the first.
            Self::Rejected { status, .. } => matches!(*status, 402..=404 | 429),
            Self::Unauthorized { .. }
            | Self::Malformed { .. }
            | Self::RateLimited { .. }
            | Self::Upstream { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. } => true,
            Self::TooLong { .. } | Self::Unscripted(_) | Self::Unbuildable(_) | Self::Cancelled => {
                false
            }
        }
    }

    /// Returns how long the provider asks to wait.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Upstream { retry_after, .. } => {
                *retry_after
            }
            Self::Unauthorized { .. }
            | Self::Rejected { .. }
            | Self::TooLong { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Malformed { .. }
            | Self::Unscripted(_)
            | Self::Unbuildable(_)
            | Self::Cancelled => None,
        }
    }

    /// Returns what the provider said, to be changed.
    pub(crate) const fn message_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Unauthorized { message, .. }
            | Self::RateLimited { message, .. }
            | Self::Rejected { message, .. }
            | Self::TooLong { message, .. }
            | Self::Upstream { message, .. }
            | Self::Unreachable { message, .. }
            | Self::Malformed { message, .. }
            | Self::Unscripted(message)
            | Self::Unbuildable(message) => Some(message),
            Self::TimedOut { .. } | Self::Cancelled => None,
        }
    }
}
