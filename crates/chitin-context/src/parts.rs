//! The parts of a context that cost something: made anew, or remembered from the turn before.

use crate::assemble::sections_of;
use crate::body::Body;
use crate::budget::{BudgetLimits, ContextFile, CutFile, cut};
use crate::clean::cleaned;
use crate::sections::{Placed, PromptFacts};
use chitin_contract::{Contract, Rendering};
use chitin_workspace::snapshot::Record;
use std::sync::Arc;

/// Makes the costly parts of a context.
pub(crate) trait Maker {
    /// Cuts one record's text to a bound; `None` for a record that counts as missing.
    fn cut(
        &mut self,
        record: &Record,
        contract: &Contract,
        limits: &BudgetLimits,
        bound: usize,
    ) -> Option<CutFile>;

    /// Returns a file's text as it is placed.
    fn clean(
        &mut self,
        file: &ContextFile,
        rendering: &Rendering,
        projects: &[String],
    ) -> Arc<Body>;

    /// Returns our own sections.
    fn sections(
        &mut self,
        contract: &Contract,
        facts: &Arc<PromptFacts>,
        cut_lines: &[String],
    ) -> Vec<Placed>;
}

/// Makes everything anew.
pub(crate) struct Fresh;

impl Maker for Fresh {
    fn cut(
        &mut self,
        record: &Record,
        contract: &Contract,
        limits: &BudgetLimits,
        bound: usize,
    ) -> Option<CutFile> {
        cut(record, contract, limits, bound)
    }

    fn clean(
        &mut self,
        file: &ContextFile,
        rendering: &Rendering,
        projects: &[String],
    ) -> Arc<Body> {
        cleaned(file, rendering, projects).map_or_else(|| file.body.clone(), Arc::new)
    }

    fn sections(
        &mut self,
        contract: &Contract,
        facts: &Arc<PromptFacts>,
        cut_lines: &[String],
    ) -> Vec<Placed> {
        sections_of(contract, facts, cut_lines)
    }
}
