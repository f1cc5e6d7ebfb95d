//! How extension files are read: by `check` as by a turn, and not again while they are the same.
#![expect(
    clippy::disallowed_methods,
    reason = "files are changed between the steps"
)]

use crate::extension_files::{assert_refused, ruled};
use crate::process::chitin;
use crate::run::{Talk, text};
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::time::{Duration, UNIX_EPOCH};

#[test]
fn check_and_run_agree_on_a_file_that_cannot_be_used() {
    let too_long = format!("deny: swordfish\n{}", "x".repeat(2 << 20));
    let talk = ruled(&too_long);
    let check = || {
        let output = chitin(&talk.env, &["check", "workspace", "--json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().clone();
        let about = |one: &Value| one["path"] == "PERMISSIONS.md" && one["severity"] == "error";
        (output.status.code(), findings.into_iter().find(about))
    };
    let refused = talk.say("hello");
    assert_eq!(refused.status.code(), Some(5), "{}", text(&refused.stderr));
    let (code, finding) = check();
    let finding = finding.expect("check says that nothing is allowed");
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("so nothing is allowed"), "{message}");
    assert_eq!((code, &finding["code"]), (Some(1), &json!("CH801")));

    // A link inside the workspace is read by both.
    talk.env
        .file("workspace/rules/shared.md", "deny: swordfish\n");
    let link = talk.env.workspace().join("PERMISSIONS.md");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("rules/shared.md", link).unwrap();
    assert_refused(&talk, &talk.say("the swordfish"), "deny", 1);
    assert_eq!(check().1, None);
}

#[test]
fn a_turn_reads_rules_that_did_not_change_once() {
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use std::os::unix::fs::MetadataExt;
    let read = json!({"toolCalls": [{"name": "read", "arguments": {"path": "AGENTS.md"}}]});
    let script = [
        read.clone(),
        read.clone(),
        read,
        json!({"text": "Three times."}),
    ];
    let talk = Talk::new(Format::Anthropic, &script);
    talk.env.files([("PERMISSIONS.md", "deny: swordfish\n")]);
    let file = talk.env.workspace().join("PERMISSIONS.md");
    // Stamps of files are coarse: one that was written just now is read again.
    let stamp = std::fs::metadata(&file).unwrap();
    let nanoseconds = u32::try_from(stamp.ctime_nsec()).unwrap();
    let written = Duration::new(stamp.ctime().cast_unsigned(), nanoseconds);
    while UNIX_EPOCH.elapsed().unwrap() < written + Duration::from_millis(200) {
        std::thread::yield_now();
    }
    let watch = init(CreateFlags::NONBLOCK).unwrap();
    add_watch(&watch, &file, WatchFlags::OPEN).unwrap();
    assert_eq!(talk.answer("Read it.").trim(), "Three times.");
    let mut room = [std::mem::MaybeUninit::uninit(); 4096];
    let mut events = Reader::new(&watch, &mut room);
    let opened = std::iter::from_fn(|| events.next().ok().map(drop)).count();
    assert_eq!(opened, 1);
}
