//! Memory, as its users see it.
