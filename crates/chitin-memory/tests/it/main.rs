//! Memory, as its users see it.

mod embedding;
