//! Asking the index, in words and in vectors.

mod finder;

pub use finder::*;
