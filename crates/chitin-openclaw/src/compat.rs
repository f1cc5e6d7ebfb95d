//! Names that OpenClaw's own files, tables and keys have.

/// The default name of the state directory.
pub(crate) const STATE: &str = ".openclaw";
/// The configuration in the state directory.
pub(crate) const CONFIG: &str = "openclaw.json";
/// The keys beside it.
pub(crate) const DOTENV: &str = ".env";
/// The directories of the agents.
pub(crate) const AGENTS: &str = "agents";
/// The sessions of an agent that live in files.
pub(crate) const SESSIONS: &str = "sessions";
/// The index of these.
pub(crate) const SESSION_INDEX: &str = "sessions.json";
/// Where a migration puts the files that it took in.
pub(crate) const IMPORT_ARCHIVE: &str = "session-sqlite-import-archive";
/// Cold transcripts, below the sessions.
pub(crate) const COLD: &str = "cold";
/// The database of an agent, in its directory `agent`.
pub(crate) const AGENT_DATABASE: &str = "openclaw-agent.sqlite";
/// The shared database.
pub(crate) const STATE_DATABASE: &str = "state/openclaw.sqlite";
/// An agent's credentials in a file.
pub(crate) const AUTH_PROFILES: &str = "auth-profiles.json";
/// The pairing files.
pub(crate) const CREDENTIALS: &str = "credentials";
/// How these end.
pub(crate) const PAIRING_END: &str = "-pairing.json";
/// How those of approved senders end.
pub(crate) const ALLOW_END: &str = "allowFrom.json";
/// The schedules.
pub(crate) const CRON: &str = "cron/jobs.json";
/// Their next and last runs.
pub(crate) const CRON_STATE: &str = "cron/jobs-state.json";
/// The approvals of commands.
pub(crate) const APPROVALS: &str = "exec-approvals.json";
/// The identity of the device.
pub(crate) const DEVICE: &str = "identity/device.json";
/// The agent that is there when none is named.
pub(crate) const MAIN: &str = "main";
/// The default workspace in the state directory.
pub(crate) const WORKSPACE: &str = "workspace";
/// Skills, below the state directory or a workspace.
pub(crate) const SKILLS: &str = "skills";
/// The file that makes a directory a skill.
pub(crate) const SKILL_FILE: &str = "SKILL.md";
/// What migrated files are called after.
pub(crate) const MIGRATED: &str = ".migrated";

/// The newest schema of the shared database that is known (H6).
pub(crate) const STATE_SCHEMA: i64 = 18;
/// The newest schema of an agent's database that is known (H6).
pub(crate) const AGENT_SCHEMA: i64 = 23;

/// Fields of a channel that hold its secret, the most telling first (H43).
pub(crate) const CHANNEL_SECRETS: [&str; 8] = [
    "botToken",
    "token",
    "appToken",
    "signingSecret",
    "accessToken",
    "apiKey",
    "appSecret",
    "password",
];

/// Channels with a hyphen in their name: file names join channel and account with one too.
pub(crate) const HYPHENATED_CHANNELS: [&str; 2] = ["nextcloud-talk", "synology-chat"];
