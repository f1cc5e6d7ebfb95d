//! A workspace snapshot, a contract and the facts of a turn in; ordered fragments and the exact prompt out.
//!
//! Everything here is a pure function: no disk, no clock, no environment, no printing. What comes out can be joined into
//! the prompt, explained line by line, compared and measured, because it stays a list of [`Fragment`]s until the end.

pub mod assemble;
mod assembler;
pub mod body;
pub mod budget;
pub mod cache;
mod cached_parts;
pub mod catalogue;
mod clean;
mod compat;
mod composition;
pub mod continuation;
pub mod degrade;
pub mod explain;
mod file_texts;
pub mod files;
pub mod fragment;
pub mod memory_results;
pub mod models;
mod order;
mod parts;
pub mod refresh;
pub mod regions;
pub mod render;
pub mod report;
pub mod sections;
pub mod tokens;
pub mod view;
pub mod warning;

pub use assemble::{Context, TellCuts, TurnInputs, assemble};
pub use assembler::Assembler;
pub use fragment::{
    BudgetDecision, CacheClass, CutCause, Fragment, FragmentOrigin, FragmentPiece, FragmentRole,
    FragmentSource, Size, Text,
};
