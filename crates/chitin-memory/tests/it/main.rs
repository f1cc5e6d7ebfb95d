//! Memory, as its users see it.

mod archive;
