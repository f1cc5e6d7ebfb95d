//! The whole context of a turn: our sections and the workspace's files, in the order of the contract (W56, CN17).

use crate::budget::BudgetLimits;
use crate::compat;
use crate::continuation;
use crate::files::{Files, FilesIn, files_with};
use crate::fragment::{CacheClass, Fragment, FragmentOrigin, FragmentPiece, FragmentRole};
use crate::memory_results::{self, MemoryResult};
use crate::parts::{Fresh, Maker};
use crate::render::{Blocks, CONTEXT_ENGINE_KEY, boundary, join, memory_fragment};
use crate::report::{around_words, system_notice, user_notice};
use crate::sections::{Placed, PromptFacts, PromptMode, Slot, bootstrap_notice, sections};
use chitin_contract::{Contract, SectionKey};
use chitin_protocol::settings::RecallPlace;
use chitin_workspace::Workspace;
use chitin_workspace::filter::TurnFacts;
use chitin_workspace::seed::BootstrapMode;
use chitin_workspace::snapshot::Record;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The key of the announcement of cuts.
pub const CUTS_KEY: &str = "files-cut";

/// Everything that the context of a turn is made of.
#[derive(Debug, Clone, Copy)]
pub struct TurnInputs<'a> {
    /// The snapshot of the workspace.
    pub workspace: &'a Arc<Workspace>,
    /// Files from below the root that configuration adds.
    pub extras: &'a [Record],
    /// What filters need to know.
    pub facts: &'a TurnFacts<'a>,
    /// What files may take.
    pub limits: &'a BudgetLimits,
    /// The active projects, in contracts that know them.
    pub projects: &'a [String],
    /// What our own sections need to know.
    pub prompt: &'a Arc<PromptFacts>,
    /// What a search of memory found for this turn.
    pub memory: &'a [MemoryResult],
    /// Whether cuts are told on this turn, in contracts that tell them beside the user's words.
    pub cuts: TellCuts,
}

/// Whether cuts are told on this turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TellCuts {
    /// They are.
    #[default]
    Yes,
    /// The session has heard of them, or the user does not want it.
    No,
}

/// Exactly what the model gets besides the conversation itself.
#[derive(Debug, Clone)]
pub struct Context {
    /// The contract it was made by.
    pub contract: &'static Contract,
    /// The workspace.
    pub directory: PathBuf,
    /// The fragments: those of the system prompt in order, then those of the conversation, then those beside the user's words.
    pub fragments: Vec<Fragment>,
    /// What became of each file.
    pub files: Files,
    /// The bounds that held.
    pub limits: BudgetLimits,
    joined: Joined,
}

/// The system prompt in one piece, from the second turn on that gets the same context. A copy, whose fragments may be
/// changed, begins without.
#[derive(Debug, Default)]
struct Joined(OnceLock<Box<str>>);

impl Clone for Joined {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Context {
    /// Returns the system prompt as clients of models take it: with marks around the line that a wire format may move to the first
    /// message. They know what becomes of the line and of the boundary; no mark is sent.
    pub fn request_system(&self) -> String {
        let mut system = self.system();
        let Some(line) = self.fragments.iter().find(|one| is_runtime_line(one)) else {
            return system;
        };
        // What an engine added stands behind the line, wherever that goes.
        let added = self.system_fragments().last().filter(|one| is_added(one));
        let added = added.map(Fragment::text).unwrap_or_default();
        system.truncate(system.len() - added.len());
        if line.role == FragmentRole::System {
            system.truncate(system.len() - line.injected.bytes);
        }
        let line: String = line
            .pieces
            .iter()
            .map(|piece| piece.text.as_str())
            .collect();
        for part in [compat::RELOCATABLE_START, &line, compat::RELOCATABLE_END] {
            system.push('\n');
            system.push_str(part);
        }
        system.push_str(&added);
        system
    }

    /// Returns the same context with the text that a context engine adds to the end of the system prompt.
    #[must_use]
    pub fn with_engine_text(&self, text: &str) -> Self {
        let mut context = self.clone();
        let piece = FragmentPiece::given(text);
        let fragment = Fragment::section(CONTEXT_ENGINE_KEY, CacheClass::Dynamic, vec![piece]);
        let system = |one: &Fragment| one.role == FragmentRole::System;
        let end = context.fragments.iter().rposition(system);
        let end = end.map_or(0, |last| last + 1);
        context.fragments.insert(end, fragment.led_by("\n\n"));
        context
    }

    /// Returns the system prompt.
    pub fn system(&self) -> String {
        let mut out = String::new();
        self.write_system(&mut out);
        out
    }

    /// Appends the system prompt to a buffer.
    pub fn write_system(&self, out: &mut String) {
        if let Some(joined) = self.joined.0.get() {
            return out.push_str(joined);
        }
        let bytes = self.system_fragments().map(|one| one.injected.bytes).sum();
        out.reserve(bytes);
        for fragment in self.system_fragments() {
            fragment.write(out);
        }
    }

    /// Keeps the system prompt in one piece, since it is going to be asked for again.
    pub(crate) fn keep_joined(&self) {
        self.joined.0.get_or_init(|| self.system().into());
    }

    /// Returns the fragments of the system prompt, in order.
    pub fn system_fragments(&self) -> impl Iterator<Item = &Fragment> {
        self.fragments
            .iter()
            .filter(|fragment| fragment.role == FragmentRole::System)
    }

    /// Returns the text that stands in that place beside the user's words, if there is any.
    pub fn beside_user(&self, role: FragmentRole) -> Option<String> {
        let beside: Vec<Fragment> = self
            .fragments
            .iter()
            .filter(|fragment| fragment.role == role)
            .cloned()
            .collect();
        (role != FragmentRole::System && !beside.is_empty()).then(|| join(&beside))
    }

    /// Puts the notices of this turn around the user's words, a blank line apart.
    pub fn user_message(&self, words: &str) -> String {
        let before = self.beside_user(FragmentRole::BeforeUser);
        let after = self.beside_user(FragmentRole::AfterUser);
        around_words(before.as_deref(), words, after.as_deref())
    }

    /// Returns the place in the system prompt, in bytes, up to which it can be cached.
    pub fn boundary(&self) -> Option<usize> {
        let mut at = 0;
        for fragment in self.system_fragments() {
            if fragment.origin == FragmentOrigin::Boundary {
                return Some(at + fragment.lead.len());
            }
            at += fragment.injected.bytes;
        }
        None
    }
}

/// Puts the context of a turn together.
pub fn assemble(turn: &TurnInputs<'_>) -> Context {
    assemble_with(&mut Fresh, turn)
}

pub(crate) fn assemble_with(maker: &mut impl Maker, turn: &TurnInputs<'_>) -> Context {
    let contract = turn.workspace.contract();
    let facts = continuation::facts_of(turn);
    let mut files = files_with(
        maker,
        &FilesIn {
            workspace: turn.workspace,
            extras: turn.extras,
            facts: &facts,
            limits: turn.limits,
            projects: turn.projects,
        },
    );
    let cut_lines = files.report.warning_lines(contract, turn.limits);
    let placed = maker.sections(contract, turn.prompt, &cut_lines);
    let recalled: &[MemoryResult] = if contract.rendering.memory_results {
        turn.memory
    } else {
        &[]
    };
    let (in_system, in_message) = match turn.prompt.recall_place {
        RecallPlace::System => (memory_fragment(memory_results::pieces(recalled)), None),
        RecallPlace::Message if turn.prompt.mode == PromptMode::None => (None, None),
        RecallPlace::Message => (None, memory_results::message_fragment(recalled)),
    };
    let has_files = placed
        .iter()
        .any(|part| matches!(part, Placed::Slot(Slot::ProjectContext)));
    let moved = if has_files {
        continuation::moved_bulk(maker, turn, &mut files)
    } else {
        Vec::new()
    };
    let mut fragments = joined(placed, files.blocks.clone(), in_system);
    let runtime_line = (turn.prompt.runtime_line_moves)
        .then(|| take_runtime_line(&mut fragments))
        .flatten();
    fragments.extend(moved);
    let (tells, mode) = (turn.cuts, turn.prompt.bootstrap);
    let mut beside = beside_user(contract, turn.prompt, &cut_lines, tells, mode);
    if let Some(fragment) = in_message {
        let follows = beside.iter().any(|one| one.role == fragment.role);
        beside.push(if follows {
            fragment.led_by("\n\n")
        } else {
            fragment
        });
    }
    fragments.extend(beside);
    fragments.extend(runtime_line);
    Context {
        contract,
        directory: turn.workspace.path().to_path_buf(),
        fragments,
        files,
        limits: turn.limits.clone(),
        joined: Joined::default(),
    }
}

/// Our own sections; in contracts that tell of cuts there, with the lines about them.
pub(crate) fn sections_of(
    contract: &Contract,
    facts: &PromptFacts,
    cut_lines: &[String],
) -> Vec<Placed> {
    if system_notice(cut_lines, contract).is_none() {
        return sections(&contract.prompt, facts);
    }
    let facts = PromptFacts {
        files_cut: true,
        ..facts.clone()
    };
    sections(&contract.prompt, &facts)
}

/// Fills the places between sections and puts one line feed between parts.
fn joined(placed: Vec<Placed>, blocks: Blocks, memory: Option<Fragment>) -> Vec<Fragment> {
    let Blocks { stable, dynamic } = blocks;
    let (mut stable, mut dynamic, mut memory) = (Some(stable), Some(dynamic), memory);
    let mut fragments: Vec<Fragment> = Vec::new();
    for part in placed {
        let part = match part {
            Placed::Section(fragment) => vec![fragment],
            Placed::Slot(Slot::ProjectContext) => stable.take().unwrap_or_default(),
            Placed::Slot(Slot::DynamicContext) => dynamic.take().unwrap_or_default(),
            Placed::Slot(Slot::MemoryResults) => memory.take().into_iter().collect(),
            Placed::Slot(Slot::Boundary) => vec![boundary()],
        };
        for (at, fragment) in part.into_iter().enumerate() {
            fragments.push(if at == 0 && !fragments.is_empty() {
                fragment.led_by("\n")
            } else {
                fragment
            });
        }
    }
    fragments
}

/// Tells whether a fragment is the line about program, machine and model that stands apart. It is the last of the system prompt.
fn is_runtime_line(fragment: &Fragment) -> bool {
    let key = SectionKey::RuntimeLine.name();
    matches!(&fragment.origin, FragmentOrigin::Section { key: own } if *own == key)
}

/// Tells whether a fragment is what a context engine added.
fn is_added(fragment: &Fragment) -> bool {
    matches!(&fragment.origin, FragmentOrigin::Section { key } if *key == CONTEXT_ENGINE_KEY)
}

/// Takes that line out of the system prompt, for the first message.
fn take_runtime_line(fragments: &mut Vec<Fragment>) -> Option<Fragment> {
    let line = fragments.pop_if(|last| is_runtime_line(last))?;
    Some(Fragment {
        role: FragmentRole::FirstMessage,
        lead: "",
        injected: line.raw,
        ..line
    })
}

/// What stands before and after the user's message.
fn beside_user(
    contract: &Contract,
    prompt: &PromptFacts,
    cut_lines: &[String],
    cuts: TellCuts,
    bootstrap: BootstrapMode,
) -> Vec<Fragment> {
    if prompt.mode == PromptMode::None {
        return Vec::new();
    }
    let mut beside = Vec::new();
    beside.extend(bootstrap_notice(&contract.prompt, bootstrap));
    if let (TellCuts::Yes, Some(block)) = (cuts, user_notice(cut_lines, contract)) {
        beside.push(Fragment {
            role: FragmentRole::AfterUser,
            ..Fragment::section(
                CUTS_KEY,
                CacheClass::Dynamic,
                vec![FragmentPiece::made(block)],
            )
        });
    }
    beside
}
