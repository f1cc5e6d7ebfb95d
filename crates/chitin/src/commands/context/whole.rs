//! The whole request in the table: what is sent besides the system prompt, and what all of it comes to.

use super::table::bar;
use crate::printer::{Paint, grouped};
use chitin_context::view::Measure;
use chitin_protocol::settings::RecallPlace;
use chitin_runtime::context::report::ContextReport;
use chitin_runtime::context::{HistoryState, PlaceFigures, RecallFigures};
use std::fmt::{Result, Write};

/// Writes a row for each part of the request besides the system prompt.
pub(super) fn rows(
    report: &ContextReport,
    out: &mut dyn Write,
    paint: Paint,
    width: usize,
) -> Result {
    writeln!(out, "{}", paint.dim("  ┄┄┄ besides the system prompt ┄┄┄"))?;
    let mut row = |name: &str, state: &str, size: Option<Measure>, cache: &str| {
        let (units, tokens, share) = match size {
            Some(size) => (
                grouped(size.units),
                grouped(size.tokens),
                bar(size.tokens, report.request.size.tokens),
            ),
            None => ("unknown".to_owned(), "unknown".to_owned(), String::new()),
        };
        writeln!(
            out,
            "  {name:width$}  {state:8} {:>9}   {units:>9}  {tokens:>7}  {share:17}  {cache}",
            ""
        )
    };
    let tools = &report.tool_definitions;
    let more = if tools.is_complete() { "" } else { "+" };
    let count = format!("{}{more}", tools.tools.len());
    row("tool definitions", &count, Some(tools.size), "stable")?;
    let history = &report.history;
    let state = match history.state {
        HistoryState::New => "none".to_owned(),
        HistoryState::Expired => "expired".to_owned(),
        HistoryState::Kept => grouped(history.messages),
        HistoryState::Unknown => "unknown".to_owned(),
    };
    row("history", &state, history.size, "session")?;
    match report.message {
        Some(size) if report.has_message => row("message", "", Some(size), "dynamic"),
        Some(size) => row("message", "notices", Some(size), "dynamic"),
        None => Ok(()),
    }
}

/// Writes what the whole request comes to, and what recalled memory costs in it.
pub(super) fn lines(report: &ContextReport, out: &mut dyn Write, paint: Paint) -> Result {
    let tools = &report.tool_definitions;
    let history = match (report.history.state, report.history.size) {
        (HistoryState::New, _) => "no history".to_owned(),
        (HistoryState::Expired, _) => "no history (the session expired)".to_owned(),
        (HistoryState::Kept, Some(size)) => format!(
            "history {} ({} messages)",
            grouped(size.tokens),
            grouped(report.history.messages)
        ),
        (HistoryState::Kept | HistoryState::Unknown, _) => "history unknown".to_owned(),
    };
    let message = match report.message {
        Some(size) if report.has_message => format!("message {}", grouped(size.tokens)),
        Some(size) => format!("without a message; notices {}", grouped(size.tokens)),
        None => "without a message".to_owned(),
    };
    writeln!(
        out,
        "{} {}{} tokens: system prompt {}, tool definitions {} ({} tools), {history}, {message}",
        paint.bold("Whole request:"),
        match (report.request.complete, report.tokens_basis) {
            (false, _) => "at least ",
            (true, "exact") => "",
            (true, _) => "about ",
        },
        grouped(report.request.size.tokens),
        grouped(report.view.total.tokens),
        grouped(tools.size.tokens),
        tools.tools.len()
    )?;
    match &report.recall {
        Some(recall) => recalled(recall, out),
        None => Ok(()),
    }
}

/// Says what recalled memory costs where it is, and where it could be.
fn recalled(recall: &RecallFigures, out: &mut dyn Write) -> Result {
    let taken = grouped(recall.tokens);
    if recall.system.read_again == recall.message.read_again {
        return writeln!(
            out,
            "  recalled memory: {taken} tokens; without history its position makes no difference"
        );
    }
    let cost = |place: &PlaceFigures| {
        let tokens = grouped(place.read_again);
        match place.cost {
            Some(cost) => format!("{tokens} tokens uncached (+{cost})"),
            None => format!("{tokens} tokens uncached (price unknown)"),
        }
    };
    let (system, message) = (cost(&recall.system), cost(&recall.message));
    let (now, here, other, there) = match recall.place {
        RecallPlace::System => ("system prompt", system, "message", message),
        RecallPlace::Message => ("message", message, "system", system),
    };
    writeln!(
        out,
        "  recalled memory: {taken} tokens in the {now}; when the results change, the provider rereads {here}\n  \
         with `memory.recall.place: \"{other}\"`: {there}"
    )
}
