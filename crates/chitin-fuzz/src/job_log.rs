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

/// The log's file.
const NAME: &str = "ledger.jsonl";

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

/// Opens a log, works with it, and opens it again. An input that begins with a one is choices for lines of the earlier format, with a two
/// for a log that is written and then damaged.
pub fn run(data: &[u8]) {
    let directory = scratch::fresh("job_log");
    let content = match data.split_first() {
        Some((1, choices)) => built(&mut Recipe::new(choices)).into_bytes(),
        Some((2, choices)) => written(&directory, &mut Recipe::new(choices)),
        Some(_) | None => data.to_vec(),
    };
    fs::write(directory.join(NAME), &content).expect("a log can be written");
    // A log of a newer version is refused and left alone.
    if JobLog::open(&directory).is_err() {
        let kept = fs::read(directory.join(NAME)).expect("the log is still there");
        assert_eq!(kept, content, "a refused log was changed");
        return;
    }
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
    let kept = fs::read(directory.join(NAME)).expect("the log is still there");
    assert!(
        content.is_empty() || content.starts_with(&kept) || is_set_aside(&directory, &content),
        "opening changed more than the torn end, and kept no copy"
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

/// Tells whether a damaged log was kept beside the new one.
fn is_set_aside(directory: &Path, content: &[u8]) -> bool {
    let entries = fs::read_dir(directory).expect("the directory can be listed");
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.any(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.contains("damaged") && fs::read(&path).is_ok_and(|kept| kept == content)
    })
}

/// Writes a log as the program does, and damages it.
fn written(directory: &Path, recipe: &mut Recipe<'_>) -> Vec<u8> {
    for _ in 0..=recipe.byte() % 8 {
        let id = recipe.pick(&["a", "b", "c", "made here"]).to_owned();
        let change = match recipe.byte() % 4 {
            0 | 1 => JobChange::Open {
                id,
                body: any(recipe),
            },
            2 => JobChange::Mark {
                id,
                mark: "m".to_owned(),
            },
            _ => JobChange::Close { id },
        };
        opened(directory, &[change]);
    }
    let mut bytes = fs::read(directory.join(NAME)).expect("the log is there");
    fs::remove_file(directory.join(NAME)).expect("the log can be removed");
    for _ in 0..recipe.byte() % 4 {
        let at = usize::from(recipe.byte()) * 256 + usize::from(recipe.byte());
        let at = at % bytes.len().max(1);
        match recipe.byte() % 4 {
            0 => bytes.truncate(at),
            1 => bytes
                .iter_mut()
                .skip(at)
                .take(16)
                .for_each(|byte| *byte = 0),
            2 => drop(bytes.drain(at..(at + 40).min(bytes.len()))),
            _ => bytes
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|byte| *byte ^= 1),
        }
    }
    bytes
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
