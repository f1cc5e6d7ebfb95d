//! A model server on loopback: HTTP/1.1, four wire formats, replies from a script, and every way to misbehave that the
//! script names.
//!
//! It is written from the providers' documents and shares no code with the client, so that a mistake in one is not hidden by
//! the same mistake in the other. One thread accepts, one thread serves each connection, all of them end with the server.

mod anthropic;
mod completions;
mod connection;
mod ollama;
mod parts;
mod request;
mod responses;
mod served;

pub use request::Captured;

use chitin_protocol::script::{self, ScriptQueue, ScriptReply};
use served::Shared;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The wire format that a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions.
    Completions,
    /// OpenAI's Responses.
    Responses,
    /// Ollama's chat.
    Ollama,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Anthropic,
        Self::Completions,
        Self::Responses,
        Self::Ollama,
    ];

    /// Returns the name of the wire format in configuration.
    pub const fn api(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic-messages",
            Self::Completions => "openai-completions",
            Self::Responses => "openai-responses",
            Self::Ollama => "ollama",
        }
    }

    /// Returns the path that requests go to.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1/messages",
            Self::Completions => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Ollama => "/api/chat",
        }
    }

    /// Returns what of the path belongs to the base URL.
    const fn base_path(self) -> &'static str {
        match self {
            Self::Anthropic | Self::Ollama => "",
            Self::Completions | Self::Responses => "/v1",
        }
    }

    const fn content_type(self) -> &'static str {
        match self {
            Self::Anthropic | Self::Completions | Self::Responses => "text/event-stream",
            Self::Ollama => "application/x-ndjson",
        }
    }

    /// Returns an answer as the parts that a server sends one by one.
    fn parts(self, reply: &ScriptReply, model: &str, number: usize) -> Vec<String> {
        match self {
            Self::Anthropic => anthropic::parts(reply, model, number),
            Self::Completions => completions::parts(reply, model, number),
            Self::Responses => responses::parts(reply, model, number),
            Self::Ollama => ollama::parts(reply, model),
        }
    }

    /// Returns an error in the middle of an answer.
    fn error_part(self, message: &str) -> String {
        match self {
            Self::Anthropic => anthropic::error_part(message),
            Self::Completions => completions::error_part(message),
            Self::Responses => responses::error_part(message),
            Self::Ollama => ollama::error_part(message),
        }
    }

    /// Returns the body of an error.
    fn error_body(self, status: u16, message: &str) -> String {
        match self {
            Self::Anthropic => anthropic::error_body(status, message),
            Self::Completions | Self::Responses => completions::error_body(status, message),
            Self::Ollama => ollama::error_body(message),
        }
    }
}

/// A running model server. It stops when it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    format: Format,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts a server with a script of JSON Lines.
    pub fn start(format: Format, script: &str) -> Self {
        let replies = script::parse(script).unwrap_or_else(|problem| unreachable!("{problem}"));
        Self::with_replies(format, replies)
    }

    /// Starts a server with replies.
    pub fn with_replies(format: Format, replies: Vec<ScriptReply>) -> Self {
        Self::launch(format, replies, None)
    }

    /// Starts a server that answers 401 unless the key comes in the format's own header.
    pub fn with_key(format: Format, script: &str, key: &str) -> Self {
        let replies = script::parse(script).unwrap_or_else(|problem| unreachable!("{problem}"));
        Self::launch(format, replies, Some(key.to_owned()))
    }

    fn launch(format: Format, replies: Vec<ScriptReply>, key: Option<String>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .unwrap_or_else(|e| unreachable!("no socket on loopback: {e}"));
        let address = listener
            .local_addr()
            .unwrap_or_else(|e| unreachable!("a listener has an address: {e}"));
        let shared = Arc::new(Shared::new(format, ScriptQueue::new(replies), key));
        let serving = Arc::clone(&shared);
        let accepting = std::thread::spawn(move || serving.accept(&listener));
        Self {
            address,
            format,
            shared,
            accepting: Some(accepting),
        }
    }

    /// Returns the base URL, as configuration names it.
    pub fn url(&self) -> String {
        format!("{}{}", self.origin(), self.format.base_path())
    }

    /// Returns scheme, host and port.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the wire format.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Returns every request so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Captured> {
        self.shared.captured()
    }

    /// Returns how many connections were opened so far.
    pub fn connections(&self) -> usize {
        self.shared.connections()
    }

    /// Waits until so many requests have come.
    pub fn wait_for_requests(&self, count: usize, longest: Duration) -> bool {
        wait(longest, || self.shared.captured().len() >= count)
    }

    /// Waits until the client has closed the connection of a request, counted from 0, before the answer was complete.
    pub fn wait_for_close(&self, request: usize, longest: Duration) -> bool {
        wait(longest, || {
            self.shared
                .captured()
                .get(request)
                .is_some_and(|captured| captured.closed_at.is_some())
        })
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stop();
        // The accepting thread sits in `accept`; a connection wakes it.
        drop(TcpStream::connect_timeout(
            &self.address,
            Duration::from_secs(1),
        ));
        if let Some(thread) = self.accepting.take() {
            drop(thread.join());
        }
    }
}

fn wait(longest: Duration, mut done: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !done() {
        if start.elapsed() > longest {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}
