//! A session that begins with what another one's model would get.

use crate::kit::{HEADER, KEY, Kit, NOW, NOW_MS, SOON, begin, line, say, texts};
use chitin_protocol::message::Message;
use chitin_protocol::transcript::TranscriptEntry;
use chitin_store::{BranchReach, SessionStore, StoreError};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const CHILD: &str = "agent:main:subagent:1";

fn fork(kit: &Kit) -> Vec<TranscriptEntry> {
    let entry = kit.store.fork(KEY, CHILD, &begin()).unwrap();
    assert_eq!(entry.forked_from_parent, Some(true));
    assert_eq!(kit.store.find(CHILD).unwrap(), Some(entry));
    let inspection = kit.store.inspect(CHILD, BranchReach::Whole).unwrap();
    // The copy is whole: it needs nothing that it does not hold.
    assert_eq!(inspection.notes, []);
    inspection.branch.entries
}

fn records(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

fn child_file(kit: &Kit) -> std::path::PathBuf {
    let entry = kit.store.find(CHILD).unwrap().unwrap();
    entry.session_file.unwrap().into()
}

fn message(id: &str, parent: &str, message: &Value) -> String {
    let record = json!({"type": "message", "id": id, "parentId": parent, "timestamp": NOW, "message": message});
    format!("{record}\n")
}

fn calls(ids: &[&str]) -> Value {
    let calls: Vec<Value> = ids
        .iter()
        .map(|id| json!({"type": "toolCall", "id": id, "name": "spawn", "arguments": {}}))
        .collect();
    json!({"role": "assistant", "content": calls, "timestamp": NOW_MS})
}

fn result(call: &str) -> Value {
    json!({"role": "toolResult", "toolCallId": call, "content": [{"type": "text", "text": "done"}], "isError": false})
}

#[test]
fn a_straight_conversation_is_copied_byte_for_byte_and_goes_on_by_itself() {
    let kit = Kit::new();
    let mut parent = kit.open();
    for text in ["one", "two", "three"] {
        parent.append(say(text), NOW).unwrap();
    }
    // The parent is open, and stays so.
    let copied = fork(&kit);
    assert_eq!(copied, parent.branch().entries);
    assert_eq!(records(&child_file(&kit)), records(&parent.transcript()));

    let mut child = kit.store.open(CHILD, &begin(), SOON).unwrap();
    let header = serde_json::to_value(child.header()).unwrap();
    assert_eq!(
        header,
        json!({"type": "session", "version": parent.header().version, "id": child.entry().session_id,
            "timestamp": NOW, "cwd": begin().workspace, "parentSession": parent.transcript()})
    );
    assert_ne!(child.header().id, parent.header().id);
    child.append(say("the child's"), NOW).unwrap();
    parent.append(say("the parent's"), NOW).unwrap();
    let (child, parent) = (
        texts(&child.branch().entries),
        texts(&parent.branch().entries),
    );
    assert_eq!(child, ["one", "two", "three", "the child's"]);
    assert_eq!(parent, ["one", "two", "three", "the parent's"]);
}

#[test]
fn of_a_conversation_with_branches_only_the_active_one_is_copied() {
    let kit = Kit::new();
    kit.transcript(
        [
            HEADER,
            &line("a", None, "a"),
            &line("b", Some("a"), "b"),
            &line("c", Some("b"), "left"),
            "\n",
            &line("d", Some("b"), "d"),
            &line("e", Some("c"), "left too"),
            &line("f", Some("d"), "f"),
        ]
        .concat(),
    );
    assert_eq!(texts(&fork(&kit)), ["a", "b", "d", "f"]);
    let parent = [
        ("a", None),
        ("b", Some("a")),
        ("d", Some("b")),
        ("f", Some("d")),
    ];
    let expected = parent.map(|(id, parent)| line(id, parent, id).trim_end().to_owned());
    assert_eq!(records(&child_file(&kit)), expected);
}

#[test]
fn the_copy_goes_back_to_what_the_last_compaction_kept_and_no_further() {
    let kit = Kit::new();
    let compaction = json!({"type": "compaction", "id": "x", "parentId": "c", "timestamp": NOW, "summary": "So far.",
        "firstKeptEntryId": "b", "tokensBefore": 9});
    kit.transcript(
        [
            HEADER,
            &line("a", None, "old"),
            &line("b", Some("a"), "kept"),
            &line("c", Some("b"), "kept too"),
            &format!("{compaction}\n"),
            &line("d", Some("x"), "new"),
        ]
        .concat(),
    );
    let copied = fork(&kit);
    let ids: Vec<&str> = copied.iter().map(|entry| &*entry.id).collect();
    assert_eq!(ids, ["b", "c", "x", "d"]);
    assert_eq!(copied[0].parent_id, None);
}

#[test]
fn a_record_that_was_lost_leaves_no_hole_in_the_copy() {
    let kit = Kit::new();
    let torn = "{\"type\":\"message\",\"id\":\"b\n";
    kit.transcript(
        [
            HEADER,
            &line("a", None, "a"),
            torn,
            &line("c", Some("b"), "c"),
        ]
        .concat(),
    );
    let copied = fork(&kit);
    assert_eq!(texts(&copied), ["a", "c"]);
    assert_eq!(copied[1].parent_id.as_deref(), Some("a"));
}

#[test]
fn an_answer_whose_calls_have_no_results_yet_is_left_out() {
    let done = [
        HEADER.to_owned(),
        line("a", None, "Do it."),
        message("b", "a", &calls(&["1"])),
        message("c", "b", &result("1")),
    ]
    .concat();
    let waiting = [
        message("d", "c", &calls(&["2", "3"])),
        message("e", "d", &result("2")),
    ]
    .concat();
    let note = json!({"type": "custom", "customType": "note", "id": "f", "parentId": "e", "timestamp": NOW});
    let note = format!("{note}\n");
    let rest = message("g", "f", &result("3"));
    let torn = "{\"type\":\"mess";
    for (text, last) in [
        (done.clone(), "c"),
        ([&*done, &waiting].concat(), "c"),
        ([&*done, &waiting, &note, torn].concat(), "c"),
        ([&*done, &waiting, &note, &rest].concat(), "g"),
        // Somebody spoke since: the results will not come any more, here as there.
        (
            [&*done, &waiting, &line("g", Some("e"), "Stop.")].concat(),
            "g",
        ),
    ] {
        let kit = Kit::new();
        kit.transcript(text);
        assert_eq!(fork(&kit).last().unwrap().id, last);
    }
}

#[test]
fn a_fork_in_the_middle_of_appends_is_what_was_there_at_some_instant() {
    let kit = Kit::new();
    let mut parent = kit.open();
    parent.append(say("first"), NOW).unwrap();
    let done = AtomicBool::new(false);
    let mut copies: Vec<Vec<TranscriptEntry>> = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..200 {
                let text = number.to_string().repeat(number * 7 % 4_000);
                let pending = parent.append_pending(say(&text), NOW).unwrap();
                pending.wait().unwrap();
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            let child = format!("agent:main:subagent:{}", copies.len());
            kit.store.fork(KEY, &child, &begin()).unwrap();
            let inspection = kit.store.inspect(&child, BranchReach::Whole).unwrap();
            assert_eq!(inspection.notes, []);
            copies.push(inspection.branch.entries);
        }
    });
    let whole = &parent.branch().entries;
    for copy in &copies {
        assert_eq!(&whole[..copy.len()], copy);
    }
    let lengths: Vec<usize> = copies.iter().map(Vec::len).collect();
    assert!(lengths.is_sorted());
    assert!(!lengths.is_empty());
}

#[test]
fn a_fork_is_refused_where_it_cannot_be() {
    let kit = Kit::new();
    let fork = |from, to| kit.store.fork(from, to, &begin()).unwrap_err();
    assert!(matches!(fork(KEY, CHILD), StoreError::Unknown { .. }));
    drop(kit.open());
    assert!(matches!(fork(KEY, KEY), StoreError::Exists { .. }));
    assert!(matches!(fork("other", CHILD), StoreError::Unknown { .. }));
    assert!(matches!(fork(KEY, ""), StoreError::BadKey { .. }));
    kit.store.fork(KEY, CHILD, &begin()).unwrap();
    let before = kit.names();
    assert!(matches!(fork(KEY, CHILD), StoreError::Exists { .. }));
    assert_eq!(kit.names(), before);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Whatever tree the records form and wherever the file ends, the copy is the beginning of the parent's branch, stands by
    /// itself, and every call of its last answer has a result.
    #[test]
    fn a_copy_is_the_beginning_of_the_branch_and_whole(
        records in prop::collection::vec((0..4_usize, 0..4_usize), 0..20),
        cut in 0..200_usize,
    ) {
        let kit = Kit::new();
        let mut text = HEADER.to_owned();
        for (number, (back, kind)) in records.into_iter().enumerate() {
            let id = number.to_string();
            // Mostly the record before, sometimes one further back.
            let parent = number.checked_sub(1 + back / 3 * 2).map(|parent| parent.to_string());
            let parent = parent.as_deref();
            text += &match (kind, parent) {
                (0, _) | (_, None) => line(&id, parent, "words"),
                (1, Some(parent)) => message(&id, parent, &calls(&[&id])),
                (_, Some(parent)) => message(&id, parent, &result(parent)),
            };
        }
        text.truncate(text.len().saturating_sub(cut).max(HEADER.len()));
        kit.transcript(&text);
        let parent = kit.store.read(KEY).unwrap().entries;
        let copied = fork(&kit);
        prop_assert_eq!(&parent[..copied.len()], &copied[..]);
        if let Some(left) = parent.get(copied.len()) {
            prop_assert!(matches!(left.message(), Some(Message::Assistant(_))));
        }
        let last = copied.iter().rposition(|entry| !matches!(entry.message(), Some(Message::ToolResult(_))));
        if let Some(last) = last
            && let Some(Message::Assistant(_)) = copied[last].message()
        {
            let answered = copied[last..].iter().any(|entry| match entry.message() {
                Some(Message::ToolResult(result)) => result.tool_call_id == copied[last].id,
                _ => false,
            });
            prop_assert!(answered);
        }
    }
}
