//! The model that figures are reckoned with.

use super::Own;
use crate::error::CliError;
use crate::setup::Setup;

/// The model that figures are reckoned with.
#[derive(Debug, Clone)]
pub(crate) struct ModelFigures {
    name: Option<String>,
}

impl ModelFigures {
    pub(super) fn find(typed: Option<&str>, _own: &Own, _setup: &Setup) -> Result<Self, CliError> {
        Ok(Self {
            name: typed.map(str::to_owned),
        })
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(crate) fn window(&self) -> Option<usize> {
        None
    }

    pub(crate) fn cost_of_rewriting(&self, _tokens: usize) -> Option<String> {
        None
    }

    pub(crate) fn basis(&self, _tokens: crate::commands::Tokens) -> &'static str {
        "estimate"
    }

    pub(crate) fn page_line(
        &self,
        _view: &chitin_context::view::View,
    ) -> Option<crate::page::ModelLine> {
        None
    }
}
