//! `chitin trace list`.

use crate::commands::skills::{count, one_line};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use crate::terminal::messages;
use chitin_agent::journal::TraceSummary;
use chitin_runtime::{Host, traces};
use serde::Serialize;
use std::fmt;

/// The recorded sessions.
#[derive(Debug, Serialize)]
struct Table {
    traces: Vec<TraceSummary>,
}

pub(super) fn run(host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let traces = traces::all(host, &printer.notes())?;
    if traces.is_empty() {
        printer.note("no recorded sessions; `chitin run` records its turns");
    }
    printer.result(&Table { traces })
}

impl Render for Table {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let rows: Vec<[String; 7]> = self.traces.iter().map(row).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let heads = ["SESSION", "ID", "LAST", "TURNS", "TOKENS", "COST", "ENDED"];
        let widths: Vec<usize> = (0..heads.len())
            .map(|column| {
                let cells = rows.iter().map(|row| row[column].chars().count());
                cells.chain([heads[column].len()]).max().unwrap_or_default()
            })
            .collect();
        let line = |cells: &[&str]| {
            let cells = cells.iter().zip(&widths).enumerate();
            let padded: Vec<String> = cells
                .map(|(column, (cell, width))| match column {
                    3..=5 => format!("{cell:>width$}"),
                    _ => format!("{cell:<width$}"),
                })
                .collect();
            padded.join("  ").trim_end().to_owned()
        };
        writeln!(out, "{}", paint.bold(&line(&heads)))?;
        for row in &rows {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            writeln!(out, "{}", line(&cells))?;
        }
        writeln!(out, "\n{}", paint.dim(&count(rows.len(), "session")))
    }
}

fn row(trace: &TraceSummary) -> [String; 7] {
    let tokens = trace.input + trace.output + trace.cache_read + trace.cache_write;
    [
        one_line(&trace.session_key),
        one_line(&trace.session_id).chars().take(8).collect(),
        moment(&trace.ended),
        trace.turns.to_string(),
        messages::counted(tokens, trace.tokens_unknown),
        messages::cost(trace.cost),
        one_line(trace.status.as_deref().unwrap_or("not yet")),
    ]
}

/// Shortens an instant for people.
pub(super) fn moment(instant: &str) -> String {
    let shown: String = one_line(instant).chars().take(19).collect();
    shown.replace('T', " ")
}
