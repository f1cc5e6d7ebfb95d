//! What the user configured: `openclaw.json` read as it is, Chitin's own file on top, and where each value came from.
//!
//! In: a path, what is known of the environment, and the rules of a contract. Out: one value with every include merged and
//! every variable filled in, the files it came from, and findings with file, line, column and the nearest known name; which
//! agents it names, and the directory of each. Nothing here writes or looks at the environment itself, and no include leads
//! out of the directory of the first file.
//!
//! ```
//! use chitin_config::agents;
//! use chitin_config::env::Env;
//! use chitin_contract::CANONICAL;
//! use serde_json::json;
//! use std::path::Path;
//!
//! let config = json!({ "agents": { "list": [{ "id": "Harbour", "workspace": "~/harbour" }] } });
//! assert!(chitin_config::validate(&config, CANONICAL.config).is_empty());
//! let env = Env::new("/work").with("HOME", "/home/kim");
//! let (directory, _) = agents::workspace_directory(&config, "harbour", &env, &CANONICAL)?;
//! assert_eq!(directory, Path::new("/home/kim/harbour"));
//! # Ok::<(), chitin_config::home::HomeError>(())
//! ```

pub mod agents;
mod channels;
mod checks;
mod chitin_json5;
mod command;
mod compat;
pub mod env;
pub mod heartbeat;
pub mod home;
mod include;
mod issue;
mod keys;
mod layers;
mod load;
mod roster;
mod run_settings;
mod scan;
pub mod secrets;
pub mod settings;
mod shape;
mod source;
mod text;
mod validate;
mod variables;

pub use channels::{channel_issues, channel_notes, place_issue};
pub use chitin_json5::{LoadedChitinConfig, OWN_FILE, chitin_home, load_chitin_config};
pub use command::judge;
pub use include::{IncludeError, IncludeProblem, Included, read_with_includes};
pub use issue::{Issue, IssueSeverity};
pub use layers::{ChitinSettings, ConfigLayer, Layers, Overridden, ValueExplanation, lay_over};
pub use load::{ConfigError, LoadedConfig, load, openclaw_config_path, read};
pub use source::{ConfigFile, SourceLocation};
pub use text::{json5_depth, parse_json5};
pub use validate::validate;
pub use variables::{MissingVariable, VariableError, substitute};

/// The largest configuration file that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// How deep values may be nested.
pub const MAX_DEPTH: usize = 128;
