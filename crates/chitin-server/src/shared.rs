//! What all connections of a server share.

use crate::attached::Attached;
use crate::auth::Auth;
use crate::error::ApiError;
use crate::login::{self, Logins, Moment};
use crate::metrics::Metrics;
use crate::page::Page;
use crate::phase::Phase;
use crate::rate::Rate;
use crate::settings::{Limits, ServerSettings};
use crate::socket::Written;
use crate::workspace_api::{WorkspaceApi, WorkspaceApiError, WorkspaceApiErrorKind};
use chitin_gateway::{Accepted, Gateway, IncomingMessage};
use secrecy::ExposeSecret;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What all connections of a server share.
pub(crate) struct Shared {
    pub(crate) gateway: Gateway,
    pub(crate) auth: Auth,
    pub(crate) limits: Limits,
    pub(crate) phase: watch::Receiver<Phase>,
    /// The port that it listens on.
    pub(crate) port: u16,
    pub(crate) tasks: TaskTracker,
    /// Ends every connection at once.
    pub(crate) cut: CancellationToken,
    pub(crate) began: Instant,
    pub(crate) connections: AtomicUsize,
    pub(crate) attached: Attached,
    pub(crate) logins: Arc<Logins>,
    pub(crate) page: Page,
    pub(crate) metrics: Metrics,
    pub(crate) written: Written,
    streams: Arc<Semaphore>,
    /// Room for bodies, in kibibytes.
    bodies: Arc<Semaphore>,
    requests: Rate,
    failures: Rate,
}

impl Shared {
    pub(crate) fn new(
        gateway: Gateway,
        settings: &ServerSettings,
        attached: Attached,
        phase: watch::Receiver<Phase>,
        port: u16,
    ) -> Self {
        let limits = settings.limits.clone();
        let logins = Logins::new(settings.token.expose_secret(), attached.logins.clone());
        Self {
            gateway,
            auth: Auth::new(settings),
            phase,
            port,
            tasks: TaskTracker::new(),
            cut: CancellationToken::new(),
            began: Instant::now(),
            connections: AtomicUsize::new(0),
            logins: Arc::new(logins),
            attached,
            page: Page::new(),
            metrics: Metrics::default(),
            written: Written::default(),
            streams: Arc::new(Semaphore::new(limits.streams)),
            bodies: Arc::new(Semaphore::new(limits.bodies.max(limits.body) / 1024 + 1)),
            requests: Rate::new(limits.request_burst, limits.requests_per_second),
            failures: Rate::new(limits.failure_burst, 1),
            limits,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        *self.phase.borrow() == Phase::Open
    }

    /// Says what time it is, by both clocks.
    pub(crate) fn now(&self) -> Moment {
        Moment::now(&*self.gateway.parts().clock)
    }

    /// Writes down who is in, if that changed.
    pub(crate) async fn keep_logins(&self) {
        login::keep(&self.logins, &*self.gateway.parts().clock).await;
    }

    /// Counts a request of an address.
    pub(crate) fn count_request(&self, address: IpAddr) -> Result<(), ApiError> {
        self.requests.take(address).map_err(|wait| {
            let message = "Too many requests came from this address.";
            ApiError::too_many("too_many_requests", message, wait.as_secs() + 1)
        })
    }

    /// Counts a wrong token of an address. The right one always passes: somebody else's mistake shuts nobody out, and a
    /// token of this length is not found by trying.
    pub(crate) fn count_failure(&self, address: IpAddr) -> Result<(), ApiError> {
        self.failures.take(address).map_err(|wait| {
            let message = "Too many wrong tokens came from this address.";
            ApiError::too_many("too_many_failures", message, wait.as_secs() + 1)
        })
    }

    /// Takes room for something that stays open.
    pub(crate) fn stream(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let room = Arc::clone(&self.streams).try_acquire_owned();
        room.map_err(|_| ApiError {
            retry_after: Some(5),
            ..ApiError::new(
                hyper::StatusCode::SERVICE_UNAVAILABLE,
                "too_many_streams",
                "Too many streams are open already.",
            )
        })
    }

    /// Takes room for a body of so many bytes.
    pub(crate) fn room_for_body(&self, bytes: usize) -> Result<OwnedSemaphorePermit, ApiError> {
        let kibibytes = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.bodies).try_acquire_many_owned(kibibytes);
        room.map_err(|_| ApiError {
            retry_after: Some(1),
            ..ApiError::new(
                hyper::StatusCode::SERVICE_UNAVAILABLE,
                "too_many_bytes",
                "Too many bytes are being read already.",
            )
        })
    }

    pub(crate) fn open_streams(&self) -> usize {
        self.limits.streams - self.streams.available_permits()
    }

    /// Hands a message in. It is taken in wholly even if its sender goes away meanwhile.
    pub(crate) async fn accept(&self, incoming: IncomingMessage) -> Result<Accepted, ApiError> {
        let gateway = self.gateway.clone();
        let accepting = self
            .tasks
            .spawn(async move { gateway.accept(incoming).await });
        match accepting.await {
            Ok(accepted) => Ok(accepted?),
            Err(_) => Err(ApiError::internal("Could not accept the message.")),
        }
    }

    /// Does something that waits for the disk, off the threads that serve.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Gateway) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let gateway = self.gateway.clone();
        match tokio::task::spawn_blocking(move || work(&gateway)).await {
            Ok(done) => done,
            Err(_) => Err(ApiError::internal("Internal error.")),
        }
    }

    /// Asks the workspace API, off the threads that serve.
    pub(crate) async fn workspaces<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn WorkspaceApi) -> Result<T, WorkspaceApiError> + Send + 'static,
    ) -> Result<T, WorkspaceApiError> {
        let Some(workspaces) = self.attached.workspaces.clone() else {
            return Err(WorkspaceApiError::not_here());
        };
        let asking = tokio::task::spawn_blocking(move || work(&*workspaces));
        let failed = |_| {
            let message = "Internal error.";
            Err(WorkspaceApiError::new(
                WorkspaceApiErrorKind::Failed,
                message,
            ))
        };
        asking.await.unwrap_or_else(failed)
    }
}
