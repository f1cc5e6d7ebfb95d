//! Memory: what is cut, found, read, cited and written down, and what the prompt says about it.

mod prompt;
mod ranking;
mod text;
mod writing;

use crate::{Check, Outcome};

pub(super) fn run(check: &Check<'_>) -> Outcome {
    match check.case.op.as_str() {
        "memory.promptSection" => prompt::run(check),
        "memory.chunk" | "memory.ftsQuery" | "memory.keywords" | "memory.list" | "memory.read" => {
            text::run(check)
        }
        "memory.hybrid" | "memory.mmr" | "memory.search" | "memory.tool" | "memory.citations" => {
            ranking::run(check)
        }
        "memory.flushPlan" | "memory.flushGate" | "memory.sessionText" => writing::run(check),
        _ => Outcome::NotYet,
    }
}
