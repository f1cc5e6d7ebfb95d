//! What is written looks as the contract says, and is there when it is opened again.

use crate::kit::{KEY, Kit, NOW, NOW_MS, begin, say, texts};
use chitin_contract::TranscriptRules;
use chitin_protocol::transcript::EntryBody;
use chitin_store::{LockMode, NewEntry, Run, SessionSpeaker, SessionStore, compat};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn lines(path: &std::path::Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_session_lies_where_the_layout_says_and_only_its_owner_may_read_it() {
    let kit = Kit::new();
    let mut session = kit.open();
    session.append(say("hello"), NOW).unwrap();
    let path = session.transcript();
    let id = session.header().id.clone();
    let directory = kit.state.join("agents/main/sessions");
    assert_eq!(path, directory.join(format!("{id}.jsonl")));
    assert_eq!(
        kit.index(),
        json!({KEY: {"sessionId": id, "updatedAt": NOW_MS, "sessionFile": path}})
    );
    for (path, mode) in [
        (&directory, 0o700),
        (&kit.state, 0o700),
        (&path, 0o600),
        (&directory.join("sessions.json"), 0o600),
    ] {
        let permissions = fs::metadata(path).unwrap().permissions();
        assert_eq!(permissions.mode() & 0o777, mode, "{}", path.display());
    }
}

#[test]
fn records_form_a_chain_from_the_first_and_are_there_again() {
    let kit = Kit::new();
    let mut session = kit.open();
    let mut two = say("a");
    two.extend(say("b"));
    let first = session.append(two, NOW).unwrap();
    let second = session.append(say("c"), NOW).unwrap();
    assert_eq!(first[0].parent_id, None);
    assert_eq!(first[1].parent_id.as_ref(), Some(&first[0].id));
    assert_eq!(second[0].parent_id.as_ref(), Some(&first[1].id));
    let branch = session.branch().clone();
    drop(session);
    let again = kit.open();
    assert_eq!(again.branch(), &branch);
    assert_eq!(texts(&branch.entries), ["a", "b", "c"]);
    assert_eq!(again.notes(), []);
    assert_eq!(kit.store.read(KEY).unwrap(), branch);
}

#[test]
fn each_contract_writes_its_own_form() {
    let run = Run {
        id: "run-1".to_owned(),
        speaker: SessionSpeaker::Owner,
    };
    let written = |rules: &TranscriptRules| {
        let kit = Kit::with(rules);
        let mut session = kit.open();
        session.begin_run(&run);
        session.append(say("hi"), NOW).unwrap();
        lines(&session.transcript())
    };
    let four = written(&TranscriptRules::OPENCLAW_2026_4);
    let nine = written(&TranscriptRules::OPENCLAW_2026_9);
    assert_eq!(
        (&four[0]["version"], &nine[0]["version"]),
        (&json!(3), &json!(4))
    );
    assert_eq!(four[1]["id"].as_str().unwrap().len(), 8);
    assert_eq!(nine[1]["id"].as_str().unwrap().len(), 36);
    assert_eq!(
        four[1]["message"],
        json!({"role": "user", "content": [{"type": "text", "text": "hi"}], "timestamp": NOW_MS})
    );
    assert_eq!(
        nine[1]["message"],
        json!({"role": "user", "content": "hi", "timestamp": NOW_MS,
            "__openclaw": {"senderIsOwner": true}, "idempotencyKey": "run-1:user"})
    );
}

#[test]
fn a_session_asked_for_by_name_has_that_id_where_the_contract_says_so() {
    let key = "agent:main:explicit:spawn-1";
    let id = |rules: &TranscriptRules, key: &str| {
        let kit = Kit::with(rules);
        let session = kit.store.open(key, &begin(), LockMode::Refuse).unwrap();
        session.header().id.clone()
    };
    assert_eq!(id(&TranscriptRules::OPENCLAW_2026_9, key), "spawn-1");
    assert_eq!(id(&TranscriptRules::OPENCLAW_2026_4, key).len(), 36);
    let outside = "agent:main:explicit:../../x";
    assert_eq!(id(&TranscriptRules::OPENCLAW_2026_9, outside).len(), 36);
}

#[test]
fn a_pending_record_is_on_the_branch_at_once_and_on_the_disk_after_waiting() {
    let kit = Kit::new();
    let mut session = kit.open();
    let pending = session.append_pending(say("a"), NOW).unwrap();
    assert_eq!(texts(&session.branch().entries), ["a"]);
    let waiting = std::thread::spawn(move || pending.wait().unwrap());
    session.append(say("b"), NOW).unwrap();
    assert_eq!(texts(&waiting.join().unwrap()), ["a"]);
    drop(session);
    assert_eq!(texts(&kit.open().branch().entries), ["a", "b"]);
}

#[test]
fn a_marker_is_found_on_the_branch() {
    let kit = Kit::new();
    let mut session = kit.open();
    let marker = NewEntry {
        body: EntryBody::Custom {
            custom_type: compat::FULL_CONTEXT.to_owned(),
            data: Some(json!({"timestamp": NOW_MS})),
        },
    };
    session.append(vec![marker.clone()], NOW).unwrap();
    drop(session);
    let branch = kit.store.read(KEY).unwrap();
    assert_eq!(branch.entries[0].body, marker.body);
}

#[test]
fn the_index_keeps_what_others_wrote_and_what_the_session_cannot_change() {
    let kit = Kit::new();
    let mut session = kit.open();
    let path = kit.store.directory().join("sessions.json");
    let mut index = kit.index();
    index["other"] = json!({"sessionId": "x", "label": 1});
    index[KEY]["label"] = json!("mine");
    fs::write(&path, index.to_string()).unwrap();
    session
        .update(&mut |entry| {
            entry.input_tokens = Some(7);
            entry.session_id = "../../etc".to_owned();
        })
        .unwrap();
    index[KEY]["inputTokens"] = json!(7);
    assert_eq!(kit.index(), index);
    assert_eq!(session.entry().input_tokens, Some(7));
}

#[test]
fn a_key_that_cannot_be_one_is_refused() {
    let kit = Kit::new();
    for key in ["", "  ", "a\nb", &"x".repeat(2000)] {
        let error = kit
            .store
            .open(key, &begin(), LockMode::Refuse)
            .err()
            .unwrap();
        assert!(error.to_string().contains("cannot be a session"), "{error}");
    }
    assert!(!kit.state.exists());
}
