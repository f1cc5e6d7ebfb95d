//! What the context promises.

mod catalogue;
#[cfg(feature = "exact-tokens")]
mod models;
mod sections;
#[cfg(feature = "exact-tokens")]
mod tokens;
