//! A turn put together in a few words.

use chitin_context::budget::BudgetLimits;
use chitin_context::memory_results::MemoryResult;
use chitin_context::sections::PromptFacts;
use chitin_context::{Context, TellCuts, TurnInputs, assemble};
use chitin_contract::Contract;
use chitin_protocol::record::{FileRefusal, OversizeFile};
use chitin_workspace::Workspace;
use chitin_workspace::filter::TurnFacts;
use chitin_workspace::snapshot::{FileContent, Record, RecordState};
use std::sync::Arc;

/// Everything that a turn is made of, owned.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) extras: Vec<Record>,
    pub(crate) facts: TurnFacts<'static>,
    pub(crate) limits: BudgetLimits,
    pub(crate) projects: Vec<String>,
    pub(crate) prompt: Arc<PromptFacts>,
    pub(crate) memory: Vec<MemoryResult>,
    pub(crate) cuts: TellCuts,
}

impl Given {
    /// A first turn in the workspace `/w`, under the contract's own limits.
    pub(crate) fn new(contract: &'static Contract, records: Vec<Record>) -> Self {
        Self {
            workspace: Arc::new(Workspace::from_records("/w", contract, records)),
            extras: Vec::new(),
            facts: TurnFacts::default(),
            limits: BudgetLimits::of(contract),
            projects: Vec::new(),
            prompt: Arc::new(PromptFacts::default()),
            memory: Vec::new(),
            cuts: TellCuts::Yes,
        }
    }

    /// The same turn after the workspace was read again.
    pub(crate) fn reread(&self, records: Vec<Record>) -> Self {
        let contract = self.workspace.contract();
        Self {
            workspace: Arc::new(Workspace::from_records("/w", contract, records)),
            ..self.clone()
        }
    }

    pub(crate) fn turn(&self) -> TurnInputs<'_> {
        TurnInputs {
            workspace: &self.workspace,
            extras: &self.extras,
            facts: &self.facts,
            limits: &self.limits,
            projects: &self.projects,
            prompt: &self.prompt,
            memory: &self.memory,
            cuts: self.cuts,
        }
    }

    pub(crate) fn context(&self) -> Context {
        assemble(&self.turn())
    }
}

/// A file of the root that was read.
pub(crate) fn file(name: &str, text: impl Into<Box<str>>) -> Record {
    record(
        name,
        RecordState::Present(Arc::new(FileContent::in_memory(text))),
    )
}

/// A file of the root of which only the beginning was read.
pub(crate) fn oversize(name: &str, text: &str, size: u64) -> Record {
    let content = FileContent {
        oversize: Some(OversizeFile {
            size,
            kept: text.len() as u64,
        }),
        ..FileContent::in_memory(text)
    };
    record(name, RecordState::Present(Arc::new(content)))
}

pub(crate) fn missing(name: &str) -> Record {
    record(name, RecordState::Missing)
}

pub(crate) fn refused(name: &str, reason: FileRefusal) -> Record {
    record(name, RecordState::Refused(reason))
}

/// A file from below the root.
pub(crate) fn extra(directory: &str, record: Record) -> Record {
    Record {
        path: format!("/w/{directory}/{}", record.name).into(),
        extra: true,
        ..record
    }
}

fn record(name: &str, state: RecordState) -> Record {
    Record {
        name: name.into(),
        path: format!("/w/{name}").into(),
        state,
        extra: false,
    }
}

/// The block of files of a prompt, and what follows it.
pub(crate) fn files_part(context: &Context) -> String {
    let system = context.system();
    let start = system.find("# Project Context").unwrap_or(system.len());
    system[start..].to_owned()
}
