//! Agents from directories and configuration: the one way from a workspace to an agent that answers.
//!
//! In comes a directory, or the id of an agent that configuration knows; out comes an [`AgentHandle`] with its context, its
//! turns, its sessions and its memory. The command line, the server and an embedding program all come through here. Nothing
//! here prints, parses arguments or ends the process.
//!
//! The prompt of a directory, exactly as `chitin context --text` prints it:
//!
//! ```
//! use chitin_runtime::Runtime;
//! use chitin_runtime::context::TurnRequest;
//! # let env = chitin_test::TestEnv::new();
//! # env.files([("AGENTS.md", "Keep the harbor.\n")]);
//! # let (home, directory) = (env.home(), env.workspace());
//! let runtime = Runtime::builder().home(home).build()?;
//! let agent = runtime.agent(directory)?;
//! let context = agent.context(&TurnRequest::default())?;
//! assert!(context.system_prompt().contains("Keep the harbor."));
//! # Ok::<(), chitin_runtime::RuntimeError>(())
//! ```
//!
//! One turn against a model that reads its replies from a script:
//!
//! ```
//! use chitin_runtime::Runtime;
//! # let env = chitin_test::TestEnv::new();
//! # env.files([("AGENTS.md", "Keep the harbor.\n")]);
//! # let (home, directory) = (env.home(), env.workspace());
//! # let script = env.file("script.jsonl", r#"{"text": "Two boats."}"#);
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let model = format!("scripted/{}", script.display());
//! let runtime = Runtime::builder().home(home).model(model).build()?;
//! let agent = runtime.agent(directory)?;
//! let report = agent.turn("What lies at the quay?").await?;
//! assert_eq!(report.text, "Two boats.");
//! # Ok::<(), chitin_runtime::RuntimeError>(())
//! # }).unwrap();
//! ```

mod agent_cache;
mod approvals;
pub mod backup;
pub mod channels;
mod check;
mod checkpoints;
pub mod context;
pub mod contracts;
mod conversation;
mod directories;
pub mod display;
pub mod doctor;
mod error;
mod factory;
mod file_origins;
pub mod forget;
mod handle;
pub mod home_report;
mod host;
mod identity;
mod mcp_listing;
mod mcp_servers;
pub mod memory;
mod models;
mod notes;
mod pack;
mod plugins;
pub mod recordings;
mod reset;
mod revision;
mod runtime;
mod runtime_file;
mod secrets;
pub mod serve;
pub mod sessions;
mod setup;
mod skill_survey;
mod tools;
pub mod traces;
mod workspace_copy;

pub use agent_cache::{AgentCache, ServeHost};
/// Where the terminal remembers what was typed, in Chitin's home.
pub const TYPED_LINES: &str = "history";

pub use approvals::{AgentApproval, ApprovalFiles, approvals, revoke_approval};
pub use check::WorkspaceCheck;
pub use chitin_agent::clock::SystemClock;
pub use conversation::{Conversation, ConversationRequest, SessionChoice};
pub use directories::{AdoptWhich, Adoption, Existing, adopt};
pub use error::{ErrorKind, RuntimeError, joined, without_numbers};
pub use factory::{AgentFactory, AgentTemplate, ModelSelection};
pub use handle::{AgentHandle, TurnMessage, TurnStream};
pub use host::Host;
pub use identity::{AgentIdOrigin, name_of_directory};
pub use memory::{AgentMemory, MemoryOptions};
pub use models::{SelectedModels, resolve_model};
pub use notes::Notes;
pub use pack::{PackFailure, PackRequest};
pub use plugins::{adapter_registry, plugin_set};
pub use revision::Revision;
pub use runtime::{Runtime, RuntimeBuilder};
pub use secrets::learn_secrets;
pub use setup::{
    AgentTarget, Configuration, Setup, chitin_home, chosen_contract, config_file, guards,
    own_config, shown,
};
pub use skill_survey::SkillSurvey;
pub use tools::{Tools, User, sandbox_config};
pub use workspace_copy::{WorkspaceCopy, respell};
