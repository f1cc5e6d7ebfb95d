//! All that a home holds.

use crate::approvals::ExecApprovals;
use crate::channels::{ChannelOffset, ConfiguredChannel};
use crate::configuration::{
    ConfigSecret, ConfiguredHooks, DeclaredProfile, HomeAgent, SecretProvider, SecretReference,
};
use crate::credentials::AuthProfile;
use crate::environment::EnvironmentKey;
use crate::gateway::GatewayLock;
use crate::heartbeats::{AgentHeartbeat, HeartbeatScratch};
use crate::json::as_map;
use crate::migration::MigrationRun;
use crate::pairing::{Allowlist, PendingPairing};
use crate::problem::HomeProblem;
use crate::schedules::ScheduledJob;
use crate::sessions::{HomeSession, OtherTranscript};
use crate::workspaces::FoundSkill;
use serde::Serialize;
use serde_json::Value;

/// How a home keeps its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HomeContract {
    /// In files, as up to 2026.4.
    Files,
    /// In databases.
    Sqlite,
    /// Some stores one way, some the other: a migration did not end.
    Mixed,
}

/// The releases that wrote a home.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HomeVersion {
    /// The release that wrote the configuration last. It does not say where the data is (H4).
    pub last_touched_version: Option<String>,
    /// The schema of the shared database.
    pub state_schema: Option<i64>,
    /// The release that wrote to it last.
    pub state_app_version: Option<String>,
    /// The schemas of the agents' databases.
    #[serde(serialize_with = "as_map")]
    pub agent_schemas: Vec<(String, i64)>,
}

/// All that a home holds. Secrets are in types that neither print nor serialize them.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HomeContents {
    /// The agents.
    pub agents: Vec<HomeAgent>,
    /// Their sessions.
    pub sessions: Vec<HomeSession>,
    /// Transcripts that are no current session.
    pub other_transcripts: Vec<OtherTranscript>,
    /// Schedules.
    pub cron: Vec<ScheduledJob>,
    /// Notes of heartbeats in the database.
    pub heartbeat_scratch: Vec<HeartbeatScratch>,
    /// Credentials.
    pub auth_profiles: Vec<AuthProfile>,
    /// Credentials that the configuration announces.
    #[serde(serialize_with = "as_map")]
    pub auth_profiles_declared_in_config: Vec<(String, DeclaredProfile)>,
    /// Channels.
    #[serde(serialize_with = "as_map")]
    pub channels: Vec<(String, ConfiguredChannel)>,
    /// How far channels had read.
    pub channel_offsets: Vec<ChannelOffset>,
    /// Routes from peers to agents.
    pub bindings: Vec<Value>,
    /// Senders that were approved.
    pub allowlists: Vec<Allowlist>,
    /// Senders that asked.
    pub pending_pairings: Vec<PendingPairing>,
    /// Senders who may do what only an owner may.
    pub owners: Vec<String>,
    /// Keys of the environment.
    pub env: Vec<EnvironmentKey>,
    /// References to secrets.
    pub secret_refs: Vec<SecretReference>,
    /// What keeps these.
    #[serde(serialize_with = "as_map")]
    pub secret_providers: Vec<(String, SecretProvider)>,
    /// Secrets in the configuration, by their place.
    pub config_secrets: Vec<ConfigSecret>,
    /// The settings of heartbeats.
    pub heartbeat: Option<Value>,
    /// Those of single agents.
    pub agent_heartbeats: Vec<AgentHeartbeat>,
    /// Hooks.
    pub hooks: ConfiguredHooks,
    /// What commands may do.
    pub exec_approvals: Option<ExecApprovals>,
    /// Skills.
    pub skills: Vec<FoundSkill>,
    /// Markdown files of each agent's workspace.
    #[serde(serialize_with = "as_map")]
    pub workspace_markdown: Vec<(String, Vec<String>)>,
    /// Migrations that began.
    pub migration_runs: Vec<MigrationRun>,
    /// Lock files.
    pub gateway_locks: Vec<GatewayLock>,
    /// Leases.
    pub gateway_lease: Vec<Value>,
    /// The releases that wrote it.
    pub version: HomeVersion,
    /// How it keeps its state.
    pub contract: HomeContract,
    /// Files that still count.
    pub live_legacy_files: Vec<String>,
    /// Files that migrations left behind.
    pub left_behind: Vec<String>,
    /// What could not be read.
    pub problems: Vec<HomeProblem>,
}
