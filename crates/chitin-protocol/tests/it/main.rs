//! Tests of the protocol crate, one module per topic.
