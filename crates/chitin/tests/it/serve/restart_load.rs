//! A server that restarts again and again while people write to it: nobody is refused, nothing is lost, nobody waits for long.
//!
//! `CHITIN_TEST_RESTARTS=500 cargo test -p chitin --test it restart_load -- --nocapture` restarts as often as it says.
#![expect(clippy::print_stdout, reason = "figures for whoever runs it by hand")]

use super::{PATIENCE, Serving};
use crate::run::Talk;
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often it restarts, when nobody says.
const RESTARTS: usize = 20;
/// The longest that all but one of a hundred requests may take.
const P99: Duration = Duration::from_secs(1);
/// How long clients pause between two messages. Those who leave a message pause longer than those who wait for the reply: what is
/// measured is the restart, and not how long a queue gets of more than the machine can do.
const PAUSE: Duration = Duration::from_millis(25);
const LONG_PAUSE: Duration = Duration::from_millis(200);
/// How many sessions a client has that does not wait.
const SESSIONS: usize = 20;

/// What clients saw.
#[derive(Default)]
struct Seen {
    /// How long requests took that waited for a reply, and those that did not.
    waited: Vec<Duration>,
    left: Vec<Duration>,
    /// By session, what was acknowledged there.
    acknowledged: BTreeMap<String, Vec<usize>>,
    refused: Vec<String>,
}

/// A client of the server.
struct Client {
    address: String,
    token: String,
    session: String,
    /// Keeps its connection, where it has one.
    connection: Option<BufReader<TcpStream>>,
    keeps: bool,
}

impl Client {
    /// Says something, and waits for the reply. Returns the status, and whether the server ends the connection.
    fn say(&mut self, number: usize, wait: bool) -> Result<(u16, Value), String> {
        let key = format!("{number}");
        let session = if self.keeps {
            self.session.clone()
        } else {
            format!("{}-{}", self.session, number % SESSIONS)
        };
        let body = json!({"text": key, "session": session, "wait": wait, "queue": "followup"});
        let body = body.to_string();
        let mut stream = if let Some(stream) = self.connection.take() {
            stream
        } else {
            let stream = TcpStream::connect(&self.address).map_err(|error| error.to_string())?;
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            BufReader::new(stream)
        };
        let head = format!(
            "POST /api/messages HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nidempotency-key: {}-{key}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.address,
            self.token,
            self.session,
            body.len()
        );
        let sent = write!(stream.get_mut(), "{head}{body}");
        sent.map_err(|error| format!("sending: {error}"))?;
        let mut length = 0;
        let mut ends = false;
        let mut status = 0;
        loop {
            let mut line = String::new();
            let read = stream.read_line(&mut line);
            if read.map_err(|error| format!("reading: {error}"))? == 0 {
                return Err("the connection ended without an answer".to_owned());
            }
            let line = line.trim_end().to_lowercase();
            if let Some(rest) = line.strip_prefix("http/1.1 ") {
                status = rest[..3].parse().unwrap();
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            ends |= line == "connection: close";
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        stream
            .read_exact(&mut body)
            .map_err(|error| format!("reading: {error}"))?;
        if self.keeps && !ends {
            self.connection = Some(stream);
        }
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Ok((status, body))
    }

    /// Talks until it is told to stop.
    fn talk(mut self, stop: &AtomicBool, said: &AtomicUsize, seen: &Mutex<Seen>) {
        for number in 0.. {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let began = Instant::now();
            // Those who keep their connection wait for the reply; the others leave their message there.
            let answer = self.say(number, self.keeps);
            let took = began.elapsed();
            said.fetch_add(1, Ordering::Relaxed);
            let mut seen = seen.lock().unwrap();
            if self.keeps {
                seen.waited.push(took);
            } else {
                seen.left.push(took);
            }
            match answer {
                Ok((200 | 202, body)) => {
                    let session = body["sessionKey"].as_str().unwrap().to_owned();
                    seen.acknowledged.entry(session).or_default().push(number);
                }
                Ok((status, body)) => seen.refused.push(format!("{status} {body}")),
                Err(error) => seen.refused.push(error),
            }
            drop(seen);
            std::thread::sleep(if self.keeps { PAUSE } else { LONG_PAUSE });
        }
    }
}

/// What a restart must not take.
enum Broken {
    Nothing,
    Settings(&'static str),
    Token(&'static str),
}

/// Restarts many times under load, each `broken_every`th time with something that does not work, and says what clients saw.
fn restart_under_load(restarts: usize, broken_every: usize) -> (Seen, String, usize, Duration) {
    let reply = json!({"text": "It is on the board.", "delayMs": 20, "times": 0});
    let talk = Talk::new(Format::Anthropic, &[reply]);
    let serving = Serving::start(&talk, &[]);
    let home = talk.env.home().join(".chitin");
    let (settings, token) = (home.join("chitin.json5"), home.join("server-token"));
    let good = |path: &PathBuf| std::fs::read(path).unwrap();
    let (good_settings, good_token) = (good(&settings), good(&token));
    let (stop, said, seen) = (
        Arc::<AtomicBool>::default(),
        Arc::<AtomicUsize>::default(),
        Arc::<Mutex<Seen>>::default(),
    );
    let clients = (0..6).map(|number| {
        let client = Client {
            address: serving.address.clone(),
            token: serving.token.clone(),
            session: format!("agent:main:client-{number}"),
            connection: None,
            keeps: number % 2 == 0,
        };
        let (stop, said, seen) = (Arc::clone(&stop), Arc::clone(&said), Arc::clone(&seen));
        std::thread::spawn(move || client.talk(&stop, &said, &seen))
    });
    let clients: Vec<_> = clients.collect();
    let count = |what: &str| Serving::log(&talk).matches(what).count();
    let mut slowest = Duration::ZERO;
    let (mut done, mut refused) = (0, 0);
    for number in 1..=restarts {
        let broken = match number % broken_every {
            0 => match number / broken_every % 4 {
                0 => Broken::Settings("{ server: "),
                1 => Broken::Settings("{ server: { port: 'x' } }"),
                2 => Broken::Token(""),
                _ => Broken::Token("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
            },
            _ => Broken::Nothing,
        };
        let before = said.load(Ordering::Relaxed);
        let began = Instant::now();
        match broken {
            Broken::Nothing => {
                serving.begin_anew();
                done += 1;
                serving.wait_until("it restarted", |_| count("serves from now on") == done);
            }
            Broken::Settings(text) => {
                std::fs::write(&settings, text).unwrap();
                serving.begin_anew();
                refused += 1;
                serving.wait_until("it is refused", |_| count("not restarted") == refused);
                std::fs::write(&settings, &good_settings).unwrap();
            }
            Broken::Token(text) => {
                std::fs::write(&token, text).unwrap();
                serving.begin_anew();
                refused += 1;
                serving.wait_until("it is refused", |_| count("not restarted") == refused);
                std::fs::write(&token, &good_token).unwrap();
            }
        }
        slowest = slowest.max(began.elapsed());
        // Each process serves somebody.
        serving.wait_until("messages go on", |_| {
            said.load(Ordering::Relaxed) > before + 12
        });
    }
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().unwrap();
    }
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    assert_eq!(
        seen.refused,
        Vec::<String>::new(),
        "{}",
        Serving::log(&talk)
    );
    serving.rest();
    assert_eq!(serving.end(), Some(0));
    let transcripts = transcripts(&talk);
    for (session, keys) in &seen.acknowledged {
        let transcript = std::fs::read_to_string(&transcripts[session]).unwrap();
        let replies = transcript.matches("It is on the board.").count();
        assert_eq!(replies, keys.len(), "{session}: {keys:?}");
    }
    (seen, Serving::log(&talk), done, slowest)
}

/// Reads where the transcript of each session is.
fn transcripts(talk: &Talk) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for index in files_named(&talk.env.home().join(".chitin"), "sessions.json") {
        let text = std::fs::read_to_string(&index).unwrap();
        let entries: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
        for (key, entry) in entries {
            if let Some(id) = entry["sessionId"].as_str() {
                found.insert(key, index.with_file_name(format!("{id}.jsonl")));
            }
        }
    }
    found
}

fn files_named(directory: &std::path::Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_named(&path, name));
        } else if path.file_name().is_some_and(|file| file == name) {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_server_that_restarts_under_load_refuses_nobody_loses_nothing_and_makes_nobody_wait() {
    let asked = std::env::var("CHITIN_TEST_RESTARTS");
    let restarts = asked.ok().and_then(|many| many.parse().ok());
    let restarts = restarts.unwrap_or(RESTARTS);
    let (seen, log, done, slowest) = restart_under_load(restarts, 5);
    let percentile = |took: &[Duration], percent: usize| {
        let mut took = took.to_vec();
        took.sort();
        took[(took.len() * percent / 100).min(took.len() - 1)]
    };
    let told = |took: &[Duration]| {
        let at = |percent| percentile(took, percent);
        let (p50, p99, longest) = (at(50), at(99), at(100));
        format!(
            "{}: p50 {p50:?}, p99 {p99:?}, longest {longest:?}",
            took.len()
        )
    };
    println!(
        "{restarts} restarts, of which {done} were possible, the slowest in {slowest:?}; messages that were left there, {}; messages whose sender waited for the reply, {}",
        told(&seen.left),
        told(&seen.waited)
    );
    let all = [seen.left, seen.waited].concat();
    assert!(percentile(&all, 99) < P99, "{log}");
}
