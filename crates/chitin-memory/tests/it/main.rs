//! Memory, as its users see it.

mod quality_set;
