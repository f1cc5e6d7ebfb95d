//! A session that is read from its end as far as a turn needs it gives what the whole of it would have given.

use chitin_agent::history::{
    Assembling, Compacting, Pruning, estimate_all, is_marked, messages_for_model, prepare,
};
use chitin_agent::origins::origins_of;
use chitin_agent::turn::{HistoryInputs, HistoryOptions, read_history, read_marker, read_origins};
use chitin_contract::{CANONICAL, Contract, OPENCLAW_2026_4, OPENCLAW_2026_9};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_store::{Branch, FileStore, RandomIds, SessionStore};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write as _;

const KEY: &str = "agent:main:main";
/// So small that a few turns fill it many times over.
const WINDOW: u64 = 1_000;
const NOW: &str = "2026-04-01T12:00:00.000Z";

/// What happens next in a conversation.
#[derive(Debug, Clone)]
enum Step {
    Turn {
        words: usize,
        answer: usize,
        tools: Vec<(bool, usize)>,
        counted: bool,
    },
    Compaction {
        keeps: usize,
    },
    /// Somebody goes back so many records, and on from there.
    Back(usize),
    Marker,
    Model(u8),
    Damage,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let tools = prop::collection::vec((any::<bool>(), 1..4_000_usize), 0..3);
    let turn = (1..600_usize, 1..900_usize, tools, any::<bool>()).prop_map(
        |(words, answer, tools, counted)| Step::Turn {
            words,
            answer,
            tools,
            counted,
        },
    );
    let step = prop_oneof![
        30 => turn,
        1 => (1..12_usize).prop_map(|keeps| Step::Compaction { keeps }),
        1 => (1..9_usize).prop_map(Step::Back),
        1 => Just(Step::Marker),
        1 => (0..3_u8).prop_map(Step::Model),
        1 => Just(Step::Damage),
    ];
    prop::collection::vec(step, 1..60)
}

/// Writes a transcript, line by line.
#[derive(Default)]
struct Writer {
    text: String,
    ids: Vec<String>,
    /// The records of the active branch.
    branch: Vec<String>,
}

impl Writer {
    fn add(&mut self, mut body: Value) {
        let id = format!("{:08x}", self.ids.len() + 1);
        body["id"] = json!(id);
        body["parentId"] = json!(self.branch.last());
        body["timestamp"] = json!(NOW);
        let _ = writeln!(self.text, "{body}");
        self.ids.push(id.clone());
        self.branch.push(id);
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "records are made where they are added"
    )]
    fn message(&mut self, message: Value) {
        self.add(json!({"type": "message", "message": message}));
    }

    fn step(&mut self, step: &Step) {
        let number = self.ids.len();
        match step {
            Step::Turn {
                words,
                answer,
                tools,
                counted,
            } => {
                let words = "w".repeat(*words);
                self.message(json!({"role": "user", "content": format!("{number} {words}"), "timestamp": 1}));
                for (at, (is_page, length)) in tools.iter().enumerate() {
                    let id = format!("call-{number}-{at}");
                    let name = if *is_page { "web_fetch" } else { "read" };
                    let call = json!({"type": "toolCall", "id": id, "name": name, "arguments": {"path": "x"}});
                    self.message(json!({"role": "assistant", "content": [call], "stopReason": "toolUse", "timestamp": 2}));
                    let said = json!([{"type": "text", "text": "r".repeat(*length)}]);
                    self.message(json!({"role": "toolResult", "toolCallId": id, "toolName": name, "content": said, "isError": false, "timestamp": 3}));
                }
                let text = "a".repeat(*answer);
                let mut answer = json!({"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop", "timestamp": 4});
                if *counted {
                    answer["usage"] = json!({"input": 700, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 710});
                }
                self.message(answer);
            }
            Step::Compaction { keeps } => {
                let Some(kept) = self.branch.iter().rev().nth(*keeps) else {
                    return;
                };
                let kept = kept.clone();
                self.add(json!({"type": "compaction", "summary": format!("All before {kept}."), "firstKeptEntryId": kept, "tokensBefore": 9}));
            }
            Step::Back(records) => {
                let left = self.branch.len().saturating_sub(*records).max(1);
                self.branch.truncate(left);
            }
            Step::Marker => self.add(json!({"type": "custom", "customType": "openclaw:bootstrap-context:full", "data": {}})),
            Step::Model(model) => self.add(json!({"type": "model_change", "provider": "p", "modelId": format!("m{model}")})),
            Step::Damage => self.text.push_str("{\"type\":\"mess\n"),
        }
    }
}

/// Puts a transcript into a store.
#[expect(
    clippy::disallowed_methods,
    reason = "a transcript of any kind is laid out by hand"
)]
fn store(steps: &[Step], directory: &std::path::Path) -> FileStore {
    let mut writer = Writer::default();
    for step in steps {
        writer.step(step);
    }
    let header = json!({"type": "session", "version": 3, "id": "s", "timestamp": NOW, "cwd": "/w"});
    std::fs::write(
        directory.join("s.jsonl"),
        format!("{header}\n{}", writer.text),
    )
    .unwrap();
    let index = json!({KEY: {"sessionId": "s", "updatedAt": 1}});
    std::fs::write(directory.join("sessions.json"), index.to_string()).unwrap();
    FileStore::new(directory, &CANONICAL.runtime.transcript, RandomIds)
}

fn last_model(entries: &[TranscriptEntry]) -> Option<&EntryBody> {
    let bodies = entries.iter().rev().map(|entry| &entry.body);
    bodies
        .into_iter()
        .find(|body| matches!(body, EntryBody::ModelChange { .. }))
}

const CONTRACTS: [&Contract; 3] = [&CANONICAL, &OPENCLAW_2026_4, &OPENCLAW_2026_9];

fn entries_of(branch: &Branch) -> Vec<TranscriptEntry> {
    branch
        .older
        .iter()
        .chain(&branch.entries)
        .cloned()
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_session_read_from_its_end_gives_what_the_whole_of_it_gives(
        steps in steps(),
        turns in prop::option::of(1..4_usize),
        prunes in any::<bool>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let store = store(&steps, directory.path());
        let whole = store.read(KEY).unwrap();
        prop_assert_eq!(read_marker(&store, KEY).unwrap(), is_marked(&whole.entries));
        for contract in CONTRACTS {
            let rules = &contract.runtime.history;
            let mut options = HistoryOptions::new(contract);
            options.turns = turns;
            let mode = json!({"mode": "cache-ttl"});
            options.pruning = Pruning::from_config(&mode, &rules.pruning).filter(|_| prunes);
            let inputs = HistoryInputs {
                rules,
                transcript: &contract.runtime.transcript,
                options: &options,
                provider: "p",
                api: None,
                window: Some(WINDOW),
                now_ms: 5,
            };
            let part = read_history(&store, KEY, &inputs).unwrap();
            let held = entries_of(&part);
            let let_go = part.entries.len() < whole.entries.len();
            prop_assert!(whole.entries.ends_with(&part.entries));

            // What is known of what was let go.
            let mut origins = origins_of(&held);
            let mut expected = origins_of(&whole.entries);
            origins.sort_by_key(ToString::to_string);
            expected.sort_by_key(ToString::to_string);
            prop_assert_eq!(&origins, &expected);
            let mut all = read_origins(&store, KEY).unwrap();
            all.sort_by_key(ToString::to_string);
            prop_assert_eq!(&all, &expected);
            prop_assert_eq!(is_marked(&held), is_marked(&whole.entries));
            prop_assert_eq!(last_model(&held), last_model(&whole.entries));

            // What is sent.
            let assembling = |older_users| Assembling {
                window: WINDOW,
                turns,
                older_users,
                prune: options.pruning.as_ref(),
                ..Assembling::default()
            };
            let of_part = messages_for_model(&held, &assembling(part.counted), rules);
            let of_whole = messages_for_model(&whole.entries, &assembling(0), rules);
            let tokens = estimate_all(&of_whole.messages, &rules.estimate);
            if !let_go || tokens <= 2 * WINDOW {
                prop_assert_eq!(&of_part.messages, &of_whole.messages);
            } else {
                // It fits no more than the whole would have.
                prop_assert!(estimate_all(&of_part.messages, &rules.estimate) > 2 * WINDOW);
            }

            // Where it is cut, and what stays.
            let compacting = Compacting { keep_recent_tokens: WINDOW / 2, ..Compacting::default() };
            let of_part = prepare(&held, &compacting, rules);
            let of_whole = prepare(&whole.entries, &compacting, rules);
            prop_assert_eq!(of_part.is_some(), of_whole.is_some());
            if let (Some(of_part), Some(of_whole)) = (of_part, of_whole) {
                prop_assert_eq!(of_part.first_kept_id, of_whole.first_kept_id);
                prop_assert_eq!(of_part.is_split_turn, of_whole.is_split_turn);
                prop_assert_eq!(of_part.previous_summary, of_whole.previous_summary);
                let ids = |entries: &[TranscriptEntry], at: &[usize]| -> Vec<String> {
                    at.iter().map(|at| entries[*at].id.clone()).collect()
                };
                let (part, all) = (
                    ids(&held, &of_part.to_summarize),
                    ids(&whole.entries, &of_whole.to_summarize),
                );
                prop_assert!(all.ends_with(&part));
                prop_assert!(let_go || all == part);
                prop_assert_eq!(
                    ids(&held, &of_part.turn_prefix),
                    ids(&whole.entries, &of_whole.turn_prefix)
                );
            }
        }
    }
}

#[test]
fn of_a_long_session_little_is_held() {
    let directory = tempfile::tempdir().unwrap();
    let turn = Step::Turn {
        words: 400,
        answer: 500,
        tools: vec![(true, 300)],
        counted: true,
    };
    let store = store(&vec![turn; 2_000], directory.path());
    let options = HistoryOptions::new(&CANONICAL);
    let inputs = HistoryInputs {
        rules: &CANONICAL.runtime.history,
        transcript: &CANONICAL.runtime.transcript,
        options: &options,
        provider: "p",
        api: None,
        window: Some(WINDOW),
        now_ms: 5,
    };
    let part = read_history(&store, KEY, &inputs).unwrap();
    assert!(part.has_older);
    assert!(part.entries.len() < 100, "{}", part.entries.len());
    assert_eq!(store.read(KEY).unwrap().entries.len(), 8_000);
    assert_eq!(origins_of(&entries_of(&part)).len(), 1);
}
