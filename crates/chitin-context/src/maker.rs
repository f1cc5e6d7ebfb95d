//! The parts of a context that cost something: made anew, or remembered from the turn before.

use crate::assemble::sections_of;
use crate::body::Body;
use crate::budget::{CutFile, Limits, cut};
use crate::clean::cleaned;
use crate::sections::{Placed, PromptFacts};
use chitin_workspace::contract::{Contract, Rendering};
use chitin_workspace::snapshot::Record;
use std::sync::Arc;

/// Makes the costly parts of a context.
pub(crate) trait Maker {
    /// Cuts one record's text to a bound; `None` for a record that counts as missing.
    fn cut(
        &mut self,
        record: &Record,
        contract: &Contract,
        limits: &Limits,
        bound: usize,
    ) -> Option<CutFile>;

    /// Returns a text as it is placed under a heading that ends in that name.
    fn clean(
        &mut self,
        body: &Arc<Body>,
        base: &str,
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
        limits: &Limits,
        bound: usize,
    ) -> Option<CutFile> {
        cut(record, contract, limits, bound)
    }

    fn clean(
        &mut self,
        body: &Arc<Body>,
        base: &str,
        rendering: &Rendering,
        projects: &[String],
    ) -> Arc<Body> {
        cleaned(body, base, rendering, projects).map_or_else(|| body.clone(), Arc::new)
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
