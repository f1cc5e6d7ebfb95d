//! The figures of a context: what `chitin context --json` prints and the server answers.

use super::{FileSource, Reckoning, TokenCounting, TurnContext, TurnRequest, WhichTurn};
use crate::error::RuntimeError;
use crate::host::Host;
use crate::setup::{Setup, shown};
use chitin_context::degrade::Degraded;
use chitin_context::refresh::Refresh;
use chitin_context::view::{View, view};
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
    /// What the whole means for the model.
    pub model: Reckoning,
    /// When an edit of the workspace shows.
    pub refresh: Refresh,
    /// The workspace, spelled for people.
    #[serde(skip)]
    pub directory: String,
    /// The workspace as it is.
    #[serde(skip)]
    pub base: String,
}

impl ContextReport {
    /// Counts a context.
    pub fn new(
        turn: WhichTurn,
        tokens: TokenCounting,
        host: &Host,
        setup: &Setup,
        context: &TurnContext,
    ) -> Self {
        let view = view(&context.context, &mut context.model.counter(tokens));
        Self {
            session: context.session.clone(),
            turn: match turn {
                WhichTurn::First => "first",
                WhichTurn::Next => "next",
            },
            model: context.model.reckon(&view),
            view,
            degraded: context.degraded.clone(),
            tokens_basis: context.model.basis(tokens),
            refresh: context.refresh,
            directory: shown(&setup.directory, host),
            base: setup.directory.to_string_lossy().into_owned(),
        }
    }

    /// Counts the context of a session's next turn.
    pub fn of_session(
        host: &Host,
        setup: &Setup,
        session: &str,
        model: Option<&str>,
    ) -> Result<Self, RuntimeError> {
        let request = TurnRequest {
            session: Some(session.to_owned()),
            model: model.map(str::to_owned),
            ..TurnRequest::default()
        };
        let context = request.context(host, setup, FileSource::Disk)?;
        Ok(Self::new(
            request.turn,
            TokenCounting::Estimate,
            host,
            setup,
            &context,
        ))
    }
}
