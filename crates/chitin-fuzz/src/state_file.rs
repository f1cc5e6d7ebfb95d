//! Files of the state directory that other programs write too, or that a crash may have spoilt: the index of sessions, and who was let in.
#![expect(
    clippy::disallowed_methods,
    reason = "the files are written and looked at behind the store's back"
)]

use crate::recipe::Recipe;
use crate::records::any;
use crate::rpc::object;
use crate::server_connection::FuzzClock;
use crate::{novelty, scratch};
use chitin_agent::clock::Clock;
use chitin_contract::TranscriptRules;
use chitin_gateway::AccessControl;
use chitin_store::{Begin, BranchReach, FileStore, LockMode, RandomIds, SessionStore};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// What the files are made of.
pub const DICTIONARY: &[&str] = &[
    "{\"agent:main:main\":{\"sessionId\":\"s1\",\"updatedAt\":1}}",
    "\"sessionFile\":\"../../x.jsonl\"",
    "\"sessionFile\":\"/etc/passwd\"",
    "\"sessionId\":\"../x\"",
    "\"sessionId\":\"\"",
    "\"updatedAt\":-1",
    "\"updatedAt\":1e300",
    "{\"version\":1,\"pending\":[],\"paired\":[]}",
    "{\"channel\":\"discord\",\"account\":\"default\",\"senderId\":\"1\",\"code\":\"ABCDEFGH\",\"askedAt\":1,\"expiresAt\":9223372036854775807,\"toldAt\":-9223372036854775808}",
    "null",
    "\u{0}",
];

const KEY: &str = "agent:main:main";
const BEGIN: Begin<'_> = Begin {
    workspace: "/w",
    now: "t",
    now_ms: 1,
    new_session: false,
};

/// Reads the input as each of the files. One that begins with a one is choices.
pub fn run(data: &[u8]) {
    let (index, trust) = match data.split_first() {
        Some((1, choices)) => {
            let recipe = &mut Recipe::new(choices);
            (
                index(recipe).to_string().into_bytes(),
                trust(recipe).to_string().into_bytes(),
            )
        }
        Some(_) | None => (data.to_vec(), data.to_vec()),
    };
    sessions(&index);
    senders(&trust);
}

fn sessions(index: &[u8]) {
    let root = scratch::fresh("state_file");
    let directory = root.join("agents/main/sessions");
    fs::create_dir_all(&directory).expect("a directory can be made");
    fs::write(directory.join("sessions.json"), index).expect("an index can be written");
    let outside = root.join("x.jsonl");
    fs::write(&outside, "outside\n").expect("a file can be written");
    let store = FileStore::new(&directory, &TranscriptRules::CANONICAL, RandomIds);
    let listed = store.list();
    novelty::note(listed.as_ref().map(|listed| listed.len().min(4)).ok());
    for (key, _) in listed.iter().flatten().take(4) {
        novelty::note((
            store.find(key).is_ok(),
            store.inspect(key, BranchReach::Needed).is_ok(),
        ));
    }
    match store.open(KEY, &BEGIN, LockMode::Refuse) {
        Ok(session) => {
            let transcript = session.transcript();
            drop(session);
            let there = fs::canonicalize(&transcript).unwrap_or(transcript);
            assert!(
                there.starts_with(&directory),
                "a session outside: {}",
                there.display()
            );
            assert!(
                store.find(KEY).is_ok_and(|found| found.is_some()),
                "an open session is not in the index"
            );
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            novelty::note(std::mem::discriminant(&error));
        }
    }
    let left = fs::read(&outside).expect("the file outside is there");
    assert_eq!(left, b"outside\n", "a file outside was changed");
}

fn senders(bytes: &[u8]) {
    let state = scratch::fresh("state_file");
    write(&state.join("trust/pairing.json"), bytes);
    let clock: Arc<dyn Clock> = Arc::new(FuzzClock::default());
    let access = AccessControl::beneath(&state, Arc::new(json!({})), clock);
    let (Ok(pending), Ok(paired)) = (access.pending(), access.paired()) else {
        assert!(
            access.approve(None, "ABCDEFGH", false).is_err(),
            "a file that cannot be read is written over"
        );
        return novelty::note("unreadable");
    };
    novelty::note((pending.len().min(3), paired.len().min(3)));
    let _ = access.approve(None, "no such code", true);
    if let Some(one) = pending.first()
        && let Ok(approved) = access.approve(Some(&one.channel), &one.code, false)
    {
        assert!(
            access
                .paired()
                .is_ok_and(|paired| paired.contains(&approved)),
            "who was let in is not"
        );
    }
    for one in paired.iter().take(2) {
        let _ = access.revoke(&one.channel, &one.sender_id);
    }
}

fn write(path: &Path, bytes: &[u8]) {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).expect("a directory can be made");
    fs::write(path, bytes).expect("a file can be written");
}

fn index(recipe: &mut Recipe<'_>) -> Value {
    let count = recipe.byte() % 5;
    let entries = (0..count).map(|_| {
        let key = recipe.pick(&[
            KEY,
            "agent:main:x",
            "global",
            "",
            "agent:main:\u{1b}",
            "__proto__",
        ]);
        let members = [
            (
                "sessionId",
                json!(recipe.pick(&["s1", "../x", "", "s/1", "S1", "."])),
            ),
            (
                "sessionFile",
                json!(recipe.pick(&[
                    "s1.jsonl",
                    "../../../x.jsonl",
                    "/etc/passwd",
                    "",
                    "s1-topic-1.jsonl"
                ])),
            ),
            ("updatedAt", json!(1)),
            ("totalTokens", any(recipe)),
            ("model", any(recipe)),
            ("x", any(recipe)),
        ];
        (key.to_owned(), object(recipe, &members))
    });
    Value::Object(entries.collect())
}

fn trust(recipe: &mut Recipe<'_>) -> Value {
    let pending: Value = (0..recipe.byte() % 5)
        .map(|_| {
            let times = [
                json!(1),
                json!(i64::MAX),
                json!(i64::MIN),
                json!(1_785_542_500_000_i64),
            ];
            let time =
                |recipe: &mut Recipe<'_>| times[usize::from(recipe.byte()) % times.len()].clone();
            let members = [
                ("channel", json!(recipe.pick(&["discord", "slack", ""]))),
                ("account", json!("default")),
                ("senderId", json!(recipe.pick(&["1", "2", ""]))),
                ("code", json!(recipe.pick(&["ABCDEFGH", "BCDEFGHJ", ""]))),
                ("askedAt", time(recipe)),
                ("expiresAt", time(recipe)),
                ("toldAt", time(recipe)),
                ("place", json!({"surface": "discord", "to": "1"})),
            ];
            object(recipe, &members)
        })
        .collect();
    let paired: Value = (0..recipe.byte() % 4)
        .map(|_| {
            object(
                recipe,
                &[
                    ("channel", json!("discord")),
                    ("account", json!("default")),
                    ("senderId", json!("1")),
                    ("since", json!(1)),
                    ("owner", json!(true)),
                ],
            )
        })
        .collect();
    let members = [
        ("version", json!(1)),
        ("pending", pending),
        ("paired", paired),
        ("wrong", json!({"discord": recipe.byte()})),
        ("spent", any(recipe)),
    ];
    object(recipe, &members)
}
