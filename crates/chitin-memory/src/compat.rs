//! Names and words that other programs know.
