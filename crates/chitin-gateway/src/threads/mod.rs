//! Threads: when an answer opens one, and what the session of one begins with (R76, R77, E11, E13).
//!
//! [`answer_thread`] says where the answer to a message stands; [`history_limit`] and [`told`] make the earlier messages of a
//! thread readable for a model that was not there.

mod history;
mod open;
mod reply_thread;

pub use history::{history_limit, how_to_read, told};
pub(crate) use open::opened_before;
pub use reply_thread::{AnswerThread, MessageToAnswer, answer_thread};
