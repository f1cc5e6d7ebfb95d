//! Packages: what an agent builds on, found, pinned, put in order and merged (rules P16, P50–P53).
//!
//! The flow: the packages layer ([`Dependency`]) → [`resolve`] → [`Resolution`] → [`Lock`] and [`Merged`].

mod contents;
mod list;
mod lock;
mod merge;
mod resolve;
mod rule;

pub use contents::{Merged, MergedFile};
pub use list::{Dependency, read_list};
pub use lock::{Lock, Locked};
pub use merge::{Unit, in_rule_order, merge, merge_members, merge_secrets, units_member};
pub use resolve::{MAX_LEVELS, PackageSource, Resolution, resolve, resolve_dependencies};
pub use rule::RuleFacts;

#[cfg(test)]
mod packages_tests;
