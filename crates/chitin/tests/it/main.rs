//! Tests of the binary, one module per topic.

mod check;
mod config;
