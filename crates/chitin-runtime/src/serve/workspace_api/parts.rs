//! The parts of a context as the page gets them: texts, sources, what was cut and why.

use super::at_most;
use super::prompt::below;
use crate::context::TurnContext;
use chitin_context::view::{FileState, FileView, FragmentView, View};
use chitin_context::{BudgetDecision, Fragment, FragmentOrigin, FragmentSource};
use chitin_protocol::text::utf16_len;
use chitin_server::workspace_api::{
    CutText, LensFile, LensFragment, LensPiece, PieceKind, PromptBudget, PromptState,
};
use serde::Serialize;
use std::path::Path;

/// How much of what was cut is shown of one place, in bytes.
const MOST_CUT: usize = 64 << 10;

/// What files may take of the prompt, and what they do.
pub(super) fn budget(view: &View) -> PromptBudget {
    let limits = &view.limits;
    PromptBudget {
        per_file: Some(limits.per_file).filter(|limit| *limit != usize::MAX),
        total: limits.total,
        used: view.files.iter().map(|file| file.injected.units).sum(),
        unit: Some(word(&limits.unit)),
        system_chars: Some(view.total.units),
        system_tokens: Some(view.total.tokens),
    }
}

/// Returns the word that stands for a variant in JSON.
fn word(variant: &impl Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(_) | Err(_) => String::new(),
    }
}

/// The parts of a context, each with its text.
pub(super) fn fragments(seen: &TurnContext, view: &View, directory: &Path) -> Vec<LensFragment> {
    let fragments = seen.context.fragments.iter().zip(&view.fragments);
    let fragments = fragments.enumerate();
    fragments
        .map(|(at, (fragment, shown))| {
            let file = view.files.iter().position(|file| file.fragment == Some(at));
            one(
                fragment,
                shown,
                file.map(|file| (&view.files[file], file)),
                seen,
                directory,
            )
        })
        .collect()
}

fn one(
    fragment: &Fragment,
    shown: &FragmentView,
    file: Option<(&FileView, usize)>,
    seen: &TurnContext,
    directory: &Path,
) -> LensFragment {
    let (decision, cause) = match &fragment.decision {
        BudgetDecision::BuiltIn | BudgetDecision::Whole => (PromptState::Kept, None),
        BudgetDecision::Cut { .. } => (PromptState::Cut, file.map(|(file, _)| file.reason.clone())),
        BudgetDecision::Missing => (
            PromptState::Missing,
            file.map(|(file, _)| file.reason.clone()),
        ),
        BudgetDecision::Refused { .. } => (
            PromptState::Refused,
            file.map(|(file, _)| file.reason.clone()),
        ),
    };
    let text = file.and_then(|(_, record)| seen.context.files.records[record].content());
    let text = text.map_or("", |content| &*content.text);
    let raw = file.map_or(shown.raw.units, |(file, _)| file.raw.units);
    let (name, origin) = match &fragment.origin {
        FragmentOrigin::Section { key } => ((*key).to_owned(), None),
        FragmentOrigin::Boundary => ("boundary".to_owned(), None),
        FragmentOrigin::File { path, .. } => {
            let path = below(path, directory);
            (path.clone(), Some(path))
        }
    };
    let missing = file.map(|(file, _)| cut(file, text));
    LensFragment {
        name,
        role: word(&fragment.role),
        cache: word(&fragment.cache),
        raw_chars: raw,
        chars: shown.injected.units,
        tokens: shown.injected.tokens,
        decision,
        pieces: pieces(fragment, text),
        origin,
        cause: cause.filter(|cause| !cause.is_empty()),
        cut_text: missing.filter(|cut| !cut.is_empty()),
    }
}

fn pieces(fragment: &Fragment, text: &str) -> Vec<LensPiece> {
    let is_cut = matches!(fragment.decision, BudgetDecision::Cut { .. });
    let mut of_file = false;
    let piece = |text: &str, kind, line| LensPiece {
        text: text.to_owned(),
        kind,
        line,
    };
    let lead = Some(&fragment.lead).filter(|lead| !lead.is_empty());
    let lead = lead.map(|lead| piece(lead, PieceKind::Ours, None));
    let pieces = fragment.pieces.iter().map(|one| {
        let words = one.text.as_str();
        match one.source {
            FragmentSource::Given => piece(words, PieceKind::Value, None),
            FragmentSource::File { start, .. } | FragmentSource::Rewritten { start, .. } => {
                of_file = true;
                piece(words, PieceKind::File, Some(line_of(text, start)))
            }
            // What we say inside a file that was cut tells where.
            FragmentSource::Ours if is_cut && of_file => piece(words, PieceKind::CutMarker, None),
            FragmentSource::Ours => piece(words, PieceKind::Ours, None),
        }
    });
    lead.into_iter().chain(pieces).collect()
}

/// What of a file is not in the prompt, place by place.
pub(super) fn cut(file: &FileView, text: &str) -> Vec<CutText> {
    let regions = file.regions.iter();
    let missing = regions.filter_map(|region| Some((region, region.missing.as_ref()?)));
    missing
        .filter_map(|(region, why)| {
            let words = text.get(region.start..region.end)?;
            let from = line_of(text, region.start);
            let lines = memchr::memchr_iter(b'\n', words.trim_end_matches('\n').as_bytes()).count();
            let shown = at_most(words, MOST_CUT);
            Some(CutText {
                from_line: from,
                to_line: from + lines,
                chars: utf16_len(words),
                why: why.to_string(),
                text: Some(shown.to_owned()),
                shortened: shown.len() < words.len(),
            })
        })
        .collect()
}

/// Returns the line of a byte of a text, counted from 1.
fn line_of(text: &str, byte: usize) -> usize {
    let before = text.as_bytes().get(..byte).unwrap_or_default();
    1 + memchr::memchr_iter(b'\n', before).count()
}

/// What became of each file.
pub(super) fn files(seen: &TurnContext, view: &View, directory: &Path) -> Vec<LensFile> {
    let records = seen.context.files.records.iter();
    let files = view.files.iter().zip(records);
    files
        .map(|(file, record)| LensFile {
            path: below(&file.path, directory),
            raw_chars: file.raw.units,
            chars: file.injected.units,
            tokens: file.injected.tokens,
            state: state(file.state),
            limit: Some(view.limits.of_record(record)).filter(|limit| *limit != usize::MAX),
            cause: Some(file.reason.clone()).filter(|reason| !reason.is_empty()),
        })
        .collect()
}

/// What became of a file.
pub(super) const fn state(state: FileState) -> PromptState {
    match state {
        FileState::Whole => PromptState::Kept,
        FileState::Cut => PromptState::Cut,
        FileState::Missing => PromptState::Missing,
        FileState::Refused => PromptState::Refused,
        FileState::LeftOut => PromptState::LeftOut,
    }
}
