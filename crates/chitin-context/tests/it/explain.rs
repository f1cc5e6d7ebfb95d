//! From a line of the prompt to the line of a file, and back.

use crate::given::{Given, extra, file, missing, refused};
use chitin_context::Context;
use chitin_context::tokens;
use chitin_context::view::{FileState, view};
use chitin_contract::{CANONICAL, OPENCLAW_2026_9};
use chitin_protocol::record::FileRefusal;
use std::fmt::Write as _;

const SOUL: &str = "---\ntitle: voice\n---\nCalm.\n\n\n\nKind.\nVery long line number eight, which goes on.\n9\n10\n11\n12\n13\n14\n15\nLast.\n\n";

fn harbor() -> Context {
    let records = vec![
        missing("AGENTS.md"),
        file("SOUL.md", SOUL),
        refused("USER.md", FileRefusal::Hardlinked),
        file("MEMORY.md", ""),
    ];
    let mut given = Given::new(&CANONICAL, records);
    given.limits.files = vec![("SOUL.md".to_owned(), 62)];
    given.extras = vec![extra("docs", file("SOUL.md", "Only one line."))];
    given.context()
}

#[test]
fn every_line_of_a_prompt_has_a_source() {
    let context = harbor();
    let start = context.system().find("# Project Context").unwrap();
    let first = 1 + context.system()[..start].matches('\n').count();
    let mut told = String::new();
    let mut line = first;
    while let Some(explained) = context.explain_prompt_line(line) {
        for part in &explained.parts {
            let _ = writeln!(told, "{:42?} {}", part.text, part.from);
        }
        line += 1;
    }
    insta::assert_snapshot!(told, @r###"
    "# Project Context" section `project-context`
    "These files of the workspace were loaded for this turn; treat them as your own notes and rules." section `project-context`
    "SOUL.md says who you are: speak in its voice unless a higher rule forbids it." section `project-context`
    "## /w/AGENTS.md" added about /w/AGENTS.md
    "[MISSING] Expected at: /w/AGENTS.md" added about /w/AGENTS.md
    "## /w/SOUL.md" added about /w/SOUL.md
    "Calm." /w/SOUL.md:4
    "" /w/SOUL.md:5
    "Kind." /w/SOUL.md:8
    "Very long line " /w/SOUL.md:9
    "[…truncated 30+10/84]" added about /w/SOUL.md
    "4" /w/SOUL.md:15
    "15" /w/SOUL.md:16
    "Last." /w/SOUL.md:17
    "## /w/USER.md" added about /w/USER.md
    "[REFUSED] hardlinked: /w/USER.md" added about /w/USER.md
    "## /w/docs/SOUL.md" added about /w/docs/SOUL.md
    "Only one line." /w/docs/SOUL.md:1
    "## Silent Replies" section `silent-replies`
    "If nothing needs to be said, reply with exactly `NO_REPLY`: no other word, no markup, never beside a real reply." section `silent-replies`
    "" cache boundary
    "<!-- OPENCLAW_CACHE_BOUNDARY -->" cache boundary
    "" section `runtime`
    "## Runtime" section `runtime`
    "Runtime:" section `runtime`
    "###);
}

#[test]
fn every_line_of_a_file_says_what_became_of_it() {
    let context = harbor();
    let mut told = String::new();
    for line in 1..=SOUL.split('\n').count() {
        let explained = &context.explain_file_line("/w/SOUL.md", line).unwrap()[0];
        let fate = match (explained.prompt_line, explained.whole) {
            (Some(_), true) => "there",
            (Some(_), false) => "there in part",
            (None, _) => "not there",
        };
        let _ = writeln!(
            told,
            "{line:2} {:22.20?} {fate}: {}",
            explained.text,
            explained.reasons.join("; ")
        );
    }
    insta::assert_snapshot!(told, @r###"
     1 "---" not there: front matter is removed
     2 "title: voice" not there: front matter is removed
     3 "---" not there: front matter is removed
     4 "Calm." there: 
     5 "" there: 
     6 "" not there: more than one empty line in a row is squeezed
     7 "" not there: more than one empty line in a row is squeezed
     8 "Kind." there: 
     9 "Very long line number eight, which goes on." there in part: cut: longer than one file may be
    10 "9" not there: cut: longer than one file may be
    11 "10" not there: cut: longer than one file may be
    12 "11" not there: cut: longer than one file may be
    13 "12" not there: cut: longer than one file may be
    14 "13" not there: cut: longer than one file may be
    15 "14" there in part: cut: longer than one file may be
    16 "15" there: 
    17 "Last." there: 
    18 "" not there: trailing blank space is removed
    19 "" not there: trailing blank space is removed
    "###);
}

#[test]
fn lines_that_cannot_be_explained_say_why() {
    let context = harbor();
    let error = |file, line| {
        context
            .explain_file_line(file, line)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error("AGENTS.md", 1),
        "`/w/AGENTS.md` has no text: it is not there"
    );
    assert_eq!(
        error("USER.md", 1),
        "`/w/USER.md` has no text: refused, hardlinked"
    );
    assert_eq!(
        error("NOTES.md", 1),
        "no file called `NOTES.md` belongs to this context"
    );
    assert_eq!(error("docs/SOUL.md", 2), "`/w/docs/SOUL.md` has 1 lines");
    assert_eq!(error("docs/SOUL.md", 0), "`/w/docs/SOUL.md` has 1 lines");
    let blank = &context.explain_file_line("MEMORY.md", 1).unwrap()[0];
    assert_eq!(blank.reasons, ["the file is omitted: it is blank"]);
}

/// A name may stand for several files, of which only some have that line.
#[test]
fn a_name_stands_for_every_file_that_has_the_line() {
    let context = harbor();
    let paths = |line| -> Vec<String> {
        let found = context.explain_file_line("SOUL.md", line).unwrap();
        found.into_iter().map(|one| one.path).collect()
    };
    assert_eq!(paths(1), ["/w/SOUL.md", "/w/docs/SOUL.md"]);
    assert_eq!(paths(4), ["/w/SOUL.md"]);
}

/// One contract writes words of its own in the place of a file that it cannot read.
#[test]
fn a_file_that_was_not_read_is_never_called_whole() {
    let context = Given::new(
        &OPENCLAW_2026_9,
        vec![refused("SOUL.md", FileRefusal::TooLarge)],
    )
    .context();
    let shown = view(&context, &mut tokens::estimate);
    assert_eq!(shown.files[0].state, FileState::Refused);
    assert!(shown.files[0].reason.starts_with("too-large: "));
}
