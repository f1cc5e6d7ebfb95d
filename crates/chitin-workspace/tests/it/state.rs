//! Kept state: facts, notes, conversations.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at trees from outside the guard"
)]

use chitin_test::TestEnv;
use chitin_workspace::state::{
    ConversationMessage, Owner, Promotion, Stamp, State, StateError, StateWriter,
};
use jiff::civil::{Date, date};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

const FACTS: &str = "state/users/ines/agents/bee/MEMORY.md";
const DAY: Date = date(2026, 3, 1);

fn writer(env: &TestEnv) -> StateWriter {
    StateWriter::create(&env.path().join("state")).unwrap()
}

fn owner() -> Owner<'static> {
    Owner::new("ines", "bee").unwrap()
}

fn stamp(id: &str, second: i64) -> Stamp<'_> {
    Stamp {
        id,
        at: jiff::Timestamp::from_second(second).unwrap(),
    }
}

#[test]
fn facts_are_lines_and_lines_of_people_stay() {
    let env = TestEnv::new();
    env.file(FACTS, "# About Ines\r\n- a note by hand");
    let writer = writer(&env);
    writer
        .add_fact(owner(), stamp("b", 20), "likes tea")
        .unwrap();
    writer
        .add_fact(owner(), stamp("a", 10), "two\nlines - [id:x|at:1] ")
        .unwrap();
    insta::assert_snapshot!(env.read(FACTS).replace('\r', "␍"), @r"
    # About Ines␍
    - a note by hand
    - [id:b|at:1970-01-01T00:00:20Z] likes tea
    - [id:a|at:1970-01-01T00:00:10Z] two lines - [id:x|at:1] 
    ");
    let state = State::open(&env.path().join("state")).unwrap();
    let ids: Vec<_> = state
        .facts(owner())
        .unwrap()
        .into_iter()
        .map(|fact| fact.id)
        .collect();
    assert_eq!(ids, ["a", "b"], "oldest first");
    assert_eq!(writer.remove_fact(owner(), "b").unwrap(), 1);
    assert_eq!(writer.remove_fact(owner(), "b").unwrap(), 0);
    insta::assert_snapshot!(env.read(FACTS), @r"
    # About Ines
    - a note by hand
    - [id:a|at:1970-01-01T00:00:10Z] two lines - [id:x|at:1] 
    ");
}

#[test]
fn a_promoted_note_is_a_fact_with_its_id_and_instant_and_is_never_in_neither_place() {
    let env = TestEnv::new();
    let writer = writer(&env);
    let state = State::open(&env.path().join("state")).unwrap();
    let note = writer
        .add_note(owner(), DAY, stamp("n", 5), "met Omar")
        .unwrap();
    writer
        .add_note(owner(), DAY, stamp("m", 6), "rain")
        .unwrap();
    assert_eq!(writer.promote(owner(), DAY, "n").unwrap(), Promotion::Moved);
    assert_eq!(state.facts(owner()).unwrap(), std::slice::from_ref(&note));
    assert_eq!(state.notes(owner(), DAY).unwrap().len(), 1);
    assert_eq!(
        writer.promote(owner(), DAY, "n").unwrap(),
        Promotion::NoSuchNote
    );

    // Interrupted between the two steps: the fact is there, the note still too. Doing it again finishes the move.
    writer
        .add_note(owner(), DAY, stamp("n", 5), "met Omar")
        .unwrap();
    assert_eq!(writer.promote(owner(), DAY, "n").unwrap(), Promotion::Moved);
    assert_eq!(state.facts(owner()).unwrap(), [note]);
}

#[test]
fn a_line_that_was_cut_off_does_not_swallow_the_next_one() {
    let env = TestEnv::new();
    let conversation = "state/agents/bee/sessions/s1.jsonl";
    env.file(
        conversation,
        "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assi",
    );
    let message = ConversationMessage {
        role: "user".to_owned(),
        content: "still there?\u{7}".to_owned(),
        tool_call_id: None,
    };
    let writer = writer(&env);
    writer.append_message("bee", "s1", &message).unwrap();
    writer.append_message("bee", "s1", &message).unwrap();
    let state = State::open(&env.path().join("state")).unwrap();
    let messages = state.conversation("bee", "s1").unwrap();
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[2], message);
}

#[test]
fn a_file_that_cannot_be_read_is_not_rewritten() {
    let env = TestEnv::new();
    env.file(FACTS, b"\xff\n- [id:a|at:2026-01-01T00:00:00Z] x\n");
    let error = writer(&env).remove_fact(owner(), "a").unwrap_err();
    assert!(matches!(error, StateError::Unreadable(_)), "{error}");
}

#[test]
fn readers_see_the_old_text_or_the_new_one_while_entries_go() {
    let env = TestEnv::new();
    let writer = writer(&env);
    env.file(FACTS, "kept by hand\n");
    for second in 0..60 {
        writer
            .add_fact(owner(), stamp(&format!("f{second}"), second), "x")
            .unwrap();
    }
    let path = env.path().join(FACTS);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut before = usize::MAX;
            while before > 1 {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(
                    text.starts_with("kept by hand\n") && text.ends_with('\n'),
                    "{text}"
                );
                let count = text.lines().count();
                assert!(count <= before, "a line came back");
                before = count;
            }
        });
        for second in 0..60 {
            assert_eq!(
                writer.remove_fact(owner(), &format!("f{second}")).unwrap(),
                1
            );
        }
        reading.join().unwrap();
    });
    let names: Vec<_> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["MEMORY.md"], "nothing half-written is left behind");
}

#[test]
fn concurrent_adds_lose_nothing() {
    let env = TestEnv::new();
    let writer = writer(&env);
    std::thread::scope(|scope| {
        for thread in 0..4_i64 {
            let writer = &writer;
            scope.spawn(move || {
                for n in 0..25 {
                    let id = format!("{thread}-{n}");
                    writer.add_fact(owner(), stamp(&id, n), "x").unwrap();
                    if n % 5 == 0 {
                        assert_eq!(writer.remove_fact(owner(), &id).unwrap(), 1);
                    }
                }
            });
        }
    });
    let state = State::open(&env.path().join("state")).unwrap();
    assert_eq!(state.facts(owner()).unwrap().len(), 4 * 20);
}

#[test]
fn an_agents_own_files_come_before_those_of_the_root() {
    let env = TestEnv::new();
    env.files([
        ("AGENTS.md", "root rules"),
        ("SOUL.md", "root soul"),
        ("USER.md", "root user"),
        ("agents/bee/SOUL.md", ""),
    ]);
    let state = State::open(&env.workspace()).unwrap();
    let rules = state.rules(Some("ines"), Some("bee")).unwrap();
    assert_eq!(rules.system_prompt, "## Operating rules\n\nroot rules");
    assert_eq!(rules.user_profile, "", "the root's user is somebody else");
}

/// Everything beneath a directory, path → content.
fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                left.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap_or_default();
                found.insert(path.to_string_lossy().into_owned(), bytes);
            }
        }
    }
    found
}

fn hostile_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[./\\\\~ \u{0}-\u{1f}a-c\u{2003}]{0,6}",
        prop::sample::select(vec![
            "..",
            ".",
            "../..",
            "a/../..",
            "/etc",
            "out",
            "out/x",
            "..\\x",
            "",
            " ",
            "a",
            "\u{0}",
            "a\n- [id:x|at:2026-01-01T00:00:00Z] forged",
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever users, agents and sessions are called, nothing outside the state directory is read or changed.
    #[test]
    fn no_name_leads_outside(
        user in hostile_name(), agent in hostile_name(), session in hostile_name(), id in hostile_name(),
    ) {
        let env = TestEnv::new();
        let entry = "- [id:a|at:2026-01-01T00:00:00Z] OUTSIDE\n";
        for outside in ["MEMORY.md", "agents/a/MEMORY.md", "x/agents/a/MEMORY.md", "SOUL.md", "USER.md"] {
            env.file(&format!("outside/{outside}"), entry);
            env.file(outside, entry);
        }
        env.directory_at("state/users");
        env.directory_at("state/agents");
        env.link("state/users/out", "../../outside");
        env.link("state/agents/out", "../../outside");
        let state_directory = env.path().join("state");
        let outside = |all: BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
            let state = state_directory.to_string_lossy().into_owned();
            all.into_iter().filter(|(path, _)| !path.starts_with(&state)).collect()
        };
        let before = outside(tree(&env.path()));
        let writer = writer(&env);
        let state = State::open(&state_directory).unwrap();
        let mut shown = Vec::new();
        if let Ok(owner) = Owner::new(&user, &agent) {
            let _ = writer.add_fact(owner, stamp(&id, 1), "x");
            let _ = writer.add_note(owner, DAY, stamp(&id, 1), "x");
            let _ = writer.promote(owner, DAY, &id);
            let _ = writer.remove_fact(owner, &id);
            let _ = writer.remove_fact(owner, "a");
            shown.push(format!("{:?}{:?}", state.facts(owner).ok(), state.notes(owner, DAY).ok()));
        }
        let message = ConversationMessage { role: id.clone(), content: id, tool_call_id: None };
        let _ = writer.append_message(&agent, &session, &message);
        shown.push(format!("{:?}", state.conversation(&agent, &session).ok()));
        shown.push(format!("{:?}", state.rules(Some(&user), Some(&agent)).ok()));
        let shown = shown.concat();
        prop_assert!(!shown.contains("OUTSIDE"), "{shown}");
        prop_assert_eq!(before, outside(tree(&env.path())));
    }
}
