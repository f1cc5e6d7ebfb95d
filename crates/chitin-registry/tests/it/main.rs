//! Against a real registry.
