//! The store of a workspace's history, as a crash or somebody else may have left it: log, index, journal and contents.
#![expect(
    clippy::disallowed_methods,
    reason = "the store is written and looked at behind its back"
)]

use crate::recipe::Recipe;
use crate::records::any;
use crate::rpc::object;
use crate::{novelty, scratch};
use chitin_undo::{ContentId, FilePath, Force, History, Options, TurnInfo, UndoRequest};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// What the store's files are made of.
pub const DICTIONARY: &[&str] = &[
    "{\"sequence\":1,\"atMs\":1,\"turns\":[{\"number\":1,\"id\":\"r\",\"session\":\"k\",\"message\":\"m\"}],\"changes\":[",
    "{\"path\":\"a.txt\",\"before\":null,\"after\":{\"kind\":\"file\",\"mode\":420,\"size\":1,\"content\":\"",
    "\"path\":\"../outside.txt\"",
    "\"path\":\"/etc/passwd\"",
    "{\"kind\":\"link\",\"text\":\"../outside.txt\"}",
    "{\"kind\":\"directory\",\"mode\":448}",
    "\"sequence\":18446744073709551615",
    "\"number\":18446744073709551615",
    "\n",
    "]}",
];

const PATHS: &[&str] = &[
    "a.txt",
    "b",
    "d/c.txt",
    "d",
    "../outside.txt",
    "/etc/x",
    "",
    "link/x",
    "d/../../outside.txt",
    ".git/config",
    "x\u{0}y",
    "a.txt/x",
];
const OLD: &[u8] = b"old words\n";

/// Makes a history, spoils it, and has it do everything. The input is its log; one that begins with a one is choices.
pub fn run(data: &[u8]) {
    let root = scratch::fresh("undo_state");
    let (workspace, store) = (root.join("w"), root.join("s"));
    fs::create_dir_all(&workspace).expect("a directory can be made");
    let outside = root.join("outside.txt");
    fs::write(&outside, "outside\n").expect("a file can be written");
    fs::write(workspace.join("a.txt"), OLD).expect("a file can be written");
    let history = History::new(&store, &workspace, Options::default());
    history.checkpoint(1).expect("a history can be begun");
    let turn = history
        .begin(TurnInfo::new("r", "agent:main:main", "hello"), 2)
        .expect("a turn can begin");
    fs::write(workspace.join("a.txt"), "new words\n").expect("a file can be written");
    fs::write(workspace.join("b"), "b\n").expect("a file can be written");
    history.end(turn, 3).expect("a turn can end");
    match data.split_first() {
        Some((1, choices)) => spoil(&mut Recipe::new(choices), &store, &workspace),
        Some(_) | None => {
            fs::write(store.join("changes.jsonl"), data).expect("the log can be written");
        }
    }
    use_it(&history);
    let left = fs::read(&outside).expect("the file outside is there");
    assert_eq!(left, b"outside\n", "a file outside was changed");
    let entries = fs::read_dir(&root).expect("the directory is there");
    assert_eq!(entries.count(), 3, "something was made outside");
}

fn use_it(history: &History) {
    let turns = history.turns();
    novelty::note(turns.as_ref().map(|turns| turns.len().min(4)).ok());
    for turn in turns.iter().flatten().take(3) {
        for change in turn.changes.iter().take(4) {
            novelty::note((
                history.count(change).is_ok(),
                history.difference(change).is_ok(),
            ));
        }
    }
    novelty::note(history.damaged().ok());
    if let Ok(path) = serde_json::from_value::<FilePath>(json!("a.txt")) {
        novelty::note(history.blame(&path).map(|lines| lines.len().min(4)).ok());
    }
    for (request, force) in [
        (UndoRequest::default(), Force::No),
        (
            UndoRequest {
                turn: Some(1),
                path: None,
            },
            Force::Yes,
        ),
    ] {
        novelty::note(
            history
                .plan(&request, force, 4)
                .map(|plan| plan.changes.len().min(4))
                .ok(),
        );
        match history.undo(&request, force, 5) {
            Ok(undone) => novelty::note((
                undone.changes.len().min(3),
                undone.conflicts.len().min(3),
                undone.failed.len().min(3),
            )),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                novelty::note(std::mem::discriminant(&error));
            }
        }
    }
    novelty::note(history.settle(6).is_ok());
}

fn spoil(recipe: &mut Recipe<'_>, store: &Path, workspace: &Path) {
    for _ in 0..4 {
        if recipe.is_done() {
            return;
        }
        match recipe.byte() % 8 {
            0 => {
                let _ = std::os::unix::fs::symlink("..", workspace.join("link"));
            }
            1 => cut(recipe, &store.join("index")),
            2 | 3 => {
                let journal = json!({"info": info(recipe), "changes": changes(recipe), "closed": {recipe.pick(PATHS): 0o500}});
                let _ = fs::write(store.join("undo.journal"), journal.to_string());
            }
            4 => {
                let _ = fs::remove_file(store.join("index"));
            }
            _ => {
                let mut log = fs::read(store.join("changes.jsonl")).unwrap_or_default();
                if recipe.byte().is_multiple_of(2) {
                    log.clear();
                }
                for _ in 0..=recipe.byte() % 3 {
                    let members = [
                        ("sequence", number(recipe)),
                        ("atMs", number(recipe)),
                        ("turns", json!([info(recipe)])),
                        ("gap", json!(recipe.byte().is_multiple_of(4))),
                        ("changes", changes(recipe)),
                    ];
                    log.extend(object(recipe, &members).to_string().into_bytes());
                    log.push(b'\n');
                }
                let _ = fs::write(store.join("changes.jsonl"), log);
            }
        }
    }
}

fn cut(recipe: &mut Recipe<'_>, path: &Path) {
    if let Ok(mut bytes) = fs::read(path) {
        let at = usize::from(recipe.byte()) % bytes.len().max(1);
        match (recipe.byte() % 2, bytes.get_mut(at)) {
            (0, _) => bytes.truncate(at),
            (_, Some(byte)) => *byte ^= 1 << (recipe.byte() % 8),
            (_, None) => {}
        }
        let _ = fs::write(path, bytes);
    }
}

fn number(recipe: &mut Recipe<'_>) -> Value {
    match recipe.byte() % 6 {
        0 => json!(u64::MAX),
        1 => json!(i64::MAX),
        2 => json!(-1),
        _ => json!(recipe.byte() % 6),
    }
}

fn info(recipe: &mut Recipe<'_>) -> Value {
    let kind = match recipe.byte() % 3 {
        0 => json!({"kind": "undo", "turn": number(recipe)}),
        _ => json!({"kind": "turn"}),
    };
    json!({"number": number(recipe), "id": "r", "session": "k", "message": "m", "beganMs": number(recipe), "kind": kind})
}

fn changes(recipe: &mut Recipe<'_>) -> Value {
    (0..recipe.byte() % 4)
        .map(|_| {
            let members = [
                ("path", json!(recipe.pick(PATHS))),
                ("before", entry(recipe)),
                ("after", entry(recipe)),
            ];
            Value::Object(
                members
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
            )
        })
        .collect()
}

fn entry(recipe: &mut Recipe<'_>) -> Value {
    match recipe.byte() % 6 {
        0 => Value::Null,
        1 => json!({"kind": "link", "text": recipe.pick(PATHS)}),
        2 => json!({"kind": "directory", "mode": 0o700}),
        3 => any(recipe),
        _ => {
            json!({"kind": "file", "mode": 0o644, "size": OLD.len(), "content": ContentId::of(OLD)})
        }
    }
}
