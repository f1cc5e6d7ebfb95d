//! Two contexts side by side, for a person.

pub(crate) use chitin_runtime::context::ContextComparison as Comparison;

use crate::printer::{Paint, Render, grouped, plain};
use chitin_context::view::FileState;
use std::fmt;

impl Render for Comparison {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        write(self, out, paint, Lines::Shown)
    }
}

/// Whether the lines of the prompt are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// They are.
    Shown,
    /// Only what they come to.
    Counted,
}

/// Writes the comparison for a person.
pub(crate) fn write(
    comparison: &Comparison,
    out: &mut dyn fmt::Write,
    paint: Paint,
    lines: Lines,
) -> fmt::Result {
    writeln!(
        out,
        "{} {} → {}\n",
        paint.bold("Context"),
        comparison.left,
        comparison.right
    )?;
    let Some(broken_by) = &comparison.broken_by else {
        return writeln!(
            out,
            "The same, to the byte: {} tokens.",
            grouped(comparison.right_tokens)
        );
    };
    let change = comparison.right_tokens.cast_signed() - comparison.left_tokens.cast_signed();
    writeln!(
        out,
        "{} → {} tokens ({change:+})",
        grouped(comparison.left_tokens),
        grouped(comparison.right_tokens)
    )?;
    writeln!(
        out,
        "The first {} bytes are the same; the first difference is in line {}, in {broken_by}.",
        grouped(comparison.prefix.bytes),
        grouped(comparison.prefix.line)
    )?;
    let cost = comparison
        .cost
        .as_deref()
        .map(|cost| format!(", {cost}"))
        .unwrap_or_default();
    writeln!(
        out,
        "Of the cached part {} tokens stay valid, {} are written again{cost}.",
        grouped(comparison.cached_tokens_kept),
        grouped(comparison.cached_tokens_lost)
    )?;
    if !comparison.files.is_empty() {
        writeln!(out, "\n{}", paint.bold("Files"))?;
    }
    for file in &comparison.files {
        let word = |state: Option<FileState>| state.map_or("not looked at", FileState::word);
        writeln!(
            out,
            "  {}: {} {} → {} {}",
            plain(&file.name, '\u{fffd}'),
            word(file.left),
            grouped(file.left_units),
            word(file.right),
            grouped(file.right_units)
        )?;
    }
    if lines == Lines::Counted {
        return Ok(());
    }
    writeln!(out)?;
    for line in comparison.diff.lines() {
        let shown = plain(line, '\u{fffd}');
        let shown = match line.as_bytes().first() {
            Some(b'+') => paint.good(&shown),
            Some(b'-') => paint.bad(&shown),
            Some(b'@') => paint.dim(&shown),
            _ => shown,
        };
        writeln!(out, "{shown}")?;
    }
    Ok(())
}
