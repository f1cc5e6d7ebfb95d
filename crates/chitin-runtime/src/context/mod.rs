//! The context of a turn: what a request, the disk and the configuration come to.

mod budget;
mod build;
mod cache;
mod claimed;
mod composed;
mod composition;
mod figures;
mod inputs;
mod prompt;
pub mod report;
mod request;
mod session;
mod skills;
mod source;

pub use build::{Edit, FileSource, RunningTurn, TurnContext};
pub use cache::ContextCache;
pub use figures::{ModelFigures, Reckoning, TokenCounting};
pub use request::{Mode, Trigger, TurnRequest, WhichTurn};
pub use session::session_key;
pub use source::{WorkspaceSource, first_sentence};
