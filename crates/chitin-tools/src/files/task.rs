//! Work on files beside the runtime's own threads.

use super::roots::{FileOptions, Problem, Space, Surroundings};
use crate::tool::{CallContext, ToolOutcome};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Whether a call may be left before its work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    /// It only looks: nobody minds when nobody waits for it.
    Anytime,
    /// It changes something: only when it is done is it known what.
    WhenDone,
}

/// Runs work with the roots open. Safe to cancel; work that changes something is finished all the same.
pub(super) async fn with_space<Work>(
    context: &CallContext<'_>,
    options: &Arc<FileOptions>,
    leave: Leave,
    work: Work,
) -> Result<ToolOutcome, String>
where
    Work: FnOnce(&Space, &CancellationToken) -> Result<ToolOutcome, Problem> + Send + 'static,
{
    if context.cancel.is_cancelled() {
        return stopped();
    }
    let (workspace, options) = (context.workspace.to_owned(), options.clone());
    let surroundings = Surroundings {
        skill_roots: context.skill_roots.to_vec(),
        ..Surroundings::of(context)
    };
    let cancel = context.cancel.clone();
    let task = tokio::task::spawn_blocking(move || {
        let space = Space::open(&workspace, &options, &surroundings)?;
        work(&space, &cancel)
    });
    let result = match leave {
        Leave::WhenDone => task.await,
        Leave::Anytime => tokio::select! {
            result = task => result,
            () = context.cancel.cancelled() => return stopped(),
        },
    };
    match result {
        Ok(done) => done.map_err(|problem| problem.to_string()),
        Err(_) => Err("Internal error in the tool.".to_owned()),
    }
}

fn stopped() -> Result<ToolOutcome, String> {
    Err("Stopped before it finished.".to_owned())
}
