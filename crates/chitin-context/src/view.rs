//! A context as plain data: what tables, JSON and pages are made of.

use crate::assemble::Context;
use crate::budget::BudgetLimits;
use crate::cache::volatile_above_boundary;
use crate::fragment::{
    BudgetDecision, CacheClass, Fragment, FragmentOrigin, FragmentRole, FragmentSource, Size,
};
use crate::regions::Region;
use crate::warning::ContextWarning;
use chitin_protocol::record::FileRefusal;
use memchr::memchr_iter;
use schemars::JsonSchema;
use serde::Serialize;

/// The reason of a file that simply is not there.
pub const NOT_THERE: &str = "it is not there";

/// A context as plain data.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// The contract.
    pub contract: &'static str,
    /// The workspace.
    pub directory: String,
    /// The system prompt as a whole.
    pub total: Measure,
    /// What stands above the cache boundary; all of it when there is none.
    pub cached: Measure,
    /// Where the cache boundary stands, in bytes of the system prompt.
    pub boundary: Option<usize>,
    /// The parts in order; places are bytes and lines of the system prompt.
    pub fragments: Vec<FragmentView>,
    /// The files in load order, those that are not in the prompt included.
    pub files: Vec<FileView>,
    /// The bounds that held.
    pub limits: BudgetLimits,
    /// What went otherwise than the author may think.
    pub warnings: Vec<ContextWarning>,
    /// Parts above the boundary that any turn may change, by their place among the fragments.
    pub volatile: Vec<usize>,
}

/// A length in every unit that matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Measure {
    /// UTF-16 code units.
    pub units: usize,
    /// Bytes of UTF-8.
    pub bytes: usize,
    /// Tokens, as the caller counts them.
    pub tokens: usize,
    /// Lines, begun ones included.
    pub lines: usize,
}

/// A part of the prompt as plain data.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FragmentView {
    /// Which part it is.
    pub origin: FragmentOrigin,
    /// Where in the request it stands.
    pub role: FragmentRole,
    /// How long it stays the same.
    pub cache: CacheClass,
    /// The first byte in its text: the system prompt, or the notice beside the user's words.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The line of the first byte after the separator, counted from 1.
    pub line: usize,
    /// What there was before budgets; for our own sections the same as `injected`.
    pub raw: Measure,
    /// What the model gets.
    pub injected: Measure,
    /// What budgets and rules made of it.
    pub decision: BudgetDecision,
    /// The pieces, each with its place in the text and its source.
    pub pieces: Vec<PieceView>,
}

/// A piece as plain data.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PieceView {
    /// The first byte in the text.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Where it came from.
    pub source: FragmentSource,
}

/// A file as plain data.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileView {
    /// The name.
    pub name: String,
    /// The path.
    pub path: String,
    /// Whether configuration added it from below the root.
    pub extra: bool,
    /// What became of it.
    pub state: FileState,
    /// Why it is not there whole; empty when it is.
    pub reason: String,
    /// What there was.
    pub raw: Measure,
    /// What the model gets of it, its heading and markers included.
    pub injected: Measure,
    /// Its place among the fragments.
    pub fragment: Option<usize>,
    /// Its text, region by region: what is in the prompt and what is not.
    pub regions: Vec<Region>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileState {
    /// All of it is there.
    Whole,
    /// Part of it is there.
    Cut,
    /// It is not there, and the prompt says so.
    Missing,
    /// It was not read, and the prompt says so.
    Refused,
    /// It is not in the prompt.
    LeftOut,
}

impl FileState {
    /// Returns the word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Cut => "cut",
            Self::Missing => "missing",
            Self::Refused => "refused",
            Self::LeftOut => "left out",
        }
    }
}

impl Measure {
    /// Measures a text. `count` counts tokens.
    pub fn of_text(text: &str, count: &mut dyn FnMut(&str) -> usize) -> Self {
        Self::of(text, Size::of(text), count)
    }

    fn of(text: &str, size: Size, count: &mut dyn FnMut(&str) -> usize) -> Self {
        Self {
            units: size.units,
            bytes: size.bytes,
            tokens: if text.is_empty() { 0 } else { count(text) },
            lines: if text.is_empty() {
                0
            } else {
                1 + memchr_iter(b'\n', text.as_bytes()).count()
            },
        }
    }
}

impl std::ops::Add for Measure {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            units: self.units + other.units,
            bytes: self.bytes + other.bytes,
            tokens: self.tokens + other.tokens,
            lines: self.lines + other.lines,
        }
    }
}

impl std::iter::Sum for Measure {
    fn sum<I: Iterator<Item = Self>>(measures: I) -> Self {
        measures.fold(Self::default(), |sum, one| sum + one)
    }
}

/// Turns a context into plain data. `count` counts tokens.
pub fn view(context: &Context, count: &mut dyn FnMut(&str) -> usize) -> View {
    let system = context.system();
    let mut fragments = Vec::with_capacity(context.fragments.len());
    let (mut at, mut line) = (0, 1);
    for fragment in &context.fragments {
        if fragment.role != FragmentRole::System {
            fragments.push(fragment_view(fragment, &fragment.text(), 0, 1, count));
            continue;
        }
        let text = &system[at..at + fragment.bytes()];
        let shown = fragment_view(fragment, text, at, line, count);
        line += shown.injected.lines.saturating_sub(1);
        at = shown.end;
        fragments.push(shown);
    }
    let files = (0..context.files.records.len())
        .map(|record| file_view(context, record, &fragments, count))
        .collect();
    let boundary = context.boundary();
    let cached = boundary.map_or(&*system, |at| &system[..at]);
    View {
        contract: context.contract.name,
        directory: context.directory.to_string_lossy().into_owned(),
        cached: Measure::of(cached, Size::of(cached), count),
        total: Measure::of(&system, Size::of(&system), count),
        boundary,
        fragments,
        files,
        limits: context.limits.clone(),
        warnings: context.files.warnings.clone(),
        volatile: volatile_above_boundary(context),
    }
}

fn fragment_view(
    fragment: &Fragment,
    text: &str,
    start: usize,
    line: usize,
    count: &mut dyn FnMut(&str) -> usize,
) -> FragmentView {
    let injected = Measure::of(text, fragment.injected, count);
    let raw = match fragment.decision {
        BudgetDecision::Cut { .. } => Measure {
            units: fragment.raw.units,
            bytes: fragment.raw.bytes,
            // In proportion: the text itself is the file's, which knows better.
            tokens: injected.tokens * fragment.raw.bytes / fragment.injected.bytes.max(1),
            lines: 0,
        },
        BudgetDecision::BuiltIn
        | BudgetDecision::Whole
        | BudgetDecision::Missing
        | BudgetDecision::Refused { .. } => injected,
    };
    let mut at = start + fragment.lead.len();
    let pieces = fragment
        .pieces
        .iter()
        .map(|piece| {
            let from = at;
            at += piece.text.as_str().len();
            PieceView {
                start: from,
                end: at,
                source: piece.source,
            }
        })
        .collect();
    FragmentView {
        origin: fragment.origin.clone(),
        role: fragment.role,
        cache: fragment.cache,
        start,
        end: start + text.len(),
        line: line + memchr_iter(b'\n', fragment.lead.as_bytes()).count(),
        raw,
        injected,
        decision: fragment.decision.clone(),
        pieces,
    }
}

/// A refusal by its code and in words.
fn refusal(reason: FileRefusal) -> String {
    format!("{reason}: {}", reason.meaning())
}

fn file_view(
    context: &Context,
    record: usize,
    fragments: &[FragmentView],
    count: &mut dyn FnMut(&str) -> usize,
) -> FileView {
    let found = &context.files.records[record];
    let fragment = context.fragment_of(record);
    let text = found.content().map_or("", |content| &*content.text);
    let left_out = context.why_left_out(record);
    let decision = fragment.map(|(_, fragment)| &fragment.decision);
    let (state, reason) = match (&left_out, decision) {
        (Some(reason), _) => (FileState::LeftOut, reason.clone()),
        // One contract puts words of its own in the place of a file that it cannot read, and counts them as its text.
        (None, Some(BudgetDecision::Whole | BudgetDecision::Cut { .. }))
            if found.refused().is_some() =>
        {
            let reason = found.refused().map(refusal);
            (FileState::Refused, reason.unwrap_or_default())
        }
        (None, None | Some(BudgetDecision::BuiltIn | BudgetDecision::Whole)) => {
            (FileState::Whole, String::new())
        }
        (None, Some(BudgetDecision::Cut { causes, limit })) => {
            let causes: Vec<String> = causes.iter().map(ToString::to_string).collect();
            (
                FileState::Cut,
                format!("truncated to {limit}: {}", causes.join(", ")),
            )
        }
        // Some releases tell the model that a file is missing when they refuse to read it. The author should know better.
        (None, Some(BudgetDecision::Missing)) => {
            let told = |reason| format!("it is there and was not read, {}", refusal(reason));
            (
                FileState::Missing,
                found.refused().map_or_else(|| NOT_THERE.to_owned(), told),
            )
        }
        (None, Some(BudgetDecision::Refused { reason })) => (FileState::Refused, refusal(*reason)),
    };
    FileView {
        name: found.name.to_string(),
        path: found.path.to_string_lossy().into_owned(),
        extra: found.extra,
        state,
        reason,
        raw: Measure::of(text, Size::of(text), count),
        injected: fragment.map_or_else(Measure::default, |(at, _)| fragments[at].injected),
        fragment: fragment.map(|(at, _)| at),
        regions: context.regions(record),
    }
}
