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
    #[error("that is no code: a code has eight letters and digits, without I, O, 0 and 1")]
    NoCode,
    /// Nobody who waits has that code.
    #[error("nobody who waits has that code, or its hour is over")]
    UnknownCode,
    /// Somebody guesses.
    #[error("{most} codes were wrong, so all that were open count no more")]
    TooManyWrong {
        /// How many.
        most: u32,
    },
    /// Nobody of that name was let in.
    #[error("`{sender}` was not let in on `{channel}`")]
    UnknownSender {
        /// The network.
        channel: String,
        /// Who.
        sender: String,
    },
    /// Too many were let in.
    #[error("{most} people were let in already, and more are not")]
    Full {
        /// How many.
        most: usize,
    },
    /// There is no randomness.
    #[error("the machine gives no random numbers")]
    NoRandomness,
}

impl TrustError {
    /// Returns what to do about it.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::File { .. } => {
                Some("look at the file; while it cannot be read, nobody who was let in is heard")
            }
            Self::NoCode | Self::UnknownCode => {
                Some("`chitin pairing` lists who waits and their codes")
            }
            Self::TooManyWrong { .. } => Some("whoever waits writes once more and gets a new code"),
            Self::UnknownSender { .. } => Some("`chitin pairing` lists who was let in"),
            Self::Full { .. } => Some("`chitin pairing revoke CHANNEL SENDER` makes room"),
            Self::NoRandomness => None,
        }
    }
}
