//! The notes of a day: they only grow, whoever writes and whatever was cut off before.

use chitin_test::TestEnv;
use chitin_workspace::state::{Appended, DailyNotes, daily_note};
use jiff::civil::{Date, date};
use proptest::prelude::*;
use std::path::Path;

const DAY: Date = date(2026, 4, 30);
const NOTE: &str = "workspace/memory/2026-04-30.md";

fn env() -> TestEnv {
    let env = TestEnv::new();
    env.directory_at("workspace");
    env
}

#[test]
fn a_new_note_begins_with_its_day_and_then_grows_line_by_line() {
    let env = env();
    let notes = DailyNotes::open(&env.workspace()).unwrap();
    assert!(notes.may_append());
    assert_eq!(daily_note(DAY), Path::new("memory/2026-04-30.md"));
    let first = notes.append(DAY, "- One.\n\n- Two.\r\n\n").unwrap();
    assert_eq!(
        first,
        Appended {
            lines: 2,
            is_new: true
        }
    );
    let second = notes.append(DAY, "- Three.").unwrap();
    assert!(!second.is_new);
    assert_eq!(
        env.read(NOTE),
        "# 2026-04-30\n\n- One.\n\n- Two.\n- Three.\n"
    );
}

#[test]
fn a_line_that_was_cut_off_does_not_swallow_the_next() {
    let env = env();
    env.file(NOTE, "- Half of a li");
    let notes = DailyNotes::open(&env.workspace()).unwrap();
    notes.append(DAY, "- Whole.").unwrap();
    assert_eq!(env.read(NOTE), "- Half of a li\n- Whole.\n");
    env.file(NOTE, "");
    notes.append(DAY, "- After nothing.").unwrap();
    assert_eq!(env.read(NOTE), "- After nothing.\n");
}

#[test]
fn what_says_nothing_or_too_much_is_refused_and_nothing_is_made() {
    let env = env();
    let notes = DailyNotes::open(&env.workspace()).unwrap();
    let long = "x".repeat(64 * 1024 + 1);
    for text in ["", " \n\u{a0}\n", "a\0b", &long] {
        notes.append(DAY, text).unwrap_err();
    }
    let root = chitin_guard::Root::open(&env.workspace()).unwrap();
    assert_eq!(root.kind(Path::new("memory")), None);
}

#[test]
fn a_note_never_leaves_the_workspace_through_a_link() {
    let env = env();
    env.file("elsewhere/2026-04-30.md", "theirs\n");
    env.directory_at("workspace/memory");
    env.link(NOTE, env.path().join("elsewhere/2026-04-30.md"));
    let notes = DailyNotes::open(&env.workspace()).unwrap();
    notes.append(DAY, "- Mine.").unwrap_err();
    let env_of_directory = self::env();
    env_of_directory.file("elsewhere/2026-04-30.md", "theirs\n");
    let elsewhere = env_of_directory.path().join("elsewhere");
    env_of_directory.link("workspace/memory", elsewhere);
    let notes = DailyNotes::open(&env_of_directory.workspace()).unwrap();
    assert!(!notes.may_append());
    notes.append(DAY, "- Mine.").unwrap_err();
    for env in [env, env_of_directory] {
        assert_eq!(env.read("elsewhere/2026-04-30.md"), "theirs\n");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whatever two writers append, in whatever order, every line is there, and each writer's lines are in its order.
    #[test]
    fn two_writers_never_lose_each_others_lines(
        texts in proptest::collection::vec(
            proptest::collection::vec("[a-z ]{0,12}[a-z]", 1..4),
            2..12,
        ),
        begun in proptest::option::of("[a-z]{1,8}"),
    ) {
        let env = env();
        if let Some(begun) = &begun {
            env.file(NOTE, begun);
        }
        let workspace = env.workspace();
        std::thread::scope(|scope| {
            for writer in 0..2 {
                let (workspace, texts) = (&workspace, &texts);
                scope.spawn(move || {
                    let notes = DailyNotes::open(workspace).unwrap();
                    for (number, lines) in texts.iter().enumerate() {
                        let lines = lines.iter().map(|line| format!("{writer}.{number}: {line}"));
                        notes.append(DAY, &lines.collect::<Vec<_>>().join("\n")).unwrap();
                    }
                });
            }
        });
        let note = env.read(NOTE);
        prop_assert!(note.ends_with('\n'));
        if let Some(begun) = &begun {
            prop_assert_eq!(note.lines().next(), Some(&**begun));
        }
        for writer in 0..2 {
            let wrote: Vec<String> = texts
                .iter()
                .enumerate()
                .flat_map(|(number, lines)| {
                    lines.iter().map(move |line| format!("{writer}.{number}: {line}"))
                })
                .collect();
            let own = format!("{writer}.");
            let found: Vec<&str> = note.lines().filter(|line| line.starts_with(&own)).collect();
            prop_assert_eq!(found, wrote);
        }
    }
}
