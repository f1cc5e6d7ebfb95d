//! Chat channels: which there are, which are to be connected, and their secrets. `chitin serve` connects them; `chitin channels` and
//! `chitin doctor` look at them.
//!
//! Nothing is connected because `openclaw.json` has it: where OpenClaw runs too, every message would be answered twice. `chitin channels
//! login` or `enabled: true` in `chitin.json5` says that Chitin is to do it.

#![cfg_attr(
    not(any(feature = "discord", feature = "slack")),
    allow(dead_code, reason = "without any channel nothing is opened")
)]

mod compat;
mod connect;
mod credentials;
mod judge;
mod open;
mod plan;
mod probe;
mod shut;

pub use compat::{ChannelKind, ChannelSecret};
pub use connect::{ChannelSet, ConnectedChannels};
pub use credentials::{CREDENTIALS_FILE, ChannelSecrets, forget, keep};
pub use judge::{ChannelIssue, lacks, secrets_elsewhere, secrets_in_clear, unusable};
pub use open::{OpenProblem, OpenedChannel, open};
pub use plan::{Activation, ChannelAccount, ChannelPlan, SecretOrigin, plans};
pub use probe::{ProbedChannel, probe};
pub use shut::{shut_out, workspaces};
