//! Adapters: from a directory to an agent definition (the bridge).
//!
//! An adapter answers four questions about a directory: whether it claims it, what agent it holds, what the adapter is
//! called and how early it is asked. An [`AdapterRegistry`] holds them in order; adapters come and go while it is in use.
//! The two built-in ones are [`OpenClawAdapter`], which claims a directory with an `AGENTS.md`, and [`NativeAdapter`],
//! which claims any directory. Nothing here writes; every read goes through the guard and stays beneath the root.
//!
//! ```
//! use chitin_workspace::adapter::AdapterRegistry;
//! # let env = chitin_test::TestEnv::new();
//! # env.files([("AGENTS.md", "Answer briefly.\n"), ("IDENTITY.md", "name: lantern\n")]);
//! # let directory = env.workspace();
//! let registry = AdapterRegistry::with_built_ins();
//! let agent = registry.load(&directory)?;
//! assert_eq!(agent.name, "lantern");
//! assert_eq!(agent.adapter_name, "openclaw");
//! assert_eq!(agent.system_prompt, "## Identity\n\nname: lantern\n\n## Operating rules\n\nAnswer briefly.");
//! # Ok::<(), chitin_workspace::adapter::AdapterError>(())
//! ```

mod compat;
mod compose;
mod definition;
mod files;
mod lazy;
pub mod location;
mod native;
mod openclaw;
mod prompt;
mod registry;
mod skills;
pub(crate) mod text;

pub use compat::{EXTENSION_FILES, NATIVE_NAME, NATIVE_RULES_FILE, OPENCLAW_NAME, title_of};
pub use compose::{Composition, DefinitionPart, Precedence, Provenance, compose, compose_agent};
pub use definition::{AdapterWarning, AgentDefinition, Extensions, SkillPath};
pub(crate) use files::TextFile;
pub use lazy::{DefinitionError, LazyDefinition};
pub use native::NativeAdapter;
pub use openclaw::{OpenClawAdapter, explicit_name};
pub use prompt::{Sections, system_prompt};
pub use registry::{AdapterError, AdapterRegistry, DEFAULT_PRIORITY, WorkspaceAdapter};
pub use text::is_white_space;
