//! Chat networks: which there are, which are to be connected, and their secrets. `chitin serve` connects them; `chitin channels` and
//! `chitin doctor` look at them.
//!
//! Nothing is connected because `openclaw.json` has it: where OpenClaw runs too, every message would be answered twice. `chitin channels
//! login` or `enabled: true` in `chitin.json5` says that Chitin is to do it.

#![cfg_attr(
    not(any(feature = "discord", feature = "slack")),
    allow(dead_code, reason = "without any network nothing is opened")
)]

mod compat;
mod credentials;
mod judge;
mod open;
mod plan;
mod shut;

pub(crate) use compat::{Secret, Which};
pub(crate) use credentials::{FILE, Secrets, forget, keep};
pub(crate) use judge::{Wrong, lacks, secrets_elsewhere, secrets_in_clear, unusable};
pub(crate) use open::{Opened, Problem, open};
pub(crate) use plan::{ModelSelection, Origin, Plan, plans};
pub(crate) use shut::{shut_out, workspaces};
