//! The checkpoint of a turn: recorded while the first request is on its way, and there before the first tool that may write.

use super::Running;
use crate::checkpoint::{OpenCheckpoint, WritingTurn};
use chitin_protocol::message::ToolCallBlock;
use chitin_tools::ToolConcurrency;
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// How far the checkpoint of a turn is.
#[derive(Default)]
pub(crate) struct TurnCheckpoint(Mutex<Stage>);

#[derive(Default)]
enum Stage {
    /// Nothing was recorded yet.
    #[default]
    None,
    /// The workspace is being recorded.
    Recording(JoinHandle<Result<Vec<String>, String>>),
    /// The turn is writing.
    Open(Box<dyn OpenCheckpoint>),
    /// It failed, and the user was told.
    Failed,
}

impl Running<'_> {
    /// Begins to record the workspace, unless that was done or no tool of the turn may write. Does not wait for it.
    pub(super) fn record_workspace(&self) {
        let parts = &self.agent.parts;
        let may_write = || {
            let mut tools = parts
                .tools
                .specs()
                .filter_map(|spec| parts.tools.get(&spec.name));
            tools.any(|tool| tool.concurrency() == ToolConcurrency::Alone)
        };
        if !parts.checkpoints.is_enabled() || !may_write() {
            return;
        }
        // Somebody who holds it is further already.
        if let Ok(mut stage) = self.checkpoint.0.try_lock()
            && matches!(*stage, Stage::None)
        {
            *stage = Stage::Recording(self.recording());
        }
    }

    fn recording(&self) -> JoinHandle<Result<Vec<String>, String>> {
        let checkpoints = Arc::clone(&self.agent.parts.checkpoints);
        tokio::task::spawn_blocking(move || checkpoints.record())
    }

    /// Waits until the workspace is recorded, if the tool may write. A turn that cannot be taken back runs, and says so.
    pub(super) async fn before_tool(&self, call: &ToolCallBlock) {
        let tool = self.agent.parts.tools.get(&call.name);
        if tool.is_some_and(|tool| tool.concurrency() == ToolConcurrency::Alone) {
            self.before_writing().await;
        }
    }

    /// Waits until the workspace is recorded, and notes that the turn writes from here on.
    pub(super) async fn before_writing(&self) {
        let parts = &self.agent.parts;
        if !parts.checkpoints.is_enabled() {
            return;
        }
        let mut stage = self.checkpoint.0.lock().await;
        if matches!(*stage, Stage::None) {
            *stage = Stage::Recording(self.recording());
        }
        let Stage::Recording(recording) = &mut *stage else {
            return;
        };
        let recorded = tokio::select! {
            recorded = recording => recorded.unwrap_or_else(|error| Err(error.to_string())),
            // The tool will not run.
            () = self.cancel.cancelled() => return,
        };
        let opened = match recorded {
            Ok(notes) => {
                for note in notes {
                    self.sink.note(&note).await;
                }
                let checkpoints = Arc::clone(&parts.checkpoints);
                let (run_id, session_key) = (
                    self.identity.run_id.clone(),
                    self.identity.session_key.clone(),
                );
                let message = self.request.message.words.clone();
                let opening = tokio::task::spawn_blocking(move || {
                    checkpoints.begin(WritingTurn {
                        run_id: &run_id,
                        session_key: &session_key,
                        message: &message,
                    })
                });
                opening.await.unwrap_or_else(|error| Err(error.to_string()))
            }
            Err(error) => Err(error),
        };
        *stage = match opened {
            Ok(open) => Stage::Open(open),
            Err(error) => {
                let note = format!("what this turn changes cannot be undone: {error}");
                self.sink.note(&note).await;
                let checkpoints = Arc::clone(&parts.checkpoints);
                let missing = tokio::task::spawn_blocking(move || checkpoints.miss());
                // The turn goes on all the same, and the user was told.
                let _ = missing.await;
                Stage::Failed
            }
        };
    }

    /// Records what the turn changed. A turn that ran no tool that may write is not waited for.
    pub(super) async fn end_checkpoint(&self) {
        let stage = std::mem::take(&mut *self.checkpoint.0.lock().await);
        let Stage::Open(open) = stage else { return };
        let ended = tokio::task::spawn_blocking(move || open.end()).await;
        match ended.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(notes) => {
                for note in notes {
                    self.sink.note(&note).await;
                }
            }
            Err(error) => {
                let note = format!("what this turn changed was not recorded completely: {error}");
                self.sink.note(&note).await;
            }
        }
    }
}
