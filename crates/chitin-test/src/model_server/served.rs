//! What the threads of a server share.

use super::Format;
use super::connection;
use super::request::Captured;
use chitin_protocol::script::{ScriptQueue, ScriptReply};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What the threads of a server share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) format: Format,
    key: Option<String>,
    queue: Mutex<ScriptQueue>,
    captured: Mutex<Vec<Captured>>,
    connections: Mutex<Vec<TcpStream>>,
    stopped: AtomicBool,
}

impl Shared {
    pub(super) fn new(format: Format, queue: ScriptQueue, key: Option<String>) -> Self {
        Self {
            format,
            key,
            queue: Mutex::new(queue),
            captured: Mutex::new(Vec::new()),
            connections: Mutex::new(Vec::new()),
            stopped: AtomicBool::new(false),
        }
    }

    /// Serves until the server is stopped, and leaves no thread behind.
    pub(super) fn accept(self: Arc<Self>, listener: &TcpListener) {
        let mut threads = Vec::new();
        for stream in listener.incoming() {
            if self.is_stopped() {
                break;
            }
            let Ok(stream) = stream else { continue };
            if let Ok(second) = stream.try_clone() {
                lock(&self.connections).push(second);
            }
            let shared = Arc::clone(&self);
            threads.push(std::thread::spawn(move || {
                // A client that goes away is what many tests are about.
                drop(connection::serve(&shared, stream));
            }));
        }
        for stream in lock(&self.connections).iter() {
            drop(stream.shutdown(Shutdown::Both));
        }
        for thread in threads {
            drop(thread.join());
        }
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    pub(super) fn captured(&self) -> Vec<Captured> {
        lock(&self.captured).clone()
    }

    pub(super) fn connections(&self) -> usize {
        lock(&self.connections).len()
    }

    /// Keeps a request and returns its number, from 0.
    pub(super) fn capture(&self, request: Captured) -> usize {
        let mut captured = lock(&self.captured);
        captured.push(request);
        captured.len() - 1
    }

    pub(super) fn complain(&self, number: usize, complaint: String) {
        if let Some(captured) = lock(&self.captured).get_mut(number) {
            captured.complaint = Some(complaint);
        }
    }

    /// The client of a request is gone.
    pub(super) fn closed(&self, number: usize) {
        if let Some(captured) = lock(&self.captured).get_mut(number) {
            captured.closed_at.get_or_insert_with(Instant::now);
        }
    }

    pub(super) fn next_reply(&self, request: &str) -> Option<ScriptReply> {
        lock(&self.queue).next(request)
    }

    /// Tells whether a request carries the key, where one is asked for.
    pub(super) fn lets_in(&self, request: &Captured) -> bool {
        let Some(key) = &self.key else { return true };
        let bearer = format!("Bearer {key}");
        match self.format {
            Format::Anthropic => request.header("x-api-key") == Some(key),
            Format::Completions | Format::Responses | Format::Ollama => {
                request.header("authorization") == Some(&bearer)
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
