//! JSON5 for other files of the user that are no configuration, with the same bounds.

use super::{include, scan};
use serde_json::Value;

/// Reads JSON5 text whose nesting is bounded; an error says what is wrong and in which line.
pub fn parse_json5(text: &str) -> Result<Value, String> {
    include::parse(text).map_err(|(problem, place)| match place {
        Some((line, column)) => format!("{problem} (line {line}, column {column})"),
        None => problem.to_string(),
    })
}

/// Returns how deep brackets nest in JSON5 text: its reader recurses, and a stack is finite.
pub fn json5_depth(text: &str) -> usize {
    scan::depth(text)
}
