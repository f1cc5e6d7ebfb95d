//! What the context promises.

mod catalogue;
mod sections;
#[cfg(feature = "exact-tokens")]
mod models;
#[cfg(feature = "exact-tokens")]
mod tokens;
