//! State kept beside a workspace (B16–B18): rules per user and agent, facts and daily notes, conversations.
//!
//! [`State`] reads, [`StateWriter`] writes; neither leaves the directory it was given, whatever the names of users, agents
//! and sessions are. There is no clock and no randomness here: whoever adds an entry hands in its id and its instant.
//! The workspace's own `MEMORY.md` is never touched. [`DailyNotes`] lets the workspace's own notes of a day grow.
//!
//! Who uses what: `chitin memory facts` reads and writes facts and notes; the memory flush of a turn writes [`DailyNotes`]; the rules of
//! a user and conversations are kept because recorded cases of the bridge hold them (`conformance/bridge`, `state-*`).

mod compat;
mod conversation;
mod daily_notes;
mod entry;
mod name;
mod reader;
mod writer;

pub use conversation::ConversationMessage;
pub use daily_notes::{Appended, DailyNotes, daily_note};
pub use entry::{Stamp, StateEntry};
pub use name::{Name, NameError};
pub use reader::{Owner, State, StateError, StateRules};
pub use writer::{Promotion, StateWriter};
