//! What the context promises.

mod sections;
