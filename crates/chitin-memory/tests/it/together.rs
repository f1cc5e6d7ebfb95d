//! Several processes on one index.
#![expect(
    clippy::disallowed_methods,
    reason = "the test runs itself in children and tells them where"
)]

use crate::notebook::{Notebook, find, ours};
use chitin_contract::MemoryIndexRules;
use chitin_memory::index::{Index, IndexNote, Rebuild, Shape};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const DIRECTORY: &str = "CHITIN_TEST_TOGETHER_DIRECTORY";
const NOTES: usize = 300;

/// More than goes into one change.
fn many() -> Notebook {
    let mut notes = Notebook::default();
    for number in 0..NOTES {
        let text = format!("whale{number} and crane\n\n{}\n\n", "sea ".repeat(700)).repeat(20);
        notes.write(&format!("{number}.md"), text);
    }
    notes
}

#[test]
#[ignore = "run by `two_processes_index_and_a_third_searches_all_the_while`"]
fn child_that_indexes() {
    let Ok(directory) = std::env::var(DIRECTORY) else {
        return;
    };
    let path = Path::new(&directory).join("index.sqlite");
    let mut opened = Index::open(&path, &ours()).unwrap();
    assert_eq!(opened.notes, []);
    let report = many().sync(&mut opened.index);
    assert_eq!((report.notes, report.pieces), (vec![], NOTES * 40));
}

#[test]
fn two_processes_index_and_a_third_searches_all_the_while() {
    let place = tempfile::tempdir().unwrap();
    let start = || {
        Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "together::child_that_indexes",
                "--ignored",
                "--nocapture",
            ])
            .env(DIRECTORY, place.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut writers = [start(), start()];
    let path = place.path().join("index.sqlite");
    let reader = Index::open(&path, &ours()).unwrap();
    assert_eq!(reader.notes, []);
    let mut slowest = Duration::ZERO;
    while writers
        .iter_mut()
        .any(|writer| writer.try_wait().unwrap().is_none())
    {
        let begin = Instant::now();
        for found in find(&reader.index, "\"crane\"") {
            assert!(found.piece.text.ends_with("crane"));
        }
        slowest = slowest.max(begin.elapsed());
        std::thread::sleep(Duration::from_millis(2));
    }
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    // A reader that had to wait for a writer would wait for much longer than a search takes.
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
    let mut index = reader.index;
    assert_eq!(index.figures().unwrap().pieces, NOTES * 40);
    assert_eq!(find(&index, "\"whale17\"").len(), 20);
    let idle = many().sync(&mut index);
    assert_eq!((idle.unchanged, idle.read), (NOTES, 0));
}

#[test]
fn two_indexes_of_one_process_see_what_the_other_did() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("index.sqlite");
    let mut notes = Notebook::of(&[("a.md", "A whale.")]);
    let mut writer = Index::open(&path, &ours()).unwrap().index;
    let mut other = Index::open(&path, &ours()).unwrap().index;
    notes.sync(&mut writer);
    assert_eq!(find(&other, "\"whale\"").len(), 1);
    assert_eq!(notes.sync(&mut other).unchanged, 1);
    notes.write("a.md", "A walrus.");
    notes.sync(&mut other);
    assert_eq!(find(&writer, "\"whale\"").len(), 0);
    let words = ["walrus".to_owned()];
    assert_eq!(writer.frequencies(&words).unwrap(), [1]);
}

#[test]
fn all_who_open_a_new_index_at_once_get_it() {
    for _ in 0..10 {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("index.sqlite");
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let opened = Index::open(&path, &ours()).unwrap();
                    assert_eq!(opened.notes, []);
                });
            }
        });
    }
}

#[test]
fn of_two_processes_with_other_settings_each_gets_its_own_way_in_turn() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("index.sqlite");
    let notes = Notebook::of(&[("a.md", "Whales.")]);
    let mut first = Index::open(&path, &ours()).unwrap().index;
    notes.sync(&mut first);
    let releases = Shape::new(MemoryIndexRules::OPENCLAW_2026_4);
    let mut second = Index::open(&path, &releases).unwrap().index;
    notes.sync(&mut second);
    assert_eq!(find(&second, "\"whale\"").len(), 0);
    let report = notes.sync(&mut first);
    assert_eq!(report.notes, [IndexNote::Rebuilt(Rebuild::OtherShape)]);
    assert_eq!(find(&first, "\"whale\"").len(), 1);
}
