//! Runs a turn: context, model, tools, transcript, as a stream of events.
//!
//! In: somebody's words for a session. Out: [`chitin_protocol::event::TurnEvent`]s, and records in the transcript. This is
//! the only place where the parts meet; it prints nothing and knows neither home directory nor environment.

mod blocking;
pub mod checkpoint;
pub mod clock;
pub mod compat;
pub mod engine;
pub mod guard;
pub mod history;
pub mod journal;
mod lane;
mod limits;
pub mod origins;
pub mod source;
pub mod turn;

pub use blocking::blocking;
pub use limits::{Spending, TurnLimits};
