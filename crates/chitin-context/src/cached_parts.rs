//! What earlier turns made, kept as long as each turn uses it.

use crate::body::Body;
use crate::budget::{BudgetLimits, ContextFile, CutFile, LimitUnit};
use crate::parts::{Fresh, Maker};
use crate::sections::{Placed, PromptFacts};
use chitin_contract::{Contract, Rendering};
use chitin_workspace::snapshot::{FileContent, Record, RecordState};
use std::path::PathBuf;
use std::sync::Arc;

/// Makes what the turn before did not.
#[derive(Debug, Default)]
pub(crate) struct CachedParts {
    cuts: Memo<CutOf, CutFile>,
    cleanings: Memo<CleaningOf, Arc<Body>>,
    sections: Memo<SectionsOf, Vec<Placed>>,
}

/// What a cut depends on.
#[derive(Debug)]
struct CutOf {
    content: Arc<FileContent>,
    name: Arc<str>,
    /// The marker of an oversize file names its path.
    path: PathBuf,
    contract: &'static str,
    unit: LimitUnit,
    bound: usize,
}

/// What a cleaning depends on. The same cut is always placed by the contract that it was made by.
#[derive(Debug)]
struct CleaningOf {
    body: Arc<Body>,
    heading: Arc<str>,
    projects: Vec<String>,
}

/// What our own sections depend on.
#[derive(Debug)]
struct SectionsOf {
    contract: &'static str,
    facts: Arc<PromptFacts>,
    cut_lines: Vec<String>,
}

impl CachedParts {
    /// Forgets what the turn that is over did not use.
    pub(crate) fn end_turn(&mut self) {
        self.cuts.end_turn();
        self.cleanings.end_turn();
        self.sections.end_turn();
    }
}

impl Maker for CachedParts {
    fn cut(
        &mut self,
        record: &Record,
        contract: &Contract,
        limits: &BudgetLimits,
        bound: usize,
    ) -> Option<CutFile> {
        let RecordState::Present(content) = &record.state else {
            return Fresh.cut(record, contract, limits, bound);
        };
        let known = self.cuts.get(|of| {
            Arc::ptr_eq(&of.content, content)
                && of.bound == bound
                && of.unit == limits.unit
                && of.contract == contract.name
                && of.name == record.name
                && (content.oversize.is_none() || of.path == record.path)
        });
        if known.is_some() {
            return known;
        }
        let cut = Fresh.cut(record, contract, limits, bound)?;
        let of = CutOf {
            content: content.clone(),
            name: record.name.clone(),
            path: record.path.clone(),
            contract: contract.name,
            unit: limits.unit,
            bound,
        };
        Some(self.cuts.keep(of, cut))
    }

    fn clean(
        &mut self,
        file: &ContextFile,
        rendering: &Rendering,
        projects: &[String],
    ) -> Arc<Body> {
        let known = self.cleanings.get(|of| {
            Arc::ptr_eq(&of.body, &file.body)
                && of.heading == file.heading
                && of.projects == projects
        });
        known.unwrap_or_else(|| {
            let clean = Fresh.clean(file, rendering, projects);
            let of = CleaningOf {
                body: file.body.clone(),
                heading: file.heading.clone(),
                projects: projects.to_vec(),
            };
            self.cleanings.keep(of, clean)
        })
    }

    fn sections(
        &mut self,
        contract: &Contract,
        facts: &Arc<PromptFacts>,
        cut_lines: &[String],
    ) -> Vec<Placed> {
        let known = self.sections.get(|of| {
            of.contract == contract.name
                && of.cut_lines == cut_lines
                && (Arc::ptr_eq(&of.facts, facts) || of.facts == *facts)
        });
        known.unwrap_or_else(|| {
            let sections = Fresh.sections(contract, facts, cut_lines);
            let of = SectionsOf {
                contract: contract.name,
                facts: facts.clone(),
                cut_lines: cut_lines.to_vec(),
            };
            self.sections.keep(of, sections)
        })
    }
}

/// Values by what they depend on. There are few, so they are looked through in order.
#[derive(Debug)]
struct Memo<K, V> {
    entries: Vec<Entry<K, V>>,
}

#[derive(Debug)]
struct Entry<K, V> {
    of: K,
    value: V,
    used: bool,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
        }
    }
}

impl<K, V: Clone> Memo<K, V> {
    fn get(&mut self, is_wanted: impl Fn(&K) -> bool) -> Option<V> {
        let known = self.entries.iter_mut().find(|entry| is_wanted(&entry.of))?;
        known.used = true;
        Some(known.value.clone())
    }

    fn keep(&mut self, of: K, value: V) -> V {
        self.entries.push(Entry {
            of,
            value: value.clone(),
            used: true,
        });
        value
    }

    fn end_turn(&mut self) {
        self.entries
            .retain_mut(|entry| std::mem::take(&mut entry.used));
    }
}
