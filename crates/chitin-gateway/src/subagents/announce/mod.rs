//! What a parent hears when a child is done (R40–R48).
//!
//! [`CompletionEvent`] becomes text with [`block`] or [`turn`]; nothing that a child says can end the block that it stands in.
//! [`action`] says what the parent is asked to do, [`fate`] whether it is asked at all, [`destination`] where its reply goes,
//! [`wait`] when to try again. All of it is plain functions; who calls them keeps the time and the books.

mod action;
mod decide;
mod escape;
mod event;
mod outcome;
mod settings;
pub(crate) mod settle;
mod stats;
mod texts;

pub use action::{ActionClass, AnnounceAction, CompletionTarget, Requester, action, action_text};
pub use decide::{ChildEnd, Fate, SkipAnnounce, destination, fate, wait};
pub(crate) use escape::shows;
pub use event::{AnnounceMessage, CompletionEvent, block, turn};
pub use outcome::{ChildOutcome, announce_id, idempotency_key};
pub use settings::{AnnounceWish, Announcing};
pub use stats::RunStats;
pub use texts::GUIDANCE;
