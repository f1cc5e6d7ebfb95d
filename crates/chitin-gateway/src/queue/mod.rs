//! What becomes of messages that come while a turn runs (R80–R83).
//!
//! [`mode`] reads the words for it, [`QueueSettings`] says what holds for a message, [`Pending`] is the queue itself:
//! bounded, in order, and honest about what it let go. [`lane`] says how many turns run at once.

mod batch;
pub mod lane;
pub mod mode;
mod pending;
mod settings;

pub use batch::{Batch, Dropped};
pub use chitin_contract::{DropPolicy, QueueMode};
pub use pending::{Pending, Pushed, Said};
pub use settings::{QueueSettings, QueueWish};
