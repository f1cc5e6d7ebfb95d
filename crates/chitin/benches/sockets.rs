//! What five hundred pages cost that are open and idle: memory for each, and what a busy session's messages take with all of them listening, against
//! the same without anybody, in the same run. One of them never reads a word, and nobody waits for it.
//!
//! `cargo static && cargo bench -p chitin --bench sockets` measures the static release, prints the figures of docs/performance.md and fails when one is
//! over its budget or when a listener misses an end. As a test it is small.
#![expect(
    clippy::disallowed_methods,
    reason = "a bench makes a home of its own and looks at a process"
)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise and prints"
)]
#![allow(dead_code, reason = "the floor is for other benches too")]

mod floor;

use floor::yard::{Server, Yard};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Memory for each socket that is open and idle, in KiB.
const IDLE_BUDGET: u64 = 32;
/// What a message takes with all of them listening, against nobody.
const BUSY_BUDGET: f64 = 6.0;

fn main() -> ExitCode {
    let is_test = !std::env::args().any(|argument| argument == "--bench");
    let (sockets, messages) = if is_test { (20, 5) } else { (500, 200) };
    let yard = Yard::new(Duration::ZERO);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let alone = {
        let server = yard.serve();
        runtime.block_on(talk(&server, "alone", messages))
    };
    // A server that did nothing yet has no room left over from anything.
    let server = yard.serve();
    let (idle, busy) = runtime.block_on(measure(&server, sockets, messages, &alone));
    if !is_test && (idle > IDLE_BUDGET || busy > BUSY_BUDGET) {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

async fn measure(
    server: &Server,
    sockets: usize,
    messages: usize,
    alone: &[Duration],
) -> (u64, f64) {
    // It lets go of what it needed for its start.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let before = server.memory("VmRSS:");
    let mut open = Vec::new();
    for _ in 0..sockets {
        open.push(listen(server).await);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let after = server.memory("VmRSS:");
    let each = after.saturating_sub(before) / sockets as u64;
    println!(
        "{sockets} idle sockets: {before} KiB before, {after} KiB after, {each} KiB each (budget {IDLE_BUDGET})"
    );

    // One that never reads again, and is kept open.
    let stuck = open.pop().unwrap();
    let ends = Arc::new(AtomicUsize::new(0));
    let listeners = open.len();
    for socket in open {
        tokio::spawn(count_ends(socket, Arc::clone(&ends)));
    }
    let watched = talk(server, "watched", messages).await;
    let started = Instant::now();
    while ends.load(Ordering::Relaxed) < listeners * messages {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "{} of {} ends were heard",
            ends.load(Ordering::Relaxed),
            listeners * messages
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(stuck);
    let ratio = at(&watched, 50).as_secs_f64() / at(alone, 50).as_secs_f64();
    println!(
        "a message: alone p50 {:.2?}, p99 {:.2?}; with {listeners} listeners and one that never reads p50 {:.2?}, p99 {:.2?}: {ratio:.1} times (budget {BUSY_BUDGET})",
        at(alone, 50),
        at(alone, 99),
        at(&watched, 50),
        at(&watched, 99)
    );
    println!(
        "every listener heard every end; most memory {} KiB",
        server.memory("VmHWM:")
    );
    (each, ratio)
}

fn at(times: &[Duration], share: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    times[(times.len() - 1) * share / 100]
}

/// Opens a socket that listens to everything.
async fn listen(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).await.unwrap();
    let head = format!(
        "GET /api/socket HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: chitin\r\n\r\n",
        server.address, server.token
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    until(&mut stream, b"\r\n\r\n").await;
    let words = br#"{"type":"subscribe","all":true}"#;
    // A mask of zeros is a mask.
    let mut frame = vec![0x81, 0x80 | u8::try_from(words.len()).unwrap(), 0, 0, 0, 0];
    frame.extend_from_slice(words);
    stream.write_all(&frame).await.unwrap();
    until(&mut stream, b"subscribed\"}").await;
    stream
}

/// Reads until something was said.
async fn until(stream: &mut TcpStream, what: &[u8]) {
    let mut read = Vec::new();
    let mut part = [0; 1024];
    while !read.windows(what.len()).any(|window| window == what) {
        let count = stream.read(&mut part).await.unwrap();
        assert!(count > 0, "cut off: {}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&part[..count]);
    }
}

/// Reads all that comes, and counts the ends of turns in it.
async fn count_ends(mut stream: TcpStream, ends: Arc<AtomicUsize>) {
    const END: &[u8] = b"\"kind\":\"finished\"";
    let mut kept = Vec::new();
    let mut part = [0; 16 * 1024];
    loop {
        let Ok(count @ 1..) = stream.read(&mut part).await else {
            return;
        };
        kept.extend_from_slice(&part[..count]);
        let found = kept
            .windows(END.len())
            .filter(|window| *window == END)
            .count();
        ends.fetch_add(found, Ordering::Relaxed);
        // What may be the beginning of the next one stays.
        let rest = kept.len().saturating_sub(END.len() - 1);
        kept.drain(..rest);
    }
}

/// Says so many messages one after the other, and returns what each took.
async fn talk(server: &Server, session: &str, messages: usize) -> Vec<Duration> {
    let mut took = Vec::new();
    let mut stream = TcpStream::connect(&server.address).await.unwrap();
    for number in 0..messages {
        let body = format!(
            "{{\"text\":\"Message {number}\",\"wait\":true,\"session\":\"agent:main:{session}\"}}"
        );
        let request = format!(
            "POST /api/messages HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            server.address,
            server.token,
            body.len()
        );
        let start = Instant::now();
        stream.write_all(request.as_bytes()).await.unwrap();
        until(&mut stream, b"\"runtimeMs\":").await;
        took.push(start.elapsed());
    }
    took
}
