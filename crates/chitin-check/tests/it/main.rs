//! Tests of the checker.

mod check;
mod corpus;
