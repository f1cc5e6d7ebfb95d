//! What the context promises.

mod catalogue;
mod given;
#[cfg(feature = "exact-tokens")]
mod models;
mod promises;
mod properties;
mod sections;
#[cfg(feature = "exact-tokens")]
mod tokens;
