//! What the two ends of the helper say to each other.
//!
//! Towards the helper: frames of a length and bytes. The first is the [`Launch`]; the others are input for the command, an
//! empty one closes its input, and the end of the stream kills it. From the helper: one [`Status`] as JSON in each line.

use super::level::SandboxLevel;
use super::limits::CommandLimits;
use super::policy::Policy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// The longest frame.
pub(crate) const LONGEST_FRAME: usize = 16 << 20;

/// What the supervisor is to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub(crate) level: SandboxLevel,
    /// Where `bwrap` is; needed for its level only.
    pub(crate) bwrap: Option<PathBuf>,
    /// Where this helper is.
    pub(crate) helper: PathBuf,
    pub(crate) policy: Policy,
    pub(crate) program: Vec<String>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) workdir: PathBuf,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) limits: CommandLimits,
    pub(crate) errors: ErrorOutput,
}

/// Where a command's error output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorOutput {
    /// Into the output, in the order in which it was written.
    Output,
    /// Nowhere; the end of it is kept for the message when the command fails.
    Tail,
}

/// What the inner helper does before it becomes the command.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Apply {
    pub(crate) level: SandboxLevel,
    /// The supervisor, where it can be seen.
    pub(crate) parent: Option<i32>,
    pub(crate) policy: Policy,
    pub(crate) limits: CommandLimits,
    /// How many tasks of this user the kernel counts against the limit, besides those of the command.
    pub(crate) other_tasks: u64,
    pub(crate) program: Vec<String>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) workdir: PathBuf,
    pub(crate) errors: ErrorOutput,
    /// The descriptor that is the command's output, where it is not the usual one.
    pub(crate) output: Option<i32>,
}

/// What the kernel granted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// The version of Landlock's interface, where its rules are in force.
    pub(crate) landlock: Option<u8>,
    /// Whether the system call filter is in force.
    pub(crate) filter: bool,
    /// The limits that are in force.
    pub(crate) limits: CommandLimits,
}

/// What the supervisor says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub(crate) enum Status {
    /// The inner process is there.
    Started {
        pid: u32,
    },
    /// The rights are given away, the command comes next.
    Ready {
        facts: Facts,
    },
    Ended(CommandExit),
}

/// How a command ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CommandExit {
    pub(crate) cause: Cause,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// What went wrong before the command could start, or the end of its error output.
    pub(crate) message: String,
}

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// By itself.
    Exited,
    /// It took too long.
    TimedOut,
    /// It used more than it may.
    Limited,
    /// Somebody stopped it, or Chitin went away.
    Stopped,
    /// It never began.
    NotStarted,
    /// Its supervisor was lost.
    Lost,
}

/// Writes a frame.
pub(crate) fn write_frame(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len())
        .ok()
        .filter(|length| *length as usize <= LONGEST_FRAME)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "too long for one frame"))?;
    let mut frame = Vec::with_capacity(bytes.len() + 4);
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(bytes);
    to.write_all(&frame)?;
    to.flush()
}

/// Reads a frame; nothing at the end of the stream. Not a byte more than the frame is taken.
pub(crate) fn read_frame(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    if let Err(error) = from.read_exact(&mut length) {
        return match error.kind() {
            io::ErrorKind::UnexpectedEof => Ok(None),
            _ => Err(error),
        };
    }
    let length = u32::from_be_bytes(length) as usize;
    if length > LONGEST_FRAME {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a frame is too long",
        ));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}
