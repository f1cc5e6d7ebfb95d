//! `kill -9` at any instant of a turn that writes, and of an undo: nothing is lost, and every turn can still be taken back.

use super::{call, code, read, said, shown, talk};
use crate::process::{chitin, command};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How often a process is killed. `CHITIN_TEST_KILLS=200` looks longer.
fn kills() -> u64 {
    let given = std::env::var("CHITIN_TEST_KILLS").ok();
    given.map_or(20, |kills| kills.parse().unwrap())
}

/// A fixed sequence that looks random: a failure can be repeated.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

pub(crate) fn begin(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills a process after a while; tells whether it was still running.
pub(crate) fn killed_after(mut child: Child, micros: u64) -> bool {
    std::thread::sleep(Duration::from_micros(micros));
    let _ = kill_process(Pid::from_child(&child), Signal::KILL);
    child.wait().unwrap().code().is_none()
}

/// Every file beneath a directory with its content.
fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                let text = std::fs::read(&path).unwrap();
                files.insert(name, String::from_utf8_lossy(&text).into_owned());
            }
        }
    }
    files
}

/// What the guard leaves of a file that was being written when the process died.
fn without_temporaries(mut tree: BTreeMap<String, String>) -> BTreeMap<String, String> {
    tree.retain(|name, _| !name.ends_with(".tmp") && !name.contains(".openclaw"));
    tree
}

#[test]
fn an_undo_that_is_killed_is_completed_by_the_next_command() {
    let script = [
        call(
            "exec",
            json!({"command":
            "for i in $(seq 1 60); do echo after $i > part-$((i % 7))/file-$i; rm -f gone-$i; echo $i > new-$i; done"}),
        ),
        said("Done."),
    ];
    let talk = talk(&script);
    for file in 1..=60 {
        let part = file % 7;
        talk.env.file(
            &format!("workspace/part-{part}/file-{file}"),
            format!("before {file}\n"),
        );
        talk.env
            .file(&format!("workspace/gone-{file}"), format!("gone {file}\n"));
    }
    let before = without_temporaries(tree(&talk.env.workspace()));
    talk.answer("Rewrite all");
    let after = without_temporaries(tree(&talk.env.workspace()));
    assert_ne!(before, after);
    let began = Instant::now();
    assert_eq!(code(&chitin(&talk.env, &["undo"])), 0);
    let whole = u64::try_from(began.elapsed().as_micros()).unwrap();
    assert_eq!(without_temporaries(tree(&talk.env.workspace())), before);
    let mut dice = Dice(7);
    let mut last = 2;
    let (mut killed, mut rounds) = (0, 0);
    let mut is_before = true;
    while killed < kills() && rounds < kills() * 4 {
        rounds += 1;
        let number = last.to_string();
        let undo = begin(&mut command(&talk.env, &["undo", "--turn", &number]));
        killed += u64::from(killed_after(undo, dice.below(whole * 5 / 4)));
        // Whatever it came to, the next command completes it, or it never began.
        let listed = chitin(&talk.env, &["changes", "--json"]);
        assert_eq!(code(&listed), 0, "{}", shown(&listed));
        let now = without_temporaries(tree(&talk.env.workspace()));
        let expected = [&before, &after];
        let has_happened = now == *expected[usize::from(is_before)];
        assert!(
            has_happened || now == *expected[usize::from(!is_before)],
            "half an undo after {killed} kills"
        );
        if has_happened {
            is_before = !is_before;
            let changes: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
            last = changes["turns"][0]["number"].as_u64().unwrap();
        }
    }
    assert!(killed >= kills() / 2, "only {killed} were killed");
}

#[test]
fn a_turn_that_is_killed_can_be_taken_back() {
    let mut script = Vec::new();
    for _ in 0..400 {
        script.push(call(
            "exec",
            json!({"command": "for i in 1 2 3 4 5; do echo turn >> file-$i; done", "timeout": 20}),
        ));
    }
    let talk = talk(&script);
    for file in 1..=5 {
        talk.env.file(&format!("workspace/file-{file}"), "mine\n");
    }
    let mut dice = Dice(11);
    let mut found = 0;
    for round in 0..kills() {
        let mut turn = talk.command(&["-m", "Write and write", "--new"]);
        let turn = begin(&mut turn);
        killed_after(turn, 150_000 + dice.below(700_000));
        // The sandbox ends with its parent; what it still wrote belongs to the turn.
        std::thread::sleep(Duration::from_millis(50));
        let undone = chitin(&talk.env, &["undo"]);
        // Nothing to undo: it was killed before it wrote.
        assert!(
            [0, 3].contains(&code(&undone)),
            "{round}: {}",
            shown(&undone)
        );
        found += u64::from(code(&undone) == 0);
        for file in 1..=5 {
            assert_eq!(
                read(&talk, &format!("file-{file}")),
                "mine\n",
                "{round}: {}",
                shown(&undone)
            );
        }
    }
    assert!(found > 0, "no turn came as far as writing");
}
