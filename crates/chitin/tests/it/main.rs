//! Tests of the binary, one module per topic.

mod config;
