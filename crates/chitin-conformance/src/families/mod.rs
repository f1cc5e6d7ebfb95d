//! One module per group of operations. Each takes a check and says what it came to.

mod bridge;
mod memory;
mod runtime;
mod skills;
mod workspace;

use crate::{Check, Outcome};

/// Runs one check by its family and operation. Kept-back cases may live in folders of other names, so operations decide.
pub(crate) fn run(check: &Check<'_>) -> Outcome {
    match check.case.op.as_str() {
        op if op.starts_with("skills.") => skills::run(check),
        op if op.starts_with("memory.") => memory::run(check),
        op if op.starts_with("session-key.") || op.starts_with("config.") => runtime::run(check),
        op if op.contains('.') => Outcome::NotYet,
        _ if check.case.family == "pack" => Outcome::NotYet,
        _ if check.case.body.get("basis").is_some() => bridge::run(check),
        _ => workspace::run(check),
    }
}
