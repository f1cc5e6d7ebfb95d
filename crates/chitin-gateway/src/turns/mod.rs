//! One turn of a session, from the job to its end.
//!
//! | file | does |
//! |---|---|
//! | `run.rs` | runs a job: a slot, an agent, the turn, and its reply on its way while it runs |
//! | `input.rs` | what the agent gets: message, extra prompt, origin |
//! | `finish.rs` | takes the job out of the job log and begins what follows from it |
//! | `stop.rs` | [`crate::Gateway::stop`]: stops a turn and all runs below it |
//! | `outage.rs` | a turn that failed by the machine's or the model's fault is tried again |
//! | `notes.rs` | what turns say on the side, for the log of a server |
//! | `panics.rs` | a panic in a turn fails the turn and nothing else |

mod finish;
pub(crate) mod input;
pub(crate) mod notes;
pub(crate) mod outage;
pub(crate) mod panics;
mod run;
pub(crate) mod stop;

pub use outage::{DelayedJob, GatewayFigures, OutagePolicy};
