//! One connection.

use crate::answer::{Caller, answer};
use crate::phase::Phase;
use crate::shared::Shared;
use crate::stall::Stall;
use crate::strangers::StrangerSeat;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Notify, OwnedSemaphorePermit};

/// How long a client that has just connected may take to ask something when the server is about to end.
const FIRST_WORD: Duration = Duration::from_secs(1);

/// Serves a connection until either side ends it. It keeps its room until then.
pub(crate) async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    shared: Arc<Shared>,
    room: OwnedSemaphorePermit,
    stranger: StrangerSeat,
) {
    // Events are small and wanted at once.
    let _ = stream.set_nodelay(true);
    let Ok(local) = stream.local_addr() else {
        return;
    };
    let caller = Caller {
        address: peer.ip(),
        local: local.ip(),
        seat: Arc::new(Seat::take(&shared, room, stranger)),
    };
    let limits = &shared.limits;
    let io = TokioIo::new(Stall::new(stream, limits.stall_time));
    let asked = Notify::new();
    let service = service_fn(|request| {
        asked.notify_one();
        let (shared, caller) = (Arc::clone(&shared), caller.clone());
        async move {
            caller.seat.stranger.set_busy(true);
            let answer = answer(shared, caller.clone(), request).await;
            caller.seat.stranger.set_busy(false);
            Ok::<_, Infallible>(answer)
        }
    });
    // After the process was replaced, each answer says that the connection ends, so that its client knows before it asks again.
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(limits.head.max(8 << 10))
        .max_headers(limits.header_lines)
        .serve_connection(io, service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let mut phase = shared.phase.clone();
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = phase.wait_for(|phase| matches!(phase, Phase::Draining | Phase::Closed)) => {}
    }
    // Whoever has just come in and said nothing yet is heard: otherwise the line would go dead under the first word.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = tokio::time::timeout(FIRST_WORD, asked.notified()) => {}
    }
    // What is being answered is answered; idle ones end now.
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// The room of a connection, also while it is a WebSocket.
pub(crate) struct Seat {
    shared: Arc<Shared>,
    _room: OwnedSemaphorePermit,
    stranger: StrangerSeat,
}

impl Seat {
    fn take(shared: &Arc<Shared>, room: OwnedSemaphorePermit, stranger: StrangerSeat) -> Self {
        shared.connections.fetch_add(1, Ordering::Relaxed);
        Self {
            shared: Arc::clone(shared),
            _room: room,
            stranger,
        }
    }

    /// Notes that the token was shown: from now on the connection keeps its room.
    pub(crate) fn is_known(&self) {
        self.stranger.leave();
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.shared.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
