//! Transcripts in files that are no current session: those of resets and deletions, checkpoints, and those that no index names (H23, H25).

use super::files::{IndexEntry, MAX_TRANSCRIPT_BYTES};
use super::rows::take_archive;
use super::{OtherTranscript, SessionPlace};
use crate::problem::Problems;
use crate::transcript::{TranscriptSummary, each_line};
use crate::walk::{self, reading};
use std::collections::BTreeSet;

const ENDING: &str = ".jsonl";

/// Finds them. A transcript whose session the database goes on with is not one of them.
pub(super) fn in_files(
    place: &SessionPlace<'_>,
    index: &[IndexEntry],
    in_database: &[&str],
    problems: &mut Problems,
) -> Vec<OtherTranscript> {
    let indexed: BTreeSet<&str> = index.iter().map(|entry| entry.file.as_str()).collect();
    let taken: BTreeSet<&str> = in_database.iter().copied().collect();
    let directory = place.directory();
    let mut found = Vec::new();
    for name in walk::files(place.state, &directory) {
        let Some(kind) = kind(&name).filter(|_| !indexed.contains(name.as_str())) else {
            continue;
        };
        if kind == UNINDEXED && taken.contains(name.trim_end_matches(ENDING)) {
            continue;
        }
        let path = directory.join(&name);
        let mut summary = TranscriptSummary::default();
        let whole = match place
            .state
            .open_reader(&path, &reading(MAX_TRANSCRIPT_BYTES))
        {
            Ok(reader) if name.ends_with(".zst") => take_archive(reader, &mut summary),
            Ok(reader) => each_line(reader, &mut |line| summary.take(line)).is_ok(),
            Err(_) => false,
        };
        if !whole {
            problems.say(&path, "It cannot be read, or is damaged.");
        }
        found.push(OtherTranscript {
            agent: place.agent.to_owned(),
            kind: kind.to_owned(),
            place: "file".to_owned(),
            name,
            key: None,
            records: summary.records,
        });
    }
    found
}

const UNINDEXED: &str = "unindexed";

/// Returns what a file is by its name; nothing if it is no transcript.
fn kind(name: &str) -> Option<&'static str> {
    if name.starts_with('.') || name.contains(".trajectory") {
        None
    } else if name.contains(".jsonl.reset.") {
        Some("reset-archive")
    } else if name.contains(".jsonl.deleted.") {
        Some("deleted-archive")
    } else if name.contains(".checkpoint.") && name.ends_with(ENDING) {
        Some("checkpoint")
    } else if name.ends_with(ENDING) {
        Some(UNINDEXED)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn a_name_tells_what_a_file_is() {
        for (name, expected) in [
            ("a.jsonl", Some("unindexed")),
            ("a-topic-5.jsonl", Some("unindexed")),
            ("a.checkpoint.b.jsonl", Some("checkpoint")),
            (
                "a.jsonl.reset.2026-11-16T22-36-59.296Z",
                Some("reset-archive"),
            ),
            ("a.jsonl.deleted.2026.x.zst", Some("deleted-archive")),
            ("a.trajectory.jsonl", None),
            ("a.trajectory-path.json", None),
            ("sessions.json", None),
            ("sessions.json.telegram-sent-messages.json", None),
        ] {
            assert_eq!(kind(name), expected, "{name}");
        }
    }
}
