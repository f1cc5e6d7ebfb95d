//! `process`: commands that go on in the background.
//!
//! A registry keeps a bounded number of them, each with a bounded part of its output. None of them outlives it: they are ended
//! when it is dropped, and by their supervisors when this process is killed.

mod background;
mod job;
mod registry;
mod tool;

pub use background::BackgroundCommands;
pub use job::{CommandProcess, CommandText, JobReading, StdinState, Unfinished};

pub(crate) use job::bounded;
pub use registry::{Jobs, JobsFull};
pub use tool::ProcessTool;
