//! The gateway as its users see it.
