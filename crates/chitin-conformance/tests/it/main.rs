//! Tests of the conformance crate.
