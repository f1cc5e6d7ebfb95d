//! What of a file is in the prompt and what is not, region by region, with the reason.

use crate::assemble::Context;
use crate::budget::{WhyLeftOut, embedded};
use crate::files::FileOutcome;
use crate::fragment::{BudgetDecision, CutCause, Fragment, FragmentOrigin, FragmentSource};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::ops::Range;

/// A run of a file's text that is in the prompt or is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Region {
    /// The first byte of the file's text.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Why it is not in the prompt; nothing when it is.
    pub missing: Option<WhyMissing>,
}

/// Why a part of a file is not in the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum WhyMissing {
    /// It is front matter, which the contract takes off.
    FrontMatter,
    /// It is blank space at the end.
    TrailingBlanks,
    /// It was cut.
    Cut {
        /// Why.
        causes: Vec<CutCause>,
    },
    /// It is a surplus empty line.
    Squeezed,
    /// A rule of the contract takes it out: another project's entry, a documented heartbeat prompt, blank edges.
    Rule,
    /// The whole file is left out.
    LeftOut {
        /// The reason, in words.
        reason: String,
    },
}

impl fmt::Display for WhyMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FrontMatter => f.write_str("front matter is removed"),
            Self::TrailingBlanks => f.write_str("trailing blank space is removed"),
            Self::Cut { causes } => {
                f.write_str("cut: ")?;
                for (at, cause) in causes.iter().enumerate() {
                    write!(f, "{}{cause}", if at == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Self::Squeezed => f.write_str("more than one empty line in a row is squeezed"),
            Self::Rule => f.write_str("a rule of the contract takes it out"),
            Self::LeftOut { reason } => write!(f, "the file is omitted: {reason}"),
        }
    }
}

impl fmt::Display for CutCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PerFileLimit => "longer than one file may be",
            Self::TotalLimit => "too little was left for all files",
            Self::Plan => "the plan for small windows shortens it",
        })
    }
}

impl Context {
    /// Returns the fragment of a record, if it is in the prompt.
    pub fn fragment_of(&self, record: usize) -> Option<(usize, &Fragment)> {
        let Some(FileOutcome::In { file }) = self.files.outcomes.get(record) else {
            return None;
        };
        // The same path may stand twice: the nth file of a path is the nth fragment of it.
        let wanted = &self.files.files.get(*file)?.path;
        let is_wanted = |origin: &FragmentOrigin| match origin {
            FragmentOrigin::File { path, .. } => path == wanted,
            FragmentOrigin::Section { .. } | FragmentOrigin::Boundary => false,
        };
        let earlier = self.files.outcomes[..record]
            .iter()
            .filter(|outcome| match outcome {
                FileOutcome::In { file } => self.files.files[*file].path == *wanted,
                FileOutcome::NotKept(_) | FileOutcome::LeftOut(_) | FileOutcome::ToldApart(_) => {
                    false
                }
            })
            .count();
        self.fragments
            .iter()
            .enumerate()
            .filter(|(_, fragment)| is_wanted(&fragment.origin))
            .nth(earlier)
    }

    /// Says in words why a record is not in the prompt; nothing when it is.
    pub fn why_left_out(&self, record: usize) -> Option<String> {
        match self.files.outcomes.get(record)? {
            FileOutcome::In { .. } => {
                (self.fragment_of(record).is_none()).then(|| "this prompt has no files".to_owned())
            }
            FileOutcome::NotKept(reason) => Some(reason.to_string()),
            FileOutcome::LeftOut(left) => {
                let refused = self.files.records[record].refused();
                let refused = refused.filter(|_| left.why == WhyLeftOut::Absent);
                Some(refused.map_or_else(
                    || left.to_string(),
                    |reason| format!("it was not read, {reason}: {}", reason.meaning()),
                ))
            }
            FileOutcome::ToldApart(apart) => Some(apart.to_string()),
        }
    }

    /// Returns the records that limits or plans shorten or leave out, each with the reason in words.
    pub fn shortened(&self) -> Vec<(usize, String)> {
        let mut shortened = Vec::new();
        for (record, outcome) in self.files.outcomes.iter().enumerate() {
            match outcome {
                FileOutcome::In { file } => {
                    if let BudgetDecision::Cut { limit, causes } = &self.files.files[*file].decision
                    {
                        let causes: Vec<String> = causes.iter().map(ToString::to_string).collect();
                        shortened.push((
                            record,
                            format!("truncated to {limit}: {}", causes.join(", ")),
                        ));
                    }
                }
                FileOutcome::LeftOut(left) => match left.why {
                    WhyLeftOut::TotalSpent { .. } | WhyLeftOut::NoRoom => {
                        shortened.push((record, left.to_string()));
                    }
                    WhyLeftOut::Blank | WhyLeftOut::Absent | WhyLeftOut::NoPath => {}
                },
                FileOutcome::NotKept(_) | FileOutcome::ToldApart(_) => {}
            }
        }
        shortened
    }

    /// Returns the regions of a record's text in order, which together are all of it. A file without text has none.
    pub fn regions(&self, record: usize) -> Vec<Region> {
        let Some(content) = self.files.records.get(record).and_then(|one| one.content()) else {
            return Vec::new();
        };
        let length = content.text.len();
        if let Some(reason) = self.why_left_out(record) {
            let missing = Some(WhyMissing::LeftOut { reason });
            return vec![Region {
                start: 0,
                end: length,
                missing,
            }];
        }
        let Some((_, fragment)) = self.fragment_of(record) else {
            return Vec::new();
        };
        let meant = embedded(&self.files.records[record], self.contract)
            .and_then(|body| match body.pieces.first()?.source {
                FragmentSource::File { start, end } => Some(start..end),
                FragmentSource::Ours | FragmentSource::Given | FragmentSource::Rewritten { .. } => {
                    None
                }
            })
            .unwrap_or(0..0);
        let mut regions = Vec::new();
        let mut at = 0;
        for kept in kept(fragment) {
            self.explain_gap(record, at..kept.start, &meant, fragment, &mut regions);
            regions.push(Region {
                start: kept.start,
                end: kept.end,
                missing: None,
            });
            at = kept.end;
        }
        self.explain_gap(record, at..length, &meant, fragment, &mut regions);
        regions
    }

    /// Splits what is missing at the edges of what was meant for the model, and names the reasons.
    fn explain_gap(
        &self,
        record: usize,
        gap: Range<usize>,
        meant: &Range<usize>,
        fragment: &Fragment,
        regions: &mut Vec<Region>,
    ) {
        let text = self.files.records[record]
            .content()
            .map_or("", |content| &*content.text);
        let mut push = |start: usize, end: usize, why: WhyMissing| {
            if start < end {
                regions.push(Region {
                    start,
                    end,
                    missing: Some(why),
                });
            }
        };
        let before = gap.start..gap.end.min(meant.start).max(gap.start);
        let after = gap.start.max(meant.end).min(gap.end)..gap.end;
        push(before.start, before.end, WhyMissing::FrontMatter);
        let inner = before.end..after.start.max(before.end);
        let lost = text.get(inner.clone()).unwrap_or_default();
        let is_end = inner.end == text.len();
        let only_line_feeds = lost.bytes().all(|byte| byte == b'\n');
        let why = match &fragment.decision {
            _ if is_end && lost.chars().all(|c| c <= ' ' || c.is_whitespace()) => {
                WhyMissing::TrailingBlanks
            }
            _ if only_line_feeds && self.contract.rendering.squeeze => WhyMissing::Squeezed,
            BudgetDecision::Cut { causes, .. } => WhyMissing::Cut {
                causes: causes.clone(),
            },
            BudgetDecision::BuiltIn
            | BudgetDecision::Whole
            | BudgetDecision::Missing
            | BudgetDecision::Refused { .. } => WhyMissing::Rule,
        };
        push(inner.start, inner.end, why);
        push(
            after.start.max(before.end),
            after.end,
            WhyMissing::TrailingBlanks,
        );
    }
}

/// The byte ranges of the file that the fragment holds, merged and in order. Rewritten text does not count: its bytes
/// are not there.
fn kept(fragment: &Fragment) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = fragment
        .pieces
        .iter()
        .filter_map(|piece| match piece.source {
            FragmentSource::File { start, end } => Some(start..end),
            FragmentSource::Ours | FragmentSource::Given | FragmentSource::Rewritten { .. } => None,
        })
        .collect();
    // One recorded release may show a text and its tail again.
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}
