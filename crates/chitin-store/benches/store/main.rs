//! What a store costs: appends against a raw write and `fdatasync`, opening a large transcript against reading the tail
//! that it needs, and thousands of sessions against the least that each call could cost, measured in the same run.
//!
//! `cargo bench -p chitin-store --bench store` prints divan's table; `-- --budgets` measures each pair in turns, prints the
//! ratios of docs/performance.md and fails when one is over.
#![expect(
    clippy::disallowed_methods,
    reason = "floors are raw calls, and transcripts are written by hand"
)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise and prints"
)]

mod many;

use chitin_contract::TranscriptRules;
use chitin_protocol::message::Message;
use chitin_protocol::transcript::EntryBody;
use chitin_store::{Begin, FileStore, LockMode, NewEntry, OpenSession, RandomIds, SessionStore};
use divan::{Bencher, black_box};
use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const KEY: &str = "agent:main:main";
const BEGIN: Begin<'static> = Begin {
    workspace: "/home/ada/workspace",
    now: "2026-04-01T12:00:00.000Z",
    now_ms: 1_775_044_800_000,
    new_session: false,
};

/// An append against writing the same bytes to the end of a file and `fdatasync`.
const APPEND_BUDGET: f64 = 1.2;
/// Opening a large transcript against reading the tail that it needs, and making JSON values of it.
const OPEN_BUDGET: f64 = 1.5;
/// Opening a large transcript against opening one that holds nothing but that tail.
const LENGTH_BUDGET: f64 = 1.5;

/// How long a large transcript is, and what of it comes after the last compaction's cut.
const LARGE: u64 = 100 << 20;
const TAIL: u64 = 1 << 20;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--budgets") {
        return budgets();
    }
    divan::main();
    ExitCode::SUCCESS
}

struct Store {
    _directory: TempDir,
    store: FileStore,
}

impl Store {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sessions");
        fs::create_dir(&path).unwrap();
        Self {
            store: FileStore::new(path, &TranscriptRules::CANONICAL, RandomIds),
            _directory: directory,
        }
    }

    fn open(&self) -> Box<dyn OpenSession> {
        self.store.open(KEY, &BEGIN, LockMode::Refuse).unwrap()
    }
}

fn say(bytes: usize) -> Vec<NewEntry> {
    let text = "A line of an answer, with a \"word\" in it.\n";
    vec![NewEntry {
        body: EntryBody::Message(Message::user(text.repeat(bytes / text.len()), BEGIN.now_ms)),
    }]
}

/// A transcript of a working agent: questions, calls, results, answers. `before` bytes come before what the last compaction
/// kept, `kept` bytes after.
fn transcript(path: &Path, before: u64, kept: u64) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let mut written = 0;
    let mut put = |record: &Value| {
        let line = format!("{record}\n");
        file.write_all(line.as_bytes()).unwrap();
        written += line.len() as u64;
        written
    };
    put(&json!({"type": "session", "version": 3, "id": "s1", "timestamp": BEGIN.now, "cwd": "/w"}));
    let mut number = 0;
    let mut parent = Value::Null;
    let mut first_kept = Value::Null;
    let mut compacted = false;
    loop {
        for message in turn(number) {
            let id = format!("{number:08x}");
            let record = json!({"type": "message", "id": id, "parentId": parent, "timestamp": BEGIN.now, "message": message});
            let length = put(&record);
            parent = json!(id);
            number += 1;
            if first_kept.is_null() && length > before {
                first_kept.clone_from(&parent);
            }
            if !compacted && length > before + kept / 2 {
                compacted = true;
                put(
                    &json!({"type": "compaction", "id": "compact", "parentId": parent, "timestamp": BEGIN.now,
                    "summary": "So far.", "firstKeptEntryId": first_kept, "tokensBefore": 1}),
                );
                parent = json!("compact");
            }
            if length > before + kept {
                file.flush().unwrap();
                return;
            }
        }
    }
}

fn turn(number: u32) -> [Value; 4] {
    let usage = json!({"input": 900, "output": 80, "cacheRead": 12000, "cacheWrite": 0, "totalTokens": 12980,
        "cost": {"input": 0.0027, "output": 0.0012, "cacheRead": 0.0036, "cacheWrite": 0, "total": 0.0075}});
    let answer = |content: Value, stop: &str| {
        json!({"role": "assistant", "content": content, "api": "anthropic-messages", "provider": "mock",
            "model": "mock-1", "usage": usage, "stopReason": stop, "timestamp": BEGIN.now_ms, "responseId": "msg_1"})
    };
    let call = format!("toolu_{number}");
    let text = "fn main() {\n    println!(\"a line of a file\");\n}\n".repeat(40);
    [
        json!({"role": "user", "content": [{"type": "text", "text": "What does this file do?"}], "timestamp": BEGIN.now_ms}),
        answer(
            json!([{"type": "text", "text": "Let me read it."},
                {"type": "toolCall", "id": call, "name": "read", "arguments": {"path": "src/main.rs", "limit": 40}}]),
            "toolUse",
        ),
        json!({"role": "toolResult", "toolCallId": call, "toolName": "read", "content": [{"type": "text", "text": text}],
            "isError": false, "timestamp": BEGIN.now_ms}),
        answer(
            json!([{"type": "text", "text": "It prints a line.\n".repeat(20)}]),
            "stop",
        ),
    ]
}

/// A store with one session whose transcript is so long. Returns also where the transcript is.
fn filled(before: u64) -> (Store, PathBuf) {
    let store = Store::new();
    let directory = store.store.directory().to_path_buf();
    let path = directory.join("s1.jsonl");
    transcript(&path, before, TAIL);
    let index = json!({KEY: {"sessionId": "s1", "updatedAt": 1}});
    fs::write(directory.join("sessions.json"), index.to_string()).unwrap();
    (store, path)
}

fn open(store: &Store) -> usize {
    black_box(store.open()).branch().entries.len()
}

/// Reads the end of a file, no more.
fn read_tail(path: &Path) -> Vec<u8> {
    let file = File::open(path).unwrap();
    let length = file.metadata().unwrap().len();
    let take = TAIL.min(length);
    let mut tail = vec![0; usize::try_from(take).unwrap()];
    file.read_exact_at(&mut tail, length - take).unwrap();
    black_box(tail)
}

/// Reads the end of a file and makes JSON values of its lines.
fn read_values(path: &Path) -> usize {
    let tail = read_tail(path);
    let values: Vec<Value> = tail
        .split(|byte| *byte == b'\n')
        .skip(1)
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    black_box(values).len()
}

/// A file that raw writes go to, and the bytes of one append.
struct Raw {
    file: File,
    line: Vec<u8>,
}

impl Raw {
    fn new(store: &Store, bytes: usize) -> Self {
        let mut session = store.open();
        session.append(say(bytes), BEGIN.now).unwrap();
        let content = fs::read(session.transcript()).unwrap();
        let begin = content.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let path = store.store.directory().join("raw");
        let file = OpenOptions::new().create(true).append(true).open(path);
        Self {
            file: file.unwrap(),
            line: content[begin..].to_vec(),
        }
    }

    fn append(&mut self) {
        self.file.write_all(&self.line).unwrap();
        self.file.sync_data().unwrap();
    }
}

#[divan::bench(args = [200, 20_000])]
fn floor_write_and_sync(bencher: Bencher<'_, '_>, bytes: usize) {
    let store = Store::new();
    let mut raw = Raw::new(&store, bytes);
    bencher.bench_local(move || raw.append());
}

#[divan::bench(args = [200, 20_000])]
fn append(bencher: Bencher<'_, '_>, bytes: usize) {
    let store = Store::new();
    let mut session = store.open();
    bencher
        .with_inputs(|| say(bytes))
        .bench_local_values(|entries| session.append(entries, BEGIN.now).unwrap());
}

#[divan::bench]
fn floor_read_of_the_tail(bencher: Bencher<'_, '_>) {
    let (_store, path) = filled(LARGE);
    bencher.bench_local(|| read_tail(&path));
}

#[divan::bench]
fn floor_values_of_the_tail(bencher: Bencher<'_, '_>) {
    let (_store, path) = filled(LARGE);
    bencher.bench_local(|| read_values(&path));
}

#[divan::bench(args = [0, LARGE])]
fn open_a_transcript(bencher: Bencher<'_, '_>, before: u64) {
    let (store, _) = filled(before);
    bencher.bench_local(|| open(&store));
}

#[divan::bench(args = [0, LARGE])]
fn fork_a_transcript(bencher: Bencher<'_, '_>, before: u64) {
    let (store, _) = filled(before);
    let mut number = 0;
    bencher.bench_local(|| {
        number += 1;
        let key = format!("agent:main:subagent:{number}");
        store.store.fork(KEY, &key, &BEGIN).unwrap()
    });
}

/// Collects durations of floor and subject in turns, so that noise hits both alike, and compares the medians.
fn ratio(rounds: usize, mut pair: impl FnMut() -> (Duration, Duration)) -> Measured {
    let (mut floors, mut subjects): (Vec<_>, Vec<_>) = (0..rounds).map(|_| pair()).unzip();
    floors.sort();
    subjects.sort();
    let (floor, subject) = (floors[rounds / 2], subjects[rounds / 2]);
    let ratio = subject.as_secs_f64() / floor.as_secs_f64();
    (subject, floor, ratio)
}

/// Subject, floor and their ratio.
type Measured = (Duration, Duration, f64);

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn append_ratio(bytes: usize) -> Measured {
    let store = Store::new();
    let mut raw = Raw::new(&store, bytes);
    let mut session = store.open();
    ratio(400, || {
        let entries = say(bytes);
        let floor = time(|| raw.append());
        let subject = time(|| {
            black_box(session.append(entries, BEGIN.now).unwrap());
        });
        (floor, subject)
    })
}

/// Opening a large transcript: against bytes of its tail, values of its tail, and a transcript that is only the tail.
fn open_ratios() -> [Measured; 3] {
    let (large, path) = filled(LARGE);
    let (small, _) = filled(0);
    assert!(open(&large).abs_diff(read_values(&path)) < 8);
    let opened = |store: &Store| {
        time(|| {
            black_box(open(store));
        })
    };
    let bytes = ratio(100, || {
        let floor = time(|| {
            read_tail(&path);
        });
        (floor, opened(&large))
    });
    let values = ratio(100, || {
        let floor = time(|| {
            read_values(&path);
        });
        (floor, opened(&large))
    });
    let length = ratio(100, || (opened(&small), opened(&large)));
    [bytes, values, length]
}

/// Finding a session among 2,000, against one `stat`.
const FIND_BUDGET: f64 = 5.0;
/// Opening a session among 2,000, against opening the only one.
const MANY_BUDGET: f64 = 1.5;
/// Beginning or changing a session among 2,000, against writing the same files by hand.
const REPLACE_BUDGET: f64 = 1.5;
/// Changing 64 sessions at once, against changing one.
const AT_ONCE_BUDGET: f64 = 3.0;
/// Beginning 64 sessions at once, each with a file of its own, against beginning one.
const BEGIN_AT_ONCE_BUDGET: f64 = 12.0;

fn budgets() -> ExitCode {
    let [bytes, values, length] = open_ratios();
    let rows = [
        (
            "append of 200 bytes / raw write and fdatasync",
            Some(APPEND_BUDGET),
            append_ratio(200),
        ),
        (
            "append of 20 KB / raw write and fdatasync",
            Some(APPEND_BUDGET),
            append_ratio(20_000),
        ),
        (
            "open 100 MB / read and parse the 1 MB that it needs",
            Some(OPEN_BUDGET),
            values,
        ),
        (
            "open 100 MB / open a transcript of that 1 MB",
            Some(LENGTH_BUDGET),
            length,
        ),
        ("open 100 MB / read the bytes of that 1 MB", None, bytes),
        (
            "find one of 2,000 / stat of the index",
            Some(FIND_BUDGET),
            many::find_ratio(),
        ),
        (
            "open one of 2,000 / open the only one",
            Some(MANY_BUDGET),
            many::open_ratio(),
        ),
        (
            "begin one among 2,000 / write the same files",
            Some(REPLACE_BUDGET),
            many::begin_ratio(),
        ),
        (
            "update one of 2,000 / replace the same index",
            Some(REPLACE_BUDGET),
            many::update_ratio(),
        ),
        (
            "update 64 of 2,000 at once / update one",
            Some(AT_ONCE_BUDGET),
            many::update_at_once_ratio(),
        ),
        (
            "begin 64 among 2,000 at once / begin one",
            Some(BEGIN_AT_ONCE_BUDGET),
            many::begin_at_once_ratio(),
        ),
    ];
    let mut over = false;
    for (name, budget, (subject, floor, ratio)) in rows {
        let is_over = budget.is_some_and(|budget| ratio > budget);
        over |= is_over;
        let budget = budget.map_or_else(|| "none".to_owned(), |budget| budget.to_string());
        let verdict = if is_over { "OVER" } else { "ok" };
        println!("{name}: {subject:?} / {floor:?} = {ratio:.2} (budget {budget}) {verdict}");
    }
    ExitCode::from(u8::from(over))
}
