//! Files that are kept by hand: a list of entries, with remarks in comments.

use super::heading::heading;

/// A part of a curated file that stands for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit<'t> {
    pub(super) start_line: u32,
    pub(super) end_line: u32,
    pub(super) text: &'t str,
    /// Whether it is an item of a list.
    pub(super) is_entry: bool,
}

/// Parts a text into units: an item of a list, or a heading, and what follows it.
pub(super) fn units(text: &str) -> impl Iterator<Item = Unit<'_>> {
    let mut rest = Some(text);
    let mut line = 1_u32;
    std::iter::from_fn(move || {
        let text = rest?;
        let start_line = line;
        let mut end = 0;
        let mut lines = text.split('\n');
        // The first line belongs to the unit whatever it is.
        let first = lines.next()?;
        end += first.len();
        line = line.saturating_add(1);
        rest = None;
        for next in lines {
            if begins_unit(next) {
                rest = Some(&text[end + 1..]);
                break;
            }
            end += next.len() + 1;
            line = line.saturating_add(1);
        }
        Some(Unit {
            start_line,
            end_line: line - 1,
            text: &text[..end],
            is_entry: begins_entry(first),
        })
    })
}

fn begins_entry(line: &str) -> bool {
    line.starts_with("- ")
}

fn begins_unit(line: &str) -> bool {
    begins_entry(line) || heading(line).is_some()
}

/// Tells whether a file is kept by hand.
pub fn is_curated(path: &str) -> bool {
    crate::compat::CURATED_FILES.contains(&path)
}
