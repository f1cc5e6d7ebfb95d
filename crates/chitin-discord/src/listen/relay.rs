//! TLS for events, where authorities of the user's own are trusted.
//!
//! `twilight-gateway` (0.18) brings a TLS of its own that trusts the usual authorities and nobody else, and it does not tell why a connection
//! could not be made. So, only where other authorities are named, it connects to this relay on this machine, and the relay speaks the TLS of
//! the rest of the program. Who does not know the relay's path is not served.

use crate::settings::Url;
use chitin_net::certificate_problem;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::borrow::Cow;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_util::task::AbortOnDropHandle;

/// How long it may take to connect.
const LONGEST: Duration = Duration::from_secs(10);
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(1);
/// The longest request that opens a WebSocket.
const MOST_HEAD: usize = 8 * 1024;
/// How many connections there are at once; one is enough, and an old one may not be gone yet.
const MOST_CONNECTIONS: usize = 8;

/// Where a connection shall lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    /// To where sessions begin.
    Begin,
    /// To where the last session goes on.
    Resume,
}

/// A relay. It ends, and all connections with it, when it is dropped.
pub(super) struct Relay {
    /// Scheme, host, port and the path that nobody can guess.
    base: String,
    shared: Arc<Shared>,
    _serving: AbortOnDropHandle<()>,
}

struct Shared {
    path: String,
    tls: TlsConnector,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    begin: Option<Url>,
    resume: Option<Url>,
    problem: Option<String>,
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

impl Relay {
    /// Opens one.
    pub(super) async fn open(tls: Arc<ClientConfig>) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("There is no port on this machine: {error}.");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.map_err(failed)?;
        let address: SocketAddr = listener.local_addr().map_err(failed)?;
        let path = format!("/{}", uuid::Uuid::new_v4().simple());
        let shared = Arc::new(Shared {
            path: path.clone(),
            tls: TlsConnector::from(tls),
            known: Mutex::default(),
        });
        let serving = tokio::spawn(serve(Arc::clone(&shared), listener));
        Ok(Self {
            base: format!("ws://{address}{path}"),
            shared,
            _serving: AbortOnDropHandle::new(serving),
        })
    }

    /// Returns the address that leads somewhere by way of the relay.
    pub(super) fn way(&self, to: To, url: Url) -> String {
        let mut known = self.shared.known();
        let (place, name) = match to {
            To::Begin => (&mut known.begin, "begin"),
            To::Resume => (&mut known.resume, "resume"),
        };
        *place = Some(url);
        format!("{}/{name}", self.base)
    }

    /// Returns where an address leads in the end.
    pub(super) fn behind<'u>(&self, url: &'u str) -> Cow<'u, str> {
        let known = self.shared.known();
        let place = match url.strip_prefix(&self.base) {
            Some("/begin") => known.begin.as_ref(),
            Some("/resume") => known.resume.as_ref(),
            Some(_) | None => None,
        };
        place.map_or(Cow::Borrowed(url), |place| Cow::Owned(place.to_string()))
    }

    /// Returns why the last connection could not be made.
    pub(super) fn problem(&self) -> Option<String> {
        self.shared.known().problem.clone()
    }
}

impl Shared {
    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds where a request is to go, and writes it anew for there.
    fn readdressed(&self, head: &str) -> Option<(Url, String)> {
        let (first, rest) = head.split_once("\r\n")?;
        let asked = first.strip_prefix("GET ")?.strip_prefix(&self.path)?;
        let known = self.known();
        let (place, asked) = match (asked.strip_prefix("/begin"), asked.strip_prefix("/resume")) {
            (Some(asked), _) => (known.begin.clone()?, asked),
            (None, Some(asked)) => (known.resume.clone()?, asked),
            (None, None) => return None,
        };
        let is_host = |line: &str| {
            line.get(..5)
                .is_some_and(|name| name.eq_ignore_ascii_case("host:"))
        };
        let mut written = format!("GET {asked}\r\nHost: {}\r\n", place.authority);
        for line in rest.split("\r\n").filter(|line| !is_host(line)) {
            if !line.is_empty() {
                written.push_str(line);
                written.push_str("\r\n");
            }
        }
        written.push_str("\r\n");
        Some((place, written))
    }

    async fn connection(&self, mut near: TcpStream) {
        let head = tokio::time::timeout(LONGEST, head(&mut near)).await;
        let Some((place, head)) = head.ok().flatten().and_then(|head| self.readdressed(&head))
        else {
            return;
        };
        let connected = tokio::time::timeout(LONGEST, self.connect(&place)).await;
        let connected = connected.unwrap_or_else(|_| Err("it takes too long".to_owned()));
        self.known().problem = connected.as_ref().err().cloned();
        let Ok(mut far) = connected else {
            return;
        };
        let _ = near.set_nodelay(true);
        // The end is to be seen as a break: after a quiet end the library connects again by itself, past the relay.
        let _ = near.set_zero_linger();
        if far.write_all(head.as_bytes()).await.is_ok() {
            let (mut near_in, mut near_out) = near.split();
            let (mut far_in, mut far_out) = tokio::io::split(&mut far);
            tokio::select! {
                _ = tokio::io::copy(&mut far_in, &mut near_out) => {}
                _ = tokio::io::copy(&mut near_in, &mut far_out) => {}
            }
        }
        let _ = tokio::time::timeout(GOODBYE, far.shutdown()).await;
    }

    async fn connect(&self, place: &Url) -> Result<Box<dyn Stream>, String> {
        let odd = || "its address has no host".to_owned();
        let url = reqwest::Url::parse(&place.to_string()).map_err(|_| odd())?;
        let host = url.host_str().ok_or_else(odd)?.trim_matches(['[', ']']);
        let port = url.port_or_known_default().unwrap_or(443);
        let stream = TcpStream::connect((host, port))
            .await
            .map_err(|error| format!("there is no connection: {error}"))?;
        let _ = stream.set_nodelay(true);
        if url.scheme() == "ws" {
            return Ok(Box::new(stream));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(|_| odd())?;
        let stream = self.tls.connect(name, stream).await.map_err(|error| {
            certificate_problem(&error).unwrap_or_else(|| format!("there is no TLS: {error}"))
        })?;
        Ok(Box::new(stream))
    }
}

/// Serves whoever connects. Connections end with this.
async fn serve(shared: Arc<Shared>, listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((near, _)) = listener.accept().await else {
            // Too many files are open, for example; that passes.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        if connections.len() < MOST_CONNECTIONS {
            let shared = Arc::clone(&shared);
            connections.spawn(async move { shared.connection(near).await });
        }
    }
}

/// Reads a request, which ends with an empty line; whoever opens a WebSocket sends nothing after it before it is answered.
async fn head(near: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    while !bytes.ends_with(b"\r\n\r\n") {
        let count = near.read(&mut piece).await.ok()?;
        if count == 0 || bytes.len() + count > MOST_HEAD {
            return None;
        }
        bytes.extend_from_slice(piece.get(..count)?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;
