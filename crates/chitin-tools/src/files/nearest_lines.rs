//! The lines that look most like a text that is not there.

use std::fmt;

/// Longer files and texts are not compared: the hint would cost more than it is worth.
const MOST_LINES: usize = 20_000;
const MOST_WANTED: usize = 200;

/// So many lines are shown, and so much of each.
const SHOWN_LINES: usize = 8;
const SHOWN_CHARACTERS: usize = 160;

/// Lines that look like a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// The first of them, counted from 1.
    pub line: usize,
    /// What they say.
    pub text: String,
    /// Whether only blanks and tabs differ.
    pub differs: Differs,
}

/// In what lines differ from the text that was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Differs {
    /// In blanks and tabs at the beginnings and ends of lines.
    InBlanks,
    /// In more than that.
    InMore,
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.differs {
            Differs::InBlanks => "only trailing whitespace differs",
            Differs::InMore => "other words",
        };
        write!(
            f,
            "The closest match is at line {} ({why}):\n{}",
            self.line, self.text
        )
    }
}

/// Finds the lines that look most like a text.
pub(super) fn nearest_lines(bytes: &[u8], wanted: &str) -> Option<Nearest> {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().take(MOST_LINES).collect();
    let wanted: Vec<&str> = wanted.lines().take(MOST_WANTED).collect();
    let height = wanted.len();
    let (line, equal) = best_window(&lines, &wanted)?;
    let differs = if equal == height {
        Differs::InBlanks
    } else {
        Differs::InMore
    };
    let shown: Vec<String> = lines[line..]
        .iter()
        .take(height.min(SHOWN_LINES))
        .map(|line| line.chars().take(SHOWN_CHARACTERS).collect())
        .collect();
    Some(Nearest {
        line: line + 1,
        text: shown.join("\n"),
        differs,
    })
}

/// Returns where most lines of the text stand, or else the line that shares most words with its longest line.
fn best_window(lines: &[&str], wanted: &[&str]) -> Option<(usize, usize)> {
    let counts = (0..lines.len()).map(|start| {
        let here = lines[start..].iter().zip(wanted);
        let equal = here
            .filter(|(line, want)| !want.trim().is_empty() && line.trim() == want.trim())
            .count();
        (equal, start)
    });
    let blank = wanted.iter().filter(|want| want.trim().is_empty()).count();
    // Of several that are alike the first.
    let (equal, start) = counts.max_by_key(|(equal, start)| (*equal, usize::MAX - start))?;
    if equal > 0 {
        return Some((start, equal + blank));
    }
    let (offset, longest) = wanted
        .iter()
        .enumerate()
        .max_by_key(|(_, line)| line.trim().len())?;
    let words = |line: &str| -> Vec<String> {
        line.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let sought = words(longest);
    let (shared, line) = lines
        .iter()
        .enumerate()
        .map(|(at, line)| {
            let here = words(line);
            (sought.iter().filter(|word| here.contains(word)).count(), at)
        })
        .max_by_key(|(shared, at)| (*shared, usize::MAX - at))?;
    (shared * 2 > sought.len()).then(|| (line.saturating_sub(offset), 0))
}
