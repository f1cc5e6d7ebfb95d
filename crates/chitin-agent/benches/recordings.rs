//! What recordings cost: their length against what was said, and the time to write and read them against recordings whose events are
//! written out, as earlier versions did.
//!
//! `cargo bench -p chitin-agent --bench recordings` prints the figures of docs/performance.md and fails when one is over.
#![expect(
    clippy::disallowed_methods,
    reason = "files are looked at as they lie on the disk"
)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench stops at the first surprise and prints"
)]

use chitin_agent::journal::{
    self, Journal, JournalEnvironment, JournalRedactor, LookupDirectories, RecordedTurns,
    RequestSent, RunEnded, RunStarted, RunSurroundings, Switches, TurnMoment, trajectory_path,
};
use chitin_contract::TraceRules;
use chitin_model::{Api, Prepared};
use chitin_protocol::message::{Message, StopReason};
use chitin_protocol::settings::TraceSettings;
use chitin_protocol::tool::ToolSpec;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A recording against what was said in it.
const LENGTH_BUDGET: f64 = 2.0;
/// Reading one turn, and all, against a recording whose events are written out.
const READ_BUDGET: f64 = 1.0;
const TURNS: usize = 200;
const ROUNDS: usize = 11;
const SESSION: &str = "5f0c7a52-1111-4222-8333-444455556666";
const NOON: i64 = 1_700_000_000_000;

struct Stage {
    directory: tempfile::TempDir,
    switches: Switches,
    rules: TraceRules,
}

impl Stage {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let rules = TraceRules::CANONICAL;
        let places = LookupDirectories {
            logs: directory.path().join("logs"),
            home: None,
            working_directory: directory.path().to_owned(),
        };
        let settings = TraceSettings::default();
        let switches = Switches::from_lookup(|_| None, &settings, &Value::Null, &places, &rules);
        Self {
            directory,
            switches,
            rules,
        }
    }

    fn path(&self) -> PathBuf {
        let switch = self.switches.trajectory.as_ref().unwrap();
        trajectory_path(switch, &self.rules, SESSION, None)
    }

    fn journal(&self) -> Journal {
        let around = JournalEnvironment {
            rules: self.rules,
            redactor: JournalRedactor::default(),
            clock: Arc::new(|| NOON),
            note: Arc::new(|note| println!("{note}")),
            summary: Arc::new(|_| {}),
        };
        Journal::new(&self.switches, around)
    }

    /// Records a session, a journal for each turn as there is in a program. Returns how long what was said is.
    fn record(&self) -> usize {
        let tools: Vec<ToolSpec> = (0..18)
            .map(|number| ToolSpec {
                name: format!("tool_{number}"),
                description: words(5_000 + number, 40),
                parameters: json!({"type": "object", "properties": {"path": {"type": "string", "description": words(6_000 + number, 10)}}}),
            })
            .collect();
        let system: String = (0..120).fold(String::new(), |mut text, line| {
            let _ = writeln!(text, "{}", words(7_000 + line, 18));
            text
        });
        let mut history: Vec<Message> = Vec::new();
        let mut said = 0;
        for turn in 0..TURNS {
            let run_id = format!("run-{turn}");
            let prompt = words(2 * turn, 60);
            let mut journal = self.journal();
            journal.observe(TurnMoment::RunStarted(&RunStarted {
                run_id: &run_id,
                session_id: SESSION,
                session_key: "agent:main:main",
                agent_id: "main",
                workspace: self.directory.path(),
                session_file: None,
                provider: "mock",
                model: "mock-1",
                api: Api::AnthropicMessages,
                thinking: None,
                tools: &tools,
                trigger: "user",
                channel: None,
                contract: "canonical",
                surroundings: &RunSurroundings::default(),
            }));
            let before_prompt = history.len();
            history.push(Message::user(&prompt, NOON));
            let body =
                json!({"model": "mock-1", "system": system, "tools": tools, "messages": history});
            let body = body.to_string();
            journal.observe(TurnMoment::RequestSent(&RequestSent {
                call: 1,
                provider: "mock",
                model: "mock-1",
                prepared: &Prepared {
                    api: Api::AnthropicMessages,
                    method: "POST",
                    url: "http://127.0.0.1:9/".to_owned(),
                    headers: Vec::new(),
                    secret_headers: Vec::new(),
                    digest: "0".repeat(64),
                    body: body.into(),
                    tee: None,
                    gone_out: None,
                    rules: chitin_contract::ProviderRules::CANONICAL,
                },
                system: &system,
                messages: &history,
                before_prompt,
                tools: &tools,
                prompt: &prompt,
                images: 0,
                max_tokens: 1_000,
                leaf: None,
                sent_at: NOON,
            }));
            let answer = json!({
                "role": "assistant", "stopReason": "stop", "timestamp": NOON + i64::try_from(turn).unwrap(),
                "content": [{"type": "text", "text": words(2 * turn + 1, 100)}],
                "usage": {"input": 9 * turn, "output": 100 + turn, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 10 * turn},
            });
            let message: Message = serde_json::from_value(answer).unwrap();
            if let Message::Assistant(message) = &message {
                journal.observe(TurnMoment::Answered { call: 1, message });
            }
            history.push(message);
            journal.observe(TurnMoment::RunEnded(&RunEnded {
                stop_reason: Some(&StopReason::Stop),
                stopped: None,
                error: None,
                prompt: &prompt,
                messages: &history,
                spending: None,
            }));
            said += json!(history[before_prompt..]).to_string().len();
        }
        said
    }
}

/// Words that nobody said before: they are as hard to compress as words are.
fn words(seed: usize, count: usize) -> String {
    let word = |at: usize| {
        let mut number = (seed + 1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(at.wrapping_mul(0xbf58_476d_1ce4_e5b9));
        number ^= number >> 29;
        let letters = "etaoinshrdlucmfwypvbgkjqxz".as_bytes();
        let length = 3 + number % 6;
        let letter = |at: usize| char::from(letters[(number >> (at * 5)) % 26]);
        (0..length).map(letter).collect::<String>()
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// Measures two things in turns; returns the middle of each.
fn middle(mut one: impl FnMut(), mut other: impl FnMut()) -> (Duration, Duration) {
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        one();
        times.0.push(begun.elapsed());
        let begun = Instant::now();
        other();
        times.1.push(begun.elapsed());
    }
    times.0.sort();
    times.1.sort();
    (times.0[ROUNDS / 2], times.1[ROUNDS / 2])
}

fn read_all(path: &Path) {
    let file = journal::read(path).unwrap();
    assert_eq!(
        file.runs()
            .map(|turn| turn.run().events.len())
            .sum::<usize>(),
        8 * TURNS
    );
}

/// A way to read a recording, and its name.
type Reading<'a> = (&'a str, &'a dyn Fn(&Path));

fn read_last(path: &Path) {
    let turns = RecordedTurns::read(path).unwrap();
    black_box(turns.turn(turns.len() - 1).unwrap());
}

fn main() -> ExitCode {
    let (stage, written_out) = (Stage::new(), Stage::new());
    let begun = Instant::now();
    let said = stage.record();
    let time = begun.elapsed();
    let path = written_out.path();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // Whoever does not own a recording writes its events out.
    let holder = File::create(&path).unwrap();
    rustix::fs::flock(&holder, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let begun = Instant::now();
    written_out.record();
    let time_out = begun.elapsed();
    let length = |stage: &Stage| fs::metadata(stage.path()).unwrap().len() as f64;
    let (length, length_out) = (length(&stage), length(&written_out));
    println!("said in {TURNS} turns: {said} bytes");
    println!("recorded: {length} bytes, written out {length_out} bytes");
    println!(
        "recording a turn: {:?}, written out {:?}",
        time / 200,
        time_out / 200
    );
    let ratio = length / said as f64;
    println!("recording against what was said: {ratio:.2} of {LENGTH_BUDGET}");
    let mut is_over = ratio > LENGTH_BUDGET;
    let (path, path_out) = (stage.path(), written_out.path());
    let sum = |path: &Path| {
        black_box(journal::summarize(path).unwrap());
    };
    let readings: [Reading<'_>; 3] = [
        ("the last turn", &read_last),
        ("all turns", &read_all),
        ("a summary", &sum),
    ];
    for (what, read) in readings {
        let (time, time_out) = middle(|| read(&path), || read(&path_out));
        let ratio = time.as_secs_f64() / time_out.as_secs_f64();
        println!("reading {what}: {time:?} against {time_out:?}: {ratio:.2} of {READ_BUDGET}");
        is_over |= ratio > READ_BUDGET;
    }
    ExitCode::from(u8::from(is_over))
}
