//! Sockets: listening, connections, the end.

use crate::attached::Attached;
use crate::connection;
use crate::error::{ApiError, ErrorFormat};
use crate::login;
use crate::metrics;
use crate::phase::Phase;
use crate::settings::{BindError, ServerSettings};
use crate::shared::Shared;
use crate::strangers::Strangers;
use chitin_gateway::{Gateway, Topic};
use hyper::StatusCode;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// How many connections wait to be accepted.
const BACKLOG: u32 = 1024;
/// How long to wait when no connection can be accepted, because the process has no file descriptors left, say.
const PAUSE: Duration = Duration::from_millis(50);
/// How long connections may take to end after the last word.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Makes servers.
#[derive(Debug, Clone, Copy)]
pub struct Server;

/// A server that has its address and serves nobody yet.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    settings: ServerSettings,
    attached: Attached,
    doors: Doors,
}

/// Whether a server accepts connections. While it does not, whoever connects waits.
#[derive(Debug, Clone)]
pub struct Doors(watch::Sender<bool>);

impl Default for Doors {
    fn default() -> Self {
        Self(watch::Sender::new(true))
    }
}

impl Doors {
    /// Accepts connections again.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Lets whoever connects wait.
    pub fn close(&self) {
        self.0.send_replace(false);
    }
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Whether all turns were done. What was not is in the ledger, and is taken up on the next start.
    pub drained: bool,
}

impl Server {
    /// Takes the address. Inside a runtime.
    pub fn bind(settings: ServerSettings) -> Result<Bound, BindError> {
        settings.check()?;
        let listen = || {
            let socket = match settings.address {
                SocketAddr::V4(_) => TcpSocket::new_v4()?,
                SocketAddr::V6(_) => TcpSocket::new_v6()?,
            };
            socket.set_reuseaddr(true)?;
            socket.bind(settings.address)?;
            let listener = socket.listen(BACKLOG)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        match listen() {
            Ok((listener, address)) => Ok(Bound {
                listener,
                address,
                settings,
                attached: Attached::default(),
                doors: Doors::default(),
            }),
            Err(source) => Err(BindError::Io {
                address: settings.address,
                source,
            }),
        }
    }
}

impl Server {
    /// Takes a socket that listens already: somebody handed it over. Inside a runtime.
    pub fn on(
        listener: std::net::TcpListener,
        mut settings: ServerSettings,
    ) -> Result<Bound, BindError> {
        let take = || {
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((TcpListener::from_std(listener)?, address))
        };
        match take() {
            Ok((listener, address)) => {
                settings.address = address;
                settings.check()?;
                Ok(Bound {
                    listener,
                    address,
                    settings,
                    attached: Attached::default(),
                    doors: Doors::default(),
                })
            }
            Err(source) => Err(BindError::Io {
                address: settings.address,
                source,
            }),
        }
    }
}

impl Bound {
    /// Returns another handle of the socket. While it is held, whoever connects waits instead of being turned away, even when nobody serves.
    pub fn spare(&self) -> std::io::Result<std::net::TcpListener> {
        use std::os::fd::AsFd;
        let socket = self.listener.as_fd().try_clone_to_owned()?;
        Ok(socket.into())
    }

    /// Returns where it listens, with the port that it got.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns how long turns may go on after it was told to end.
    pub fn drain_time(&self) -> Duration {
        self.settings.limits.drain_time
    }

    /// Returns what lets those who connect wait.
    pub fn doors(&self) -> Doors {
        self.doors.clone()
    }

    /// Gives it what it has besides its gateway.
    #[must_use]
    pub fn attach(mut self, attached: Attached) -> Self {
        self.attached = attached;
        self
    }

    /// Serves a gateway until it is told to end. Then it accepts no more connections, tells its streams, lets turns go on
    /// for as long as its settings say, and ends. Dropped, it ends at once, and what was not done stays in the ledger.
    ///
    /// If another process does the gateway's work by then, nobody is turned away: it passes on to that process what is asked on
    /// connections that are open, until they end or that time is over.
    pub async fn serve(self, gateway: Gateway, shutdown: impl Future<Output = ()>) -> Ended {
        let (phase, watching) = watch::channel(Phase::Open);
        let port = self.address.port();
        let shared = Shared::new(
            gateway.clone(),
            &self.settings,
            self.attached,
            watching,
            port,
        );
        let shared = Arc::new(shared);
        let counting = metrics::count(Arc::clone(&shared), gateway.subscribe(Topic::All));
        let counting = AbortOnDropHandle::new(tokio::spawn(counting));
        let clock = Arc::clone(&gateway.parts().clock);
        login::read(&shared.logins, &*clock).await;
        let keeping = login::keep_for_ever(Arc::clone(&shared.logins), clock);
        let keeping = AbortOnDropHandle::new(tokio::spawn(keeping));
        let _cut_when_dropped = shared.cut.clone().drop_guard();
        let accepting = accept(self.listener, self.doors.0.subscribe(), Arc::clone(&shared));
        tokio::select! {
            () = accepting => {}
            () = shutdown => {}
        }
        let longest = self.settings.limits.drain_time;
        let drained = if gateway.has_left() {
            phase.send_replace(Phase::Moved);
            let until = Instant::now() + longest;
            let drained = gateway.turns_ended(longest).await;
            shared.tasks.close();
            let _ = tokio::time::timeout_at(until, shared.tasks.wait()).await;
            drained
        } else {
            phase.send_replace(Phase::Draining);
            gateway.drain(longest).await
        };
        phase.send_replace(Phase::Closed);
        shared.tasks.close();
        if tokio::time::timeout(LAST_WORDS, shared.tasks.wait())
            .await
            .is_err()
        {
            shared.cut.cancel();
            shared.tasks.wait().await;
        }
        drop((counting, keeping));
        shared.keep_logins().await;
        Ended { drained }
    }
}

/// Accepts connections for ever. The listener is gone when this is dropped.
async fn accept(listener: TcpListener, mut doors: watch::Receiver<bool>, shared: Arc<Shared>) {
    let room = Arc::new(Semaphore::new(shared.limits.connections));
    let strangers = Arc::new(Strangers::new(shared.limits.strangers));
    loop {
        // Whoever lets them wait is there as long as the server.
        let _ = doors.wait_for(|is_open| *is_open).await;
        let accepted = tokio::select! {
            biased;
            Ok(()) = doors.changed() => continue,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let mut permit = Arc::clone(&room).try_acquire_owned().ok();
        if permit.is_none() && strangers.make_room() {
            // Its connection ends in a moment.
            let waiting = tokio::time::timeout(PAUSE, Arc::clone(&room).acquire_owned());
            permit = waiting.await.ok().and_then(Result::ok);
        }
        let Some(permit) = permit else {
            refuse(&stream);
            continue;
        };
        let seat = strangers.seat(peer.ip());
        let gone = seat.cut.clone();
        let serving = connection::serve(stream, peer, Arc::clone(&shared), permit, seat);
        let cut = shared.cut.clone();
        shared.tasks.spawn(async move {
            tokio::select! {
                () = serving => {}
                () = cut.cancelled() => {}
                () = gone.cancelled() => {}
            }
        });
    }
}

/// Says that there is no room, as far as that can be said at once.
fn refuse(stream: &TcpStream) {
    let problem = ApiError::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "too_many_connections",
        "Too many connections are open already.",
    );
    let body = serde_json::to_string(&problem.body(ErrorFormat::Own)).unwrap_or_default();
    let head = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 5\r\nconnection: close";
    let said = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let _ = stream.try_write(said.as_bytes());
}
