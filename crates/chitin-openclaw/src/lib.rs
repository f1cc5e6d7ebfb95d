//! What an OpenClaw home holds, whichever release wrote it.
//!
//! In: the path of a state directory such as `~/.openclaw`. Out: plain values: agents, sessions with what their transcripts hold,
//! schedules, credentials, access lists and the rest, each with where it was found, and a list of what could not be read. Releases up to
//! 2026.4 keep state in files, later ones in SQLite, and a migration may stop anywhere between: every store of every agent is
//! looked at on its own (H4, H5 of `conformance/home/SPEC.md`).
//!
//! Nothing in the home is written, created, locked against its owner or restored: databases with an uncommitted log are read as
//! private copies (H103). Secrets are in types that do not print them.
//!
//! ```no_run
//! use chitin_config::env::Env;
//! use chitin_openclaw::{Home, HomeOptions, HomePaths};
//! use std::path::Path;
//!
//! let env = Env::new("/").with("HOME", "/home/kim");
//! let paths = HomePaths::of(&env, None)?;
//! let contents = Home::open(&paths, HomeOptions::new("/tmp"))?.read();
//! for session in &contents.sessions {
//!     println!("{} {}", session.key, session.summary.records);
//! }
//! # Ok::<(), chitin_openclaw::HomeError>(())
//! ```

mod approvals;
mod channels;
mod compat;
mod configuration;
mod contents;
mod credentials;
mod database;
mod dotenv;
mod environment;
mod gateway;
mod heartbeats;
mod home;
mod json;
mod migration;
mod pairing;
mod paths;
mod problem;
mod schedules;
mod sessions;
mod transcript;
mod walk;
mod workspaces;

pub use approvals::{AgentApprovals, ExecApprovals};
pub use channels::{ChannelOffset, ChannelSecret, ConfiguredChannel};
pub use configuration::{
    ConfigSecret, ConfiguredHooks, DeclaredProfile, HomeAgent, SecretProvider, SecretReference,
};
pub use contents::{HomeContents, HomeContract, HomeVersion};
pub use credentials::{AuthProfile, CredentialKind};
pub use environment::EnvironmentKey;
pub use gateway::GatewayLock;
pub use heartbeats::{AgentHeartbeat, HeartbeatScratch};
pub use home::{Home, HomeError, HomeOptions};
pub use migration::MigrationRun;
pub use pairing::{Allowlist, PendingPairing};
pub use paths::HomePaths;
pub use problem::HomeProblem;
pub use schedules::ScheduledJob;
pub use sessions::{HomeSession, OtherTranscript, StoredIn};
pub use transcript::{TranscriptSummary, plain_text};
pub use workspaces::FoundSkill;
