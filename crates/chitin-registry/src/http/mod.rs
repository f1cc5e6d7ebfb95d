//! Requests to a registry: credentials on demand, redirects by hand, failures that say whether trying again may help.

mod challenge;
mod client;
mod endpoint;
mod failure;
mod patience;
mod payload;
mod token;
mod transport;

pub(crate) use endpoint::Endpoint;
pub(crate) use failure::{Failure, Retry, refused, refused_with_code, wrong_answer};
pub(crate) use patience::Patience;
pub(crate) use payload::Payload;
pub(crate) use transport::{Action, Request, Transport};
