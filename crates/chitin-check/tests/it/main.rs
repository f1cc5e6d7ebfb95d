//! Tests of the checker.

mod check;
