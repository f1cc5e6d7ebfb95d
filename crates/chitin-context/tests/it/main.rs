//! What the context promises.

mod catalogue;
mod sections;
