//! Why somebody could not be let in or out.

use std::path::PathBuf;

/// Why somebody could not be let in or out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// The file cannot be used.
    #[error("`{}` cannot be used: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// What was typed is no code.
    #[error(
        "that is not a pairing code: a code has eight letters and digits, without I, O, 0 and 1"
    )]
    NoCode,
    /// Nobody who waits has that code.
    #[error("unknown or expired pairing code")]
    UnknownCode,
    /// Somebody guesses.
    #[error("too many wrong codes ({most}); all pending codes were revoked")]
    TooManyWrong {
        /// How many.
        most: u32,
    },
    /// Nobody of that name was let in.
    #[error("`{sender}` is not an approved sender on `{channel}`")]
    UnknownSender {
        /// The channel.
        channel: String,
        /// Who.
        sender: String,
    },
    /// Too many were let in.
    #[error("there are already {most} approved senders, the maximum")]
    Full {
        /// How many.
        most: usize,
    },
    /// There is no randomness.
    #[error("the operating system provides no random numbers")]
    NoRandomness,
}

impl TrustError {
    /// Returns what to do about it.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::File { .. } => {
                Some("fix the file; while it cannot be read, approved senders have no access")
            }
            Self::NoCode | Self::UnknownCode => {
                Some("`chitin pairing` lists pending requests and their codes")
            }
            Self::TooManyWrong { .. } => Some("the sender gets a new code with their next message"),
            Self::UnknownSender { .. } => Some("`chitin pairing` lists approved senders"),
            Self::Full { .. } => Some("`chitin pairing revoke CHANNEL SENDER` makes room"),
            Self::NoRandomness => None,
        }
    }
}
