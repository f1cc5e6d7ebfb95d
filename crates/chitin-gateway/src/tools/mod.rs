//! Tools that the gateway offers to its sessions.

pub mod message;
