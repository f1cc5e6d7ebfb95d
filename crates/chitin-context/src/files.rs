//! The files of a turn: which are kept, what budgets make of them, where they stand (CN20).

use crate::budget::{BudgetLimits, ContextFile, OmittedRecord, Spent, WhyLeftOut, spend_with};
use crate::composition::{compose, is_blank};
use crate::order::ends_in;
use crate::parts::{Fresh, Maker};
use crate::render::{Blocks, blocks_with};
use crate::report::{BudgetReport, report_on};
use crate::warning::ContextWarning;
use chitin_contract::{BlockLayout, BootstrapFile, Contract, RefusalStyle};
use chitin_workspace::Workspace;
use chitin_workspace::filter::{Filter, NotKept, TurnFacts};
use chitin_workspace::snapshot::{Record, RecordState};
use serde::Serialize;
use std::fmt;

/// The one-time file, in lower case.
const BOOTSTRAP: &str = "bootstrap.md";
/// The same as its record is called.
const BOOTSTRAP_NAME: &str = "BOOTSTRAP.md";

/// What the files of a turn are made of.
#[derive(Debug, Clone, Copy)]
pub struct FilesIn<'a> {
    /// The snapshot.
    pub workspace: &'a Workspace,
    /// Files from below the root that configuration adds.
    pub extras: &'a [Record],
    /// What is known of the turn.
    pub facts: &'a TurnFacts<'a>,
    /// What files may take.
    pub limits: &'a BudgetLimits,
    /// The active projects, in contracts that know them.
    pub projects: &'a [String],
}

/// The files of a turn.
#[derive(Debug, Clone)]
pub struct Files {
    /// Every record that was looked at: the root's own, then the others.
    pub records: Vec<Record>,
    /// What became of each record.
    pub outcomes: Vec<FileOutcome>,
    /// The files within their budgets, in load order.
    pub files: Vec<ContextFile>,
    /// What budgets took away. It speaks of the records that the turn keeps.
    pub report: BudgetReport,
    /// What there is to say, loading first.
    pub warnings: Vec<ContextWarning>,
    /// The blocks of the prompt.
    pub blocks: Blocks,
}

/// What became of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOutcome {
    /// It is in the prompt.
    In {
        /// Its place among the files within their budgets.
        file: usize,
    },
    /// The turn does not keep it.
    NotKept(NotKept),
    /// Budgets or rules left it out.
    LeftOut(OmittedRecord),
    /// It counts in the budget, but is told to the model in another way.
    ToldApart(ToldApart),
}

/// How a file that is not in the prompt is told to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToldApart {
    /// By a notice before the user's message.
    Notice,
    /// It is not, since set-up does not run in full.
    NotInSetUp,
}

impl fmt::Display for ToldApart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Notice => {
                "a notice before the user's message stands for it; its size still counts"
            }
            Self::NotInSetUp => "set-up does not run on this turn; its size still counts",
        })
    }
}

/// Takes a snapshot through filters, budgets and placement.
pub fn files(given: &FilesIn<'_>) -> Files {
    files_with(&mut Fresh, given)
}

pub(crate) fn files_with(maker: &mut impl Maker, given: &FilesIn<'_>) -> Files {
    let contract = given.workspace.contract();
    let records: Vec<Record> = given
        .workspace
        .records()
        .iter()
        .chain(given.extras)
        .cloned()
        .collect();
    let filter = Filter::new(contract, given.facts, given.workspace.path());
    let judged: Vec<Option<NotKept>> = records.iter().map(|record| filter.judge(record)).collect();
    let places: Vec<usize> = (0..records.len())
        .filter(|at| judged[*at].is_none())
        .collect();
    let kept: Vec<&Record> = places.iter().map(|at| &records[*at]).collect();
    let spent = spend_with(maker, &kept, contract, given.limits);
    let mut warnings = load_warnings(&kept, contract);
    warnings.extend(spent.warnings.iter().cloned());
    let is_told_apart = |record: &Record| match contract.filters.bootstrap_file {
        BootstrapFile::Rendered => false,
        BootstrapFile::Notice => &*record.name == BOOTSTRAP_NAME,
        BootstrapFile::FullModeOnly => {
            !given.facts.bootstrap_full && &*record.name == BOOTSTRAP_NAME
        }
    };
    let counts = |record: &Record| !is_told_apart(record);
    let report = report_on(&kept, &spent, contract, given.limits, counts);
    let mut outcomes: Vec<FileOutcome> = judged
        .iter()
        .map(|judged| FileOutcome::NotKept(judged.unwrap_or(NotKept::Session)))
        .collect();
    let Spent {
        mut files,
        left_out,
        ..
    } = spent;
    for mut left in left_out {
        left.record = places[left.record];
        let at = left.record;
        outcomes[at] = FileOutcome::LeftOut(left);
    }
    for file in &mut files {
        file.record = places[file.record];
    }
    let mut shown = Vec::with_capacity(files.len());
    for (at, file) in files.iter().enumerate() {
        if contract.rendering.layout == BlockLayout::Composition && is_blank(file) {
            outcomes[file.record] = FileOutcome::LeftOut(OmittedRecord {
                record: file.record,
                raw: file.raw,
                remaining: file.remaining,
                why: WhyLeftOut::Blank,
            });
            continue;
        }
        outcomes[file.record] = match told_apart(file, contract, given.facts) {
            None => {
                shown.push(file);
                FileOutcome::In { file: at }
            }
            Some(apart) => FileOutcome::ToldApart(apart),
        };
    }
    let blocks = match contract.rendering.layout {
        BlockLayout::ProjectContext => {
            blocks_with(maker, shown, &contract.rendering, given.projects)
        }
        BlockLayout::Composition => compose(&shown),
    };
    Files {
        records,
        outcomes,
        files,
        report,
        warnings,
        blocks,
    }
}

/// Says when the one-time file stands outside the system prompt (W20).
fn told_apart(file: &ContextFile, contract: &Contract, facts: &TurnFacts<'_>) -> Option<ToldApart> {
    if !ends_in(&file.heading, BOOTSTRAP) {
        return None;
    }
    match contract.filters.bootstrap_file {
        BootstrapFile::Rendered => None,
        BootstrapFile::Notice => Some(ToldApart::Notice),
        BootstrapFile::FullModeOnly => (!facts.bootstrap_full).then_some(ToldApart::NotInSetUp),
    }
}

/// What loading has to say of the records that the turn keeps.
fn load_warnings(kept: &[&Record], contract: &Contract) -> Vec<ContextWarning> {
    let warnings = kept.iter().filter_map(|record| match &record.state {
        RecordState::Refused(reason) => match contract.loading.refusals {
            RefusalStyle::Named => Some(ContextWarning::Refused {
                name: record.name.to_string(),
                reason: *reason,
            }),
            RefusalStyle::Missing | RefusalStyle::Unreadable => None,
        },
        RecordState::Present(content) => {
            content.oversize.map(|oversize| ContextWarning::Oversize {
                name: record.name.to_string(),
                size: oversize.size,
            })
        }
        RecordState::Missing => None,
    });
    warnings.collect()
}
