//! A directory in, an immutable [`Workspace`] snapshot out.
//!
//! In: a directory, a [`chitin_contract::Contract`] and what the caller knows of the user's environment. Out: the files
//! that an agent boots from (present, missing, or refused and why), its skills, and its adapters' definitions. This crate
//! never prints, never reads the environment or the clock, never follows a path out of the root it was given, and pulls in
//! no async runtime.
//!
//! ```
//! use chitin_contract::CANONICAL;
//! use chitin_workspace::load::{LoadOptions, load};
//!
//! # let directory = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/harbor"));
//! let workspace = load(directory, &CANONICAL, &LoadOptions::default())?;
//! let rules = workspace.record("AGENTS.md").and_then(|record| record.content());
//! assert!(rules.is_some_and(|content| content.text.starts_with("# Operating rules")));
//! assert!(workspace.warnings().is_empty());
//! # Ok::<(), chitin_workspace::load::LoadError>(())
//! ```

pub mod adapter;
pub mod compat;
pub mod extensions;
pub mod extras;
pub mod filter;
pub mod front_matter;
pub mod json_path;
pub mod load;
pub mod persona_swap;
pub mod project;
pub mod seed;
pub mod skills;
pub mod snapshot;
pub mod state;
pub mod turn_marker;
pub mod watch;

pub use snapshot::Workspace;
