//! What the context promises.

mod blocks;
mod budget;
mod cache;
mod catalogue;
mod degrade;
mod explain;
mod given;
#[cfg(feature = "exact-tokens")]
mod models;
mod promises;
mod properties;
mod remembered;
mod report;
mod schemas;
mod sections;
#[cfg(feature = "exact-tokens")]
mod tokens;

mod turns;
