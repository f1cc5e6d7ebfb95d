//! Replies as chat channels take them.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test reads its own processor time"
)]

mod chunks;
mod silent;
mod stream;
