//! The reader of shell lines, compared with real shells.

use chitin_protocol::settings::{ApprovalSetting, ExecSettings};
use chitin_tools::approval::{ApprovalRules, CommandDecision, Held, Word, split};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

fn rules() -> ApprovalRules {
    let settings = ExecSettings {
        approvals: Some(ApprovalSetting::Ask),
        allow: Some(vec!["good *".to_owned(), "fine".to_owned()]),
        ..ExecSettings::default()
    };
    ApprovalRules::new(None, &settings, None)
}

fn is_allowed(command: &str) -> bool {
    rules().decide(command, &BTreeMap::new(), Held::Firmly) == CommandDecision::Allow
}

/// Pieces that lines are made of: programs, and all that a shell may see more in than a blank.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "good",
        "good",
        "good",
        "bad",
        "bad",
        "fine",
        " ",
        " ",
        " ",
        " ",
        ";",
        "&",
        "|",
        "&&",
        "||",
        "\n",
        "'",
        "\"",
        "\\",
        "`",
        "$(",
        ")",
        "(",
        "{",
        "}",
        "$",
        "${",
        "$x",
        "$?",
        ">",
        "<",
        "2>&1",
        ">/dev/null",
        "2",
        "#",
        "~",
        "*",
        "?",
        "[",
        "]",
        "!",
        "=",
        "x=",
        "a=bad ",
        "-",
        "--",
        "\t",
        "\r",
        "eval",
        "exec",
        "if",
        "then",
        "fi",
        "do",
        "done",
        "case",
        "esac",
        "in",
        ";;",
        "<<",
        "<<-",
        "EOF",
        "\u{a0}",
        "\u{0}",
        "\u{b}",
        "\u{85}",
        "é",
        "$'",
        "$\"",
        ",",
        "..",
        "%",
        "@",
        "^",
        ":",
        "./",
        "function",
        "time",
        ".",
        "[[",
        "]]",
    ]);
    prop_oneof![9 => fixed.prop_map(str::to_owned), 1 => "[ -~]{1,3}"]
}

fn line() -> impl Strategy<Value = String> {
    let free = prop::collection::vec(piece(), 1..12).prop_map(|pieces| pieces.concat());
    // Most free lines are not allowed; lines that begin well go deeper.
    let begun = prop::collection::vec(piece(), 1..10)
        .prop_map(|pieces| format!("good {}", pieces.concat()));
    prop_oneof![free, begun]
}

/// Runs a line in a shell that has only three programs; returns whether the one that is not allowed ran.
fn runs_the_bad_one(shell: &str, directory: &Path, line: &str) -> bool {
    let marker = directory.join("ran");
    let work = directory.join("work");
    let _ = Command::new("rm")
        .arg("-rf")
        .args([&marker, &work])
        .status();
    let _ = Command::new("mkdir").arg("-p").arg(&work).status();
    let done = Command::new(shell)
        .args(["-c", line])
        .env_clear()
        .env("PATH", directory.join("bin"))
        .env("MARKER", &marker)
        .env("x", "bad")
        .current_dir(&work)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(done.is_ok());
    // A part in the background may still be on its way.
    if line.contains('&') {
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    Command::new("test")
        .arg("-e")
        .arg(&marker)
        .status()
        .unwrap()
        .success()
}

fn programs() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join("bin").join(name);
        chitin_test_write(&path, text);
    };
    write("good", "#!/bin/sh\nexit 0\n");
    write("fine", "#!/bin/sh\nexit 0\n");
    write("bad", "#!/bin/sh\n: > \"$MARKER\"\n");
    directory
}

#[expect(clippy::disallowed_methods, reason = "the test makes programs")]
fn chitin_test_write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test looks which shells are there"
)]
fn shells() -> Vec<&'static str> {
    [
        "/bin/sh",
        "/bin/bash",
        "/bin/dash",
        "/bin/zsh",
        "/bin/busybox",
    ]
    .into_iter()
    .filter(|shell| Path::new(shell).exists() && !shell.ends_with("busybox"))
    .collect()
}

#[test]
fn no_shell_runs_what_was_not_allowed() {
    let programs = programs();
    let shells = shells();
    // The scene works: without a decision in front of it, the bad one does run.
    assert!(runs_the_bad_one(shells[0], programs.path(), "good; bad"));
    let allowed = std::cell::Cell::new(0);
    let config = ProptestConfig {
        cases: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(line in line())| {
        // Lines without the bad one prove nothing here.
        if (line.contains("bad") || line.contains("$x")) && !line.contains('\0') && is_allowed(&line) {
            allowed.set(allowed.get() + 1);
            for shell in &shells {
                prop_assert!(!runs_the_bad_one(shell, programs.path(), &line), "{shell}: {line:?}");
            }
        }
    });
    assert!(
        allowed.get() > 50,
        "only {} lines were put to the test",
        allowed.get()
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_a_panic(text in any::<String>()) {
        let _ = split(&text);
        let _ = is_allowed(&text);
    }

    #[test]
    fn a_part_that_is_not_allowed_is_never_lost(
        parts in prop::collection::vec(("[a-z]{1,6}", prop::sample::select(vec![";", "&&", "||", "|", "&", "\n"])), 1..6)
    ) {
        let mut line = String::new();
        for (program, joint) in &parts {
            line.extend([program.as_str(), " arg ", joint, " "]);
        }
        line.push_str("good end");
        let script = split(&line);
        if let Ok(script) = script {
            prop_assert_eq!(script.commands.len(), parts.len() + 1);
            for (command, (program, _)) in script.commands.iter().zip(&parts) {
                prop_assert_eq!(&command.words[0], &Word::Exact(program.clone()));
            }
            let all = parts.iter().all(|(program, _)| program == "good");
            prop_assert_eq!(is_allowed(&line), all);
        } else {
            prop_assert!(!is_allowed(&line));
        }
    }

    #[test]
    fn quoted_text_stays_one_word(text in "[^'\0]{0,20}") {
        let script = split(&format!("good '{text}'")).unwrap();
        prop_assert_eq!(&script.commands[0].words, &vec![Word::Exact("good".to_owned()), Word::Exact(text)]);
    }
}
