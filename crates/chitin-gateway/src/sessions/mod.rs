//! What a session sees of other sessions, and messages between them.
//!
//! | file | does |
//! |---|---|
//! | `visible.rs` | which sessions a session may see |
//! | `message.rs` | [`crate::Gateway::bring`]: a message from one session to another |
//! | `sessions_list.rs`, `sessions_history.rs`, `sessions_send.rs` | the tools of these names |

mod message;
pub(crate) mod sessions_history;
pub(crate) mod sessions_list;
pub(crate) mod sessions_send;
pub(crate) mod visible;

pub use message::SessionMessage;
