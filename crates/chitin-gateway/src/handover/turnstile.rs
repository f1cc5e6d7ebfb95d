//! What must not happen while the work goes to another process passes here.

use std::sync::Arc;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio_util::sync::CancellationToken;

/// Lets pass who changes the books, unless another process keeps them.
#[derive(Debug, Default)]
pub(crate) struct Turnstile {
    has_left: Arc<RwLock<bool>>,
    left: CancellationToken,
}

/// While it is held, the books are kept here.
#[derive(Debug)]
pub(crate) struct Here {
    _guard: OwnedRwLockReadGuard<bool>,
}

impl Turnstile {
    /// Waits while it is being decided who keeps the books, and says whether it is this process.
    pub(crate) async fn pass(&self) -> Option<Here> {
        let guard = Arc::clone(&self.has_left).read_owned().await;
        (!*guard).then_some(Here { _guard: guard })
    }

    /// Waits until nobody is inside, and lets nobody pass until what is returned is dropped.
    pub(super) async fn close(&self) -> OwnedRwLockWriteGuard<bool> {
        Arc::clone(&self.has_left).write_owned().await
    }

    /// The books are kept elsewhere for good.
    pub(super) fn leave(&self, mut closed: OwnedRwLockWriteGuard<bool>) {
        *closed = true;
        self.left.cancel();
    }

    /// Tells whether the books are kept elsewhere.
    pub(crate) fn has_left(&self) -> bool {
        self.left.is_cancelled()
    }

    /// Waits until the books are kept elsewhere.
    pub(crate) async fn left(&self) {
        self.left.cancelled().await;
    }

    /// Returns what says that the books are kept elsewhere, for those who only look.
    pub(crate) fn token(&self) -> CancellationToken {
        self.left.clone()
    }
}
