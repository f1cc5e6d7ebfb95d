//! What a one-shot run costs: from the start of the process to the first byte of the model request, against a program that
//! does nothing, in the same run; and the most memory that the run takes.
//!
//! `cargo static && cargo bench -p chitin --bench first_byte` measures the static release, prints the figures of
//! docs/performance.md and fails when one is over its budget.
#![expect(
    clippy::disallowed_methods,
    reason = "a bench makes its own program to compare with"
)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise and prints"
)]

mod floor;

use floor::{median, nothing, released, time};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 200;

/// The first byte of the request against nothing at all.
const FIRST_BYTE_BUDGET: f64 = 7.0;
/// The most memory that a run takes, in KiB.
const MEMORY_BUDGET: u64 = 12 * 1024;

/// An answer in the format of Anthropic.
const ANSWER: &str = concat!(
    "event: message_start\n",
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",",
    "\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
    "event: content_block_start\n",
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: content_block_delta\n",
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n",
    "event: content_block_stop\n",
    "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
    "event: message_delta\n",
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n",
    "event: message_stop\n",
    "data: {\"type\":\"message_stop\"}\n\n",
);

fn main() -> ExitCode {
    let directory = tempfile::tempdir().unwrap();
    let nothing = nothing(directory.path());
    let chitin = released();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let home = directory.path().join("home");
    std::fs::create_dir_all(home.join(".chitin")).unwrap();
    let config = format!(
        "{{ model: 'yard/m', providers: {{ yard: {{ api: 'anthropic-messages', baseUrl: 'http://{}', apiKey: 'k' }} }} }}",
        listener.local_addr().unwrap()
    );
    std::fs::write(home.join(".chitin/chitin.json5"), config).unwrap();
    let workspace = directory.path().join("workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    for name in [
        "AGENTS",
        "SOUL",
        "TOOLS",
        "IDENTITY",
        "USER",
        "HEARTBEAT",
        "BOOTSTRAP",
        "MEMORY",
    ] {
        let text = format!(
            "# {name}\n\n{}",
            "A line of rules that an agent keeps.\n".repeat(40)
        );
        std::fs::write(workspace.join(format!("{name}.md")), text).unwrap();
    }
    let (mut floor, mut first, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        floor.push(time(&nothing, &[], directory.path()));
        let (took, kib) = run(&chitin, &home, &workspace, &listener);
        first.push(took);
        memory.push(kib);
    }
    let (floor, first) = (median(floor), median(first));
    let ratio = first.as_secs_f64() / floor.as_secs_f64();
    let most = memory.into_iter().max().unwrap();
    println!(
        "first byte of the request / nothing: {first:?} / {floor:?} = {ratio:.2} (budget {FIRST_BYTE_BUDGET})"
    );
    println!("most memory of a run: {most} KiB (budget {MEMORY_BUDGET})");
    if ratio > FIRST_BYTE_BUDGET || most > MEMORY_BUDGET {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Runs one turn in a session of its own; returns the time to the first byte and the most memory.
fn run(chitin: &Path, home: &Path, workspace: &Path, listener: &TcpListener) -> (Duration, u64) {
    let mut command = Command::new(chitin);
    command
        .args(["run", "-m", "hi", "--new"])
        .arg(workspace)
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    let mut byte = [0];
    stream.read_exact(&mut byte).unwrap();
    let took = start.elapsed();
    answer(&mut stream);
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = peak(child.id()).unwrap_or(most);
        std::thread::sleep(Duration::from_micros(50));
    }
    assert!(child.wait().unwrap().success());
    (took, most)
}

/// Reads the rest of the request and answers.
fn answer(stream: &mut TcpStream) {
    let mut request = Vec::new();
    let mut part = [0; 8192];
    loop {
        let read = stream.read(&mut part).unwrap();
        request.extend_from_slice(&part[..read]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            line.to_lowercase()
                .strip_prefix("content-length:")?
                .trim()
                .parse()
                .ok()
        });
        if body.len() >= length.unwrap_or(0) {
            break;
        }
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    let length = ANSWER.len();
    write!(stream, "{head}content-length: {length}\r\n\r\n{ANSWER}").unwrap();
    stream.flush().unwrap();
}

/// Returns the most memory that a process has had so far, in KiB.
fn peak(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
