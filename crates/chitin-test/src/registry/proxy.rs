//! A proxy that counts bytes and cuts connections.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Passes connections on to a port of this machine until it is told to cut one.
#[derive(Debug)]
pub struct CuttingProxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    up: AtomicU64,
    down: AtomicU64,
    cuts: Mutex<Cuts>,
}

/// Where connections are cut, each once.
#[derive(Debug, Default)]
struct Cuts {
    up: Vec<u64>,
    down: Vec<u64>,
    request: Option<(String, usize)>,
}

/// Which way bytes go.
#[derive(Clone, Copy)]
enum Way {
    Up,
    Down,
}

impl CuttingProxy {
    /// Starts a proxy in front of a port.
    pub fn start(upstream: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .unwrap_or_else(|error| unreachable!("no free port: {error}"));
        let port = listener.local_addr().map_or(0, |address| address.port());
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", upstream)) else {
                    continue;
                };
                pass(&client, &server, &shared, Way::Up);
                pass(&server, &client, &shared, Way::Down);
            }
        });
        Self { port, state }
    }

    /// Returns the host as references write it.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Cuts a connection each time so many bytes in all have come from the server.
    pub fn cut_down_at(&self, thresholds: impl IntoIterator<Item = u64>) {
        self.cuts(|cuts| cuts.down = thresholds.into_iter().collect());
    }

    /// Cuts a connection each time so many bytes in all have come from the client.
    pub fn cut_up_at(&self, thresholds: impl IntoIterator<Item = u64>) {
        self.cuts(|cuts| cuts.up = thresholds.into_iter().collect());
    }

    /// Cuts the connection in place of passing on the request that begins so, for the n-th time, counted from one.
    pub fn cut_before_request(&self, beginning: &str, n: usize) {
        self.cuts(|cuts| cuts.request = Some((beginning.to_owned(), n)));
    }

    /// Returns how many bytes have come from the client.
    pub fn up(&self) -> u64 {
        self.state.up.load(Ordering::SeqCst)
    }

    /// Returns how many bytes have come from the server.
    pub fn down(&self) -> u64 {
        self.state.down.load(Ordering::SeqCst)
    }

    fn cuts(&self, change: impl FnOnce(&mut Cuts)) {
        let cuts = self.state.cuts.lock();
        change(&mut cuts.unwrap_or_else(PoisonError::into_inner));
    }
}

impl State {
    /// Counts a piece; tells whether the connection is cut instead of passing it on.
    fn cuts_at(&self, way: Way, piece: &[u8]) -> bool {
        let counter = match way {
            Way::Up => &self.up,
            Way::Down => &self.down,
        };
        let now = counter.fetch_add(piece.len() as u64, Ordering::SeqCst) + piece.len() as u64;
        let mut cuts = self.cuts.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(way, Way::Up)
            && let Some((beginning, left)) = &mut cuts.request
            && piece.starts_with(beginning.as_bytes())
        {
            *left -= 1;
            if *left == 0 {
                cuts.request = None;
                return true;
            }
        }
        let thresholds = match way {
            Way::Up => &mut cuts.up,
            Way::Down => &mut cuts.down,
        };
        let before = thresholds.len();
        thresholds.retain(|threshold| *threshold > now);
        thresholds.len() < before
    }
}

fn pass(from: &TcpStream, to: &TcpStream, state: &Arc<State>, way: Way) {
    let (Ok(mut from), Ok(mut to)) = (from.try_clone(), to.try_clone()) else {
        return;
    };
    let state = Arc::clone(state);
    thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        loop {
            let length = match from.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(length) => length,
            };
            if state.cuts_at(way, &buffer[..length]) {
                let _ = from.shutdown(Shutdown::Both);
                break;
            }
            if to.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
}
