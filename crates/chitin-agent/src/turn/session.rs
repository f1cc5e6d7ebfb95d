//! The session's file for async code: waiting for the disk happens on another thread.

use super::{Parts, TurnError};
use crate::blocking;
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_store::{
    Begin, BranchMeasure, LockMode, NewEntry, OpenSession, PendingRecords, SessionEntry, StoreError,
};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The pause between attempts to open a session that another process has open.
const TRY_AGAIN: Duration = Duration::from_millis(25);

/// A session that this turn has open.
pub(crate) struct SessionHandle {
    /// None while another thread uses it.
    open: Option<Box<dyn OpenSession>>,
}

impl SessionHandle {
    /// Opens a session; waits for another process to release it, up to a limit.
    pub(crate) async fn open(
        parts: &Parts,
        key: &str,
        begin: &Begin<'_>,
        cancel: &CancellationToken,
        measure: &mut (dyn BranchMeasure + Send),
    ) -> Result<Self, TurnError> {
        let mut waited = 0;
        loop {
            let opened = blocking(|| {
                parts
                    .store
                    .open_measured(key, begin, LockMode::Refuse, &mut *measure)
            });
            match opened {
                Ok(open) => return Ok(Self { open: Some(open) }),
                Err(StoreError::Busy { .. })
                    if waited < parts.lock_wait_ms && !cancel.is_cancelled() =>
                {
                    tokio::time::sleep(TRY_AGAIN).await;
                    waited += 25;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns the session.
    pub(crate) fn get(&self) -> Result<&dyn OpenSession, TurnError> {
        self.open.as_deref().ok_or_else(lost)
    }

    /// Appends records and waits until they are on disk. Not cancellation safe.
    pub(crate) async fn append(
        &mut self,
        bodies: Vec<EntryBody>,
        now: String,
    ) -> Result<Vec<TranscriptEntry>, TurnError> {
        let mut open = self.open.take().ok_or_else(lost)?;
        let work = tokio::task::spawn_blocking(move || {
            let entries = bodies.into_iter().map(|body| NewEntry { body }).collect();
            let appended = open.append(entries, &now);
            (open, appended)
        });
        let (open, appended) = work.await.map_err(|error| internal(&error))?;
        self.open = Some(open);
        Ok(appended?)
    }

    /// Appends records without waiting for the disk.
    pub(crate) fn append_pending(
        &mut self,
        bodies: Vec<EntryBody>,
        now: &str,
    ) -> Result<Option<PendingRecords>, TurnError> {
        if bodies.is_empty() {
            return Ok(None);
        }
        let open = self.open.as_deref_mut().ok_or_else(lost)?;
        let entries = bodies.into_iter().map(|body| NewEntry { body }).collect();
        Ok(Some(blocking(|| open.append_pending(entries, now))?))
    }

    /// Changes the session's entry in the index.
    pub(crate) async fn update(
        &mut self,
        mut change: impl FnMut(&mut SessionEntry) + Send + 'static,
    ) -> Result<(), TurnError> {
        let mut open = self.open.take().ok_or_else(lost)?;
        let work = tokio::task::spawn_blocking(move || {
            let updated = open.update(&mut change);
            (open, updated)
        });
        let (open, updated) = work.await.map_err(|error| internal(&error))?;
        self.open = Some(open);
        Ok(updated?)
    }
}

fn lost() -> TurnError {
    TurnError::Internal("the session was closed by an earlier failure".to_owned())
}

pub(super) fn internal(error: &tokio::task::JoinError) -> TurnError {
    TurnError::Internal(format!("writing to the session failed: {error}"))
}
