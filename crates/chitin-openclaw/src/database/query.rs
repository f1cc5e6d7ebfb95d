//! Rows of a table, value by value: whatever a column holds, one odd value costs only its row.

use super::{Database, MAX_VALUE_BYTES};
use crate::problem::HomeProblem;
use rusqlite::types::ValueRef;
use serde_json::Value;
use std::fmt::Write as _;
use std::ops::ControlFlow;

/// Which rows of a table are wanted.
pub(crate) struct Rows<'a> {
    /// The table.
    pub table: &'a str,
    /// The columns that must be there.
    pub needed: &'a [&'a str],
    /// Columns that count as empty if the schema has none of them.
    pub wanted: &'a [&'a str],
    /// A column and the text that it has to hold.
    pub of: Option<(&'a str, &'a str)>,
    /// The columns to sort by; those that are not there are left out.
    pub order: &'a [&'a str],
    /// How many rows at most.
    pub most: u64,
}

/// A value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell<'a> {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
    /// A text, of which nobody promised that it is UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Bytes(&'a [u8]),
    /// A value larger than any that is taken, and its size.
    TooLarge(u64),
}

/// One row: the needed columns, then the wanted ones.
pub(crate) struct Row<'a> {
    cells: Vec<Cell<'a>>,
}

impl<'a> Row<'a> {
    pub(crate) fn cell(&self, at: usize) -> Cell<'a> {
        self.cells.get(at).copied().unwrap_or(Cell::Null)
    }

    /// Returns a text, if it is one.
    pub(crate) fn text(&self, at: usize) -> Option<&'a str> {
        match self.cell(at) {
            Cell::Text(bytes) => std::str::from_utf8(bytes).ok(),
            Cell::Null | Cell::Integer(_) | Cell::Real(_) | Cell::Bytes(_) | Cell::TooLarge(_) => {
                None
            }
        }
    }

    /// Returns a whole number, if it is one.
    pub(crate) fn whole(&self, at: usize) -> Option<i64> {
        match self.cell(at) {
            Cell::Integer(number) => Some(number),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a time in milliseconds fits, and what does not is no time"
            )]
            Cell::Real(number) => Some(number as i64),
            Cell::Null | Cell::Text(_) | Cell::Bytes(_) | Cell::TooLarge(_) => None,
        }
    }

    /// Returns the JSON in a text.
    pub(crate) fn json(&self, at: usize) -> Option<Value> {
        serde_json::from_str(self.text(at)?).ok()
    }
}

impl Database {
    /// Gives every row to `each`; nothing happens if there is no such table. A problem ends the rows, and what was given before it stands.
    pub(crate) fn rows(
        &self,
        wanted: &Rows<'_>,
        each: &mut dyn FnMut(&Row<'_>) -> ControlFlow<()>,
    ) -> Result<(), HomeProblem> {
        let Some(columns) = self.columns(wanted.table)? else {
            return Ok(());
        };
        if let Some(missing) = wanted.needed.iter().find(|name| !columns.contains(**name)) {
            let place = format!("{} {}", self.place, wanted.table);
            return Err(HomeProblem::new(
                place,
                format!("It has no column `{missing}`, so it is of an unknown kind."),
            ));
        }
        let has = |name: &&&str| columns.contains(**name);
        let names = wanted.needed.iter().chain(wanted.wanted);
        let parts: Vec<String> = names
            .map(|name| {
                if columns.contains(*name) {
                    // Only the size of a value is looked at before it is taken.
                    format!(
                        "iif(octet_length(\"{name}\") > {MAX_VALUE_BYTES}, NULL, \"{name}\"), octet_length(\"{name}\")"
                    )
                } else {
                    "NULL, NULL".to_owned()
                }
            })
            .collect();
        let mut sql = format!("SELECT {} FROM \"{}\"", parts.join(", "), wanted.table);
        if let Some((column, _)) = wanted.of {
            let _ = write!(sql, " WHERE \"{column}\" = ?1");
        }
        let order: Vec<String> = wanted
            .order
            .iter()
            .filter(has)
            .map(|name| format!("\"{name}\""))
            .collect();
        if !order.is_empty() {
            let _ = write!(sql, " ORDER BY {}", order.join(", "));
        }
        let _ = write!(sql, " LIMIT {}", wanted.most.saturating_add(1));
        let fail = |error: &rusqlite::Error| self.problem(wanted.table, error);
        let mut ask = self.db.prepare_cached(&sql).map_err(|error| fail(&error))?;
        let given = wanted.of.map(|(_, value)| value);
        let mut rows = ask
            .query(rusqlite::params_from_iter(given))
            .map_err(|error| fail(&error))?;
        let mut count = 0;
        while let Some(row) = rows.next().map_err(|error| fail(&error))? {
            count += 1;
            if count > wanted.most {
                let place = format!("{} {}", self.place, wanted.table);
                let message = format!(
                    "It has more than {} rows; the rest is left out.",
                    wanted.most
                );
                return Err(HomeProblem::new(place, message));
            }
            let cells = (0..parts.len())
                .map(|at| cell(row, at))
                .collect::<rusqlite::Result<_>>()
                .map_err(|error| fail(&error))?;
            if each(&Row { cells }).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn cell<'a>(row: &'a rusqlite::Row<'_>, at: usize) -> rusqlite::Result<Cell<'a>> {
    let size = match row.get_ref(2 * at + 1)? {
        ValueRef::Integer(bytes) => u64::try_from(bytes).unwrap_or(0),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => 0,
    };
    Ok(match row.get_ref(2 * at)? {
        ValueRef::Null if size > MAX_VALUE_BYTES as u64 => Cell::TooLarge(size),
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(bytes) => Cell::Text(bytes),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes),
    })
}
