//! Tests of the workspace crate, one module per topic.

mod guard;
mod load;
