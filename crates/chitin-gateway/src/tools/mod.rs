//! Tools that the gateway offers to its sessions.

pub mod cron;
pub mod message;
