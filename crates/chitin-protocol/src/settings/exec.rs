//! What commands may do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What commands may do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ExecSettings {
    /// What commands run in; left out, the strongest sandbox that works here, and none at all is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxSetting>,
    /// Which commands need permission; left out, `openclaw.json` says, and where it is silent a sandboxed command runs
    /// and any other is asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalSetting>,
    /// Commands that run without a question. Words are compared one by one; `*` stands for any letters of a word, and
    /// as the last word for anything that follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// Commands that never run, written in the same way. They win over everything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny: Option<Vec<String>>,
    /// Whether commands may use the network; left out, no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// Whether commands may use sockets of the local machine (AF_UNIX); left out, no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix_sockets: Option<bool>,
    /// Further directories and files that commands may read, as absolute paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readable: Option<Vec<String>>,
    /// Further directories that commands may write to, as absolute paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writable: Option<Vec<String>>,
    /// Further variables of Chitin's own environment that commands get, by name; left out, only harmless ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_env: Option<Vec<String>>,
    /// Directories to look for programs in first. What is not readable in the sandbox is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_prepend: Option<Vec<String>>,
    /// How long a command may take, in seconds; left out, 1800.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// After how many milliseconds a command goes on in the background; left out, 10000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yield_ms: Option<u64>,
    /// How many commands may run in the background at once; left out, 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// How much of the machine a command may use.
    #[serde(skip_serializing_if = "CommandLimitSettings::is_empty")]
    pub limits: CommandLimitSettings,
}

/// How much of the machine a command may use. 0 stands for no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CommandLimitSettings {
    /// How many processes and threads a command may have; left out, 2048. Beyond it the command is ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
    /// How much memory each process of a command may have, in MB; left out, 8192.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u32>,
    /// How much memory a command may have as a whole, where a control group can hold it, in MB; left out, 16384, and never more than three quarters of the machine's. Beyond it the command is ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_memory_mb: Option<u32>,
    /// How much processor time each process of a command may use, in seconds; left out, 3600.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<u32>,
    /// How many files each process of a command may have open; left out, 4096.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u32>,
    /// How large the temporary files of commands may be together, and any single file that they write, in MB; left out, 8192.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_mb: Option<u32>,
    /// How much output a command may have, in MB; left out, 256. Beyond it the command is ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_mb: Option<u32>,
}

impl CommandLimitSettings {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What commands run in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxSetting {
    /// The strongest that works here; nothing runs where none does.
    #[default]
    Auto,
    /// Namespaces by `bwrap`, with a system call filter.
    Bwrap,
    /// Landlock, with a system call filter.
    Landlock,
    /// Nothing: commands may do whatever the user may.
    None,
}

/// Which commands need permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalSetting {
    /// No command runs.
    Deny,
    /// What is on the list of what is allowed runs, anything else is refused.
    AllowList,
    /// What is on the list of what is allowed runs, anything else is asked about.
    Ask,
    /// Every command is asked about.
    AlwaysAsk,
    /// Every command runs that is not denied by name.
    Full,
}
