//! Which commands run, which are asked about and which are refused.
//!
//! Rules come from `PERMISSIONS.md`, from `chitin.json5` and from `openclaw.json`. What is denied by name wins over everything.
//! A list of what is allowed is only believed where every simple command of a command line is on it; a line that can't be read
//! with certainty is asked about. These rules are manners; the wall is the [sandbox](crate::sandbox).

mod compat;
mod gate;
mod harm;
mod indirect;
mod overwrite;
mod pattern;
mod remembered;
mod rules;
mod shell;
mod wider;

pub use gate::{Gate, Question};
pub use pattern::CommandPattern;
pub use remembered::{ApprovalStore, RememberedApproval, RememberedApprovals};
pub use rules::{ApprovalRules, CommandDecision, Held};
pub use shell::{Script, SimpleCommand, Unsure, Word, split};
