//! Pieces of a text replaced by others.

use crate::novelty;
use chitin_tools::files::{Occurrences, ReplaceProblem, Replacement, replace};

/// What texts and pieces are made of.
pub const DICTIONARY: &[&str] = &[
    "\0",
    "\n",
    "\r\n",
    "\r",
    "\u{feff}",
    "a",
    "aa",
    "ab",
    " ",
    "\t",
    "\u{e9}",
    "\u{1f600}",
    "line\n",
    "line\r\n",
];

/// Takes a text, then pieces by twos: old and new, all parted by zero bytes.
pub fn run(data: &[u8]) {
    let mut parts = data.split(|byte| *byte == 0);
    let original = parts.next().unwrap_or_default();
    let pieces: Vec<String> = parts
        .take(8)
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    for places in [Occurrences::Only, Occurrences::All] {
        let edits: Vec<Replacement> = pieces
            .chunks_exact(2)
            .map(|pair| Replacement {
                old: pair[0].clone(),
                new: pair[1].clone(),
                places,
            })
            .collect();
        check(original, &edits);
    }
}

fn check(original: &[u8], edits: &[Replacement]) {
    // Line ends are the file's own affair, so returns are not compared.
    let flat = |bytes: &[u8]| -> Vec<u8> {
        let kept = bytes.iter().copied().filter(|byte| *byte != b'\r');
        kept.collect()
    };
    let holds = |bytes: &[u8], text: &str| {
        let wanted = flat(text.as_bytes());
        wanted.is_empty()
            || flat(bytes)
                .windows(wanted.len())
                .any(|window| window == wanted)
    };
    match replace(original, edits) {
        Err(problem) => novelty::note(match problem {
            ReplaceProblem::Empty { .. } => 1,
            ReplaceProblem::Same { .. } => 2,
            ReplaceProblem::NotFound { .. } => 3,
            ReplaceProblem::Several { .. } => 4,
            ReplaceProblem::Overlap { .. } => 5,
        }),
        Ok(replaced) => {
            novelty::note(("replaced", replaced.lines.len().min(8)));
            assert!(replaced.lines.is_sorted(), "places are in order");
            if edits.is_empty() {
                assert_eq!(replaced.bytes, original, "nothing was asked for");
                return;
            }
            // Every new text is there, with the line ends of the file.
            for edit in edits {
                assert!(holds(original, &edit.old), "an old text was not there");
                assert!(holds(&replaced.bytes, &edit.new), "a new text is missing");
            }
        }
    }
}
