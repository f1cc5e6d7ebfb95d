//! The parts of a context as the page gets them: texts, sources, what was cut and why.

use super::at_most;
use super::prompt::below;
use crate::context::TurnContext;
use chitin_context::view::{FileState, FileView, FragmentView, View};
use chitin_context::{Decision, Fragment, Origin, Source};
use chitin_protocol::text::utf16_len;
use serde_json::{Value, json};
use std::path::Path;

/// How much of what was cut is shown of one place, in bytes.
const MOST_CUT: usize = 64 << 10;

/// What files may take of the prompt, and what they do.
pub(super) fn budget(view: &View) -> Value {
    let limits = &view.limits;
    let used: usize = view.files.iter().map(|file| file.injected.units).sum();
    json!({
        "perFile": Some(limits.per_file).filter(|limit| *limit != usize::MAX),
        "total": limits.total,
        "used": used,
        "unit": limits.unit,
        "systemChars": view.total.units,
        "systemTokens": view.total.tokens,
    })
}

/// The parts of a context, each with its text.
pub(super) fn fragments(seen: &TurnContext, view: &View, directory: &Path) -> Vec<Value> {
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
) -> Value {
    let (decision, cause) = match &fragment.decision {
        Decision::BuiltIn | Decision::Whole => ("kept", None),
        Decision::Cut { .. } => ("cut", file.map(|(file, _)| file.reason.clone())),
        Decision::Missing => ("missing", file.map(|(file, _)| file.reason.clone())),
        Decision::Refused { .. } => ("refused", file.map(|(file, _)| file.reason.clone())),
    };
    let text = file.and_then(|(_, record)| seen.context.files.records[record].content());
    let text = text.map_or("", |content| &*content.text);
    let raw = file.map_or(shown.raw.units, |(file, _)| file.raw.units);
    let mut value = json!({
        "name": match &fragment.origin {
            Origin::Section { key } => (*key).to_owned(),
            Origin::Boundary => "boundary".to_owned(),
            Origin::File { path, .. } => below(path, directory),
        },
        "role": fragment.role,
        "cache": fragment.cache,
        "rawChars": raw,
        "chars": shown.injected.units,
        "tokens": shown.injected.tokens,
        "decision": decision,
        "pieces": pieces(fragment, text),
    });
    if let Origin::File { path, .. } = &fragment.origin {
        value["origin"] = json!(below(path, directory));
    }
    if let Some(cause) = cause.filter(|cause| !cause.is_empty()) {
        value["cause"] = json!(cause);
    }
    if let Some((file, _)) = file {
        let cut = cut(file, text);
        if !cut.is_empty() {
            value["cutText"] = Value::Array(cut);
        }
    }
    value
}

fn pieces(fragment: &Fragment, text: &str) -> Vec<Value> {
    let is_cut = matches!(fragment.decision, Decision::Cut { .. });
    let mut of_file = false;
    let lead = (!fragment.lead.is_empty()).then(|| json!({"text": fragment.lead, "kind": "ours"}));
    let pieces = fragment.pieces.iter().map(|piece| {
        let words = piece.text.as_str();
        match piece.source {
            Source::Given => json!({"text": words, "kind": "value"}),
            Source::File { start, .. } | Source::Rewritten { start, .. } => {
                of_file = true;
                json!({"text": words, "kind": "file", "line": line_of(text, start)})
            }
            // What we say inside a file that was cut tells where.
            Source::Ours if is_cut && of_file => json!({"text": words, "kind": "cut-marker"}),
            Source::Ours => json!({"text": words, "kind": "ours"}),
        }
    });
    lead.into_iter().chain(pieces).collect()
}

/// What of a file is not in the prompt, place by place.
pub(super) fn cut(file: &FileView, text: &str) -> Vec<Value> {
    let regions = file.regions.iter();
    let missing = regions.filter_map(|region| Some((region, region.missing.as_ref()?)));
    missing
        .filter_map(|(region, why)| {
            let words = text.get(region.start..region.end)?;
            let from = line_of(text, region.start);
            let lines = memchr::memchr_iter(b'\n', words.trim_end_matches('\n').as_bytes()).count();
            let shown = at_most(words, MOST_CUT);
            let mut cut = json!({
                "fromLine": from, "toLine": from + lines, "chars": utf16_len(words), "why": why.to_string(),
                "text": shown,
            });
            if shown.len() < words.len() {
                cut["shortened"] = json!(true);
            }
            Some(cut)
        })
        .collect()
}

/// Returns the line of a byte of a text, counted from 1.
fn line_of(text: &str, byte: usize) -> usize {
    let before = text.as_bytes().get(..byte).unwrap_or_default();
    1 + memchr::memchr_iter(b'\n', before).count()
}

/// What became of each file.
pub(super) fn files(seen: &TurnContext, view: &View, directory: &Path) -> Vec<Value> {
    let records = seen.context.files.records.iter();
    let files = view.files.iter().zip(records);
    files
        .map(|(file, record)| {
            let mut shown = json!({
                "path": below(&file.path, directory),
                "rawChars": file.raw.units,
                "chars": file.injected.units,
                "tokens": file.injected.tokens,
                "state": state(file.state),
            });
            let limit = view.limits.of_record(record);
            if limit != usize::MAX {
                shown["limit"] = json!(limit);
            }
            if !file.reason.is_empty() {
                shown["cause"] = json!(file.reason);
            }
            shown
        })
        .collect()
}

/// What became of a file, in a word.
pub(super) const fn state(state: FileState) -> &'static str {
    match state {
        FileState::Whole => "kept",
        FileState::Cut => "cut",
        FileState::Missing => "missing",
        FileState::Refused => "refused",
        FileState::LeftOut => "left-out",
    }
}
