//! Turn after turn with as little work as possible: what did not change is not made again.

use crate::assemble::{Context, TellCuts, TurnInputs, assemble_with};
use crate::budget::BudgetLimits;
use crate::cached_parts::CachedParts;
use crate::memory_results::MemoryResult;
use crate::sections::PromptFacts;
use chitin_protocol::session_key::ChatType;
use chitin_workspace::Workspace;
use chitin_workspace::filter::{ContextMode, RunKind, TurnFacts};
use chitin_workspace::snapshot::{Record, RecordState};
use std::sync::Arc;

/// Makes contexts for one workspace, turn after turn.
///
/// A turn with the same facts about the same snapshot gets the same value, with no work beyond comparing. When one file
/// changed, only that file is cut, cleaned and measured again.
#[derive(Debug, Default)]
pub struct Assembler {
    last: Option<Last>,
    made: CachedParts,
}

/// The turn that was asked for last, owned.
#[derive(Debug)]
struct Last {
    workspace: Arc<Workspace>,
    extras: Vec<Record>,
    facts: OwnedFacts,
    limits: BudgetLimits,
    projects: Vec<String>,
    prompt: Arc<PromptFacts>,
    memory: Vec<MemoryResult>,
    cuts: TellCuts,
    context: Arc<Context>,
}

impl Assembler {
    /// Returns the context of a turn.
    pub fn assemble(&mut self, turn: &TurnInputs<'_>) -> Arc<Context> {
        if let Some(last) = self.last.as_ref().filter(|last| last.is(turn)) {
            last.context.keep_joined();
            return last.context.clone();
        }
        let context = Arc::new(assemble_with(&mut self.made, turn));
        self.made.end_turn();
        self.last = Some(Last {
            workspace: turn.workspace.clone(),
            extras: turn.extras.to_vec(),
            facts: OwnedFacts::of(turn.facts),
            limits: turn.limits.clone(),
            projects: turn.projects.to_vec(),
            prompt: turn.prompt.clone(),
            memory: turn.memory.to_vec(),
            cuts: turn.cuts,
            context: context.clone(),
        });
        context
    }
}

impl Last {
    fn is(&self, turn: &TurnInputs<'_>) -> bool {
        Arc::ptr_eq(&self.workspace, turn.workspace)
            && self.cuts == turn.cuts
            && self.limits == *turn.limits
            && self.facts.is(turn.facts)
            && self.projects == turn.projects
            && self.memory == turn.memory
            && (Arc::ptr_eq(&self.prompt, turn.prompt) || self.prompt == *turn.prompt)
            && self.extras.len() == turn.extras.len()
            && self
                .extras
                .iter()
                .zip(turn.extras)
                .all(|(left, right)| is_same_record(left, right))
    }
}

/// Tells whether two records are of the same file with the same text. Equal bytes read twice count as the same.
fn is_same_record(left: &Record, right: &Record) -> bool {
    let same_state = match (&left.state, &right.state) {
        (RecordState::Present(left), RecordState::Present(right)) => {
            Arc::ptr_eq(left, right) || left == right
        }
        (RecordState::Missing, RecordState::Missing) => true,
        (RecordState::Refused(left), RecordState::Refused(right)) => left == right,
        (RecordState::Present(_) | RecordState::Missing | RecordState::Refused(_), _) => false,
    };
    same_state && left.name == right.name && left.path == right.path && left.extra == right.extra
}

/// [`TurnFacts`] that own what they say.
#[derive(Debug)]
struct OwnedFacts {
    session_key: Option<String>,
    session_id: Option<String>,
    context_injection: Option<String>,
    subagent_files: Option<Vec<String>>,
    linked_memory: Vec<&'static str>,
    context_mode: ContextMode,
    run_kind: RunKind,
    chat_type: Option<ChatType>,
    marked: bool,
    setup_complete: bool,
    bootstrap_full: bool,
    heartbeat_off: bool,
    without_memory: bool,
}

impl OwnedFacts {
    fn of(facts: &TurnFacts<'_>) -> Self {
        let TurnFacts {
            session_key,
            session_id,
            context_mode,
            run_kind,
            chat_type,
            context_injection,
            marked,
            setup_complete,
            bootstrap_full,
            heartbeat_off,
            subagent_files,
            linked_memory,
            without_memory,
        } = *facts;
        Self {
            session_key: session_key.map(str::to_owned),
            session_id: session_id.map(str::to_owned),
            context_injection: context_injection.map(str::to_owned),
            subagent_files: subagent_files.map(<[String]>::to_vec),
            linked_memory: linked_memory.to_vec(),
            context_mode,
            run_kind,
            chat_type,
            marked,
            setup_complete,
            bootstrap_full,
            heartbeat_off,
            without_memory,
        }
    }

    fn is(&self, facts: &TurnFacts<'_>) -> bool {
        let borrowed = TurnFacts {
            session_key: self.session_key.as_deref(),
            session_id: self.session_id.as_deref(),
            context_mode: self.context_mode,
            run_kind: self.run_kind,
            chat_type: self.chat_type,
            context_injection: self.context_injection.as_deref(),
            marked: self.marked,
            setup_complete: self.setup_complete,
            bootstrap_full: self.bootstrap_full,
            heartbeat_off: self.heartbeat_off,
            subagent_files: self.subagent_files.as_deref(),
            linked_memory: &self.linked_memory,
            without_memory: self.without_memory,
        };
        borrowed == *facts
    }
}
