//! The plain data that every part of Chitin shares.
//!
//! In: text from session keys, configuration and records. Out: typed values with serde and JSON schemas. This crate never
//! touches the disk, the network, the clock or the environment, and holds no logic beyond parsing and building keys.

pub mod agent_id;
pub mod config;
pub mod event;
pub mod guarded_paths;
pub mod message;
pub mod nearest;
pub mod origin;
pub mod record;
pub mod script;
pub mod session_key;
pub mod settings;
pub mod text;
pub mod tool;
pub mod transcript;
