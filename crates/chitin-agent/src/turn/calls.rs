//! Runs the tools that a reply calls: those that only read run side by side, the others one by one, in order.

use super::event_sink::EventSink;
use super::{Running, TurnError};
use crate::blocking;
use crate::guard::sentence;
use crate::journal::TurnMoment;
use crate::origins;
use chitin_protocol::event::{RefusedPart, TurnEvent};
use chitin_protocol::message::{
    AssistantMessage, Content, Extra, Message, ToolCallBlock, ToolResultMessage,
};
use chitin_protocol::origin::{MOST_ORIGINS, Origin};
use chitin_protocol::transcript::EntryBody;
use chitin_tools::approval::RememberedApprovals;
use chitin_tools::redact::{Redactor, mask_assignments};
use chitin_tools::{
    Approval, ApprovalRequest, Approver, CallContext, ToolConcurrency, ToolOutcome,
};
use futures_util::future::{BoxFuture, join_all};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// How many tools run side by side.
const BESIDE: usize = 8;
/// How much text a tool may return.
const MAX_OUTPUT: usize = 256 * 1024;
/// The length of the one-line summary of a result.
const SUMMARY: usize = 200;

/// A tool that has run.
struct Ran {
    call: ToolCallBlock,
    outcome: ToolOutcome,
    runtime_ms: u64,
}

impl Running<'_> {
    /// Runs the tools of a reply. Every call gets a result, whatever happens, so that the transcript stays valid.
    pub(crate) async fn run_tools(&mut self, answer: &AssistantMessage) -> Result<(), TurnError> {
        let calls: Vec<ToolCallBlock> = answer.tool_calls().cloned().collect();
        let mut over = None;
        let mut rest = calls.as_slice();
        while !rest.is_empty() {
            let shared = rest
                .iter()
                .take(BESIDE)
                .take_while(|call| self.concurrency(call) == ToolConcurrency::Shared)
                .count();
            let (batch, later) = rest.split_at(shared.max(1));
            rest = later;
            self.take_down_background().await;
            self.look_for_origins().await;
            let since = match shared {
                0 => Some(self.before_changes().await),
                _ => None,
            };
            let mut refused = Vec::new();
            for call in batch {
                let why = over
                    .clone()
                    .or_else(|| self.progress.spent.count(call, &self.agent.parts.limits));
                over = over.or_else(|| why.clone());
                refused.push(why);
                self.sink
                    .tell(TurnEvent::ToolStarted {
                        call_id: call.id.clone(),
                        name: call.name.clone(),
                        arguments: call.arguments.clone().unwrap_or_default(),
                    })
                    .await;
                self.journal.observe(TurnMoment::ToolCalled(call));
            }
            let running = batch
                .iter()
                .zip(refused)
                .map(|(call, why)| self.run_one(call, why));
            let ran = join_all(running).await;
            self.keep(ran).await?;
            if let Some(since) = since {
                // What the call itself brought counts, too: it may have written that down.
                self.look_for_origins().await;
                let tool = batch.first().map_or("", |call| call.name.as_str());
                self.take_down_changes(since, tool).await;
            }
        }
        match over {
            Some(limit) => Err(TurnError::Limit(limit)),
            None => Ok(()),
        }
    }

    fn concurrency(&self, call: &ToolCallBlock) -> ToolConcurrency {
        let tool = self.agent.parts.tools.get(&call.name);
        tool.map_or(ToolConcurrency::Shared, |tool| tool.concurrency())
    }

    async fn run_one(&self, call: &ToolCallBlock, refused: Option<String>) -> Ran {
        let began = Instant::now();
        // The name comes from the model: it is escaped, and nothing of the arguments is logged.
        let span = tracing::info_span!("tool", name = ?call.name, call = ?call.id);
        let outcome = self.outcome(call, refused).instrument(span.clone()).await;
        tracing::debug!(parent: &span, error = outcome.is_error, "the tool is done");
        Ran {
            call: call.clone(),
            outcome,
            runtime_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    pub(super) async fn outcome(
        &self,
        call: &ToolCallBlock,
        refused: Option<String>,
    ) -> ToolOutcome {
        let parts = &self.agent.parts;
        if let Some(why) = refused {
            return ToolOutcome::error(format!("Not run: {why}."));
        }
        if self.cancel.is_cancelled() {
            return ToolOutcome::error("Not run: the user stopped the turn.");
        }
        // A call of a tool that does not exist is answered by the toolbox, which knows the nearest one and why.
        let arguments = match usable_arguments(call) {
            Some(arguments) => arguments,
            None if parts.tools.get(&call.name).is_none() => serde_json::Value::Null,
            None => {
                return ToolOutcome::error(
                    "Not run: the arguments are no complete JSON object. Call the tool again with all of them.",
                );
            }
        };
        if let Some(by) = parts.guard.tool_call(&arguments) {
            let part = RefusedPart::ToolCall;
            let text = sentence(part, &by);
            self.sink
                .tell(TurnEvent::Refused {
                    part,
                    by,
                    text: text.clone(),
                    key: Some(call.id.clone()),
                })
                .await;
            return ToolOutcome::error(format!("Not run: {text}"));
        }
        self.before_tool(call).await;
        if self.cancel.is_cancelled() {
            return ToolOutcome::error("Not run: the user stopped the turn.");
        }
        let sink = &self.sink;
        let progress = |text: &str| sink.progress(&call.id, text);
        let rights = self.rights();
        let context = CallContext {
            workspace: &parts.workspace,
            state_roots: &parts.state_roots,
            skill_roots: &self.request.prepared.skill_roots,
            agent: &self.identity.definition,
            rights: &rights,
            session_key: &self.identity.session_key,
            call_id: &call.id,
            cancel: &self.cancel,
            max_output_bytes: MAX_OUTPUT,
            progress: &progress,
            approver: &Telling {
                approver: &*self.identity.approver,
                approvals: &parts.approvals,
                session_key: &self.identity.session_key,
                answers_guest: self.identity.guest.is_some(),
                sink,
                call_id: &call.id,
                cancel: &self.cancel,
                redactor: parts.tools.redactor(),
            },
        };
        tokio::select! {
            biased;
            outcome = parts.tools.call(&call.name, arguments, &context) => outcome,
            // A tool that ignores the token must not hold up the turn.
            () = async {
                self.cancel.cancelled().await;
                tokio::time::sleep(std::time::Duration::from_secs(3)).await;
            } => ToolOutcome::error("Stopped by the user; the tool did not say how far it came."),
        }
    }

    /// Stores the results in the order of the calls, then reports them.
    async fn keep(&mut self, ran: Vec<Ran>) -> Result<(), TurnError> {
        let now_ms = self.agent.parts.clock.now_ms();
        let mut bodies = Vec::new();
        let rules = Arc::clone(&self.agent.parts.untrusted);
        for Ran { call, outcome, .. } in &ran {
            let mut extra = Extra::new();
            // What is derived from its name in records of older versions is said here in any case.
            if !outcome.origins.is_empty() || origins::of_tool(&call.name).is_some() {
                let untrusted = outcome
                    .origins
                    .iter()
                    .filter(|origin| !rules.trusts(origin));
                let untrusted: Vec<Origin> = untrusted.take(MOST_ORIGINS).cloned().collect();
                origins::store(&mut extra, &untrusted);
            }
            let result = ToolResultMessage {
                tool_call_id: call.id.clone(),
                tool_name: Some(call.name.clone()),
                content: Content::Blocks(self.conversation.capped(&outcome.content)),
                details: outcome.details.clone(),
                is_error: outcome.is_error,
                timestamp: Some(now_ms),
                extra,
            };
            let summary = shortened(&result.content.text());
            self.journal.observe(TurnMoment::ToolDone {
                result: &result,
                summary: Some(&summary),
            });
            bodies.push(EntryBody::Message(Message::ToolResult(result)));
        }
        self.store(bodies).await?;
        let given = ran.iter().map(|one| one.outcome.content.clone());
        self.conversation.keep_whole(given.collect());
        for one in ran {
            let text = Content::Blocks(one.outcome.content).text();
            self.sink
                .tell(TurnEvent::ToolFinished {
                    call_id: one.call.id,
                    name: one.call.name,
                    is_error: one.outcome.is_error,
                    summary: shortened(&text),
                    runtime_ms: one.runtime_ms,
                })
                .await;
        }
        Ok(())
    }
}

/// Asks for approval where no earlier answer covers a request, and reports it before.
struct Telling<'a> {
    approver: &'a dyn Approver,
    approvals: &'a RememberedApprovals,
    session_key: &'a str,
    answers_guest: bool,
    sink: &'a EventSink,
    call_id: &'a str,
    cancel: &'a CancellationToken,
    redactor: &'a Redactor,
}

/// A question without the secrets in it. What is remembered of the answer is about the whole one.
struct MaskedQuestion {
    what: String,
    why: String,
    diff: Option<String>,
    pattern: Option<String>,
}

impl MaskedQuestion {
    fn of(request: &ApprovalRequest<'_>, redactor: &Redactor) -> Self {
        let (what, names) = mask_assignments(request.what);
        let mut why = redactor.redact(request.why);
        if !names.is_empty() {
            let separator = if why.is_empty() { "" } else { " " };
            let names = names.join("`, `");
            why = format!(
                "{why}{separator}What looks like a secret is masked here (`{names}`); the command itself is whole."
            );
        }
        Self {
            what: redactor.redact(&what),
            why,
            diff: request.diff.map(|diff| redactor.redact(diff)),
            pattern: request
                .pattern
                .map(|pattern| redactor.redact(&mask_assignments(pattern).0)),
        }
    }
}

impl Approver for Telling<'_> {
    fn is_there(&self) -> bool {
        // What would be asked about is refused to a guest.
        self.answers_guest || self.approver.is_there()
    }

    fn ask<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            let request = ApprovalRequest {
                session_key: self.session_key,
                ..request
            };
            if self.answers_guest {
                // What the owner allowed was not meant for the words of others, and the owner is not made to answer them.
                return Approval::Nobody(Some("this turn answers a guest".to_owned()));
            }
            if blocking(|| self.approvals.covers(&request)) {
                return Approval::Once;
            }
            let masked = MaskedQuestion::of(&request, self.redactor);
            let shown = ApprovalRequest {
                what: &masked.what,
                why: &masked.why,
                diff: masked.diff.as_deref(),
                pattern: masked.pattern.as_deref(),
                ..request
            };
            self.sink
                .tell(TurnEvent::ApprovalNeeded {
                    call_id: self.call_id.to_owned(),
                    name: request.tool.to_owned(),
                    what: masked.what.clone(),
                })
                .await;
            let answer = tokio::select! {
                biased;
                // Whoever asks takes the question back when this is dropped.
                () = self.cancel.cancelled() => Approval::Denied(Some("the turn was stopped".to_owned())),
                answer = self.approver.ask(shown) => answer,
            };
            if let Err(error) = blocking(|| self.approvals.keep(&request, &answer)) {
                self.sink.note(&error).await;
            }
            if matches!(answer, Approval::Nobody(_)) {
                let what = chitin_tools::untrusted::shortened(&masked.what);
                let (why, refusal) = (request.why, answer.refusal());
                let note = format!("not done: {what}: {}. {why}", refusal.trim_end_matches('.'));
                self.sink.note(note.trim_end()).await;
            }
            answer
        })
    }
}

/// Returns the arguments if they are complete.
pub(super) fn usable_arguments(call: &ToolCallBlock) -> Option<serde_json::Value> {
    match &call.arguments {
        Some(arguments)
            if arguments.is_object() && chitin_model::wire::broken_arguments(call).is_none() =>
        {
            Some(arguments.clone())
        }
        Some(_) | None => None,
    }
}

pub(super) fn shortened(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default();
    match line.char_indices().nth(SUMMARY) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
