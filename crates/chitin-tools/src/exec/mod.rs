//! `exec`: runs a command in the sandbox.
//!
//! In: a command line from a model. Out: what it printed, bounded, valid UTF-8 and without secrets, how it ended, and what
//! held it. A command that takes long goes on in the background, where the `process` tool finds it.

mod ending;
mod guarded;
mod output;
mod tool;

pub use output::{Collector, Excerpt};
pub use tool::{ExecLimits, ExecTool, UndoCovers};

pub(crate) use ending::{describe, details};

use std::sync::Arc;

/// Takes secrets out of a text.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;
