//! Tools of MCP servers as a user gets them: `run` and `serve`, programs and addresses, and servers that are killed in the middle.
#![expect(
    clippy::disallowed_methods,
    reason = "processes and files are looked at behind the program's back"
)]

mod packages;
mod small_server;

use crate::run::{Talk, text};
use crate::serve::Serving;
use chitin_test::model_server::Format;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The settings for servers that the owner trusts: their replies take nothing away.
fn trusted(mcp: &Value) -> Value {
    let trusted = json!({"untrusted": {"trustedMcp": ["small", "everything"]}});
    json!({"mcp": mcp, "access": trusted})
}

/// What the model does when it is asked for a sum: it calls the tool and says what came back.
struct Sums<'a> {
    /// The name of the tool that adds.
    tool: &'a str,
    /// What the tool says of 2 and 3.
    five: &'a str,
    /// What it says of 20 and 22.
    forty_two: &'a str,
}

impl Sums<'_> {
    fn call(&self, a: u32, b: u32) -> Value {
        json!([{"name": self.tool, "arguments": {"a": a, "b": b}}])
    }

    /// Two calls in one turn, with time in between.
    fn in_one_turn(&self) -> Vec<Value> {
        vec![
            json!({"toolCalls": self.call(2, 3)}),
            json!({"toolCalls": self.call(20, 22), "delayMs": 2_000}),
            json!({"text": "Both are there."}),
        ]
    }

    /// One call in each of two turns.
    fn in_two_turns(&self) -> Vec<Value> {
        vec![
            json!({"toolCalls": self.call(2, 3)}),
            json!({"text": "The first."}),
            json!({"toolCalls": self.call(20, 22)}),
            json!({"text": "The second."}),
        ]
    }

    /// Runs one turn of two calls with `chitin run`, and does something to the server between them.
    fn run(&self, talk: &Talk, between: impl FnOnce()) {
        let mut child = talk
            .command(&["-m", "Add", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.contains(self.five) {
            assert!(
                out.read_line(&mut said).unwrap() > 0,
                "no sum: {said}\n{}",
                rest(child.stderr.take().unwrap())
            );
        }
        between();
        out.read_to_string(&mut said).unwrap();
        let errors = rest(child.stderr.take().unwrap());
        assert!(child.wait().unwrap().success(), "{said}\n{errors}");
        assert_eq!(
            results(talk),
            [self.five, self.forty_two],
            "{said}\n{errors}"
        );
    }

    /// Runs two turns of one call each in `chitin serve`, and does something to the server between them.
    fn serve(&self, talk: &Talk, serving: &Serving, between: impl FnOnce()) {
        let ask = |words: &str| {
            let body = json!({"model": "chitin", "messages": [{"role": "user", "content": words}], "user": "ada"});
            let (status, answer) = serving.ask("POST", "/v1/chat/completions", Some(&body));
            assert_eq!(status, 200, "{answer}");
            answer["choices"][0]["message"]["content"].clone()
        };
        assert_eq!(ask("Add"), "The first.");
        assert!(requested(talk).contains(self.five), "{}", requested(talk));
        between();
        assert_eq!(ask("Add again"), "The second.");
        let sent = requested(talk);
        assert!(sent.contains(self.forty_two), "{sent}");
    }
}

fn rest(mut from: impl Read) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    text(&bytes)
}

/// The last request that reached the model, as text.
fn requested(talk: &Talk) -> String {
    let requests = talk.server.requests();
    requests
        .last()
        .map(|request| request.json().to_string())
        .unwrap_or_default()
}

/// What tools gave back in the main session, in order.
fn results(talk: &Talk) -> Vec<String> {
    let messages = talk.messages().into_iter();
    messages
        .filter(|message| message["role"] == "toolResult")
        .map(|message| {
            message["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

/// The processes whose command line holds a text.
fn processes(marker: &str) -> Vec<Pid> {
    let own = std::process::id().to_string();
    let found = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    found
        .filter(|entry| entry.file_name().to_str() != Some(&own))
        .filter(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(marker)
        })
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// Kills the processes whose command line holds a text, and waits until they are gone.
fn kill(marker: &str) {
    let found = processes(marker);
    assert!(!found.is_empty(), "`{marker}` does not run");
    for process in found {
        let _ = kill_process(process, Signal::KILL);
    }
    // The supervisor of the server notices a moment later.
    wait_until("it is killed", || processes(marker).is_empty());
    std::thread::sleep(Duration::from_millis(300));
}

fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < PATIENCE, "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A server at an address, killed when dropped.
struct AtAddress {
    child: Child,
    port: u16,
}

impl AtAddress {
    /// Kills the server, as a crash would.
    fn kill(mut self) -> u16 {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.port
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for AtAddress {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a program and waits until something listens at its port.
fn listen(mut command: Command, port: u16) -> AtAddress {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let server = AtAddress { child, port };
    wait_until("the MCP server listens", || {
        std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    server
}

/// A port that is free now. It is below those that systems hand out: no other test gets it by chance before the server has it, and
/// whoever tries to reach the server before it is there cannot connect to itself.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = u16::try_from(std::process::id() % 10_000).unwrap();
    loop {
        let port = 20_000 + (first + NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// How often the small server was started in a directory.
fn starts(directory: &Path) -> usize {
    let starts = std::fs::read_to_string(directory.join("starts")).unwrap_or_default();
    starts.lines().count()
}

fn talk(script: &[Value]) -> Talk {
    Talk::new(Format::Anthropic, script)
}
