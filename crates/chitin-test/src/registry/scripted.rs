//! A server that answers as a test says, one request per connection.

use serde_json::Value;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A request that came in.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: String,
    /// Path and query, as they were sent.
    pub target: String,
    headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// Returns a header by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the path without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// Returns the values of a member of the query.
    pub fn query(&self, name: &str) -> Vec<String> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .filter(|(key, _)| *key == name)
            .map(|(_, value)| decoded(value))
            .collect()
    }
}

/// What is answered.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// How much of the body is sent before the connection is cut; all of it if nothing is said.
    cut: Option<usize>,
    silent: bool,
}

impl Reply {
    /// Answers with a status and nothing else.
    pub const fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            cut: None,
            silent: false,
        }
    }

    /// Answers with bytes.
    pub fn bytes(body: impl Into<Vec<u8>>) -> Self {
        Self {
            body: body.into(),
            ..Self::status(200)
        }
    }

    /// Answers with JSON.
    pub fn json(value: &Value) -> Self {
        Self::bytes(value.to_string()).header("content-type", "application/json")
    }

    /// Closes the connection without an answer.
    pub const fn nothing() -> Self {
        let mut reply = Self::status(200);
        reply.silent = true;
        reply
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Changes the status.
    #[must_use]
    pub const fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Cuts the connection within the body.
    #[must_use]
    pub const fn cut_after(mut self, bytes: usize) -> Self {
        self.cut = Some(bytes);
        self
    }
}

/// The server. It listens as long as the process lives.
#[derive(Debug)]
pub struct ScriptedServer {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl ScriptedServer {
    /// Starts a server that asks a function for every answer.
    pub fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .unwrap_or_else(|error| unreachable!("no free port: {error}"));
        let port = listener.local_addr().map_or(0, |address| address.port());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &seen, answer.as_ref()));
            }
        });
        Self { port, requests }
    }

    /// Returns the port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the host as references write it.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        let requests = self.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Request>>,
    answer: &(dyn Fn(&Request) -> Reply + Send + Sync),
) {
    let Some(request) = read_request(&stream) else {
        return;
    };
    seen.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(request.clone());
    let reply = answer(&request);
    if reply.silent {
        return;
    }
    let mut head = format!("HTTP/1.1 {} -\r\nConnection: close\r\n", reply.status);
    let has_length = reply
        .headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    if !has_length && reply.status != 204 {
        let _ = write!(head, "Content-Length: {}\r\n", reply.body.len());
    }
    for (name, value) in &reply.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head += "\r\n";
    let mut out = head.into_bytes();
    if request.method != "HEAD" {
        let end = reply.cut.unwrap_or(usize::MAX).min(reply.body.len());
        out.extend_from_slice(&reply.body[..end]);
    }
    // Whoever hangs up early loses the rest, as everywhere.
    let _ = stream.write_all(&out);
}

fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(0);
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body).ok()?;
    Some(Request {
        method,
        target,
        headers,
        body,
    })
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3);
        match (
            bytes[at],
            hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()),
        ) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (byte, _) => {
                out.push(if byte == b'+' { b' ' } else { byte });
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
