//! Work on files beside the runtime's own threads.

use super::consent::{Consent, Petition};
use super::roots::{FileOptions, Problem, Space, Surroundings};
use crate::tool::{Approval, ApprovalRequest, CallContext, ToolOutcome};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Runs work that only looks, with the roots open. Safe to cancel: nobody minds when nobody waits for it.
pub(super) async fn with_space<Work>(
    context: &CallContext<'_>,
    options: &Arc<FileOptions>,
    work: Work,
) -> Result<ToolOutcome, String>
where
    Work: FnOnce(&Space, &CancellationToken) -> Result<ToolOutcome, Problem> + Send + 'static,
{
    if context.cancel.is_cancelled() {
        return stopped();
    }
    let cancel = context.cancel.clone();
    let open = opening(context, options);
    let task = tokio::task::spawn_blocking(move || {
        let space = open()?;
        Ok(told(work(&space, &cancel), &space))
    });
    let result = tokio::select! {
        result = task => result,
        () = context.cancel.cancelled() => return stopped(),
    };
    result.map_or_else(|_| internal_error(), outcome_of)
}

/// Runs work that changes files. What the owner must approve is asked first, and then exactly that is done. Safe to cancel, but for
/// work that has begun: only when it is done is it known what changed.
pub(super) async fn with_changes<Work>(
    context: &CallContext<'_>,
    options: &Arc<FileOptions>,
    tool: &str,
    work: Work,
) -> Result<ToolOutcome, String>
where
    Work: Fn(&Space, &Consent) -> Result<ToolOutcome, Problem> + Send + Sync + 'static,
{
    context.may_write(tool).await?;
    let work = Arc::new(work);
    let mut consent = Consent::default();
    loop {
        if context.cancel.is_cancelled() {
            return stopped();
        }
        let (open, doing) = (opening(context, options), Arc::clone(&work));
        let was_asked = !consent.0.is_empty();
        let task = tokio::task::spawn_blocking(move || {
            let space = open()?;
            match doing(&space, &consent) {
                Err(Problem::NeedsOwner(wanted)) => Err(Problem::NeedsOwner(wanted)),
                done => Ok(told(done, &space)),
            }
        });
        let wanted = match task.await {
            Ok(Err(Problem::NeedsOwner(wanted))) => wanted,
            Ok(result) => return outcome_of(result),
            Err(_) => return internal_error(),
        };
        let petition = Petition::of(&wanted);
        if was_asked {
            return Err(format!(
                "Nothing was changed: while the owner was asked to {}, something else changed it. Read it again.",
                petition.what
            ));
        }
        let request = ApprovalRequest {
            session_key: context.session_key,
            tool,
            what: &petition.what,
            why: &petition.why,
            diff: Some(&petition.diff),
            pattern: Some(&petition.pattern),
            covered_by: &|pattern| pattern == petition.pattern,
        };
        match context.approver.ask(request).await {
            Approval::Once | Approval::Session | Approval::Always => consent = Consent(wanted),
            refused @ (Approval::Denied(_) | Approval::Nobody(_)) => {
                let (names, why) = (&petition.names, &petition.why);
                let refusal = refused.refusal();
                let refusal = refusal.trim_end_matches('.');
                let hint = petition.hint.map(|hint| format!(" {hint}"));
                return Err(format!(
                    "{names} was not changed: {refusal}. {why} Do not try to change it in another way; tell the owner what you \
                     would change, and why.{}",
                    hint.unwrap_or_default()
                ));
            }
        }
    }
}

/// Returns what opens the roots, on a thread that may wait.
fn opening(
    context: &CallContext<'_>,
    options: &Arc<FileOptions>,
) -> impl FnOnce() -> Result<Space, Problem> + Send + 'static {
    let (workspace, options) = (context.workspace.to_owned(), Arc::clone(options));
    let surroundings = Surroundings {
        skill_roots: context.skill_roots.to_vec(),
        ..Surroundings::of(context)
    };
    move || Space::open(&workspace, &options, &surroundings)
}

/// Says where the texts of an outcome come from. What went wrong may show parts of files, too.
fn told(done: Result<ToolOutcome, Problem>, space: &Space) -> ToolOutcome {
    let outcome = done.unwrap_or_else(|problem| ToolOutcome::error(problem.to_string()));
    outcome.from(space.origins())
}

fn outcome_of(result: Result<ToolOutcome, Problem>) -> Result<ToolOutcome, String> {
    result.map_err(|problem| problem.to_string())
}

fn internal_error() -> Result<ToolOutcome, String> {
    Err("Internal error in the tool.".to_owned())
}

fn stopped() -> Result<ToolOutcome, String> {
    Err("Stopped before it finished.".to_owned())
}
