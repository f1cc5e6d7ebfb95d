//! `chitin serve` as a user meets it: the real binary, real sockets, a model that answers from a script.
#![expect(
    clippy::disallowed_methods,
    reason = "transcripts and tokens are looked at behind the server's back"
)]

mod approvals;
mod authority;
mod bad_input;
mod children;
mod delivery;
mod desk;
mod guests;
mod job_log;
mod keys;
mod logins;
mod many_agents;
mod many_sessions;
mod networks;
mod permissions;
mod resources;
mod restart;
mod restart_instants;
mod restart_load;
mod restart_systemd;
mod spawn_workspace;

use crate::process::command;
use crate::run::Talk;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server of the binary under test. Killed when dropped.
pub(crate) struct Serving {
    process: Process,
    address: String,
    token: String,
}

/// The process of a server.
enum Process {
    /// One that the test started.
    Own(Child),
    /// One that took over; somebody else waits for it.
    Other(rustix::process::Pid),
}

impl Process {
    fn id(&self) -> rustix::process::Pid {
        match self {
            Self::Own(child) => rustix::process::Pid::from_child(child),
            Self::Other(process) => *process,
        }
    }

    fn tell(&self, signal: rustix::process::Signal) {
        let _ = rustix::process::kill_process(self.id(), signal);
    }

    fn wait(&mut self) -> Option<i32> {
        match self {
            Self::Own(child) => child.wait().unwrap().code(),
            Self::Other(_) => None,
        }
    }
}

impl Serving {
    /// A server that took over from another one.
    pub(crate) fn of(process: i32, address: String, token: String) -> Self {
        let process = rustix::process::Pid::from_raw(process).unwrap();
        Self {
            process: Process::Other(process),
            address,
            token,
        }
    }

    /// The id of its process.
    pub(crate) fn id(&self) -> i32 {
        self.process.id().as_raw_nonzero().get()
    }

    /// Waits until its process ends by itself, and returns its exit code.
    pub(crate) fn wait(mut self) -> Option<i32> {
        self.process.wait()
    }

    /// Asks it to end.
    pub(crate) fn tell_to_end(&self) {
        self.process.tell(rustix::process::Signal::TERM);
    }

    /// Starts a server for a talk's workspace, and waits until it says where it listens.
    pub(crate) fn start(talk: &Talk, more: &[&str]) -> Self {
        let command = command(&talk.env, &["serve", "--json", "--listen", "127.0.0.1:0"]);
        Self::begin(talk, command, &talk.env.workspace(), more)
    }

    /// Starts one with more variables.
    pub(crate) fn start_with(talk: &Talk, surroundings: impl FnOnce(&mut Command)) -> Self {
        let mut command = command(&talk.env, &["serve", "--json", "--listen", "127.0.0.1:0"]);
        surroundings(&mut command);
        Self::begin(talk, command, &talk.env.workspace(), &[])
    }

    /// Starts one for another directory than the workspace.
    pub(crate) fn start_in(talk: &Talk, directory: &std::path::Path) -> Self {
        let command = command(&talk.env, &["serve", "--json", "--listen", "127.0.0.1:0"]);
        Self::begin(talk, command, directory, &[])
    }

    /// Starts one that the environment tells where more authorities are.
    pub(crate) fn start_trusting(talk: &Talk, authorities: &std::path::Path) -> Self {
        let mut command = command(&talk.env, &["serve", "--json", "--listen", "127.0.0.1:0"]);
        command.env("NODE_EXTRA_CA_CERTS", authorities);
        Self::begin(talk, command, &talk.env.workspace(), &[])
    }

    fn begin(
        talk: &Talk,
        mut command: Command,
        directory: &std::path::Path,
        more: &[&str],
    ) -> Self {
        let mut process = command
            .arg(directory)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(Self::log_file(talk)).unwrap())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let listening: Value = loop {
            assert!(out.read_line(&mut said).unwrap() > 0, "it ended: {said}");
            if let Ok(value) = serde_json::from_str(&said) {
                break value;
            }
        };
        let address = listening["address"].as_str().unwrap();
        let token = talk.env.home().join(".chitin/server-token");
        Self {
            process: Process::Own(process),
            address: address.trim_start_matches("http://").to_owned(),
            token: std::fs::read_to_string(token).unwrap().trim().to_owned(),
        }
    }

    /// Returns what the servers of a talk logged, the latest alone.
    pub(crate) fn log(talk: &Talk) -> String {
        std::fs::read_to_string(Self::log_file(talk)).unwrap()
    }

    fn log_file(talk: &Talk) -> std::path::PathBuf {
        talk.env.path().join("serve.log")
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(mut self) {
        self.process.tell(rustix::process::Signal::KILL);
        self.process.wait();
    }

    /// Asks it to begin anew, on the same socket.
    pub(crate) fn begin_anew(&self) {
        self.process.tell(rustix::process::Signal::HUP);
    }

    /// Asks it to end, and returns its exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.tell_to_end();
        self.process.wait()
    }

    /// Asks for something, and returns status and body.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let body = body.map(ToString::to_string);
        let head = [("authorization", format!("Bearer {}", self.token))];
        self.ask_raw(method, path, &head, body.as_deref())
    }

    pub(crate) fn ask_raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, String)],
        body: Option<&str>,
    ) -> (u16, Value) {
        let (status, _, body) = self.exchange(method, path, headers, body);
        (status, body)
    }

    /// The same, with the head of the answer.
    pub(crate) fn exchange(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, String)],
        body: Option<&str>,
    ) -> (u16, String, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let body = body.unwrap_or_default();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            self.address,
            body.len()
        );
        head.extend(
            headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}\r\n")),
        );
        write!(stream, "{head}\r\n{body}").unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        let status = answer.split(' ').nth(1).unwrap_or("0").parse().unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        let body = serde_json::from_str(body).unwrap_or(Value::Null);
        (status, head.to_owned(), body)
    }

    /// The same for a server that may have no room for the connection, or end it.
    pub(crate) fn try_exchange(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, String)],
        body: &str,
    ) -> Option<(u16, Value)> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            self.address,
            body.len()
        );
        for (name, value) in headers {
            head += &[*name, ": ", value, "\r\n"].concat();
        }
        write!(stream, "{head}\r\n{body}").ok()?;
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        let status = answer.split(' ').nth(1)?.parse().ok()?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        Some((status, serde_json::from_str(body).unwrap_or(Value::Null)))
    }

    /// Reads a page of text.
    pub(crate) fn read_text(&self, path: &str, headers: &[(&str, String)]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (host, mut head) = (&self.address, String::new());
        for (name, value) in headers {
            head += &[*name, ": ", value, "\r\n"].concat();
        }
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{head}\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    /// Sends a message under a key, and returns status and body.
    pub(crate) fn send(&self, key: &str, body: &Value) -> (u16, Value) {
        let head = [
            ("authorization", format!("Bearer {}", self.token)),
            ("idempotency-key", key.to_owned()),
        ];
        self.ask_raw("POST", "/api/messages", &head, Some(&body.to_string()))
    }

    /// Says something in a channel, without waiting.
    pub(crate) fn say(&self, channel: &str, text: &str) -> Value {
        let body = json!({"text": text, "from": place(channel)});
        let (status, accepted) = self.ask("POST", "/api/messages", Some(&body));
        assert_eq!(status, 202, "{accepted}");
        accepted
    }

    /// Listens to everything that happens from now on; what was heard is in the list.
    pub(crate) fn listen(&self) -> Arc<Mutex<Vec<Value>>> {
        self.listen_to("/api/events")
    }

    /// Listens to a stream of events.
    pub(crate) fn listen_to(&self, path: &str) -> Arc<Mutex<Vec<Value>>> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (host, token) = (&self.address, &self.token);
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\naccept: text/event-stream\r\n\r\n"
        )
        .unwrap();
        let heard: Arc<Mutex<Vec<Value>>> = Arc::default();
        let hearing = Arc::clone(&heard);
        let mut lines = BufReader::new(stream).lines();
        // The head is there once the server listens for us.
        assert!(lines.next().unwrap().unwrap().contains("200"));
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some(data) = line.strip_prefix("data:")
                    && let Ok(event) = serde_json::from_str(data)
                {
                    hearing.lock().unwrap().push(event);
                }
            }
        });
        heard
    }

    /// Waits until nothing is to be done.
    pub(crate) fn rest(&self) {
        self.wait_until("it rests", |serving| {
            let (_, status) = serving.ask("GET", "/api/status", None);
            status["busy"].as_array().is_some_and(Vec::is_empty)
        });
    }

    pub(crate) fn wait_until(&self, what: &str, mut is: impl FnMut(&Self) -> bool) {
        let began = Instant::now();
        while !is(self) {
            assert!(began.elapsed() < PATIENCE, "{what}: not within a minute");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Process::Own(child) = &mut self.process {
            let _ = child.kill();
            let _ = child.wait();
        } else {
            self.process.tell(rustix::process::Signal::KILL);
        }
    }
}

/// A channel of the web surface, as a message names it.
pub(crate) fn place(channel: &str) -> Value {
    json!({"channel": "web", "peer": {"kind": "channel", "id": channel}, "senderId": "ada"})
}
