//! First turn and continuation (S8): what a continuation turn does not keep in the system prompt stands in the conversation,
//! so that it is sent again with every turn and the system prompt stays the same from the first turn on.

use crate::assemble::{Context, TurnInputs};
use crate::files::{FileOutcome, Files};
use crate::fragment::{Fragment, FragmentOrigin, FragmentRole};
use crate::parts::Maker;
use crate::render::{Blocks, blocks_with, conversation_block, conversation_notice};
use chitin_config::settings::injection;
use chitin_contract::{BlockLayout, ContinuationBulk};
use chitin_workspace::filter::{ContextMode, Filter, NotKept, TurnFacts};

/// The files that stand in the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationFiles {
    /// Says what they are.
    pub opening: String,
    /// The files, in the order of the prompt.
    pub files: Vec<ConversationFile>,
}

/// A file that stands in the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationFile {
    /// Its path.
    pub path: String,
    /// Its heading and what the model gets of it.
    pub text: String,
}

impl ConversationFiles {
    /// Returns all of it as one text.
    pub fn text(&self) -> String {
        let files = self.files.iter().map(|file| file.text.as_str());
        let parts: Vec<&str> = std::iter::once(&*self.opening).chain(files).collect();
        parts.join("\n")
    }
}

/// Returns the facts by which a turn's files are chosen: a turn that puts the bulk into the conversation has the full set,
/// whichever turn it is.
pub(crate) fn facts_of<'a>(turn: &TurnInputs<'a>) -> TurnFacts<'a> {
    TurnFacts {
        marked: turn.facts.marked && !puts_bulk_into_conversation(turn),
        ..turn.facts.clone()
    }
}

/// Tells whether the bulk of a turn's files stands in the conversation.
fn puts_bulk_into_conversation(turn: &TurnInputs<'_>) -> bool {
    let contract = turn.workspace.contract();
    contract.turns.continuation_bulk == ContinuationBulk::Conversation
        && contract.rendering.layout == BlockLayout::ProjectContext
        && turn.facts.context_mode == ContextMode::Full
        && turn.facts.context_injection == Some(injection::CONTINUATION_SKIP)
}

/// Moves what a continuation turn does not keep from the blocks of the system prompt into one for the conversation, which is
/// returned.
pub(crate) fn moved_bulk(
    maker: &mut impl Maker,
    turn: &TurnInputs<'_>,
    files: &mut Files,
) -> Vec<Fragment> {
    if !puts_bulk_into_conversation(turn) {
        return Vec::new();
    }
    let contract = turn.workspace.contract();
    let later = TurnFacts {
        marked: true,
        ..turn.facts.clone()
    };
    let filter = Filter::new(contract, &later, turn.workspace.path());
    let shown = files.outcomes.iter().zip(&files.records);
    let shown = shown.filter_map(|(outcome, record)| match outcome {
        FileOutcome::In { file } => Some((filter.judge(record), &files.files[*file])),
        FileOutcome::NotKept(_) | FileOutcome::LeftOut(_) | FileOutcome::ToldApart(_) => None,
    });
    let (bulk, kept): (Vec<_>, Vec<_>) =
        shown.partition(|(judged, _)| *judged == Some(NotKept::Continuation));
    if bulk.is_empty() {
        return Vec::new();
    }
    let only = |files: Vec<(Option<NotKept>, _)>| files.into_iter().map(|(_, file)| file).collect();
    let rendering = &contract.rendering;
    let moved = conversation_block(maker, only(bulk), rendering, turn.projects);
    let Blocks {
        mut stable,
        dynamic,
    } = blocks_with(maker, only(kept), rendering, turn.projects);
    let notice = conversation_notice();
    stable.push(if stable.is_empty() {
        notice
    } else {
        notice.led_by("\n")
    });
    files.blocks = Blocks { stable, dynamic };
    moved
}

impl Context {
    /// Returns the files that have to stand in the conversation, if there are any.
    pub fn conversation_files(&self) -> Option<ConversationFiles> {
        let mut opening = None;
        let mut files = Vec::new();
        let in_conversation = |fragment: &&Fragment| fragment.role == FragmentRole::Conversation;
        for fragment in self.fragments.iter().filter(in_conversation) {
            let text = fragment.text();
            let text = text[fragment.lead.len()..].to_owned();
            match &fragment.origin {
                FragmentOrigin::File { path, .. } => files.push(ConversationFile {
                    path: path.to_string(),
                    text,
                }),
                FragmentOrigin::Section { .. } | FragmentOrigin::Boundary => opening = Some(text),
            }
        }
        let opening = opening?;
        Some(ConversationFiles { opening, files })
    }

    /// Says what a continuation turn no longer has, where the contract leaves it out for good.
    pub fn continuation_note(&self) -> Option<String> {
        let records = self.files.outcomes.iter().zip(&self.files.records);
        let lost: Vec<&str> = records
            .filter(|(outcome, record)| {
                **outcome == FileOutcome::NotKept(NotKept::Continuation)
                    && record.content().is_some()
            })
            .map(|(_, record)| &*record.name)
            .collect();
        (!lost.is_empty()).then(|| {
            format!(
                "`contextInjection` is `continuation-skip`: this turn is sent without {}, and under `{}` the conversation does not hold them either. Set it to `always` to send them on every turn.",
                lost.join(", "),
                self.contract.name
            )
        })
    }
}
