//! Budgets: what each file may take, what is cut, and what is left out (W21–W30, CN7, CN9).

mod cut;
mod digest;
mod embed;
mod limits;
mod spend;

pub use embed::embedded;
pub(crate) use limits::is_user;
pub use limits::{BudgetLimits, LimitUnit};
pub use spend::{ContextFile, OmittedRecord, Spent, WhyLeftOut, spend};
pub(crate) use spend::{CutFile, cut, digested, spend_with};
