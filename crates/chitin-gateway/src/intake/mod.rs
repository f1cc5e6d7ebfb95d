//! How a message becomes a job.
//!
//! | file | does |
//! |---|---|
//! | `message.rs` | a message as a channel hands it in |
//! | `receive.rs` | [`crate::Gateway::notice`]: a message on a chat channel; asks [`crate::access`] first |
//! | `accept.rs` | [`crate::Gateway::accept`]: checks, names and queues a message whose sender may talk to the agent |
//! | `recent.rs` | which messages were taken in lately, so that none is taken in twice |
//! | `refusal.rs` | why a message is not taken in |

pub(crate) mod accept;
mod message;
mod receive;
pub(crate) mod recent;
mod refusal;

pub use accept::Accepted;
pub use message::{
    Addressed, Hanging, IncomingMessage, MOST_IMAGES, MOST_TEXT, Noticed, ReceiveOutcome,
    ReplyDelivery,
};
pub use refusal::IntakeRefusal;
