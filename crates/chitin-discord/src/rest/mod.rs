//! Requests to Discord.
//!
//! Our own thin client in place of `twilight-http`: that one (0.18) sends a request again at once and without end when Discord says
//! that there were too many, learns nothing of limits from answers that went well, and cannot name a message so that a second try is
//! the same message. Here a request waits for its turn, waits as long as Discord says, and gives up in time.

mod client;
mod fault;
mod form;
mod limits;

pub(crate) use client::{Body, Rest, client, limited, of_network};
pub(crate) use fault::{Fault, Why};
pub(crate) use form::Upload;
pub(crate) use reqwest::Method;
