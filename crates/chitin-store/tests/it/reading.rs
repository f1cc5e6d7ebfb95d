//! Reading: the active branch, as far as needed, whatever lies around it; torn ends are set aside.

use crate::kit::{HEADER, KEY, Kit, NOW, line, say, texts};
use chitin_protocol::transcript::EntryBody;
use chitin_store::{BranchReach, SessionStore, StoreNote};
use proptest::prelude::*;
use std::fmt::Write;
use std::fs;

#[test]
fn the_branch_is_leaf_to_root_and_other_branches_stay_out() {
    let kit = Kit::new();
    let tree = [
        HEADER.to_owned(),
        line("a", None, "root"),
        line("b", Some("a"), "left"),
        line("c", Some("a"), "right"),
        line("d", Some("b"), "left 2"),
        line("e", Some("c"), "leaf"),
    ];
    kit.transcript(tree.concat());
    assert_eq!(
        texts(&kit.store.read(KEY).unwrap().entries),
        ["root", "right", "leaf"]
    );
    let mut session = kit.open();
    let appended = session.append(say("next"), NOW).unwrap();
    assert_eq!(appended[0].parent_id.as_deref(), Some("e"));
}

fn compacted(before: usize, kept: usize, after: usize) -> String {
    let mut text = HEADER.to_owned();
    let mut parent: Option<String> = None;
    let total = before + kept;
    for number in 0..total + after {
        let id = format!("r{number}");
        text += &line(&id, parent.as_deref(), &format!("text {number}"));
        parent = Some(id);
        if number + 1 == total {
            let up = parent.as_deref().unwrap_or_default();
            writeln!(
                text,
                "{{\"type\":\"compaction\",\"id\":\"k\",\"parentId\":\"{up}\",\"timestamp\":\"{NOW}\",\
                 \"summary\":\"so far\",\"firstKeptEntryId\":\"r{before}\",\"tokensBefore\":9}}"
            )
            .unwrap();
            parent = Some("k".to_owned());
        }
    }
    text
}

#[test]
fn reading_goes_back_to_what_the_last_compaction_kept() {
    let kit = Kit::new();
    kit.transcript(compacted(5000, 3, 2));
    let branch = kit.store.read(KEY).unwrap();
    let ids: Vec<&str> = branch.entries.iter().map(|entry| &*entry.id).collect();
    assert_eq!(ids, ["r5000", "r5001", "r5002", "k", "r5003", "r5004"]);
    assert!(branch.has_older);
    let whole = kit.store.inspect(KEY, BranchReach::Whole).unwrap().branch;
    assert_eq!((whole.entries.len(), whole.has_older), (5006, false));
}

#[test]
fn reading_keeps_to_the_bound_and_always_has_the_leaf() {
    let kit = Kit::new();
    kit.transcript(compacted(0, 50, 50));
    let read = |bytes, records| {
        let reach = BranchReach::Bounded { bytes, records };
        kit.store.inspect(KEY, reach).unwrap().branch
    };
    let branch = read(u64::MAX, 3);
    assert_eq!(texts(&branch.entries), ["text 97", "text 98", "text 99"]);
    assert!(branch.has_older);
    assert_eq!(texts(&read(1, 100).entries), ["text 99"]);
    assert!(!read(u64::MAX, usize::MAX).has_older);
}

#[test]
fn a_torn_line_is_set_aside_and_the_session_goes_on() {
    for torn in [
        "{\"type\":\"mess",
        "{\"type\":\"mess\n",
        "{\"x\":1}",
        "\0\0\0\0\n\0\0",
    ] {
        let kit = Kit::new();
        let good = HEADER.to_owned() + &line("a", None, "kept");
        let path = kit.transcript(good.clone() + torn);
        assert_eq!(texts(&kit.store.read(KEY).unwrap().entries), ["kept"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), good.clone() + torn);
        let mut session = kit.open();
        let aside = path.with_file_name("s1.jsonl.torn-1");
        assert_eq!(
            session.notes(),
            [StoreNote::SetAside {
                path: aside.clone(),
                bytes: torn.len() as u64
            }]
        );
        assert_eq!(fs::read_to_string(&aside).unwrap(), torn);
        assert_eq!(fs::read_to_string(&path).unwrap(), good);
        session.append(say("next"), NOW).unwrap();
        drop(session);
        assert_eq!(texts(&kit.open().branch().entries), ["kept", "next"]);
    }
}

#[test]
fn damaged_lines_in_the_middle_are_passed_over_told_and_left_where_they_are() {
    let kit = Kit::new();
    let text = [
        HEADER,
        &line("a", None, "one"),
        &line("b", Some("a"), "two"),
        "{\"type\":\"message\",\"id\":\"c\",\"pare\n",
        "\n",
        "[1,2]\n",
        &line("d", Some("c"), "four"),
    ]
    .concat();
    let path = kit.transcript(&text);
    let session = kit.open();
    assert_eq!(texts(&session.branch().entries), ["one", "two", "four"]);
    let kinds: Vec<&str> = session
        .notes()
        .iter()
        .map(|note| match note {
            StoreNote::DamagedLine { .. } => "damaged",
            StoreNote::LostParent { id } => id,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["damaged", "c", "damaged"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_parent_that_was_never_there_ends_the_branch() {
    let kit = Kit::new();
    kit.transcript(HEADER.to_owned() + &line("a", None, "one") + &line("b", Some("zz"), "two"));
    let inspection = kit.store.inspect(KEY, BranchReach::Needed).unwrap();
    assert_eq!(texts(&inspection.branch.entries), ["two"]);
    let lost = StoreNote::LostParent {
        id: "zz".to_owned(),
    };
    assert_eq!(inspection.notes, [lost]);
}

#[test]
fn many_damaged_lines_do_not_make_reading_slow() {
    let kit = Kit::new();
    let mut text = HEADER.to_owned();
    for number in 0..3000 {
        text += &line(&format!("r{number}"), Some(&format!("lost{number}")), "x");
        text += "{{{\n";
    }
    text += &line("last", Some("gone"), "end");
    kit.transcript(text);
    let start = std::time::Instant::now();
    let inspection = kit.store.inspect(KEY, BranchReach::Needed).unwrap();
    assert_eq!(inspection.branch.entries.len(), 3001);
    assert!(start.elapsed().as_secs() < 5);
}

#[test]
fn what_only_other_programs_call_json_keeps_its_place() {
    let kit = Kit::new();
    let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    let surrogate = line("b", Some("a"), "half SURROGATE pair").replace("SURROGATE", "\\ud83d");
    let nested = line("c", Some("b"), "deep").replace("\"deep\"", &deep);
    let text = HEADER.to_owned()
        + &line("a", None, "one")
        + &surrogate
        + &nested
        + &line("d", Some("c"), "four").replace("four", "\\ud83d\\ude00 \\\\ud83d");
    let path = kit.transcript(&text);
    let session = kit.open();
    assert_eq!(session.notes(), []);
    assert_eq!(
        texts(&session.branch().entries),
        ["one", "half \u{fffd} pair", "\u{1f600} \\ud83d"]
    );
    assert!(
        matches!(&session.branch().entries[2].body, EntryBody::Other(value) if value["id"] == "c")
    );
    assert_eq!(fs::read_to_string(path).unwrap(), text);
}

#[test]
fn a_file_without_a_header_is_refused_and_kept() {
    for (text, reason) in [
        ("", "it is empty"),
        ("{\"type\":\"message\"}\n", "header"),
        ("no json\n", "header"),
        ("{\"type\":\"session\"", "header"),
    ] {
        let kit = Kit::new();
        let path = kit.transcript(text);
        let error = kit.try_open().err().unwrap();
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
}

#[test]
fn a_line_of_any_length_comes_out_whole() {
    let kit = Kit::new();
    for length in [1, 60 << 10, (64 << 10) - 200, 200 << 10, 5 << 20] {
        let long = "x".repeat(length);
        kit.transcript(
            HEADER.to_owned()
                + &line("a", None, &long)
                + &line("b", Some("a"), "short")
                + &line("c", Some("b"), &long),
        );
        let branch = kit.store.read(KEY).unwrap();
        assert_eq!(texts(&branch.entries), [&long, "short", &long]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Wherever a transcript was cut off: what came before the cut is there, nothing else, and the file is valid again.
    #[test]
    fn a_file_cut_anywhere_opens_with_all_whole_records(cut in 0.0..1.0f64, sizes in prop::collection::vec(0usize..300, 1..20)) {
        let kit = Kit::new();
        let mut text = HEADER.to_owned();
        let mut ends = Vec::new();
        let mut parent: Option<String> = None;
        for (number, size) in sizes.iter().enumerate() {
            let id = format!("r{number}");
            text += &line(&id, parent.as_deref(), &"é".repeat(*size));
            ends.push(text.len());
            parent = Some(id);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a small file")]
        let cut = HEADER.len() + ((text.len() - HEADER.len()) as f64 * cut) as usize;
        let path = kit.transcript(&text.as_bytes()[..cut]);
        let whole = ends.iter().filter(|end| **end <= cut).count();
        let mut session = kit.open();
        prop_assert_eq!(session.branch().entries.len(), whole);
        session.append(say("next"), NOW).unwrap();
        let content = fs::read_to_string(path).unwrap();
        prop_assert!(content.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
        prop_assert_eq!(content.lines().count(), whole + 2);
    }

    /// Opening never panics and never loses a byte, whatever the file holds.
    #[test]
    fn no_content_is_lost_on_opening(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        let kit = Kit::new();
        let mut text = HEADER.as_bytes().to_vec();
        text.extend(line("a", None, "one").bytes());
        text.extend(&noise);
        let path = kit.transcript(&text);
        drop(kit.open());
        let mut after = fs::read(&path).unwrap();
        if let Ok(torn) = fs::read(path.with_file_name("s1.jsonl.torn-1")) {
            after.extend(torn);
        }
        prop_assert_eq!(after, text);
    }
}
