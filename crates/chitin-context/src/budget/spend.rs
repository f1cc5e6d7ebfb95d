//! Walking the records in load order, spending the budget on each (W26–W28, CN7, CN9).

use super::cut::{fitted, fixed_shares};
use super::digest::with_digest;
use super::{BudgetLimits, LimitUnit, embedded};
use crate::body::Body;
use crate::compat;
use crate::file_texts;
use crate::fragment::{BudgetDecision, CutCause, FragmentPiece, Size};
use crate::parts::{Fresh, Maker};
use crate::tokens;
use crate::warning::ContextWarning;
use chitin_contract::{Contract, CutRule, HeadingStyle, MissingMarked, PairRule, RefusalStyle};
use chitin_protocol::record::FileRefusal;
use chitin_protocol::text::is_blank_js;
use chitin_workspace::snapshot::Record;
use serde::Serialize;
use std::sync::Arc;

/// No kind of text has more UTF-16 units in a token, as a rule; a cut need not be looked for beyond.
const MOST_UNITS_PER_TOKEN: usize = 8;

/// Files whose absence needs no word where the contract says so.
const OPTIONAL: [&str; 4] = ["HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md", "memory.md"];

/// A file as it goes into the prompt, before it is placed.
#[derive(Debug, Clone)]
pub struct ContextFile {
    /// Which record it came from.
    pub record: usize,
    /// The file's name.
    pub name: Arc<str>,
    /// The file's path, as its record spells it.
    pub path: Arc<str>,
    /// What its heading shows: a path, or the bare name.
    pub heading: Arc<str>,
    /// Whether configuration added it from below the root.
    pub extra: bool,
    /// The text.
    pub body: Arc<Body>,
    /// What there was before budgets; nothing for a marker.
    pub raw: Size,
    /// What was left of the total before this file.
    pub remaining: Option<usize>,
    /// What budgets made of it.
    pub decision: BudgetDecision,
}

/// A record that gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedRecord {
    /// Which record.
    pub record: usize,
    /// What it would have given.
    pub raw: Size,
    /// What was left of the total before it.
    pub remaining: Option<usize>,
    /// Why it is not there.
    pub why: WhyLeftOut,
}

/// Why a record gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum WhyLeftOut {
    /// It holds nothing but blanks.
    Blank,
    /// It is not there, and its absence needs no word.
    Absent,
    /// It has no path.
    NoPath,
    /// So little was left of the total that no further file was begun.
    TotalSpent {
        /// What was left.
        remaining: usize,
    },
    /// Its bound leaves no room even for a marker.
    NoRoom,
}

/// What the budget was spent on.
#[derive(Debug, Clone, Default)]
pub struct Spent {
    /// The files that are in, in load order.
    pub files: Vec<ContextFile>,
    /// The records that are not.
    pub left_out: Vec<OmittedRecord>,
    /// What there is to say.
    pub warnings: Vec<ContextWarning>,
}

/// What cutting a text came to. Kept by the assembler, since the same file is cut the same way each turn.
#[derive(Debug, Clone)]
pub(crate) struct CutFile {
    pub(crate) body: Arc<Body>,
    pub(crate) raw: Size,
    /// What it was cut to in units, when it was.
    pub(crate) limit: Option<usize>,
    /// The length in the unit of the bounds.
    pub(crate) measure: usize,
}

/// Cuts one record's text to a bound; `None` for a record that counts as missing.
pub(crate) fn cut(
    record: &Record,
    contract: &Contract,
    limits: &BudgetLimits,
    bound: usize,
) -> Option<CutFile> {
    let text = embedded(record, contract)?;
    let raw = text.size();
    let (body, limit) = cut_to(text, &record.name, contract, limits, bound);
    let measure = limits.measure(&body);
    Some(CutFile {
        body: Arc::new(body),
        raw,
        limit,
        measure,
    })
}

/// Spends the budget on records in their order.
pub fn spend(records: &[&Record], contract: &Contract, limits: &BudgetLimits) -> Spent {
    spend_with(&mut Fresh, records, contract, limits)
}

pub(crate) fn spend_with(
    maker: &mut impl Maker,
    records: &[&Record],
    contract: &Contract,
    limits: &BudgetLimits,
) -> Spent {
    let mut spent = Spent::default();
    let mut remaining = limits.total.map(|total| total.max(1));
    let mut stopped = false;
    for (at, record) in records.iter().enumerate() {
        let before = remaining;
        let left = |why| OmittedRecord {
            record: at,
            raw: Size::default(),
            remaining: before,
            why,
        };
        if stopped || remaining == Some(0) {
            let why = WhyLeftOut::TotalSpent {
                remaining: remaining.unwrap_or_default(),
            };
            let raw = embedded(record, contract).map(|text| text.size());
            spent.left_out.push(OmittedRecord {
                raw: raw.unwrap_or_default(),
                ..left(why)
            });
            continue;
        }
        let path: Arc<str> = record.path.to_string_lossy().into();
        let heading: Arc<str> = match contract.rendering.headings {
            HeadingStyle::Path if is_blank_js(&path) => {
                spent.warnings.push(ContextWarning::Skipped {
                    name: record.name.to_string(),
                });
                let raw = embedded(record, contract).map(|text| text.size());
                spent.left_out.push(OmittedRecord {
                    raw: raw.unwrap_or_default(),
                    ..left(WhyLeftOut::NoPath)
                });
                continue;
            }
            HeadingStyle::Path => path.clone(),
            HeadingStyle::Name => record.name.clone(),
        };
        let file = |body: Arc<Body>, raw, decision| ContextFile {
            record: at,
            name: record.name.clone(),
            path: path.clone(),
            heading,
            extra: record.extra,
            body,
            raw,
            remaining: before,
            decision,
        };
        let Some(kind) = marker(record, contract) else {
            if let Some(rest) = remaining.filter(|rest| *rest < limits.least_rest()) {
                spent
                    .warnings
                    .push(ContextWarning::Stopped { remaining: rest });
                stopped = true;
                let raw = embedded(record, contract).map(|text| text.size());
                spent.left_out.push(OmittedRecord {
                    raw: raw.unwrap_or_default(),
                    ..left(WhyLeftOut::TotalSpent { remaining: rest })
                });
                continue;
            }
            let own = limits.of_record(record);
            if limits.plan_for(&path) == Some(0)
                && let Some(text) = embedded(record, contract).filter(|text| !text.is_empty())
            {
                let body = Body::of(FragmentPiece::made(file_texts::left_out(&path)));
                let body = match remaining {
                    None => body,
                    Some(rest) => clamp(body, rest, limits),
                };
                remaining = remaining.map(|rest| rest.saturating_sub(limits.measure(&body)));
                let decision = BudgetDecision::Cut {
                    limit: 0,
                    causes: vec![CutCause::Plan],
                };
                spent
                    .files
                    .push(file(Arc::new(body), text.size(), decision));
                continue;
            }
            let bound = remaining
                .map_or(own, |rest| own.min(rest))
                .max(usize::try_from(contract.budgets.least).unwrap_or(0));
            let Some(cut) = maker.cut(record, contract, limits, bound) else {
                continue;
            };
            if cut.raw.units == 0 {
                spent.left_out.push(left(WhyLeftOut::Blank));
                continue;
            }
            let decision = match cut.limit {
                None => BudgetDecision::Whole,
                Some(limit) => {
                    spent.warnings.push(ContextWarning::Truncated {
                        name: record.name.to_string(),
                        length: cut.raw.units,
                        limit,
                    });
                    BudgetDecision::Cut {
                        limit,
                        causes: vec![cause(limits, &path, own, remaining)],
                    }
                }
            };
            remaining = remaining.map(|rest| rest.saturating_sub(cut.measure));
            if cut.body.is_empty() {
                let mut gone = left(WhyLeftOut::NoRoom);
                gone.raw = cut.raw;
                spent.left_out.push(gone);
                continue;
            }
            spent.files.push(file(cut.body, cut.raw, decision));
            continue;
        };
        let (text, decision) = match kind {
            Marker::Unsaid => {
                spent.left_out.push(left(WhyLeftOut::Absent));
                continue;
            }
            Marker::Missing => (compat::missing(&path), BudgetDecision::Missing),
            Marker::Refused(reason) => (
                compat::refused(reason, &path),
                BudgetDecision::Refused { reason },
            ),
        };
        let body = Body::of(FragmentPiece::made(text));
        let body = match remaining {
            None => body,
            Some(rest) => clamp(body, rest, limits),
        };
        let measure = limits.measure(&body);
        let entry = file(Arc::new(body), Size::default(), decision);
        remaining = remaining.map(|rest| rest.saturating_sub(measure));
        spent.files.push(entry);
    }
    spent
}

/// What stands in the place of a file that gave no text.
enum Marker {
    Unsaid,
    Missing,
    Refused(FileRefusal),
}

/// Returns `None` for a file that gave text.
fn marker(record: &Record, contract: &Contract) -> Option<Marker> {
    if record.content().is_some() {
        return None;
    }
    match (record.refused(), contract.loading.refusals) {
        (Some(_), RefusalStyle::Unreadable) => None,
        (Some(reason), RefusalStyle::Named) => Some(match contract.rendering.missing_marked {
            MissingMarked::All | MissingMarked::NotOptional => Marker::Refused(reason),
            MissingMarked::Nothing => Marker::Unsaid,
        }),
        (Some(_), RefusalStyle::Missing) | (None, _) => {
            let marked = match contract.rendering.missing_marked {
                MissingMarked::All => true,
                MissingMarked::NotOptional => !OPTIONAL.contains(&&*record.name),
                MissingMarked::Nothing => false,
            };
            Some(if marked {
                Marker::Missing
            } else {
                Marker::Unsaid
            })
        }
    }
}

/// What it is that binds a file which is shorter than it was.
fn cause(limits: &BudgetLimits, path: &str, own: usize, remaining: Option<usize>) -> CutCause {
    if remaining.is_some_and(|rest| rest < own) {
        CutCause::TotalLimit
    } else if limits.plan_for(path) == Some(own) {
        CutCause::Plan
    } else {
        CutCause::PerFileLimit
    }
}

/// Cuts a text to a bound in the unit of the limits; says what it was cut to, in units, if it was.
fn cut_to(
    text: Body,
    name: &str,
    contract: &Contract,
    limits: &BudgetLimits,
    bound: usize,
) -> (Body, Option<usize>) {
    let rule = contract.budgets.cut;
    if rule == CutRule::Never || limits.measure(&text) <= bound {
        return (text, None);
    }
    match limits.unit {
        LimitUnit::Characters => (cut_to_units(&text, name, contract, bound), Some(bound)),
        LimitUnit::Tokens => {
            // Head, tail and marker differ in density, so the largest cut that holds is searched for.
            let try_with = |units: usize| {
                let cut = cut_to_units(&text, name, contract, units);
                (limits.measure(&cut) <= bound).then_some(cut)
            };
            let mut best = (cut_to_units(&text, name, contract, 0), 0);
            let (mut low, mut high) = (
                1,
                text.units.min(bound.saturating_mul(MOST_UNITS_PER_TOKEN)),
            );
            while low <= high {
                let middle = low + (high - low) / 2;
                match try_with(middle) {
                    Some(cut) => {
                        best = (cut, middle);
                        low = middle + 1;
                    }
                    None => high = middle - 1,
                }
            }
            (best.0, Some(best.1))
        }
    }
}

fn cut_to_units(text: &Body, name: &str, contract: &Contract, limit: usize) -> Body {
    let pairs = contract.budgets.pairs;
    match contract.budgets.cut {
        CutRule::Never => text.clone(),
        CutRule::FixedShares => fixed_shares(text, name, limit, pairs),
        CutRule::Fitted => match digested(name, contract) {
            Some(name) => with_digest(text, name, limit, pairs, contract.budgets.digest_lines),
            None => fitted(text, name, limit, pairs),
        },
    }
}

/// Returns the name of the file with a digest of its rules, if it is this one in any letter case.
pub(crate) fn digested(name: &str, contract: &Contract) -> Option<&'static str> {
    contract
        .budgets
        .digest
        .filter(|digest| digest.eq_ignore_ascii_case(name))
}

/// Cuts a marker to what is left. No contract parts a pair here, also not the one that does so between head and tail.
fn clamp(body: Body, rest: usize, limits: &BudgetLimits) -> Body {
    let pairs = PairRule::LeftOut;
    match limits.unit {
        LimitUnit::Characters => body.clamped(rest, pairs),
        LimitUnit::Tokens => {
            if limits.measure(&body) <= rest {
                return body;
            }
            let mut units = tokens::units_within(&body.text(), rest);
            loop {
                let clamped = body.clone().clamped(units, pairs);
                if limits.measure(&clamped) <= rest || units == 0 {
                    return clamped;
                }
                units -= 1;
            }
        }
    }
}
