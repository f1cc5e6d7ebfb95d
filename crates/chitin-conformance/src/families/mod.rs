//! One module per group of operations. Each takes a check and says what it came to.

mod bridge;
mod context;
mod dispatch;
mod memory;
mod outbound;
mod pack;
mod provider;
mod runtime;
mod sessions;
mod skills;
mod tools;
mod traces;
mod workspace;

use crate::{Check, Outcome};

/// Runs one check by its family and operation. Kept-back cases may live in folders of other names, so operations decide.
pub(crate) fn run(check: &Check<'_>) -> Outcome {
    match check.case.op.as_str() {
        op if op.starts_with("skills.") => skills::run(check),
        op if op.starts_with("context.") => context::run(check),
        op if op.starts_with("memory.") => memory::run(check),
        op if op.starts_with("tools.") => tools::run(check),
        op if op.starts_with("provider.") => provider::run(check),
        op if op.starts_with("session-key.") || op.starts_with("config.") => runtime::run(check),
        "shape.log" | "shape.trajectory" | "shape.trajectory-data" | "shape.trajectory-bundle" => {
            traces::run(check)
        }
        op if op.starts_with("session.") || op.starts_with("shape.transcript") => {
            sessions::run(check)
        }
        op if ["chunk.", "silent.", "reply."]
            .iter()
            .any(|start| op.starts_with(start)) =>
        {
            outbound::run(check)
        }
        "discord.thread-name" | "slack.thread-targets" => outbound::run(check),
        "lane" => dispatch::run(check),
        op if op.contains('.') => dispatch::run(check),
        _ if pack::knows(check) => pack::run(check),
        _ if check.case.family == "pack" => Outcome::NotYet,
        _ if check.case.body.get("basis").is_some() => bridge::run(check),
        _ => workspace::run(check),
    }
}
