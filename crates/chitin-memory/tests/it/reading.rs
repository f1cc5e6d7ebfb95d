//! Showing windows of files.

use chitin_contract::MemoryReadRules;
use chitin_guard::Root;
use chitin_memory::files::ExtraPath;
use chitin_memory::read::{MemoryReadError, ReadStatus, ReadWindow, Window, read, window};
use proptest::prelude::*;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

const OLD: MemoryReadRules = MemoryReadRules::OPENCLAW_2026_4;
const NEW: MemoryReadRules = MemoryReadRules::OPENCLAW_2026_9;

fn all(text: &str, asked: Window, rules: &MemoryReadRules) -> ReadWindow {
    window(text, "MEMORY.md", asked, rules)
}

#[test]
fn what_follows_the_last_break_is_a_line_only_in_the_older_release() {
    let old = all("a\nb\n", Window::default(), &OLD);
    assert_eq!(
        (old.text.as_str(), old.lines, old.status),
        ("a\nb\n", Some(3), None)
    );
    let new = all("a\nb\n", Window::default(), &NEW);
    assert_eq!(
        (new.text.as_str(), new.lines, new.status),
        ("a\nb", Some(2), Some(ReadStatus::Ok))
    );
}

#[test]
fn a_window_says_where_to_go_on() {
    let asked = Window {
        from: Some(2),
        lines: Some(2),
        max_chars: None,
    };
    let shown = all("a\nb\nc\nd", asked, &NEW);
    assert_eq!(
        shown.text,
        "b\nc\n\n[More content available. Use from=4 to continue.]"
    );
    assert_eq!((shown.truncated, shown.next_from), (true, Some(4)));
}

#[test]
fn whole_lines_are_left_out_to_fit_and_only_a_first_line_is_cut() {
    let asked = Window {
        max_chars: Some(7),
        ..Window::default()
    };
    assert_eq!(all("abc\ndef\nghi", asked, &OLD).next_from, Some(3));
    let cut = all("😀😀😀😀😀\nx", asked, &OLD);
    assert!(cut.text.starts_with("😀😀😀\n\n["));
    assert_eq!(
        (cut.lines, cut.truncated, cut.next_from),
        (Some(1), true, None)
    );
}

#[test]
fn beyond_the_end_there_is_nothing() {
    let asked = Window {
        from: Some(9),
        ..Window::default()
    };
    let shown = all("a\nb", asked, &NEW);
    assert_eq!(
        (shown.text.as_str(), shown.lines, shown.truncated),
        ("", Some(0), false)
    );
}

/// A workspace with a secret, and some ways to it.
fn workspace() -> (TempDir, Root) {
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join("ws").join(name);
    std::fs::create_dir_all(at("memory")).unwrap();
    std::fs::create_dir_all(directory.path().join("notes")).unwrap();
    std::fs::write(directory.path().join("notes/n.md"), "note").unwrap();
    std::fs::write(at("SECRET.md"), "secret").unwrap();
    std::fs::write(at("MEMORY.md"), "tea").unwrap();
    symlink("../SECRET.md", at("memory/link.md")).unwrap();
    symlink("../../notes", at("memory/way")).unwrap();
    let root = Root::open(&directory.path().join("ws")).unwrap();
    (directory, root)
}

#[test]
fn nothing_but_memory_is_read() {
    let (directory, root) = workspace();
    let absolute = directory.path().join("ws/SECRET.md");
    for path in [
        "SECRET.md",
        "memory/../SECRET.md",
        "./SECRET.md",
        absolute.to_str().unwrap(),
        "/etc/hosts.md",
        "../notes/n.md",
        "memory/../../notes/n.md",
        "memory/link.md",
        "memory/way/n.md",
        "memory",
        "memory/a\0.md",
    ] {
        let error = read(&root, &[], path, Window::default(), &OLD).unwrap_err();
        assert!(!matches!(error, MemoryReadError::Unreadable(_)), "{path}");
        assert_eq!(error.message(&OLD), "path required");
    }
}

#[test]
fn memory_is_read_by_any_name_that_leads_to_it() {
    let (directory, root) = workspace();
    let absolute = directory.path().join("ws/MEMORY.md");
    for path in [
        " MEMORY.md ",
        "./MEMORY.md",
        "memory/../MEMORY.md",
        absolute.to_str().unwrap(),
    ] {
        let shown = read(&root, &[], path, Window::default(), &NEW).unwrap();
        assert_eq!(
            (shown.path.as_str(), shown.text.as_str()),
            ("MEMORY.md", "tea")
        );
    }
}

#[test]
fn a_memory_file_that_is_not_there_is_empty() {
    let (_directory, root) = workspace();
    let shown = read(&root, &[], "memory/none.md", Window::default(), &NEW).unwrap();
    assert_eq!(
        (shown.status, shown.text.as_str(), shown.from),
        (Some(ReadStatus::NotFound), "", None)
    );
}

#[test]
fn extra_paths_are_read_too_even_outside() {
    let (_directory, root) = workspace();
    let extra = ExtraPath::find(&root, &["../notes", "nowhere", "memory/way"]);
    assert_eq!(extra.len(), 1);
    let shown = read(&root, &extra, "../notes/n.md", Window::default(), &NEW).unwrap();
    assert_eq!(
        (shown.path.as_str(), shown.text.as_str()),
        ("../notes/n.md", "note")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn windows_one_after_the_other_show_every_line_once(
        lines in proptest::collection::vec("[a-c潮😀]{0,9}", 1..20), size in 1_usize..6, units in 20_usize..60,
    ) {
        let text = lines.join("\n");
        for rules in [&OLD, &NEW] {
            let mut from = 1;
            let mut shown = Vec::new();
            loop {
                let part = all(&text, Window { from: Some(from), lines: Some(size), max_chars: Some(units) }, rules);
                let body = part.text.split("\n\n[More").next().unwrap().to_owned();
                shown.extend(body.split('\n').take(part.lines.unwrap()).map(str::to_owned));
                match part.next_from {
                    Some(next) => { prop_assert!(next > from); from = next; }
                    None => break,
                }
            }
            let shown = shown.join("\n");
            prop_assert_eq!(shown.trim_end_matches('\n'), text.trim_end_matches('\n'));
        }
    }

    #[test]
    fn no_window_is_larger_than_asked_for(text in "\\PC{0,80}", from in 0_usize..9, units in 0_usize..40) {
        let part = all(&text, Window { from: Some(from), lines: None, max_chars: Some(units) }, &NEW);
        // A notice that there is more comes on top of the window.
        let body = part.text.split("\n\n[More").next().unwrap();
        let body = body.split("\n\n[This line is longer").next().unwrap();
        prop_assert!(body.encode_utf16().count() <= units.max(1));
    }
}
