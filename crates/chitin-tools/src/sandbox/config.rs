//! What a sandbox is made from.

use super::limits::CommandLimits;
use chitin_protocol::settings::{ExecSettings, SandboxSetting};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// What commands may do in the workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkspaceAccess {
    /// Read and write.
    #[default]
    ReadWrite,
    /// Only read.
    ReadOnly,
}

/// What a sandbox is made from. Everything comes from outside: this crate asks neither the environment nor the home.
#[derive(Clone)]
pub struct SandboxConfig {
    /// The program that becomes the helper when its first argument is [`HELPER_ARGUMENT`](super::HELPER_ARGUMENT).
    pub helper: PathBuf,
    /// The workspace.
    pub workspace: PathBuf,
    /// A directory of Chitin's in which a private directory for temporary files can be made; it comes into being when needed.
    pub scratch: PathBuf,
    /// What must never be visible: Chitin's home, OpenClaw's state, the user's home.
    pub hidden: Vec<PathBuf>,
    /// The user's home: what a command may read beneath it is beneath its own home, too.
    pub user_home: Option<PathBuf>,
    /// Chitin's own environment. Only what is known to be harmless is taken from it.
    pub environment: BTreeMap<String, String>,
    /// Which level is wanted.
    pub choice: SandboxSetting,
    /// Whether the network is open.
    pub network: bool,
    /// Whether sockets of the local machine are open.
    pub unix_sockets: bool,
    /// Further places to read.
    pub readable: Vec<PathBuf>,
    /// Further places to write to.
    pub writable: Vec<PathBuf>,
    /// Further variables to pass on, by name.
    pub pass_env: Vec<String>,
    /// Directories to look for programs in first.
    pub path_prepend: Vec<PathBuf>,
    /// What commands may do in the workspace.
    pub workspace_access: WorkspaceAccess,
    /// What the user named for a program to be read, wherever it lies. Of a file its directory is opened too, unless that is
    /// hidden or has something hidden in it; such a directory itself is refused.
    pub programs: Vec<PathBuf>,
    /// A directory that commands may write to, wherever it lies: Chitin made it for them.
    pub data: Option<PathBuf>,
    /// How much memory each process may have of its own. Enforced on Linux, as the limit on writable private memory.
    pub memory_bytes: Option<u64>,
    /// How much of the machine a command may use, where a request says that it is limited.
    pub limits: CommandLimits,
}

impl SandboxConfig {
    /// Makes a configuration with nothing opened.
    pub fn new(
        helper: impl Into<PathBuf>,
        workspace: impl Into<PathBuf>,
        scratch: impl Into<PathBuf>,
    ) -> Self {
        Self {
            helper: helper.into(),
            workspace: workspace.into(),
            scratch: scratch.into(),
            hidden: Vec::new(),
            user_home: None,
            environment: BTreeMap::new(),
            choice: SandboxSetting::Auto,
            network: false,
            unix_sockets: false,
            readable: Vec::new(),
            writable: Vec::new(),
            pass_env: Vec::new(),
            path_prepend: Vec::new(),
            workspace_access: WorkspaceAccess::ReadWrite,
            programs: Vec::new(),
            data: None,
            memory_bytes: None,
            limits: CommandLimits::default(),
        }
    }

    /// Takes over what the user set.
    #[must_use]
    pub fn with_settings(mut self, settings: &ExecSettings) -> Self {
        let paths = |list: &Option<Vec<String>>| -> Vec<PathBuf> {
            list.iter().flatten().map(PathBuf::from).collect()
        };
        self.choice = settings.sandbox.unwrap_or_default();
        self.network = settings.network.unwrap_or(false);
        self.unix_sockets = settings.unix_sockets.unwrap_or(false);
        self.readable = paths(&settings.readable);
        self.writable = paths(&settings.writable);
        self.path_prepend = paths(&settings.path_prepend);
        self.pass_env = settings.pass_env.clone().unwrap_or_default();
        self.limits = CommandLimits::from_settings(&settings.limits);
        self
    }
}

impl fmt::Debug for SandboxConfig {
    /// Leaves the environment out: it has keys in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxConfig")
            .field("helper", &self.helper)
            .field("workspace", &self.workspace)
            .field("choice", &self.choice)
            .finish_non_exhaustive()
    }
}
