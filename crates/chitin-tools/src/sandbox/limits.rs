//! How much of the machine a command may use.

use chitin_protocol::settings::CommandLimitSettings;
use serde::{Deserialize, Serialize};

const MEGABYTE: u64 = 1 << 20;

/// How much of the machine a command may use; what is left out is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CommandLimits {
    /// Processes and threads of the command together. Beyond it the command is ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// Whether only the supervisor counts processes, because the kernel does not limit those of root.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub processes_watched: bool,
    /// Memory that each process asks for, in bytes: its heap and what it maps for itself, not its program and libraries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Memory of the whole command, in bytes. Beyond it the command is ended. Only a control group can hold it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_memory_bytes: Option<u64>,
    /// Whether a control group counts the command as a whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub control_group: bool,
    /// Processor time of each process, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<u64>,
    /// Open files of each process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// The size of a file that is written, and of all in the private directory together, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// The output, in bytes. Beyond it the command is ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
}

impl CommandLimits {
    /// Returns what is limited where nothing is set.
    pub const fn usual() -> Self {
        Self {
            processes: Some(2048),
            processes_watched: false,
            memory_bytes: Some(8192 * MEGABYTE),
            total_memory_bytes: Some(16384 * MEGABYTE),
            control_group: false,
            cpu_seconds: Some(3600),
            open_files: Some(4096),
            disk_bytes: Some(8192 * MEGABYTE),
            output_bytes: Some(256 * MEGABYTE),
        }
    }

    /// Takes over what the user set: a number, or zero for no limit.
    pub fn from_settings(settings: &CommandLimitSettings) -> Self {
        let usual = Self::usual();
        let set = |value: Option<u32>, unit: u64, usual: Option<u64>| match value {
            None => usual,
            Some(0) => None,
            Some(value) => Some(u64::from(value) * unit),
        };
        Self {
            processes: set(settings.processes, 1, usual.processes),
            processes_watched: false,
            memory_bytes: set(settings.memory_mb, MEGABYTE, usual.memory_bytes),
            total_memory_bytes: set(settings.total_memory_mb, MEGABYTE, usual.total_memory_bytes),
            control_group: false,
            cpu_seconds: set(settings.cpu_seconds, 1, usual.cpu_seconds),
            open_files: set(settings.open_files, 1, usual.open_files),
            disk_bytes: set(settings.disk_mb, MEGABYTE, usual.disk_bytes),
            output_bytes: set(settings.output_mb, MEGABYTE, usual.output_bytes),
        }
    }

    /// Says what is limited, for people: `2048 processes, 8192 MB of memory each, …`.
    pub fn describe(&self) -> String {
        let megabytes = |bytes: u64| bytes / MEGABYTE;
        let parts = [
            self.processes.map(|most| {
                let watched = if self.control_group {
                    " (held by a control group)"
                } else if self.processes_watched {
                    " (watched: the kernel does not limit those of root)"
                } else {
                    ""
                };
                format!("{most} processes and threads{watched}")
            }),
            self.memory_bytes.map(|most| {
                let megabytes = megabytes(most);
                format!("{megabytes} MB of memory per process (heap and private mappings)")
            }),
            self.total_memory_bytes
                .filter(|_| self.control_group)
                .map(|most| format!("{} MB of memory together", megabytes(most))),
            self.cpu_seconds
                .map(|most| format!("{most} s of processor time per process")),
            self.open_files
                .map(|most| format!("{most} open files per process")),
            self.disk_bytes
                .map(|most| format!("{} MB of temporary files", megabytes(most))),
            self.output_bytes
                .map(|most| format!("{} MB of output", megabytes(most))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            "no limits".to_owned()
        } else {
            parts.join(", ")
        }
    }
}
