//! The index says what the files say, and opens no file for nothing.

use crate::notebook::{Notebook, by_paragraph, find, ours, places, sorted_places};
use chitin_contract::MemoryIndexRules;
use chitin_memory::index::{Index, IndexNote, Shape, SyncJob, SyncStop};
use chitin_memory::search::{ChunkSource, Finder, Within};
use proptest::prelude::*;
use std::cell::Cell;
use std::time::Instant;

fn harbour() -> Notebook {
    Notebook::of(&[
        (
            "MEMORY.md",
            "The crane needs oil.\n\nThe pilot is called Ada.\nShe likes tea.",
        ),
        ("memory/2026-03-01.md", "A storm broke the northern mole."),
    ])
}

#[test]
fn a_note_is_found_by_its_words_and_its_lines_are_told() {
    let index = harbour().indexed();
    let found = find(&index, "\"tea\"");
    let piece = &found[0].piece;
    assert_eq!(
        (piece.path.as_str(), piece.start_line, piece.end_line),
        ("MEMORY.md", 3, 4)
    );
    assert_eq!(piece.text, "The pilot is called Ada.\nShe likes tea.");
    assert_eq!(piece.source, ChunkSource::Memory);
    assert!(found[0].strength < 0.0);
}

#[test]
fn our_own_index_knows_forms_accents_and_scripts_without_spaces() {
    let index = Notebook::of(&[
        ("a.md", "We were painting the boats."),
        ("b.md", "Das Café schließt."),
        ("c.md", "明日は東京駅で会議があります。"),
    ])
    .indexed();
    assert_eq!(places(&index, "\"boat\""), ["a.md:1"]);
    assert_eq!(places(&index, "\"paints\""), ["a.md:1"]);
    assert_eq!(places(&index, "\"cafe\""), ["b.md:1"]);
    assert_eq!(places(&index, "\"東京\""), ["c.md:1"]);
}

#[test]
fn an_index_as_releases_keep_it_takes_words_as_they_stand() {
    let mut index = Index::volatile_of(&Shape::new(MemoryIndexRules::OPENCLAW_2026_9)).unwrap();
    let notes = Notebook::of(&[("memory/crane.md", "We were painting the boats. 東京駅")]);
    notes.sync(&mut index);
    assert_eq!(places(&index, "\"boats\"").len(), 1);
    for other in ["\"boat\"", "\"東京\"", "\"crane\""] {
        assert_eq!(places(&index, other), [""; 0], "{other}");
    }
}

#[test]
fn words_of_the_path_and_of_headings_count_in_our_own_index() {
    let index = Notebook::of(&[
        (
            "memory/harbour-rules.md",
            "# Mooring\n\nTwo lines at least.",
        ),
        ("memory/other.md", "Nothing."),
    ])
    .indexed();
    assert_eq!(places(&index, "\"harbour\""), ["memory/harbour-rules.md:3"]);
    assert_eq!(places(&index, "\"moor\""), ["memory/harbour-rules.md:3"]);
}

#[test]
fn a_file_that_did_not_change_is_not_opened() {
    let mut notes = harbour();
    let mut index = notes.indexed();
    let idle = notes.sync(&mut index);
    assert_eq!((idle.looked, idle.unchanged, idle.read), (2, 2, 0));

    notes.write("memory/2026-03-01.md", "A calm day.");
    let edited = notes.sync(&mut index);
    assert_eq!((edited.unchanged, edited.read, edited.changed), (1, 1, 1));
    assert_eq!(places(&index, "\"storm\""), [""; 0]);
    assert_eq!(places(&index, "\"calm\""), ["memory/2026-03-01.md:1"]);
}

#[test]
fn a_file_that_was_written_with_the_same_text_is_read_once_and_stays_as_it_is() {
    let mut notes = harbour();
    let mut index = notes.indexed();
    let before = find(&index, "\"crane\"")[0].piece.id;
    notes.touch("MEMORY.md");
    let touched = notes.sync(&mut index);
    assert_eq!((touched.read, touched.changed, touched.added), (1, 0, 0));
    assert_eq!(notes.sync(&mut index).read, 0);
    assert_eq!(find(&index, "\"crane\"")[0].piece.id, before);
}

#[test]
fn an_edit_changes_only_its_own_pieces_and_the_lines_of_those_below() {
    let mut notes = harbour();
    let mut index = notes.indexed();
    let before = find(&index, "\"tea\"")[0].piece.id;
    notes.write(
        "MEMORY.md",
        "The crane\nneeds no oil.\n\nThe pilot is called Ada.\nShe likes tea.",
    );
    assert_eq!(notes.sync(&mut index).added, 1);
    let piece = &find(&index, "\"tea\"")[0].piece;
    assert_eq!((piece.id, piece.start_line, piece.end_line), (before, 4, 5));
}

#[test]
fn a_deleted_note_is_found_no_more() {
    let mut notes = harbour();
    let mut index = notes.indexed();
    notes.delete("memory/2026-03-01.md");
    let report = notes.sync(&mut index);
    assert_eq!((report.removed, report.pieces), (1, 2));
    assert_eq!(places(&index, "\"storm\""), [""; 0]);
}

#[test]
fn a_sync_of_one_source_leaves_the_other_alone() {
    let mut notes = harbour();
    notes.talk("sessions/s1.jsonl", "User: where is the crane?", &[7]);
    let mut index = notes.indexed();
    let nothing = SyncJob::new(Vec::new(), &[ChunkSource::Memory], &by_paragraph);
    assert_eq!(index.sync(&nothing).removed, 2);
    assert_eq!(places(&index, "\"crane\""), ["sessions/s1.jsonl:7"]);
}

#[test]
fn what_was_said_is_shown_with_the_lines_of_its_transcript() {
    let mut notes = Notebook::default();
    notes.talk(
        "s1.jsonl",
        "User: hello\nAssistant: hi\n\nUser: a crane",
        &[3, 9, 9, 14],
    );
    let index = notes.indexed();
    let piece = &find(&index, "\"hello\"")[0].piece;
    assert_eq!(
        (piece.source, piece.start_line, piece.end_line),
        (ChunkSource::Sessions, 3, 9)
    );
    assert_eq!(places(&index, "\"crane\""), ["s1.jsonl:14"]);
}

#[test]
fn a_file_that_cannot_be_read_keeps_what_was_known_of_it() {
    let mut notes = harbour();
    let mut index = notes.indexed();
    notes.lock("MEMORY.md");
    let report = notes.sync(&mut index);
    let note = IndexNote::Unreadable {
        path: "MEMORY.md".to_owned(),
        message: "no permission".to_owned(),
    };
    assert_eq!(report.notes, [note]);
    assert_eq!(places(&index, "\"crane\""), ["MEMORY.md:1"]);
}

#[test]
fn a_search_stays_within_its_sources_and_leaves_files_out() {
    let mut notes = Notebook::of(&[("crane/a.md", "A crane."), ("crane/b.md", "A crane.")]);
    notes.talk("crane/s.jsonl", "User: the crane", &[1]);
    let index = notes.indexed();
    let within = |sources: &[ChunkSource], without: &[&str]| Within {
        sources: sources.iter().copied().collect(),
        without: without.iter().map(ToString::to_string).collect(),
    };
    let cases = [
        (
            within(&[], &[]),
            vec!["crane/a.md:1", "crane/b.md:1", "crane/s.jsonl:1"],
        ),
        (
            within(&[ChunkSource::Sessions], &[]),
            vec!["crane/s.jsonl:1"],
        ),
        (
            within(&[ChunkSource::Memory], &["crane/a.md"]),
            vec!["crane/b.md:1"],
        ),
        (
            within(
                &[ChunkSource::Memory, ChunkSource::Sessions],
                &["crane/b.md"],
            ),
            vec!["crane/a.md:1", "crane/s.jsonl:1"],
        ),
    ];
    for (within, expected) in cases {
        let words = index.words("\"crane\"", 9, &within).unwrap();
        assert_eq!(sorted_places(&words), expected);
        let paths = index.paths(&["crane".to_owned()], 9, &within).unwrap();
        assert_eq!(sorted_places(&paths), expected);
        let files = index.files(&within).unwrap();
        let openings = index.openings(
            &["crane/a.md", "crane/b.md", "crane/s.jsonl", "crane/no.md"],
            &within,
        );
        let openings: Vec<_> = openings
            .unwrap()
            .into_iter()
            .map(|piece| piece.path)
            .collect();
        assert_eq!(files, openings);
        assert_eq!(
            files,
            expected
                .iter()
                .map(|place| place.trim_end_matches(":1"))
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_file_is_found_by_parts_of_its_path() {
    let index = Notebook::of(&[
        ("memory/Harbour/crane.md", "One.\n\nTwo."),
        ("memory/harbour/pilot.md", "Three."),
    ])
    .indexed();
    let paths = |words: &[&str], limit| {
        let words: Vec<_> = words.iter().map(ToString::to_string).collect();
        let found = index.paths(&words, limit, &Within::default()).unwrap();
        sorted_places(&found)
    };
    let crane = ["memory/Harbour/crane.md:1", "memory/Harbour/crane.md:3"];
    assert_eq!(paths(&["harbour", "crane"], 9), crane);
    assert_eq!(paths(&["harbour"], 9).len(), 3);
    assert_eq!(paths(&["harbour"], 2), crane);
    assert_eq!(paths(&[], 9), [""; 0]);
}

#[test]
fn how_often_a_word_stands_counts_its_forms_together() {
    let index = Notebook::of(&[("a.md", "A boat.\n\nTwo boats.\n\nA crane.")]).indexed();
    let words = ["boats", "crane", "whale", "\"", ""].map(str::to_owned);
    assert_eq!(index.frequencies(&words).unwrap(), [2, 1, 0, 0, 0]);
    assert_eq!(index.size().unwrap(), 3);
}

#[test]
fn among_very_many_pieces_rare_words_find_and_frequent_ones_find_when_alone() {
    let mut text = "the harbour\n\n".repeat(6_000);
    text.push_str("the whale in the harbour\n\na whale");
    let index = Notebook::of(&[("a.md", &text)]).indexed();
    let whales = ["a.md:12001", "a.md:12003"];
    assert_eq!(
        places(&index, "\"the\" OR \"whale\" OR \"harbour\""),
        whales
    );
    assert_eq!(find(&index, "\"the\" OR \"harbour\"").len(), 50);
    assert_eq!(find(&index, "\"harbour\"").len(), 50);
}

#[test]
fn an_expression_that_is_none_is_an_error_and_no_damage() {
    let mut index = harbour().indexed();
    assert!(index.words("\"crane", 5, &Within::default()).is_err());
    assert!(
        index
            .words("", 5, &Within::default())
            .is_ok_and(|found| found.is_empty())
    );
    assert_eq!(harbour().sync(&mut index).notes, []);
}

#[test]
fn a_sync_that_is_stopped_keeps_what_it_did_and_the_next_goes_on() {
    let mut notes = Notebook::default();
    for number in 0..10 {
        notes.write(&format!("{number}.md"), format!("note{number}"));
    }
    let mut index = Index::volatile_of(&ours()).unwrap();
    let asked = Cell::new(0);
    let stopped = index.sync(&SyncJob {
        cancelled: &|| {
            asked.set(asked.get() + 1);
            asked.get() > 4
        },
        ..notes.job()
    });
    assert_eq!(
        (stopped.stopped, stopped.read),
        (Some(SyncStop::Cancelled), 4)
    );
    let late = index.sync(&SyncJob {
        deadline: Some(Instant::now()),
        ..notes.job()
    });
    assert_eq!((late.stopped, late.looked), (Some(SyncStop::Late), 0));
    let rest = notes.sync(&mut index);
    assert_eq!((rest.stopped, rest.unchanged, rest.read), (None, 4, 6));
}

#[test]
fn an_index_on_disk_is_there_next_time_and_readable_by_nobody_else() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("deep/down/index.sqlite");
    let notes = harbour();
    let mut first = Index::open(&path, &ours()).unwrap();
    assert_eq!(first.notes, []);
    assert!(!first.index.is_volatile());
    assert_eq!(notes.sync(&mut first.index).read, 2);
    drop(first);

    let mut second = Index::open(&path, &ours()).unwrap();
    assert_eq!(second.notes, []);
    assert_eq!(places(&second.index, "\"storm\"").len(), 1);
    assert_eq!(notes.sync(&mut second.index).read, 0);
    let mode = rustix::fs::stat(&path).unwrap().st_mode & 0o777;
    assert_eq!(mode, 0o600);
}

#[derive(Debug, Clone)]
enum Edit {
    Write(usize, Vec<usize>),
    Touch(usize),
    Delete(usize),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        4 => (0..4_usize, prop::collection::vec(0..6_usize, 0..5)).prop_map(|(n, t)| Edit::Write(n, t)),
        1 => (0..4_usize).prop_map(Edit::Touch),
        1 => (0..4_usize).prop_map(Edit::Delete),
    ];
    prop::collection::vec(edit, 1..12)
}

const PARAGRAPHS: [&str; 6] = [
    "The crane.",
    "The crane.\nTwo lines.",
    "# Crane",
    "",
    "A pilot and a crane",
    "東京の crane",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Step by step or all at once: the same pieces are found, however the notes came to be what they are.
    #[test]
    fn an_index_never_depends_on_how_it_got_there(edits in edits()) {
        let mut notes = Notebook::default();
        let mut index = Index::volatile_of(&ours()).unwrap();
        for edit in edits {
            match edit {
                Edit::Write(number, paragraphs) => {
                    let text: Vec<_> = paragraphs.iter().map(|n| PARAGRAPHS[*n]).collect();
                    notes.write(&format!("{number}.md"), text.join("\n\n"));
                }
                Edit::Touch(number) => {
                    let path = format!("{number}.md");
                    if notes.files().iter().any(|file| file.path == path) {
                        notes.touch(&path);
                    }
                }
                Edit::Delete(number) => notes.delete(&format!("{number}.md")),
            }
            prop_assert_eq!(notes.sync(&mut index).notes, []);
        }
        let fresh = notes.indexed();
        let all = |index: &Index| {
            let mut all: Vec<_> = find(index, "\"crane\"")
                .into_iter()
                .map(|found| (found.piece.path, found.piece.start_line, found.piece.end_line, found.piece.text))
                .collect();
            all.sort();
            all
        };
        prop_assert_eq!(all(&index), all(&fresh));
        prop_assert_eq!(index.figures().unwrap().pieces, fresh.figures().unwrap().pieces);
    }
}
