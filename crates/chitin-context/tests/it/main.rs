//! What the context promises.
