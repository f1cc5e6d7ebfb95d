//! The context of a turn: what a request, the disk and the configuration come to.

mod budget;
mod build;
mod cache;
mod claimed;
mod compare;
mod composed;
mod composition;
mod definitions;
mod engine;
mod figures;
mod inputs;
pub(crate) mod origins;
mod prompt;
pub mod report;
mod request;
pub(crate) mod sent;
mod session;
mod skills;
mod source;
mod tally;

pub use build::{Edit, FileSource, RunningTurn, TurnContext};
pub use cache::ContextCache;
pub use claimed::{DirectoryClaim, definition_notes, named_skills};
pub use compare::{ComparedContext, ContextComparison, FileComparison};
pub use definitions::{Definitions, terminal_capabilities};
pub(crate) use engine::EngineLook;
pub use figures::{ModelFigures, Reckoning, TokenCounting};
pub use inputs::template_directory;
pub use request::{Caller, PromptExtent, Trigger, TurnRequest, WhichTurn};
pub use sent::{ChosenMessages, History, RequestParts, wire_of, written};
pub use session::session_key;
pub use source::{WorkspaceSource, first_sentence};
pub use tally::{
    HistoryFigures, HistoryState, PlaceFigures, RecallFigures, RequestFigures, Tally, ToolFigure,
    ToolFigures,
};
