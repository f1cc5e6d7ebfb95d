//! What a workspace was before a turn wrote to it: kept by somebody else, asked for at the right moments.

/// A turn that is about to write.
#[derive(Debug, Clone, Copy)]
pub struct WritingTurn<'a> {
    /// Its run id.
    pub run_id: &'a str,
    /// Its session.
    pub session_key: &'a str,
    /// The message.
    pub message: &'a str,
}

/// Keeps what turns change, so that it can be taken back. An implementation may block: it is called on a thread of its own.
pub trait Checkpoints: Send + Sync {
    /// Tells whether anything is kept at all.
    fn is_enabled(&self) -> bool;

    /// Records the workspace as it is, while the first request of a turn is on its way. Returns what the user should know.
    fn record(&self) -> Result<Vec<String>, String>;

    /// Notes that a turn is about to write. Everything that changes until [`OpenCheckpoint::end`] may be its work.
    fn begin(&self, turn: WritingTurn<'_>) -> Result<Box<dyn OpenCheckpoint>, String>;

    /// Notes that a turn writes although it could not be recorded, so that nobody takes an earlier one for the last.
    fn miss(&self) {}
}

/// A turn that is writing. Dropped, the turn counts as interrupted.
pub trait OpenCheckpoint: Send {
    /// Records what the turn changed.
    fn end(self: Box<Self>) -> Result<Vec<String>, String>;
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCheckpoints;

impl Checkpoints for NoCheckpoints {
    fn is_enabled(&self) -> bool {
        false
    }

    fn record(&self) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    fn begin(&self, _: WritingTurn<'_>) -> Result<Box<dyn OpenCheckpoint>, String> {
        Ok(Box::new(Self))
    }
}

impl OpenCheckpoint for NoCheckpoints {
    fn end(self: Box<Self>) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }
}
