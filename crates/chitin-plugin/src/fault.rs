//! What can be wrong with a plugin, and what to do about it.

use std::fmt;
use std::time::Duration;
use thiserror::Error;

/// What is wrong with a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PluginFault {
    /// The settings make no sense.
    #[error("it is misconfigured: {0}")]
    Misconfigured(String),
    /// No sandbox works here.
    #[error("it was not started: {0}")]
    NoSandbox(String),
    /// The program did not start.
    #[error("it could not be started: {0}")]
    NotStarted(String),
    /// It did not answer in time.
    #[error("it did not answer `{method}` within {} s", .limit.as_secs_f32())]
    TimedOut {
        /// What it was asked.
        method: &'static str,
        /// How long it had.
        limit: Duration,
    },
    /// It ended.
    #[error("it ended during `{method}` ({how})")]
    Died {
        /// What it was asked.
        method: &'static str,
        /// How, with the end of its error output.
        how: String,
    },
    /// It closed its output and still runs.
    #[error("it closed its output during `{method}`")]
    ClosedOutput {
        /// What it was asked.
        method: &'static str,
    },
    /// A line is too long.
    #[error("it wrote a line of more than {} MiB during `{method}`", .limit >> 20)]
    LineTooLong {
        /// What it was asked.
        method: &'static str,
        /// The longest line, in bytes.
        limit: usize,
    },
    /// It wrote too much that nobody asked for.
    #[error("it wrote more than {limit} messages during `{method}` that are not the answer")]
    Flooded {
        /// What it was asked.
        method: &'static str,
        /// How many it may write.
        limit: usize,
    },
    /// The answer is wrong.
    #[error("its answer to `{method}` cannot be used: {reason}")]
    BadAnswer {
        /// What it was asked.
        method: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// It speaks another version.
    #[error("it speaks version {theirs} of the protocol, and this program speaks {ours}")]
    WrongVersion {
        /// The plugin's version.
        theirs: u64,
        /// Ours.
        ours: u64,
    },
    /// It answered with an error.
    #[error("it refused `{method}`: {message} (code {code})")]
    Rejected {
        /// What it was asked.
        method: &'static str,
        /// The error's code.
        code: i64,
        /// The error's message.
        message: String,
    },
    /// It does not offer what it was asked for.
    #[error("it does not offer `{0}`")]
    NotOffered(String),
    /// The request is longer than a line may be.
    #[error("the request `{method}` has {bytes} bytes, more than a plugin is sent")]
    TooLarge {
        /// What it should have been asked.
        method: &'static str,
        /// How long the request is.
        bytes: usize,
    },
    /// It failed before and is not started again yet.
    #[error("it is left alone for {} s because {cause}", .wait.as_secs_f32().ceil())]
    BackingOff {
        /// How much longer.
        wait: Duration,
        /// What happened.
        cause: Box<PluginFault>,
    },
    /// It was taken out of the configuration.
    #[error("it was removed from the configuration")]
    Removed,
}

impl PluginFault {
    /// Says what the user can do about it. The plugin is named as in the configuration.
    pub fn hint(&self, plugin: &str) -> String {
        let hint = match self {
            Self::Misconfigured(_) => "Correct `plugins` in `chitin.json5`.",
            Self::NoSandbox(_) => {
                "Install `bwrap` or use a kernel with Landlock, or set `sandbox: false` for this plugin to run it without protection."
            }
            Self::NotStarted(_) => {
                "Check `command`. In the sandbox a program sees system directories, its own directory and what `readable` names."
            }
            Self::TimedOut { .. } => "Raise `timeoutSeconds`, or make the plugin quicker.",
            Self::Died { .. } | Self::ClosedOutput { .. } => {
                return format!(
                    "Run `chitin plugins try {plugin}` to see what it writes to its error output."
                );
            }
            Self::LineTooLong { .. } | Self::Flooded { .. } | Self::BadAnswer { .. } => {
                "The plugin must write one JSON-RPC answer per request and nothing else to its output; see docs/reference/plugin-protocol.md."
            }
            Self::WrongVersion { .. } => {
                "Install a version of the plugin that was made for this version of the protocol."
            }
            Self::Rejected { .. } => "The message is the plugin's own; see its documentation.",
            Self::NotOffered(_) => "Run `chitin plugins` to see what each plugin offers.",
            Self::TooLarge { .. } => {
                "Start a new session, or use the built-in context engine for this one."
            }
            Self::BackingOff { .. } => {
                return format!("Run `chitin plugins try {plugin}` to try it at once.");
            }
            Self::Removed => "Name it in `plugins` in `chitin.json5` to use it again.",
        };
        hint.to_owned()
    }

    /// Tells whether the process is of no use any more and has to be ended.
    pub(crate) const fn ends_process(&self) -> bool {
        match self {
            Self::Misconfigured(_)
            | Self::NoSandbox(_)
            | Self::NotStarted(_)
            | Self::TimedOut { .. }
            | Self::Died { .. }
            | Self::ClosedOutput { .. }
            | Self::LineTooLong { .. }
            | Self::Flooded { .. }
            | Self::BadAnswer { .. }
            | Self::WrongVersion { .. } => true,
            Self::Rejected { .. }
            | Self::NotOffered(_)
            | Self::TooLarge { .. }
            | Self::BackingOff { .. }
            | Self::Removed => false,
        }
    }

    /// Tells whether it was reported when it happened, so that saying it again would only be noise.
    pub(crate) const fn is_old_news(&self) -> bool {
        matches!(self, Self::BackingOff { .. } | Self::Removed)
    }
}

/// Something that a user should know about a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginNote {
    /// The plugin's name in the configuration.
    pub plugin: String,
    /// What happened.
    pub fault: PluginFault,
    /// What is used instead.
    pub instead: &'static str,
}

impl fmt::Display for PluginNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            plugin,
            fault,
            instead,
        } = self;
        write!(
            f,
            "The plugin `{plugin}` failed: {fault}. {instead} {}",
            fault.hint(plugin)
        )
    }
}
