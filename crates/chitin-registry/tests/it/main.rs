//! Against a real registry, and against servers that misbehave.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests fail as tests do"
)]

mod cancelled;
mod faults;
mod hostile;
mod kills;
mod memory;
mod others;
mod referrers;
mod resume;
mod roundtrip;
mod sample;
mod tokens;
