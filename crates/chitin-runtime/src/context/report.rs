//! The figures of a context: what `chitin context --json` prints and the server answers.

use super::origins;
use super::sent::RequestParts;
use super::tally::{HistoryFigures, RecallFigures, RequestFigures, Tally, ToolFigures};
use super::{Caller, Reckoning, TokenCounting, TurnContext, TurnRequest, WhichTurn};
use crate::error::RuntimeError;
use crate::factory::AgentFactory;
use crate::host::Host;
use crate::setup::{Setup, shown};
use chitin_context::degrade::Degraded;
use chitin_context::refresh::RefreshRule;
use chitin_context::view::{Measure, View, view};
use chitin_protocol::origin::ContextOrigins;
use serde::Serialize;

/// The context of a turn in figures: every part, its size and its tokens, and what the whole means for the model.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextReport {
    /// The session's key.
    pub session: String,
    /// `first` or `next`.
    pub turn: &'static str,
    /// The parts, the files and the totals.
    #[serde(flatten)]
    pub view: View,
    /// What a plan for small windows did, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<Degraded>,
    /// What the figures of tokens rest on.
    pub tokens_basis: &'static str,
    /// The tool definitions.
    pub tool_definitions: ToolFigures,
    /// The history.
    pub history: HistoryFigures,
    /// The user's message with the notices around it; without a message, the notices alone; none if there is neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Measure>,
    /// The whole request: system prompt, tool definitions, history and message.
    pub request: RequestFigures,
    /// What recalled memory costs in each place, if anything was recalled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<RecallFigures>,
    /// What the whole request means for the model.
    pub model: Reckoning,
    /// Where its texts come from, and what is taken away because of it.
    pub origins: ContextOrigins,
    /// What people should know about the figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// When an edit of the workspace shows.
    pub refresh: RefreshRule,
    /// Whether a message was given.
    #[serde(skip)]
    pub has_message: bool,
    /// The workspace, spelled for people.
    #[serde(skip)]
    pub directory: String,
    /// The workspace as it is.
    #[serde(skip)]
    pub base: String,
}

impl ContextReport {
    /// Counts a context and everything else that is sent with it. The session's transcript is read.
    pub fn new(
        request: &TurnRequest,
        tokens: TokenCounting,
        host: &Host,
        setup: &Setup,
        context: &TurnContext,
    ) -> Self {
        let view = view(&context.context, &mut context.model.counter(tokens));
        let parts = RequestParts::find(request, host, setup, context);
        let origins = origins::find(request, host, setup, context, &parts.history);
        let tally = Tally::new(&parts, &view, &context.model, tokens, setup);
        Self {
            session: context.session.clone(),
            turn: match context.turn {
                WhichTurn::First => "first",
                WhichTurn::Next | WhichTurn::AsStored => "next",
            },
            model: context.model.reckon(&view, &tally),
            tool_definitions: tally.tools,
            history: tally.history,
            message: tally.message,
            has_message: request.message.is_some(),
            request: tally.request,
            recall: tally.recall,
            origins,
            notes: tally.notes,
            view,
            degraded: context.degraded.clone(),
            tokens_basis: context.model.basis(tokens),
            refresh: context.refresh,
            directory: shown(&setup.directory, host),
            base: setup.directory.to_string_lossy().into_owned(),
        }
    }

    /// Counts the context of a session's next turn. The agent's context engine is asked.
    pub fn of_session(
        factory: &AgentFactory,
        session: &str,
        model: Option<&str>,
        caller: Caller,
    ) -> Result<Self, RuntimeError> {
        let request = TurnRequest {
            session: Some(session.to_owned()),
            model: model.map(str::to_owned),
            caller,
            added_tools: factory.added_tools(),
            ..TurnRequest::default()
        };
        let context = factory.context(&request)?;
        let (host, setup) = (&factory.host, &factory.setup);
        let tokens = TokenCounting::Estimate;
        Ok(Self::new(&request, tokens, host, setup, &context))
    }
}
