//! What is typed, and what is remembered of it.
#![expect(
    clippy::disallowed_methods,
    reason = "the test looks at the file that remembers"
)]

use super::complete::{Completion, Known};
use super::{Editor, Typed, history, read_lines};
use crate::printer::{OutputArgs, Printer};
use reedline::{History as _, HistoryItem};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn plain_lines_go_on_after_a_backslash() {
    let mut input = "one\r\ntwo \\\nthree\\\\\nfour\\\r\nfive\\".as_bytes();
    let mut read = || read_lines(&mut input).unwrap();
    assert_eq!(read().as_deref(), Some("one"));
    assert_eq!(read().as_deref(), Some("two \nthree\\\\"));
    assert_eq!(read().as_deref(), Some("four\nfive\\"));
    assert_eq!(read(), None);
}

#[test]
fn commands_sessions_and_models_are_completed() {
    let completion = Completion(Known {
        sessions: vec!["agent:main:main".to_owned(), "agent:ops:main".to_owned()],
        models: vec!["offline/echo".to_owned()],
    });
    let offered = |line: &str| {
        let offered = completion.suggestions(line, line.len());
        let taken = offered.iter().map(|one| {
            format!(
                "{}{}{}",
                &line[..one.span.start],
                one.value,
                &line[one.span.end..]
            )
        });
        taken.collect::<Vec<_>>()
    };
    assert_eq!(offered("/co"), ["/context", "/compact"]);
    assert_eq!(offered("/sessions agent:o"), ["/sessions agent:ops:main"]);
    assert_eq!(offered("/model "), ["/model offline/echo"]);
    assert_eq!(offered("hello /co"), [""; 0]);
    assert_eq!(offered("//co"), [""; 0]);
    assert_eq!(offered("/new x"), [""; 0]);
}

#[test]
fn the_history_is_its_owners_bounded_and_no_link() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("home/history");
    std::fs::create_dir(directory.path().join("home")).unwrap();
    std::fs::write(&file, "earlier\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut kept = history::open(&file).unwrap();
    for line in ["short", &"x".repeat(5000), "two\nlines"] {
        kept.save(HistoryItem::from_command_line(line)).unwrap();
    }
    for number in 0..1500 {
        kept.save(HistoryItem::from_command_line(format!("line {number}")))
            .unwrap();
    }
    kept.sync().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 1000);
    assert!(text.ends_with("line 1499\n") && !text.contains("xxxx"));
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let link = directory.path().join("home/link");
    symlink(&file, &link).unwrap();
    assert!(history::open(&link).is_err());
}

/// Runs in a process of its own, at a terminal of its own: reads until the user leaves.
#[test]
#[ignore = "started by the test below"]
fn child() {
    let args = OutputArgs {
        json: false,
        quiet: 0,
    };
    let printer = Printer::new(args, &chitin_tools::redact::Redactor::default());
    let history = std::env::var_os("HISTORY").map(Into::into);
    let mut editor = Editor::new(history, Known::default());
    while let Typed::Words(words) = editor.read("› ", &printer).unwrap() {
        printer.stream().out(&format!("<<{words:?}>>\n")).unwrap();
    }
    printer.stream().out("<<left>>\n").unwrap();
}

/// Somebody at a terminal.
struct Person {
    terminal: File,
    seen: String,
}

impl Person {
    fn types(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads until the screen has shown something; answers when the program asks where the cursor is.
    fn waits_for(&mut self, text: &str) {
        let end = Instant::now() + Duration::from_secs(20);
        while !self.seen.contains(text) {
            assert!(
                Instant::now() < end,
                "never saw {text:?} in {:?}",
                self.seen
            );
            let mut bytes = [0; 1024];
            let length = self.terminal.read(&mut bytes).unwrap();
            let piece = String::from_utf8_lossy(&bytes[..length]).into_owned();
            for _ in piece.matches("\u{1b}[6n") {
                self.types("\u{1b}[1;1R");
            }
            self.seen += &piece;
        }
        let at = self.seen.find(text).unwrap() + text.len();
        self.seen.drain(..at);
    }
}

#[test]
fn a_person_edits_recalls_pastes_and_leaves() {
    let directory = tempfile::tempdir().unwrap();
    let history = directory.path().join("history");
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let side = || {
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        Stdio::from(rustix::fs::open(&name, flags, Mode::empty()).unwrap())
    };
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "terminal::editor::editor_tests::child",
            "--ignored",
            "--nocapture",
        ])
        .env("HISTORY", &history)
        .env("TERM", "xterm-256color")
        .stdin(side())
        .stdout(side())
        .stderr(side())
        .spawn()
        .unwrap();
    let mut person = Person {
        terminal: File::from(master),
        seen: String::new(),
    };
    person.waits_for("› ");
    person.types("helo\u{1b}[Dl\r");
    person.waits_for("<<\"hello\">>");
    person.waits_for("› ");
    person.types("first\\\rsecond\r");
    person.waits_for("<<\"first\\nsecond\">>");
    person.waits_for("› ");
    person.types("\u{1b}[200~pasted\nlines\u{1b}[201~\r");
    person.waits_for("<<\"pasted\\nlines\">>");
    person.waits_for("› ");
    person.types("thrown away\u{3}");
    person.waits_for("press Ctrl-C again to quit");
    person.waits_for("› ");
    person.types("kept\r");
    person.waits_for("<<\"kept\">>");
    person.waits_for("› ");
    person.types("\u{1b}[A\r");
    person.waits_for("<<\"kept\">>");
    person.waits_for("› ");
    person.types("\u{3}");
    person.waits_for("› ");
    person.types("\u{3}");
    person.waits_for("<<left>>");
    drop(person);
    child.wait().unwrap();
    let text = std::fs::read_to_string(&history).unwrap();
    assert!(text.starts_with("hello\n") && text.contains("kept\n") && !text.contains("thrown"));
}
