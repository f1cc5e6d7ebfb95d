//! Memory, as its users see it.

mod indexing;
mod notebook;
mod together;
mod trouble;
mod vectors;
