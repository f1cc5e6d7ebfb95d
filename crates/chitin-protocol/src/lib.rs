//! The plain data that every part of Chitin shares.
//!
//! In: text from session keys, configuration and records. Out: typed values with serde and JSON schemas. This crate never
//! touches the disk, the network, the clock or the environment, and holds no logic beyond parsing and building keys.

pub mod agent_id;
pub mod config;
pub mod record;
pub mod session_key;
pub mod text;
