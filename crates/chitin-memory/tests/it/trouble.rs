//! Whatever happens to an index, notes are found, and nobody is bothered with more than a note.
#![expect(
    clippy::disallowed_methods,
    reason = "files are damaged on purpose, and the test runs itself in a child"
)]

use crate::notebook::{Notebook, by_paragraph, find, ours, places};
use chitin_contract::{ChunkRules, MemoryIndexRules};
use chitin_guard::Root;
use chitin_memory::chunk;
use chitin_memory::index::{
    Index, IndexLimits, IndexNote, JobFile, MAX_FILE_BYTES, NewPiece, Opened, Rebuild, Shape,
    SyncJob, SyncStop,
};
use chitin_memory::search::{ChunkSource, Finder, Within};
use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn harbour() -> Notebook {
    Notebook::of(&[
        ("MEMORY.md", "The crane needs oil."),
        ("memory/2026-03-01.md", "A storm broke the mole."),
    ])
}

/// An index on disk that holds the notes, closed.
fn filled() -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("index.sqlite");
    let mut index = open(&path).index;
    assert_eq!(harbour().sync(&mut index).notes, []);
    (place, path)
}

fn open(path: &Path) -> Opened {
    Index::open(path, &ours()).unwrap()
}

/// Opens the index and syncs it: the notes must be found. Returns all that was said.
fn recovered(path: &Path) -> Vec<IndexNote> {
    let Opened {
        mut index,
        mut notes,
    } = open(path);
    let report = harbour().sync(&mut index);
    assert_eq!(report.stopped, None);
    assert_eq!(places(&index, "\"storm\""), ["memory/2026-03-01.md:1"]);
    notes.extend(report.notes);
    notes
}

#[test]
fn a_file_of_garbage_is_replaced() {
    let (_place, path) = filled();
    fs::write(
        &path,
        "this is no database, whatever its name says".repeat(500),
    )
    .unwrap();
    assert_eq!(recovered(&path), [IndexNote::Rebuilt(Rebuild::Damaged)]);
    assert_eq!(recovered(&path), []);
}

#[test]
fn a_file_that_was_cut_short_is_replaced() {
    let (_place, path) = filled();
    let bytes = fs::read(&path).unwrap();
    for length in [4096, bytes.len() / 2, bytes.len() - 4096] {
        fs::write(&path, &bytes[..length]).unwrap();
        assert_eq!(
            recovered(&path),
            [IndexNote::Rebuilt(Rebuild::Damaged)],
            "{length} bytes"
        );
    }
    // So little is as good as nothing, and nothing to speak of.
    for length in [0, 1, 100] {
        fs::write(&path, &bytes[..length]).unwrap();
        recovered(&path);
    }
}

#[test]
fn a_file_with_pages_of_nonsense_never_gives_nonsense() {
    let (_place, path) = filled();
    let bytes = fs::read(&path).unwrap();
    for page in 1..bytes.len() / 4096 {
        let mut damaged = bytes.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0x5a);
        fs::write(&path, damaged).unwrap();
        recovered(&path);
    }
}

#[test]
fn damage_that_a_search_meets_is_repaired_by_the_next_sync() {
    let (_place, path) = filled();
    let mut index = open(&path).index;
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "DROP TABLE state; CREATE TABLE state (id INTEGER); PRAGMA wal_checkpoint(truncate)",
        )
        .unwrap();
    index.frequencies(&["crane".to_owned()]).unwrap_err();
    let report = harbour().sync(&mut index);
    assert_eq!(report.read, 2, "{report:?}");
    assert!(
        report.notes.contains(&IndexNote::Rebuilt(Rebuild::Damaged)),
        "{:?}",
        report.notes
    );
    assert_eq!(places(&index, "\"storm\"").len(), 1);
}

#[test]
fn an_index_of_another_version_older_or_newer_is_replaced() {
    for version in [0, 999] {
        let (_place, path) = filled();
        let other = Connection::open(&path).unwrap();
        other.pragma_update(None, "user_version", version).unwrap();
        drop(other);
        assert_eq!(recovered(&path), [IndexNote::Rebuilt(Rebuild::OtherFormat)]);
    }
}

#[test]
fn an_index_with_other_settings_is_made_anew() {
    let (_place, path) = filled();
    for shape in [
        ours().with("overlap", "80"),
        Shape::new(MemoryIndexRules::OPENCLAW_2026_9),
    ] {
        let mut opened = Index::open(&path, &shape).unwrap();
        assert_eq!(opened.notes, [IndexNote::Rebuilt(Rebuild::OtherShape)]);
        assert_eq!(harbour().sync(&mut opened.index).read, 2);
    }
}

#[test]
fn a_database_of_another_program_is_left_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("main.sqlite");
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE chunks (text)").unwrap();
    drop(theirs);
    let before = fs::read(&path).unwrap();
    assert!(matches!(recovered(&path)[..], [IndexNote::InMemory(_)]));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn an_index_that_is_deleted_while_it_is_in_use_is_made_anew() {
    let (place, path) = filled();
    let mut index = open(&path).index;
    fs::remove_file(&path).unwrap();
    assert_eq!(
        places(&index, "\"storm\"").len(),
        1,
        "what is open stays open"
    );
    let report = harbour().sync(&mut index);
    assert_eq!(
        (report.read, report.notes),
        (2, vec![IndexNote::Rebuilt(Rebuild::Gone)])
    );
    assert!(path.exists());

    fs::remove_dir_all(place.path()).unwrap();
    assert_eq!(harbour().sync(&mut index).read, 2);
    assert_eq!(recovered(&path), []);
}

#[test]
fn where_nothing_can_be_written_the_index_lives_in_memory() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("file"), "").unwrap();
    let notes = recovered(&place.path().join("file/index.sqlite"));
    assert!(matches!(notes[..], [IndexNote::InMemory(_)]), "{notes:?}");
}

const DIRECTORY: &str = "CHITIN_TEST_MEMORY_DIRECTORY";

/// Runs one of the tests below in a process of its own.
fn child(name: &str, directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            &format!("trouble::{name}"),
            "--ignored",
            "--nocapture",
        ])
        .env(DIRECTORY, directory)
        .stdout(Stdio::null());
    command
}

#[test]
#[ignore = "run by `a_directory_that_is_read_only_keeps_nobody_from_searching`"]
fn child_that_may_only_read() {
    let Ok(directory) = std::env::var(DIRECTORY) else {
        return;
    };
    for name in ["new.sqlite", "index.sqlite"] {
        let notes = recovered(&Path::new(&directory).join(name));
        assert!(matches!(notes[..], [IndexNote::InMemory(_)]), "{notes:?}");
    }
}

#[test]
fn a_directory_that_is_read_only_keeps_nobody_from_searching() {
    let (place, path) = filled();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let mut reader = child("child_that_may_only_read", place.path());
    // Permissions mean nothing to the superuser, who becomes somebody else for this.
    if rustix::process::geteuid().is_root() {
        reader.uid(65_534).gid(65_534);
    }
    let status = reader.status().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(status.success());
}

#[test]
fn without_room_for_more_what_is_there_is_still_found() {
    let (_place, path) = filled();
    let limits = IndexLimits {
        max_bytes: 600 << 10,
        ..IndexLimits::default()
    };
    let mut index = Index::open_with(&path, &ours(), &limits).unwrap().index;
    let mut notes = harbour();
    let long: Vec<_> = (0..200_000).map(|n| format!("word{n}")).collect();
    notes.write("large.md", long.join("\n"));
    let report = notes.sync(&mut index);
    assert_eq!(
        (report.stopped, report.notes),
        (Some(SyncStop::Unwritten), vec![IndexNote::Full])
    );
    assert_eq!(places(&index, "\"storm\"").len(), 1);
    notes.delete("large.md");
    assert_eq!(notes.sync(&mut index).notes, []);
}

#[test]
fn an_index_in_memory_does_not_take_all_of_it() {
    let limits = IndexLimits {
        max_memory: 1 << 20,
        ..IndexLimits::default()
    };
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("file"), "").unwrap();
    let path = place.path().join("file/index.sqlite");
    let mut index = Index::open_with(&path, &ours(), &limits).unwrap().index;
    let mut notes = harbour();
    assert_eq!(notes.sync(&mut index).notes, []);
    notes.write("large.md", "words and more words\n\n".repeat(100_000));
    assert_eq!(notes.sync(&mut index).notes, [IndexNote::Full]);
    assert!(index.figures().unwrap().bytes <= 1 << 20);
    assert_eq!(places(&index, "\"storm\"").len(), 1);
}

#[test]
fn while_another_keeps_it_locked_the_index_is_searched_as_it_was() {
    let (_place, path) = filled();
    let limits = IndexLimits {
        patience: Duration::from_millis(50),
        ..IndexLimits::default()
    };
    let mut index = Index::open_with(&path, &ours(), &limits).unwrap().index;
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut notes = harbour();
    notes.write("new.md", "A whale.");
    let begin = Instant::now();
    let report = notes.sync(&mut index);
    assert_eq!(
        (report.stopped, report.notes),
        (Some(SyncStop::Unwritten), vec![IndexNote::Busy])
    );
    assert_eq!(places(&index, "\"storm\"").len(), 1);
    assert!(begin.elapsed() < Duration::from_secs(5));
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(notes.sync(&mut index).changed, 1);
}

#[test]
fn an_index_that_another_keeps_for_itself_is_done_without() {
    let (_place, path) = filled();
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch("PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE; COMMIT")
        .unwrap();
    let limits = IndexLimits {
        patience: Duration::from_millis(50),
        ..IndexLimits::default()
    };
    let opened = Index::open_with(&path, &ours(), &limits).unwrap();
    assert!(matches!(opened.notes[..], [IndexNote::InMemory(_)]));
}

/// Many notes; the number of the edition is in each.
fn edition(number: usize) -> Notebook {
    let mut notes = Notebook::default();
    for note in 0..400 {
        let text = format!("note{note} of edition{number}\n\n{}", "words ".repeat(200));
        notes.write(&format!("{note}.md"), text.repeat(30));
    }
    notes
}

#[test]
#[ignore = "run by `an_index_whose_writer_was_killed_is_whole`"]
fn child_that_is_killed() {
    let Ok(directory) = std::env::var(DIRECTORY) else {
        return;
    };
    let path = Path::new(&directory).join("index.sqlite");
    for number in 0.. {
        // What is known of the notes of another edition has other times.
        let mut notes = edition(number);
        for _ in 0..number {
            notes.touch("0.md");
        }
        let mut index = open(&path).index;
        index.sync(&SyncJob {
            files: notes
                .files()
                .into_iter()
                .map(|mut file| {
                    file.fingerprint.ino = number as u64 + 1;
                    file
                })
                .collect(),
            ..notes.job()
        });
    }
}

#[test]
fn an_index_whose_writer_was_killed_is_whole() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("index.sqlite");
    for round in 0..12 {
        let mut writer = child("child_that_is_killed", place.path()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(60 + round * 70));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let Opened { mut index, notes } = open(&path);
        assert_eq!(notes, []);
        let said: String = Connection::open(&path)
            .unwrap()
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(said, "ok");
        // A piece that is found by a word holds it.
        for found in find(&index, "\"note7\" OR \"edition1\"") {
            assert!(found.piece.text.contains("note"), "{}", found.piece.text);
        }
        assert_eq!(harbour().sync(&mut index).stopped, None);
        assert_eq!(places(&index, "\"storm\"").len(), 1);
        assert_eq!(places(&index, "\"note7\""), [""; 0]);
    }
}

/// Cuts as our own rules say.
fn by_our_rules(path: &str, text: &str, take: &mut dyn FnMut(NewPiece<'_>)) {
    let rules = ChunkRules::CANONICAL;
    let options = chunk::ChunkOptions::configured(None, None, &rules);
    for piece in chunk::of_file(path, text, options, &rules) {
        take(NewPiece {
            start_line: piece.start_line,
            end_line: piece.end_line,
            text: &piece.text,
            heading: piece.heading.as_deref(),
        });
    }
}

#[test]
fn of_a_note_of_50_megabytes_the_first_part_is_found() {
    let place = tempfile::tempdir().unwrap();
    let mut text = String::from("The first whale.\n");
    while text.len() < 50 << 20 {
        text.push_str(&"all the same words in every line of this note\n".repeat(1000));
    }
    text.push_str("The last walrus.\n");
    fs::write(place.path().join("large.md"), &text).unwrap();
    let root = Root::open(place.path()).unwrap();
    let looked = root.survey(Path::new(""), 10).unwrap();
    let file = JobFile::beneath(&root, "large.md".to_owned(), looked[0].fingerprint);
    let mut index = Index::volatile_of(&ours()).unwrap();
    let report = index.sync(&SyncJob::new(
        vec![file],
        &[ChunkSource::Memory],
        &by_our_rules,
    ));
    let note = IndexNote::TooLarge {
        path: "large.md".to_owned(),
        bytes: MAX_FILE_BYTES,
    };
    assert_eq!(report.notes, [note]);
    assert_eq!(places(&index, "\"whale\""), ["large.md:1"]);
    assert_eq!(places(&index, "\"walrus\""), [""; 0]);
}

#[test]
fn a_line_of_100_000_characters_is_found_at_both_ends() {
    let line = format!("whale {} walrus", "sea ".repeat(25_000));
    let notes = Notebook::of(&[("a.md", &line)]);
    let mut index = Index::volatile_of(&ours()).unwrap();
    index.sync(&SyncJob::new(
        notes.files(),
        &[ChunkSource::Memory],
        &by_our_rules,
    ));
    assert_eq!(places(&index, "\"whale\""), ["a.md:1"]);
    assert_eq!(places(&index, "\"walrus\""), ["a.md:1"]);
}

#[test]
fn what_is_no_utf8_is_passed_over_and_lines_stay_as_they_are() {
    let mut notes = Notebook::default();
    notes.write("a.md", b"A wha\xffle.\n\xc3\x28\n\nA walrus.");
    let mut index = Index::volatile_of(&ours()).unwrap();
    let path = "a.md".to_owned();
    assert_eq!(notes.sync(&mut index).notes, [IndexNote::NotUtf8 { path }]);
    assert_eq!(places(&index, "\"walrus\""), ["a.md:4"]);
}

#[test]
fn more_pieces_than_an_index_takes_are_left_out_and_counted() {
    let place = tempfile::tempdir().unwrap();
    let limits = IndexLimits {
        max_pieces: 20,
        ..IndexLimits::default()
    };
    let mut index = Index::open_with(&place.path().join("index"), &ours(), &limits)
        .unwrap()
        .index;
    let mut notes = Notebook::default();
    notes.write("a.md", "x\n\n".repeat(15));
    notes.write("b.md", "y\n\n".repeat(6));
    notes.write("c.md", "z");
    let report = notes.sync(&mut index);
    assert_eq!(report.pieces, 20);
    let too_many = |files| IndexNote::TooMany { files, limit: 20 };
    assert_eq!(report.notes, [too_many(2)]);
    // Who comes when it is full is not even opened; who was there is tried again.
    notes.write("d.md", "too late");
    let again = notes.sync(&mut index);
    assert_eq!((again.read, again.notes), (2, vec![too_many(3)]));
    notes.delete("a.md");
    notes.delete("d.md");
    assert_eq!(notes.sync(&mut index).notes, []);
    assert_eq!(
        index.words("\"z\"", 5, &Within::default()).unwrap().len(),
        1
    );
}

#[test]
fn a_cut_that_gives_nothing_or_nonsense_is_no_trouble() {
    let notes = harbour();
    let mut index = Index::volatile_of(&ours()).unwrap();
    let none = SyncJob::new(notes.files(), &[ChunkSource::Memory], &|_, _, _| {});
    assert_eq!(index.sync(&none).pieces, 0);
    let mut notes = Notebook::default();
    notes.talk("s.jsonl", "User: a\n\nUser: crane", &[]);
    index.sync(&SyncJob::new(
        notes.files(),
        &[ChunkSource::Sessions],
        &by_paragraph,
    ));
    assert_eq!(places(&index, "\"crane\""), ["s.jsonl:3"]);
}
