//! A server on a socket, and a client that says exactly what it is told to.

use crate::stage::{Setting, Stage};
use chitin_server::{Attached, Ended, Limits, Server, ServerSettings, WebSurface};
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) const TOKEN: &str = "a-token-for-tests-0123456789";

/// A server that serves a stage.
pub(crate) struct Served {
    pub(crate) stage: Stage,
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<Ended>,
}

impl Served {
    pub(crate) fn new(setting: Setting) -> Self {
        Self::with(setting, |_| {})
    }

    pub(crate) fn with(setting: Setting, change: impl FnOnce(&mut Limits)) -> Self {
        Self::made(setting, Attached::default(), |settings| {
            change(&mut settings.limits);
        })
    }

    /// A server that has more than its gateway.
    pub(crate) fn attached(setting: Setting, attached: Attached) -> Self {
        Self::made(setting, attached, |_| {})
    }

    pub(crate) fn made(
        setting: Setting,
        attached: Attached,
        change: impl FnOnce(&mut ServerSettings),
    ) -> Self {
        let stage = setting.surface(std::sync::Arc::new(WebSurface::default()));
        let stage = stage.stage();
        let mut settings = ServerSettings::new(SocketAddr::from(([127, 0, 0, 1], 0)), TOKEN.into());
        change(&mut settings);
        let bound = Server::bind(settings).unwrap().attach(attached);
        let address = bound.address();
        let (stop, stopped) = oneshot::channel();
        let gateway = stage.gateway.clone();
        let serving = tokio::spawn(bound.serve(gateway, async {
            let _ = stopped.await;
        }));
        Self {
            stage,
            address,
            stop: Some(stop),
            serving,
        }
    }

    pub(crate) async fn connect(&self) -> Connection {
        Connection::open(self.address).await
    }

    /// Asks once, on a connection of its own.
    pub(crate) async fn get(&self, path: &str) -> Response {
        self.connect().await.ask("GET", path, &[], "").await
    }

    /// Posts JSON once, on a connection of its own.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Response {
        let body = body.to_string();
        self.connect().await.ask("POST", path, &[], &body).await
    }

    /// Tells the server to end.
    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    pub(crate) async fn ended(&mut self) -> Ended {
        let ended = tokio::time::timeout(Duration::from_secs(20), &mut self.serving).await;
        ended.unwrap().unwrap()
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    pub(crate) bytes: Vec<u8>,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// Returns status and code, such as `404 not_found`.
    pub(crate) fn problem(&self) -> String {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        let code = body["error"]["code"].as_str().unwrap_or("none");
        format!("{} {code}", self.status)
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().skip(1).find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// A connection.
pub(crate) struct Connection {
    pub(crate) stream: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        Self {
            stream: BufReader::new(stream),
        }
    }

    pub(crate) async fn write(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Asks with the token, and reads the answer. Headers may replace the usual ones.
    pub(crate) async fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        self.request(method, path, headers, body).await;
        self.response().await
    }

    /// Asks with the token.
    pub(crate) async fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) {
        let bearer = format!("Bearer {TOKEN}");
        let length = body.len().to_string();
        let mut usual = vec![("host", "localhost"), ("authorization", bearer.as_str())];
        if matches!(method, "POST" | "PUT") {
            usual.push(("content-type", "application/json"));
            usual.push(("content-length", length.as_str()));
        }
        usual.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in usual.iter().chain(headers) {
            if !value.is_empty() {
                text.extend([name, ": ", value, "\r\n"]);
            }
        }
        self.write(&format!("{text}\r\n{body}")).await;
    }

    /// Reads the head of an answer.
    pub(crate) async fn head(&mut self) -> String {
        let mut head = String::new();
        loop {
            let mut line = String::new();
            let reading = self.stream.read_line(&mut line);
            let read = tokio::time::timeout(Duration::from_secs(20), reading).await;
            assert!(read.unwrap().unwrap() > 0, "the connection ended: {head:?}");
            if line == "\r\n" {
                return head;
            }
            head += &line;
        }
    }

    /// Reads an answer to its end.
    pub(crate) async fn response(&mut self) -> Response {
        let head = self.head().await;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut body = Vec::new();
        if let Some(length) = header(&head, "content-length") {
            body.resize(length.parse().unwrap(), 0);
            self.stream.read_exact(&mut body).await.unwrap();
        } else if header(&head, "transfer-encoding").is_some() {
            while let Some(chunk) = self.chunk().await {
                body.extend(chunk);
            }
        }
        Response {
            status,
            head,
            body: String::from_utf8_lossy(&body).into_owned(),
            bytes: body,
        }
    }

    /// Reads one chunk of a stream; none is the last.
    pub(crate) async fn chunk(&mut self) -> Option<Vec<u8>> {
        let mut line = String::new();
        let reading = self.stream.read_line(&mut line);
        let read = tokio::time::timeout(Duration::from_secs(20), reading).await;
        if read.unwrap().unwrap_or_default() == 0 {
            return None;
        }
        let length = usize::from_str_radix(line.trim(), 16).unwrap();
        let mut chunk = vec![0; length + 2];
        self.stream.read_exact(&mut chunk).await.unwrap();
        chunk.truncate(length);
        (length > 0).then_some(chunk)
    }

    /// Reads the next event of a stream: its name, and its data. Comments are passed over.
    pub(crate) async fn event(&mut self) -> Option<(String, Value)> {
        loop {
            let chunk = String::from_utf8(self.chunk().await?).unwrap();
            if let Some(event) = events(&chunk).pop() {
                return Some(event);
            }
        }
    }
}

/// Reads events: names and data.
pub(crate) fn events(text: &str) -> Vec<(String, Value)> {
    let blocks = text.split("\n\n").filter(|block| !block.is_empty());
    let read = |block: &str| {
        let field = |name: &str| {
            let mut lines = block.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        };
        let data = field("data")?;
        let data = serde_json::from_str(data).unwrap_or_else(|_| data.into());
        Some((field("event").unwrap_or_default().to_owned(), data))
    };
    blocks.filter_map(read).collect()
}
