//! The log of open jobs, as a crash, an older version or somebody else may have left it.
#![expect(
    clippy::disallowed_methods,
    reason = "the log is written and looked at behind the store's back"
)]

use crate::recipe::Recipe;
use crate::records::any;
use crate::{novelty, scratch};
use chitin_store::{JobChange, JobLog, OpenItem};
use serde_json::json;
use std::fs;
use std::path::Path;

/// What the log is made of.
pub const DICTIONARY: &[&str] = &[
    "[{\"do\":\"open\",\"id\":\"a\",\"body\":1}]\n",
    "[{\"do\":\"mark\",\"id\":\"a\",\"mark\":\"m\"}]\n",
    "[{\"do\":\"close\",\"id\":\"a\"}]\n",
    "[{\"do\":\"open\",\"id\":\"",
    "\"body\":",
    "},{",
    "[]",
    "\n",
    "\r\n",
    "null",
    "1e999",
    "\\ud800",
    "\u{0}",
];

/// Opens a log, works with it, and opens it again. An input that begins with a one is choices for its lines.
pub fn run(data: &[u8]) {
    let content = match data.split_first() {
        Some((1, choices)) => built(&mut Recipe::new(choices)).into_bytes(),
        Some(_) | None => data.to_vec(),
    };
    let directory = scratch::fresh("job_log");
    fs::write(directory.join("ledger.jsonl"), &content).expect("a log can be written");
    let first = opened(&directory, &[]);
    let mut ids: Vec<&str> = first.iter().map(|item| item.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), first.len(), "one name twice");
    novelty::note((
        first.len().min(8),
        first
            .iter()
            .map(|item| item.marks.len())
            .sum::<usize>()
            .min(8),
    ));
    let kept = fs::read(directory.join("ledger.jsonl")).expect("the log is still there");
    assert!(
        content.starts_with(&kept),
        "opening changed more than the torn end"
    );
    // What is written counts; what was open and was not touched is open as it was.
    let changes = vec![
        JobChange::Open {
            id: "made here".to_owned(),
            body: json!({"x": "\n"}),
        },
        JobChange::Mark {
            id: "made here".to_owned(),
            mark: "m".to_owned(),
        },
    ];
    assert_eq!(opened(&directory, &changes), first, "read twice, two logs");
    let mut last = opened(
        &directory,
        &[JobChange::Close {
            id: "made here".to_owned(),
        }],
    );
    let made = last.pop().expect("what was written is open");
    assert_eq!(
        (made.id.as_str(), made.marks.as_slice()),
        ("made here", ["m".to_owned()].as_slice())
    );
    let untouched = |item: &&OpenItem| item.id != "made here";
    assert!(
        last.iter().eq(first.iter().filter(untouched)),
        "a job changed"
    );
    assert!(
        opened(&directory, &[])
            .iter()
            .all(|item| item.id != "made here"),
        "what is closed is open"
    );
}

/// Opens the log, writes changes, and returns what was open.
fn opened(directory: &Path, changes: &[JobChange]) -> Vec<OpenItem> {
    let (log, open) = JobLog::open(directory).expect("a log can be opened");
    if !changes.is_empty() {
        log.write(changes.to_vec()).expect("there is room");
    }
    open
}

fn built(recipe: &mut Recipe<'_>) -> String {
    let mut text = String::new();
    for _ in 0..40 {
        if recipe.is_done() {
            break;
        }
        let batch: serde_json::Value = (0..=recipe.byte() % 4)
            .map(|_| {
                let id = recipe.pick(&["a", "b", "c", "d", "", "made here"]);
                match recipe.byte() % 8 {
                    0..=2 => json!({"do": "open", "id": id, "body": any(recipe)}),
                    3 | 4 => json!({"do": "mark", "id": id, "mark": recipe.pick(&["m", "n", ""])}),
                    5 | 6 => json!({"do": "close", "id": id}),
                    _ => any(recipe),
                }
            })
            .collect();
        text.push_str(&batch.to_string());
        text.push_str(if recipe.byte() > 245 { "" } else { "\n" });
    }
    text
}
