//! Questions for permission: what waits, an answer, and what was allowed always.

use crate::auth;
use crate::body::{Body, json, read_json};
use crate::error::{ApiError, ErrorDetails, short};
use crate::shared::Shared;
use chitin_gateway::approvals::{
    AnswerError, AnsweredBy, ApprovalAnswer, ApprovalOutcome, KeptApproval, PendingApproval,
    ResolvedApproval,
};
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest reason for a no, in characters.
const LONGEST_REASON: usize = 2_000;

/// Questions that wait, and what was allowed always.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ApprovalList {
    /// The questions that wait for an answer, the oldest first.
    pending: Vec<PendingApproval>,
    /// What was allowed always.
    remembered: Vec<KeptApproval>,
}

/// An answer to a question.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerApproval {
    /// The answer.
    answer: ApprovalAnswer,
    /// The reason for a no, which the model reads.
    #[serde(default)]
    why: Option<String>,
}

/// What is not allowed any more.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RevokeApproval {
    /// The id.
    id: String,
}

/// The body of an answer that came too late: what went wrong, and what became of the question.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ApprovalConflict {
    /// What went wrong.
    error: ErrorDetails,
    /// What became of the question.
    resolved: ResolvedApproval,
}

/// Lists the questions that wait, and what was allowed always.
pub(crate) async fn approvals(shared: &Shared) -> Result<Response<Body>, ApiError> {
    let listed = shared.blocking(|gateway| {
        let pending = gateway.pending_approvals();
        Ok(ApprovalList {
            pending: pending.iter().map(|one| (**one).clone()).collect(),
            remembered: gateway.parts().host.kept_approvals(),
        })
    });
    Ok(json(StatusCode::OK, &listed.await?))
}

/// Answers a question.
pub(crate) async fn answer_approval(
    shared: &Shared,
    id: String,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let (head, body) = request.into_parts();
    let by = if auth::has_token(&head.headers) {
        AnsweredBy::Token
    } else {
        AnsweredBy::Page
    };
    let asked: AnswerApproval = read_json(&head.headers, body, shared).await?;
    let why = asked.why.as_deref().map(str::trim);
    let why = why.filter(|why| !why.is_empty()).map(str::to_owned);
    if why
        .as_ref()
        .is_some_and(|why| why.chars().count() > LONGEST_REASON)
    {
        let message = format!("`why` has more than {LONGEST_REASON} characters.");
        return Err(ApiError::bad(message).param("why"));
    }
    match shared.gateway.answer_approval(&id, asked.answer, why, by) {
        Ok(resolved) => Ok(json(StatusCode::OK, &resolved)),
        Err(error) => refused(error, &id),
    }
}

fn refused(error: AnswerError, id: &str) -> Result<Response<Body>, ApiError> {
    let (failed, resolved) = match error {
        AnswerError::Unknown => {
            let message = format!("There is no question `{}`.", short(id));
            let failed = ApiError::new(StatusCode::NOT_FOUND, "unknown_approval", message);
            return Err(failed.hint("`GET /api/approvals` lists those that wait."));
        }
        AnswerError::OnlyOnce => {
            let message = "This can only be answered with `once` or `no`.";
            return Err(ApiError::bad(message).param("answer"));
        }
        AnswerError::AnsweredBefore(resolved) => {
            let by = match resolved.by {
                Some(AnsweredBy::Page) => " on the page",
                Some(AnsweredBy::Token) => " with the token",
                None => "",
            };
            let answer = word(resolved.outcome);
            let message = format!("The question was answered with `{answer}`{by} before.");
            let failed = ApiError::new(StatusCode::CONFLICT, "answered_before", message);
            (failed, resolved)
        }
        AnswerError::Over(resolved) => {
            let message = match resolved.outcome {
                ApprovalOutcome::Expired => "Nobody answered in time, so it was refused.",
                ApprovalOutcome::Withdrawn
                | ApprovalOutcome::Once
                | ApprovalOutcome::Session
                | ApprovalOutcome::Always
                | ApprovalOutcome::No => "The turn that asked is over.",
            };
            let failed = ApiError::new(StatusCode::GONE, "approval_over", message);
            (failed, resolved)
        }
    };
    let error = failed.details();
    Ok(json(failed.status, &ApprovalConflict { error, resolved }))
}

const fn word(outcome: ApprovalOutcome) -> &'static str {
    match outcome {
        ApprovalOutcome::Once => "once",
        ApprovalOutcome::Session => "session",
        ApprovalOutcome::Always => "always",
        ApprovalOutcome::No => "no",
        ApprovalOutcome::Expired => "expired",
        ApprovalOutcome::Withdrawn => "withdrawn",
    }
}

/// Takes back what was allowed always.
pub(crate) async fn revoke_approval(
    shared: &Shared,
    request: Request<Incoming>,
) -> Result<Response<Body>, ApiError> {
    let (head, body) = request.into_parts();
    let RevokeApproval { id } = read_json(&head.headers, body, shared).await?;
    let name = short(&id);
    let revoked = shared.blocking(move |gateway| Ok(gateway.parts().host.revoke_approval(&id)?));
    if revoked.await? {
        Ok(json(StatusCode::OK, &super::Success::DONE))
    } else {
        let message = format!("There is no approval `{name}`.");
        Err(ApiError::new(
            StatusCode::NOT_FOUND,
            "unknown_approval",
            message,
        ))
    }
}
