//! Who gets a message, how sessions are spawned and speak, and where words go.
//!
//! In: messages from surfaces. Out: turns of the right agent in the right session, and their words on the surface that the
//! session is bound to. Rules that need no runtime are plain functions: [`route`], [`queue`], [`text`], [`silent`],
//! [`reply`], [`heartbeat`], [`announce`], [`spawn`].

pub mod announce;
pub mod compat;
pub mod heartbeat;
pub mod queue;
pub mod reply;
pub mod route;
pub mod silent;
pub mod spawn;
pub mod text;
