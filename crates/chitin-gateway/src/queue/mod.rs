//! What happens to messages while a turn runs, and how many turns run at once (R80–R83).
//!
//! | file | does |
//! |---|---|
//! | `mode.rs`, `settings.rs` | rules: queue modes, and the settings that hold for a message |
//! | `pending.rs`, `batch.rs` | the messages of a session that wait, and those that get one turn together |
//! | `lane.rs`, `turn_slots.rs` | how many turns run at once, by kind of job |
//! | `serial.rs` | [`SerialQueues`]: what channels hand in is taken in order, conversation by conversation |
//! | `enqueue.rs` | puts a job into its session and works the session off |
//! | `merge.rs` | makes one job of several messages |
//! | `busy.rs` | the sessions that have something to do; [`crate::Gateway::busy`] |

mod batch;
pub(crate) mod busy;
mod enqueue;
pub mod lane;
mod merge;
pub mod mode;
mod pending;
mod serial;
mod settings;
pub(crate) mod turn_slots;

pub use batch::{Batch, Dropped};
pub use busy::{BusySession, StopCause};
pub use chitin_contract::{DropPolicy, QueueMode};
pub use pending::{PendingMessages, QueuedMessage};
pub use serial::SerialQueues;
pub use settings::{QueueSettings, QueueWish};
