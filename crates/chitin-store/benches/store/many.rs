//! What thousands of sessions cost: each call with 2,000 sessions in the index, against the least that it could cost.

use crate::{BEGIN, Measured, Store, ratio, say, time};
use chitin_store::{LockMode, OpenSession, SessionStore};
use divan::{Bencher, black_box};
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

/// How many sessions there are.
pub(crate) const MANY: usize = 2_000;
/// How many of them change at once.
pub(crate) const AT_ONCE: usize = 64;

fn key(number: usize) -> String {
    format!("agent:main:explicit:{number}")
}

/// A store with so many sessions, each with one header and the fields of a session that was used.
pub(crate) fn sessions(count: usize) -> Store {
    let store = Store::new();
    let directory = store.store.directory().to_path_buf();
    let mut index = Map::new();
    for number in 0..count {
        let id = format!("00000000-0000-4000-8000-{number:012}");
        let path = directory.join(format!("{id}.jsonl"));
        let header = json!({"type": "session", "version": 3, "id": id, "timestamp": BEGIN.now, "cwd": BEGIN.workspace});
        fs::write(&path, format!("{header}\n")).unwrap();
        let entry = json!({
            "sessionId": id, "updatedAt": BEGIN.now_ms, "sessionFile": path, "modelProvider": "anthropic",
            "model": "claude-sonnet-4-5", "contextTokens": 200_000, "inputTokens": 900, "outputTokens": 80,
            "totalTokens": 12_980, "totalTokensFresh": true, "cacheRead": 12_000, "cacheWrite": 0,
            "estimatedCostUsd": 0.0075, "abortedLastRun": false, "agentHarnessId": "builtin",
        });
        index.insert(key(number), entry);
    }
    let bytes = serde_json::to_vec_pretty(&Value::Object(index)).unwrap();
    fs::write(directory.join("sessions.json"), bytes).unwrap();
    // The first looks read the index, until the clock has ticked; they count for nobody.
    for _ in 0..2 {
        store.store.find(&key(0)).unwrap().unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    store
}

pub(crate) fn open(store: &Store, key: &str) -> Box<dyn OpenSession> {
    store.store.open(key, &BEGIN, LockMode::Refuse).unwrap()
}

/// Changes a field to a value that it never had.
fn update(session: &mut dyn OpenSession) {
    static NEXT: AtomicU64 = AtomicU64::new(1_000_000);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    session
        .update(&mut |entry| entry.input_tokens = Some(next))
        .unwrap();
}

/// Replaces files as the store must: write, `fdatasync`, rename, `fsync` of the directory.
struct Raw {
    directory: PathBuf,
    index: Vec<u8>,
    number: usize,
}

impl Raw {
    fn new(store: &Store) -> Self {
        let index = fs::read(store.store.directory().join("sessions.json")).unwrap();
        let directory = store.store.directory().with_file_name("raw");
        fs::create_dir_all(&directory).unwrap();
        Self {
            directory,
            index,
            number: 0,
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(self.directory.join(name))
            .unwrap();
        file.write_all(bytes).unwrap();
        file.sync_data().unwrap();
    }

    fn replace(&self) {
        self.write("next", &self.index);
        fs::rename(self.directory.join("next"), self.directory.join("index")).unwrap();
        File::open(&self.directory).unwrap().sync_all().unwrap();
    }

    /// A transcript, a line in the list of keys, and the index.
    fn begin(&mut self) {
        self.number += 1;
        self.write(&format!("{}.jsonl", self.number), &[b'x'; 150]);
        self.write("keys", &[b'x'; 100]);
        self.replace();
    }
}

#[divan::bench]
fn floor_stat(bencher: Bencher<'_, '_>) {
    let store = sessions(MANY);
    let path = store.store.directory().join("sessions.json");
    bencher.bench_local(|| fs::symlink_metadata(&path).unwrap());
}

#[divan::bench]
fn find_one_of_many(bencher: Bencher<'_, '_>) {
    let store = sessions(MANY);
    let key = key(MANY / 2);
    bencher.bench_local(|| store.store.find(&key).unwrap().unwrap());
}

#[divan::bench(args = [1, MANY])]
fn open_an_existing_one(bencher: Bencher<'_, '_>, count: usize) {
    let store = sessions(count);
    let key = key(count / 2);
    bencher.bench_local(|| drop(black_box(open(&store, &key))));
}

#[divan::bench]
fn open_a_new_one(bencher: Bencher<'_, '_>) {
    let store = sessions(MANY);
    let mut number = MANY;
    bencher.bench_local(|| {
        number += 1;
        drop(black_box(open(&store, &key(number))));
    });
}

#[divan::bench]
fn append_to_one_of_many(bencher: Bencher<'_, '_>) {
    let store = sessions(MANY);
    let mut session = open(&store, &key(7));
    bencher
        .with_inputs(|| say(200))
        .bench_local_values(|entries| session.append(entries, BEGIN.now).unwrap());
}

#[divan::bench]
fn floor_replace_the_index(bencher: Bencher<'_, '_>) {
    let store = sessions(MANY);
    let raw = Raw::new(&store);
    bencher.bench_local(|| raw.replace());
}

#[divan::bench]
fn update_one_of_many(bencher: Bencher<'_, '_>) {
    let store = sessions(MANY);
    let mut session = open(&store, &key(7));
    bencher.bench_local(|| update(&mut *session));
}

#[divan::bench(sample_count = 20)]
fn update_64_at_once(bencher: Bencher<'_, '_>) {
    let store = sessions(MANY);
    let acting = AtomicUsize::new(AT_ONCE);
    updating(&store, &acting, |round| bencher.bench_local(round));
}

#[divan::bench(sample_count = 20)]
fn begin_64_at_once(bencher: Bencher<'_, '_>) {
    let store = sessions(MANY);
    beginning(&store, |round| bencher.bench_local(round));
}

/// Has so many threads wait, and hands out a function that lets all of them do something at once.
fn at_once<R>(act: impl Fn(usize) + Sync, measure: impl FnOnce(&mut dyn FnMut()) -> R) -> R {
    let gate = Barrier::new(AT_ONCE + 1);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for number in 0..AT_ONCE {
            let (gate, is_over, act) = (&gate, &is_over, &act);
            scope.spawn(move || {
                loop {
                    gate.wait();
                    if is_over.load(Ordering::Acquire) {
                        return;
                    }
                    act(number);
                    gate.wait();
                }
            });
        }
        let measured = measure(&mut || {
            gate.wait();
            gate.wait();
        });
        is_over.store(true, Ordering::Release);
        gate.wait();
        measured
    })
}

/// Has so many sessions open, each in a thread of its own, and hands out a function that changes the first few at once.
fn updating<R>(
    store: &Store,
    acting: &AtomicUsize,
    measure: impl FnOnce(&mut dyn FnMut()) -> R,
) -> R {
    let sessions: Vec<Mutex<_>> = (0..AT_ONCE)
        .map(|number| Mutex::new(open(store, &key(100 + number))))
        .collect();
    at_once(
        |number| {
            if number < acting.load(Ordering::Acquire) {
                update(&mut **sessions[number].lock().unwrap());
            }
        },
        measure,
    )
}

/// Begins so many sessions at once.
fn beginning<R>(store: &Store, measure: impl FnOnce(&mut dyn FnMut()) -> R) -> R {
    let next = AtomicUsize::new(MANY);
    at_once(
        |_| drop(open(store, &key(next.fetch_add(1, Ordering::Relaxed)))),
        measure,
    )
}

/// Finding a session, against one `stat` of the index.
pub(crate) fn find_ratio() -> Measured {
    let store = sessions(MANY);
    let path = store.store.directory().join("sessions.json");
    let key = key(MANY / 2);
    ratio(2_000, || {
        let floor = time(|| {
            black_box(fs::symlink_metadata(&path).unwrap());
        });
        let subject = time(|| {
            black_box(store.store.find(&key).unwrap().unwrap());
        });
        (floor, subject)
    })
}

/// Opening a session among many, against opening the only one.
pub(crate) fn open_ratio() -> Measured {
    let (many, one) = (sessions(MANY), sessions(1));
    let (first, middle) = (key(0), key(MANY / 2));
    ratio(500, || {
        let floor = time(|| drop(black_box(open(&one, &first))));
        let subject = time(|| drop(black_box(open(&many, &middle))));
        (floor, subject)
    })
}

/// Beginning a session among many, against writing the same files by hand.
pub(crate) fn begin_ratio() -> Measured {
    let store = sessions(MANY);
    let mut raw = Raw::new(&store);
    let mut number = MANY;
    ratio(100, || {
        number += 1;
        let floor = time(|| raw.begin());
        let subject = time(|| drop(black_box(open(&store, &key(number)))));
        (floor, subject)
    })
}

/// Changing a session among many, against replacing the index by hand.
pub(crate) fn update_ratio() -> Measured {
    let store = sessions(MANY);
    let raw = Raw::new(&store);
    let mut session = open(&store, &key(7));
    ratio(200, || {
        let floor = time(|| raw.replace());
        let subject = time(|| update(&mut *session));
        (floor, subject)
    })
}

/// Changing so many sessions at once, against changing one while the other threads do nothing.
pub(crate) fn update_at_once_ratio() -> Measured {
    let store = sessions(MANY);
    let acting = AtomicUsize::new(0);
    updating(&store, &acting, |round| {
        ratio(60, || {
            let [floor, subject] = [1, AT_ONCE].map(|count| {
                acting.store(count, Ordering::Release);
                time(&mut *round)
            });
            (floor, subject)
        })
    })
}

/// Beginning so many sessions at once, against beginning one.
pub(crate) fn begin_at_once_ratio() -> Measured {
    let store = sessions(MANY);
    let mut number = 10 * MANY;
    beginning(&store, |round| {
        ratio(20, || {
            number += 1;
            let floor = time(|| drop(black_box(open(&store, &key(number)))));
            let subject = time(&mut *round);
            (floor, subject)
        })
    })
}
