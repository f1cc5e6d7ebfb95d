//! The gateway as its users see it.
<<<<<<< HEAD
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod flow;
mod stage;
=======

mod announce;
mod heartbeat;
mod queue;
mod route;
mod spawn;
>>>>>>> 0af546acc141642a4260d50ca83215ce3b6ea33a
