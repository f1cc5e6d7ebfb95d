//! Nothing outside the directory is touched, whatever lies inside it and whatever the index says.

use crate::kit::{HEADER, KEY, Kit, NOW, begin, line, say};
use chitin_store::{LockMode, SessionStore, StoreError};
use proptest::prelude::*;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn a_link_in_the_place_of_a_file_is_not_followed() {
    let kit = Kit::new();
    let outside = kit.state.with_file_name("outside");
    let content = HEADER.to_owned() + &line("a", None, "secret");
    fs::write(&outside, &content).unwrap();
    let path = kit.transcript("");
    fs::remove_file(&path).unwrap();
    symlink(&outside, &path).unwrap();
    for error in [
        kit.try_open().err().unwrap(),
        kit.store.read(KEY).unwrap_err(),
    ] {
        assert!(error.to_string().contains("it is a link"), "{error}");
    }
    for name in [
        "sessions.json",
        "sessions.lock",
        "sessions.keys",
        ".sessions.json.next",
    ] {
        let kit = Kit::new();
        let directory = kit.store.directory();
        fs::create_dir_all(directory).unwrap();
        symlink(&outside, directory.join(name)).unwrap();
        let opened = kit.try_open();
        // What is only written to anew is put in the link's place; all else is refused.
        assert_eq!(opened.is_ok(), name == ".sessions.json.next", "{name}");
        assert_eq!(fs::read_to_string(&outside).unwrap(), content);
    }
}

#[test]
fn a_pipe_or_directory_in_the_place_of_a_transcript_is_refused_at_once() {
    for make in ["mkfifo", "mkdir"] {
        let kit = Kit::new();
        let path = kit.transcript("");
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new(make)
            .arg(&path)
            .status()
            .unwrap();
        assert!(made.success());
        for error in [
            kit.try_open().err().unwrap(),
            kit.store.read(KEY).unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        }
    }
}

#[test]
fn a_record_that_no_reader_would_read_is_refused() {
    let kit = Kit::new();
    let mut session = kit.open();
    session.append(say("short"), NOW).unwrap();
    let error = session.append(say(&"x".repeat(65 << 20)), NOW).unwrap_err();
    assert!(matches!(error, StoreError::TooLong { .. }), "{error}");
    session.append(say("short too"), NOW).unwrap();
    drop(session);
    assert_eq!(kit.open().branch().entries.len(), 2);
}

#[test]
fn a_line_that_is_too_long_is_damaged_and_not_held_in_memory() {
    let kit = Kit::new();
    let mut text = HEADER.to_owned() + &line("a", None, "one");
    text += &line("b", Some("a"), &"x".repeat(70 << 20));
    text += &line("c", Some("a"), "three");
    kit.transcript(&text);
    let session = kit.open();
    assert_eq!(session.branch().entries.len(), 2);
    let note = serde_json::to_value(&session.notes()[0]).unwrap();
    assert_eq!(
        (&note["kind"], &note["reason"]),
        (&json!("damagedLine"), &json!("it is too long"))
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Whatever an index names, nothing outside the directory is read, written or taken away.
    #[test]
    fn no_session_id_leads_outside(
        id in prop_oneof![
            "(\\.\\./){0,3}[a-z./\0%]{0,12}", Just("../outside".to_owned()), Just("/etc/passwd".to_owned()),
            Just("..".to_owned()), Just("x/../../outside".to_owned()),
        ],
        file in prop::option::of("[a-z./]{0,10}(\\.\\./){0,2}outside(\\.jsonl)?"),
    ) {
        let kit = Kit::new();
        let directory = kit.store.directory().to_path_buf();
        fs::create_dir_all(&directory).unwrap();
        let bait = HEADER.to_owned() + &line("a", None, "bait");
        for outside in [directory.with_file_name("outside"), directory.with_file_name("outside.jsonl")] {
            fs::write(outside, &bait).unwrap();
        }
        let index = json!({KEY: {"sessionId": id, "updatedAt": 1, "sessionFile": file}});
        fs::write(directory.join("sessions.json"), index.to_string()).unwrap();
        let _ = kit.store.read(KEY);
        if let Ok(mut session) = kit.store.open(KEY, &begin(), LockMode::Refuse) {
            prop_assert_eq!(session.branch().entries.len(), 0);
            let transcript = session.transcript();
            prop_assert_eq!(transcript.parent(), Some(directory.as_path()));
            session.append(say("x"), NOW).unwrap();
        }
        for outside in ["outside", "outside.jsonl"] {
            prop_assert_eq!(fs::read_to_string(directory.with_file_name(outside)).unwrap(), bait.clone());
        }
        prop_assert_eq!(crate::kit::names(directory.parent().unwrap()), ["outside", "outside.jsonl", "sessions"]);
    }
}
