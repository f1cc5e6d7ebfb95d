//! A workspace snapshot, a contract and the facts of a turn in; ordered fragments and the exact prompt out.
//!
//! Everything here is a pure function: no disk, no clock, no environment, no printing. What comes out can be joined into
//! the prompt, explained line by line, compared and measured, because it stays a list of [`Fragment`]s until the end.

pub mod assemble;
mod assembler;
pub mod body;
pub mod budget;
pub mod cache;
pub mod catalogue;
mod clean;
mod compat;
mod composition;
pub mod continuation;
pub mod degrade;
pub mod explain;
pub mod files;
pub mod fragment;
mod maker;
pub mod memory_results;
pub mod models;
mod order;
pub mod refresh;
pub mod regions;
mod remembered;
pub mod render;
pub mod report;
pub mod sections;
pub mod tokens;
pub mod view;
pub mod warning;
mod words;

pub use assemble::{Context, TellCuts, Turn, assemble};
pub use assembler::Assembler;
pub use fragment::{
    CacheClass, CutCause, Decision, Fragment, Origin, Piece, Role, Size, Source, Text,
};
