//! Agents from directories and configuration.
mod agent_cache;
pub mod context;
pub mod contracts;
mod directories;
pub mod display;
mod error;
mod factory;
mod host;
mod identity;
mod mcp_servers;
pub mod memory;
mod models;
mod notes;
mod reset;
mod setup;
mod tools;
mod workspace_copy;

pub use agent_cache::{AgentCache, ServeHost};
pub use directories::{AdoptWhich, Adoption, adopt};
pub use error::{ErrorKind, RuntimeError};
pub use factory::{AgentFactory, AgentTemplate, HostClock, ModelSelection};
pub use host::Host;
pub use identity::Identity;
pub use memory::{AgentMemory, MemoryOptions};
pub use models::{SelectedModels, resolve_model};
pub use notes::Notes;
pub use setup::{
    Configuration, Setup, Target, chitin_home, chosen_contract, config_file, guards, own_config,
    shown,
};
pub use tools::{Tools, User, sandbox_config};
pub use workspace_copy::{WorkspaceCopy, respell};
