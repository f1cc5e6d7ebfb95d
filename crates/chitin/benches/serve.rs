//! What a server costs: from its start to the first answer of its health check, against a program that does nothing, in
//! the same run; its memory at rest; and two thousand sessions that talk at once to a model that answers in 50 ms.
//!
//! `cargo static && cargo bench -p chitin --bench serve` measures the static release, prints the figures of
//! docs/performance.md and fails when one is over its budget, or when a message is lost, doubled or out of order. As a test
//! it is small.
#![expect(
    clippy::disallowed_methods,
    reason = "a bench makes its own program to compare with, and looks at transcripts"
)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise and prints"
)]

mod floor;

use floor::yard::{Server, Yard};
use floor::{median, nothing, time};
use serde_json::Value;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// From the start to the first answer of the health check, against nothing at all.
const HEALTH_BUDGET: f64 = 8.0;
/// Memory of a server at rest, in KiB.
const REST_BUDGET: u64 = 8 * 1024;
/// What the model takes.
const MODEL: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    let is_test = !std::env::args().any(|argument| argument == "--bench");
    let (rounds, sessions, messages) = if is_test { (3, 50, 2) } else { (100, 2_000, 3) };
    let yard = Yard::new(MODEL);
    let health = health(&yard, rounds);
    let (rest, after, peak) = {
        let server = yard.serve();
        // It lets go of what it needed for its start.
        std::thread::sleep(Duration::from_secs(2));
        let rest = server.memory("VmRSS:");
        println!("memory at rest: {rest} KiB (budget {REST_BUDGET})");
        let burst = talk(&yard, &server, sessions, messages, Duration::ZERO);
        burst.print("all at once");
        let spread = talk(&yard, &server, sessions, messages, Duration::from_secs(10));
        spread.print("each within ten seconds of its turn");
        let peak = server.memory("VmHWM:");
        std::thread::sleep(Duration::from_secs(25));
        (rest, server.memory("VmRSS:"), peak)
    };
    println!("most memory with {sessions} sessions at once: {peak} KiB");
    println!(
        "memory at rest after that: {after} KiB, {} bytes for each session that rests",
        after.saturating_sub(rest) * 1024 / (2 * sessions as u64)
    );
    check(&yard, sessions, messages);
    if !is_test && (health > HEALTH_BUDGET || rest > REST_BUDGET) {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Looks at every transcript: each message is there once, in order, with its answer.
fn check(yard: &Yard, sessions: usize, messages: usize) {
    let directory = yard.path().join("home/.chitin/agents/main/sessions");
    let index = std::fs::read(directory.join("sessions.json")).unwrap();
    let index: serde_json::Map<String, Value> = serde_json::from_slice(&index).unwrap();
    let talks = index.iter().filter(|(key, _)| key.contains(":yard-"));
    let mut count = 0;
    for (key, entry) in talks {
        count += 1;
        let file = directory.join(format!("{}.jsonl", entry["sessionId"].as_str().unwrap()));
        let text = std::fs::read_to_string(file).unwrap();
        let said: Vec<String> = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|record| record["type"] == "message")
            .map(|record| {
                let message = &record["message"];
                let text = message["content"][0]["text"].as_str().unwrap_or_default();
                let text = text.rsplit("] ").next().unwrap_or_default();
                format!("{} {text}", message["role"].as_str().unwrap_or_default())
            })
            .collect();
        let expected: Vec<String> = (0..messages)
            .flat_map(|number| {
                [
                    format!("user Message {number}"),
                    "assistant Done.".to_owned(),
                ]
            })
            .collect();
        assert_eq!(said, expected, "{key}");
    }
    assert_eq!(count, 2 * sessions, "sessions with all their messages");
    println!("{count} sessions looked at: no message lost, doubled or out of order");
}

/// Measures the time from the start to the first answer of the health check.
fn health(yard: &Yard, rounds: usize) -> f64 {
    let nothing = nothing(yard.path());
    let home = yard.path().join("home");
    // The token is made once.
    drop(yard.serve());
    let (mut floor, mut first) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        floor.push(time(&nothing, &[], &home));
        let port = 20_000 + (round % 1_000) + (std::process::id() as usize % 20_000);
        first.push(start_to_health(yard, &home, port));
    }
    let (floor, first) = (median(floor), median(first));
    let ratio = first.as_secs_f64() / floor.as_secs_f64();
    println!(
        "start to health check / nothing: {first:?} / {floor:?} = {ratio:.2} (budget {HEALTH_BUDGET})"
    );
    ratio
}

fn start_to_health(yard: &Yard, home: &Path, port: usize) -> Duration {
    let address = format!("127.0.0.1:{port}");
    let mut command = Command::new(&yard.program);
    command
        .args(["serve", "--listen", &address])
        .arg(yard.path().join("workspace"))
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let start = Instant::now();
    let mut process = command.spawn().unwrap();
    let mut stream = loop {
        match std::net::TcpStream::connect(&address) {
            Ok(stream) => break stream,
            Err(_) => std::thread::yield_now(),
        }
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "it does not listen"
        );
    };
    write!(
        stream,
        "GET /health HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    let took = start.elapsed();
    assert_eq!(&answer, b"HTTP/1.1 200");
    process.kill().unwrap();
    process.wait().unwrap();
    took
}

/// How long messages took.
struct Took {
    all: Duration,
    added: Vec<Duration>,
}

impl Took {
    fn print(&self, how: &str) {
        let mut added = self.added.clone();
        added.sort();
        let at = |share: usize| added[(added.len() - 1) * share / 100];
        println!(
            "{how}: {} messages in {:.1} s; added to the model's {MODEL:?}: p50 {:.1?}, p99 {:.1?}, most {:.1?}",
            added.len(),
            self.all.as_secs_f64(),
            at(50),
            at(99),
            at(100)
        );
    }
}

/// Lets so many sessions talk at once. Each says its next message when the last one is answered; with a spread, each begins
/// at a time of its own and pauses as long between two messages.
fn talk(yard: &Yard, server: &Server, sessions: usize, messages: usize, spread: Duration) -> Took {
    let _ = yard;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let start = Instant::now();
    let added = runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for session in 0..sessions {
            let of_all = |part: usize| u32::try_from(part).unwrap();
            let pause = spread * of_all(session) / of_all(sessions);
            let name = format!("{}-{session}", spread.as_secs());
            let (address, token) = (server.address.clone(), server.token.clone());
            tasks.spawn(async move {
                tokio::time::sleep(pause).await;
                one(&address, &token, &name, messages, spread).await
            });
        }
        tasks.join_all().await.concat()
    });
    Took {
        all: start.elapsed(),
        added,
    }
}

/// One session: says its messages over one connection and returns what was added to each.
async fn one(
    address: &str,
    token: &str,
    name: &str,
    messages: usize,
    spread: Duration,
) -> Vec<Duration> {
    let mut stream = loop {
        match tokio::net::TcpStream::connect(address).await {
            Ok(stream) => break stream,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    let mut added = Vec::new();
    for number in 0..messages {
        if number > 0 {
            tokio::time::sleep(spread).await;
        }
        let body = format!(
            "{{\"text\":\"Message {number}\",\"wait\":true,\"from\":{{\"channel\":\"web\",\"peer\":{{\"kind\":\"channel\",\"id\":\"yard-{name}\"}}}}}}"
        );
        let request = format!(
            "POST /api/messages HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let start = Instant::now();
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = read(&mut stream).await;
        added.push(start.elapsed().saturating_sub(MODEL));
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains("Done."),
            "{answer}"
        );
    }
    added
}

/// Reads one answer.
async fn read(stream: &mut tokio::net::TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let read = stream.read(&mut part).await.unwrap();
        assert!(read > 0, "cut off: {}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&part[..read]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let mut lines = head.lines();
            let length = lines.find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.unwrap_or("0").trim().parse().unwrap();
            if body.len() >= length {
                return text.into_owned();
            }
        }
    }
}
