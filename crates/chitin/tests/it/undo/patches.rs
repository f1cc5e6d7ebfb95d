//! What `chitin changes --turn` prints into a pipe is a patch that `patch` and `git` take.

use super::{call, code, json_of, said, shown, talk, write};
use crate::process::chitin;
use crate::run::Talk;
use chitin_test::needs;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a turn does to the files of [`before`].
const SCRIPT: &str = r#"
sed -i 's/line 3$/line three/; s/line 40$/line\tforty/' long.txt
printf 'a\tb\rc\r\n\033[31mred\n' > controls.txt
printf 'no end' > end.txt
printf 'now with an end\n' > began.txt
rm gone.txt gone-empty.txt
printf 'new\n' > new.txt && : > new-empty.txt && mkdir -p deep/er && printf '1\n2' > "deep/er/with space.txt"
printf 'ü\n' > 'umlaut-ü "quoted".txt'
printf -- '-- looks like a head\n++ and so does this\n' > heads.txt
chmod 755 run.sh
printf 'changed\n' > tool.sh
"#;

fn before(talk: &Talk) {
    let lines: Vec<String> = (1..=60).map(|at| format!("line {at}\n")).collect();
    for (name, content) in [
        ("long.txt", lines.concat().as_str()),
        ("controls.txt", "a b\rc\nred\n"),
        ("end.txt", "an end\n"),
        ("began.txt", "no end yet"),
        ("gone.txt", "going\ngone"),
        ("gone-empty.txt", ""),
        ("heads.txt", "-- looked like a head\n"),
        ("run.sh", "#!/bin/sh\n"),
        ("tool.sh", "#!/bin/sh\n"),
    ] {
        talk.env.file(&format!("workspace/{name}"), content);
    }
    let tool = talk.env.workspace().join("tool.sh");
    fs::set_permissions(tool, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Every file of the workspace but Chitin's own: name → bytes, and whether it may be run.
fn files(directory: &Path) -> BTreeMap<PathBuf, (Vec<u8>, bool)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(below) = waiting.pop() {
        for entry in fs::read_dir(below).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                if entry.file_name() != ".git" && entry.file_name() != ".openclaw" {
                    waiting.push(path);
                }
                continue;
            }
            let run = entry.metadata().unwrap().permissions().mode() & 0o100 != 0;
            let name = path.strip_prefix(directory).unwrap().to_owned();
            found.insert(name, (fs::read(&path).unwrap(), run));
        }
    }
    found
}

fn fed(talk: &Talk, command: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(command[0])
        .args(&command[1..])
        .current_dir(talk.env.workspace())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", talk.env.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input).unwrap();
    child.wait_with_output().unwrap()
}

fn patch_of_a_turn(talk: &Talk) -> Vec<u8> {
    let output = chitin(&talk.env, &["changes", "--turn", "1"]);
    assert_eq!(code(&output), 0, "{}", shown(&output));
    output.stdout
}

#[test]
fn patch_and_git_take_a_turn_back_and_bring_it_again() {
    if !needs::programs(&["git", "patch"]) {
        return;
    }
    let talk = talk(&[call("exec", json!({"command": SCRIPT})), said("Done.")]);
    before(&talk);
    let old = files(&talk.env.workspace());
    talk.answer("Change a lot");
    let new = files(&talk.env.workspace());
    assert_eq!(new[Path::new("end.txt")].0, b"no end");
    let patch = patch_of_a_turn(&talk);
    for (back, again) in [
        (
            ["patch", "-p1", "-R", "--binary", "-s"].as_slice(),
            ["patch", "-p1", "--binary", "-s"].as_slice(),
        ),
        (&["git", "apply", "-R"], &["git", "apply"]),
    ] {
        let done = fed(&talk, back, &patch);
        let text = String::from_utf8_lossy(&patch);
        assert!(done.status.success(), "{}\n{text}", shown(&done));
        assert_eq!(files(&talk.env.workspace()), old, "{back:?}\n{text}");
        let done = fed(&talk, again, &patch);
        assert!(done.status.success(), "{}\n{text}", shown(&done));
        assert_eq!(files(&talk.env.workspace()), new, "{again:?}\n{text}");
    }
}

#[test]
fn what_no_patch_can_say_is_told_and_does_not_spoil_the_rest() {
    if !needs::programs(&["git", "patch"]) {
        return;
    }
    let talk = talk(&[
        call(
            "exec",
            json!({"command": "printf 'a\\0b' > blob && ln -s board.md link && mkdir empty && chmod 600 MEMORY.md && echo oak > board.md"}),
        ),
        said("Done."),
    ]);
    let old = files(&talk.env.workspace())[Path::new("board.md")].clone();
    talk.answer("Odd things");
    let patch = patch_of_a_turn(&talk);
    let text = String::from_utf8_lossy(&patch).into_owned();
    for told in [
        "blob: was nothing, is a file",
        "link: was nothing, is a link to `board.md`",
        "empty/: was nothing, is a directory",
        "MEMORY.md: was a file, 644",
    ] {
        assert!(text.contains(told), "`{told}` in {text}");
    }
    for back in [
        ["patch", "-p1", "-R", "-s"].as_slice(),
        &["git", "apply", "-R"],
    ] {
        let done = fed(&talk, back, &patch);
        assert!(done.status.success(), "{back:?}: {}\n{text}", shown(&done));
        assert_eq!(files(&talk.env.workspace())[Path::new("board.md")], old);
        talk.env.file("workspace/board.md", "oak\n");
    }
}

#[test]
fn the_lines_of_json_say_how_long_each_part_is() {
    let talk = talk(&[write("new.md", "one\ntwo"), said("Done.")]);
    talk.answer("Write");
    let shown = json_of(&talk, &["changes", "--turn", "1", "--json"]);
    let lines = &shown["differences"][0]["lines"];
    assert_eq!(
        *lines,
        json!([
            {"kind": "place", "before": 0, "beforeLines": 0, "after": 1, "afterLines": 2},
            {"kind": "added", "text": "one"},
            {"kind": "added", "text": "two"},
            {"kind": "no-newline"},
        ])
    );
}
