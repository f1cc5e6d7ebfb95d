//! Memory, as its users see it.

mod embedding;
mod quality_set;
