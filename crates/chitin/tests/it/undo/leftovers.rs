//! What a write leaves that was killed: under new names nothing, and what is left beside a file that was to be replaced is
//! neither packed nor shown, and goes with the next look.

use super::kills::{Dice, begin, killed_after};
use super::{call, code, json_of, said, shown, talk, write};
use crate::process::chitin;
use crate::run::{Talk, text};
use crate::serve::Serving;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A process id that no process has: larger than the kernel gives.
const NOBODY: u32 = 4_194_305;

fn leftover(name: &str) -> String {
    format!(".{name}.{NOBODY}-7.chitin.tmp")
}

fn is_temporary(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "tmp")
}

/// Every name beneath a directory that is a temporary one's.
fn temporaries(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if is_temporary(&path.display().to_string()) {
                found.push(path);
            }
        }
    }
    found
}

/// The names of the files in the artifact that the workspace is packed as.
fn packed(talk: &Talk) -> Vec<String> {
    let name = talk.env.workspace().display().to_string();
    let output = chitin(&talk.env, &["pack", &name, "--json"]);
    assert_eq!(code(&output), 0, "{}", shown(&output));
    let archive = json_of(talk, &["inspect", "workspace", "--files", "--json"]);
    let text = archive.to_string();
    text.split('"').map(str::to_owned).collect()
}

#[test]
fn writes_that_were_killed_leave_nothing_in_an_artifact() {
    let mut script = Vec::new();
    for number in 0..3_000 {
        let path = ["skills/count/SKILL.md", "memory/count.md", "TOOLS.md"][number % 3];
        let text = format!("---\nname: count\ndescription: Counts.\n---\n{number}\n");
        script.push(match number % 4 {
            0 => write(&format!("memory/new-{number}.md"), &text),
            _ => write(path, &text),
        });
    }
    let talk = talk(&script);
    let mut dice = Dice(5);
    for _ in 0..12 {
        let turn = begin(&mut talk.command(&["-m", "Write and write", "--new"]));
        killed_after(turn, 150_000 + dice.below(500_000));
    }
    let written = std::fs::read_dir(talk.env.workspace().join("memory"));
    assert!(written.unwrap().count() > 3, "no turn came to writing");
    for name in packed(&talk) {
        assert!(!is_temporary(&name), "{name}");
    }
}

#[test]
fn what_a_killed_write_left_is_nowhere_shown() {
    let talk = talk(&[
        call("ls", json!({"path": "."})),
        call("exec", json!({"command": "echo 4 > board.md"})),
        said("Done."),
    ]);
    for place in ["", "memory/", "skills/", "skills/count/"] {
        let file = format!("workspace/{place}{}", leftover("AGENTS.md"));
        talk.env.file(&file, "half");
    }
    talk.env.file(
        "workspace/skills/count/SKILL.md",
        "---\nname: count\ndescription: Counts.\n---\n",
    );
    for name in packed(&talk) {
        assert!(!is_temporary(&name), "{name}");
    }
    talk.answer("Look around");
    let sent = text(&talk.server.requests().last().unwrap().body);
    assert!(sent.contains("SOUL.md"), "{sent}");
    assert!(!sent.contains("chitin.tmp"), "{sent}");
    // Nor is it content of the workspace that a turn could have changed.
    for file in temporaries(&talk.env.workspace()) {
        std::fs::remove_file(file).unwrap();
    }
    let changes = shown(&chitin(&talk.env, &["changes"]));
    assert!(changes.contains("board.md"), "{changes}");
    assert!(!changes.contains("chitin.tmp"), "{changes}");
}

#[test]
fn what_killed_writes_left_goes_with_doctor_and_when_a_server_starts() {
    let talk = talk(&[said("Done.")]);
    talk.answer("Begin");
    let yesterday = SystemTime::now() - Duration::from_hours(24);
    let plant = |path: &str| {
        let file = talk.env.file(path, "half");
        let file = std::fs::File::options().write(true).open(file).unwrap();
        file.set_modified(yesterday).unwrap();
    };
    let sessions = format!(
        "home/.chitin/agents/main/sessions/{}",
        leftover("sessions.json")
    );
    let workspace = format!("workspace/memory/{}", leftover("notes.md"));
    plant(&sessions);
    plant(&workspace);
    // One that was written to just now may be a running process's that has another count of processes.
    talk.env.file(
        &format!("workspace/{}", leftover("fresh.md")),
        "being written",
    );
    let mine = "workspace/.mine.12-7.tmp";
    plant(mine);
    let seen = shown(&chitin(&talk.env, &["doctor", "workspace", "--offline"]));
    assert!(seen.contains("doctor --fix"), "{seen}");
    assert_eq!(temporaries(&talk.env.path()).len(), 4, "{seen}");
    let fixed = chitin(&talk.env, &["doctor", "workspace", "--offline", "--fix"]);
    let mut left = temporaries(&talk.env.path());
    left.sort();
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    let left: Vec<String> = left.iter().map(name).collect();
    let expected = [leftover("fresh.md"), ".mine.12-7.tmp".to_owned()];
    assert_eq!(left, expected, "{}", shown(&fixed));

    plant(&sessions);
    let serving = Serving::start(&talk, &[]);
    let home = talk.env.home().join(".chitin");
    serving.wait_until("it is gone", |_| temporaries(&home).is_empty());
}
