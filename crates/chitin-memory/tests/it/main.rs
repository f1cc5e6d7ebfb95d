//! Memory, as its users see it.

mod answers;
mod citing;
mod notes;
mod ranking;
mod searching;
