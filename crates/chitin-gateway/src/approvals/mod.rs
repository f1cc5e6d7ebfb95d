//! Questions for permission: an event that goes out, and an answer that comes in from wherever the owner is.
//!
//! A tool that needs permission waits in [`Approver::ask`](chitin_tools::Approver::ask). The question is an event for all listeners, and
//! [`Gateway::answer_approval`](crate::Gateway::answer_approval) takes the answer. Nothing here knows pages or channels. A question is asked only
//! while somebody is there who can answer ([`Gateway::answers_approvals`](crate::Gateway::answers_approvals)); otherwise it is a refusal at once, so
//! that no heartbeat waits for a person who is not there. Questions are in memory alone: a turn that a crash interrupts asks again.

mod ask;
mod broker;
mod listeners;
mod request;

pub use ask::ApprovalOptions;
pub(crate) use broker::Broker;
pub use broker::{MOST, MOST_OF_SESSION};
pub use listeners::Answering;
pub use request::{
    AnswerError, AnsweredBy, ApprovalAnswer, ApprovalOutcome, KeptApproval, PendingApproval,
    ResolvedApproval,
};
