//! What budgets took away, in figures and in lines for the model and for people (W31, W32, CN16).

use crate::budget::{
    BudgetLimits, ContextFile, LimitUnit, OmittedRecord, Spent, WhyLeftOut, digested, embedded,
    is_user,
};
use crate::compat::{TRUNCATION_WARNING, is_heartbeat_prompt};
use crate::file_texts;
use crate::fragment::CutCause;
use chitin_config::settings::TruncationWarning;
use chitin_contract::{Contract, FiguresBy, NoticePlace, TotalCause};
use chitin_protocol::text::is_blank_js;
use chitin_workspace::snapshot::Record;
use serde::Serialize;
use std::fmt::Write as _;

/// How many cut files are named before the rest is only counted.
const NAMED_FILES: usize = 3;
/// How many announcements are remembered by a session that hears of each only once.
const REMEMBERED: usize = 32;

/// What budgets took away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetReport {
    /// Every record, in load order.
    pub files: Vec<FileFigures>,
    /// Present files together, before budgets.
    pub raw: usize,
    /// Present files together, after budgets.
    pub injected: usize,
    /// Whether what is injected has reached 85 % of the bound of all files.
    pub near_total: bool,
}

/// The figures of one file, in the unit of the bounds: UTF-16 units, or tokens by our estimate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileFigures {
    /// The name.
    pub name: String,
    /// The path.
    pub path: String,
    /// Whether there was text.
    pub present: bool,
    /// The length before budgets.
    pub raw: usize,
    /// The length after budgets.
    pub injected: usize,
    /// The bound of this file.
    pub limit: usize,
    /// Whether text was taken away.
    pub truncated: bool,
    /// Whether the length has reached 85 % of the bound.
    pub near_limit: bool,
    /// Why text was taken away.
    pub causes: Vec<CutCause>,
}

/// Reckons what budgets took away.
pub fn report(
    records: &[&Record],
    spent: &Spent,
    contract: &Contract,
    limits: &BudgetLimits,
) -> BudgetReport {
    report_on(records, spent, contract, limits, |_| true)
}

/// The same, of those records alone that `counts` names: what is told to the model in another way is no cut of the prompt.
pub(crate) fn report_on(
    records: &[&Record],
    spent: &Spent,
    contract: &Contract,
    limits: &BudgetLimits,
    counts: impl Fn(&Record) -> bool,
) -> BudgetReport {
    let least = usize::try_from(contract.budgets.least).unwrap_or(0);
    let mut files: Vec<FileFigures> = records
        .iter()
        .map(|record| FileFigures {
            name: record.name.to_string(),
            path: record.path.to_string_lossy().into_owned(),
            present: false,
            raw: 0,
            injected: 0,
            limit: limits.of_record(record),
            truncated: false,
            near_limit: false,
            causes: Vec::new(),
        })
        .collect();
    let raw = |record: usize, units: usize| match limits.unit {
        LimitUnit::Characters => units,
        LimitUnit::Tokens if units == 0 => 0,
        LimitUnit::Tokens => {
            embedded(records[record], contract).map_or(0, |text| limits.measure(&text))
        }
    };
    for file in &spent.files {
        let figures = &mut files[file.record];
        figures.present = file.raw.units > 0;
        figures.raw = raw(file.record, file.raw.units);
    }
    for left in &spent.left_out {
        let figures = &mut files[left.record];
        figures.raw = raw(left.record, left.raw.units);
        figures.present = match left.why {
            WhyLeftOut::Absent => false,
            WhyLeftOut::Blank
            | WhyLeftOut::NoPath
            | WhyLeftOut::NoRoom
            | WhyLeftOut::TotalSpent { .. } => embedded(records[left.record], contract).is_some(),
        };
    }
    for (at, figures) in files.iter_mut().enumerate() {
        figures.injected = found(contract.budgets.figures, at, figures, spent)
            .map_or(0, |file| limits.measure(&file.body));
    }
    let mut counted = records.iter().map(|record| counts(record));
    files.retain(|_| counted.next().unwrap_or(true));
    let total = limits.total.map(|total| total.max(1));
    let present = || files.iter().filter(|file| file.present);
    let raw = present().map(|file| file.raw).sum();
    let injected = present().map(|file| file.injected).sum();
    let mut left = total;
    for file in &mut files {
        let before = left;
        left = left.map(|left| left.saturating_sub(file.injected));
        if contract.budgets.total_cause == TotalCause::Untold {
            file.truncated = file.present && file.raw > file.limit;
            continue;
        }
        let limit = file.limit.max(least);
        file.truncated = file.present && file.injected < file.raw;
        file.near_limit = file.present && file.raw >= near(limit);
        if !file.truncated {
            continue;
        }
        if file.raw > limit {
            file.causes
                .push(if limits.plan_for(&file.path) == Some(file.limit) {
                    CutCause::Plan
                } else {
                    CutCause::PerFileLimit
                });
        }
        let by_total = match contract.budgets.total_cause {
            TotalCause::Untold => false,
            TotalCause::UsedUp => total.is_some_and(|total| injected >= total),
            TotalCause::LeftTooLittle => {
                before.is_some_and(|before| before < limit && before < file.raw)
            }
        };
        if by_total {
            file.causes.push(CutCause::TotalLimit);
        }
    }
    BudgetReport {
        raw,
        injected,
        near_total: contract.budgets.total_cause != TotalCause::Untold
            && total.is_some_and(|total| injected >= near(total)),
        files,
    }
}

/// Returns what a record became, as the contract looks it up.
fn found<'a>(
    by: FiguresBy,
    record: usize,
    figures: &FileFigures,
    spent: &'a Spent,
) -> Option<&'a ContextFile> {
    let mut files = spent.files.iter();
    let of_path = || {
        let mut files = spent.files.iter();
        files.find(|file| *file.path == *figures.path)
    };
    match by {
        FiguresBy::File => files.find(|file| file.record == record),
        FiguresBy::Name => files.rfind(|file| *file.name == *figures.name),
        FiguresBy::Path => of_path(),
        FiguresBy::PathThenName => of_path().or_else(|| {
            let name_of = |path: &str| path.rsplit(['/', '\\']).next() == Some(&figures.name);
            files.find(|file| name_of(&file.path))
        }),
    }
}

/// 85 % of a bound, rounded up.
const fn near(limit: usize) -> usize {
    limit.saturating_mul(85).div_ceil(100)
}

impl BudgetReport {
    /// Returns the files that lost text.
    pub fn truncated(&self) -> impl Iterator<Item = &FileFigures> {
        self.files.iter().filter(|file| file.truncated)
    }

    /// Returns one line per cut file, a count of further ones, and what to do about it; nothing when nothing was cut.
    pub fn warning_lines(&self, contract: &Contract, limits: &BudgetLimits) -> Vec<String> {
        let cut: Vec<_> = self.truncated().collect();
        if cut.is_empty() || contract.budgets.total_cause == TotalCause::Untold {
            return Vec::new();
        }
        let mut lines: Vec<String> = cut
            .iter()
            .take(NAMED_FILES)
            .map(|file| {
                line(
                    file,
                    cut.iter().filter(|other| other.name == file.name).count() > 1,
                )
            })
            .collect();
        if cut.len() > NAMED_FILES {
            lines.push(format!(
                "+{} more truncated file(s).",
                cut.len() - NAMED_FILES
            ));
        }
        lines.extend(advice(&cut, contract, limits));
        lines
    }
}

/// Returns what a user can do about it.
fn advice(cut: &[&FileFigures], contract: &Contract, limits: &BudgetLimits) -> Vec<String> {
    let mut lines = Vec::new();
    if cut
        .iter()
        .any(|file| digested(&file.name, contract).is_some())
    {
        lines.push(file_texts::DIGEST_ADVICE.to_owned());
    }
    // The settings do not lift the cap of the user file, so they are no advice when it is all there is.
    let capped = |file: &FileFigures| limits.user == Some(file.limit) && is_user(&file.name);
    let by = |file: &FileFigures, cause| file.causes.contains(&cause);
    if cut
        .iter()
        .any(|file| capped(file) && by(file, CutCause::PerFileLimit))
    {
        lines.push(file_texts::USER_CAP_ADVICE.to_owned());
    }
    let by_plan = |file: &FileFigures| file.causes == [CutCause::Plan];
    if cut.iter().any(|file| by_plan(file)) {
        lines.push(file_texts::PLAN_ADVICE.to_owned());
    }
    let by_settings =
        |file: &FileFigures| !by_plan(file) && (!capped(file) || by(file, CutCause::TotalLimit));
    if cut.iter().any(|file| by_settings(file)) {
        lines.push(file_texts::LIMITS_ADVICE.to_owned());
    }
    lines
}

fn line(file: &FileFigures, ambiguous: bool) -> String {
    let mut line = file.name.clone();
    if ambiguous {
        let path = if is_blank_js(&file.path) {
            &file.name
        } else {
            &file.path
        };
        let _ = write!(line, " ({path})");
    }
    let _ = write!(
        line,
        ": {} raw -> {} injected (~{}% removed",
        file.raw,
        file.injected,
        percent(file.raw - file.injected, file.raw)
    );
    for (at, cause) in file.causes.iter().enumerate() {
        line.push_str(if at == 0 { "; " } else { ", " });
        line.push_str(match cause {
            CutCause::PerFileLimit => "max/file",
            CutCause::TotalLimit => "max/total",
            CutCause::Plan => "plan",
        });
    }
    line.push_str(").");
    line
}

/// Rounds a share half up, as IEEE doubles have it: 29 of 200 are 14 percent, since 0.145 × 100 is just below 14.5.
#[expect(
    clippy::cast_precision_loss,
    reason = "the recorded programs reckon in doubles; lengths are far below 2^53"
)]
fn percent(part: usize, whole: usize) -> f64 {
    (part as f64 / whole.max(1) as f64 * 100.0).round()
}

/// Returns the block that tells the model of cuts, in contracts that put it after the user's message.
pub fn user_notice(lines: &[String], contract: &Contract) -> Option<String> {
    if lines.is_empty() || contract.budgets.notice != NoticePlace::UserPrompt {
        return None;
    }
    let mut block = format!("{TRUNCATION_WARNING}\n{}", file_texts::TRUNCATION_INTRO);
    for line in lines {
        let _ = write!(block, "\n- {line}");
    }
    Some(block)
}

/// Puts notices around the user's words, a blank line apart. The default heartbeat prompt stays as it is, since it is
/// recognised by its exact text (W32).
pub fn around_words(before: Option<&str>, words: &str, after: Option<&str>) -> String {
    let after = after.filter(|_| !is_heartbeat_prompt(words.trim()));
    let words = (!words.is_empty()).then_some(words);
    let parts = [before, words, after];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Returns the lines that tell the model of cuts, in contracts that have a section for it.
pub fn system_notice(lines: &[String], contract: &Contract) -> Option<String> {
    (!lines.is_empty() && contract.budgets.notice == NoticePlace::SystemPrompt)
        .then(|| format!("{TRUNCATION_WARNING}\n{}", file_texts::TRUNCATION_INTRO))
}

/// What a session has been told of cuts already.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Announced {
    seen: Vec<String>,
}

impl Announced {
    /// Tells whether a cut is to be announced on this turn, and remembers it.
    pub fn is_due(&mut self, report: &BudgetReport, mode: TruncationWarning) -> bool {
        let mut signature = String::new();
        for file in report.truncated() {
            let FileFigures {
                path,
                raw,
                injected,
                causes,
                ..
            } = file;
            let _ = writeln!(signature, "{path}\u{0}{raw}\u{0}{injected}\u{0}{causes:?}");
        }
        if signature.is_empty() {
            return false;
        }
        match mode {
            TruncationWarning::Off => false,
            TruncationWarning::Always => true,
            TruncationWarning::Once => {
                if self.seen.contains(&signature) {
                    return false;
                }
                self.seen.push(signature);
                let extra = self.seen.len().saturating_sub(REMEMBERED);
                self.seen.drain(..extra);
                true
            }
        }
    }
}

/// Says in one sentence why a record gave nothing.
impl std::fmt::Display for OmittedRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.why {
            WhyLeftOut::Blank => f.write_str("it is blank"),
            WhyLeftOut::Absent => f.write_str("not present (optional)"),
            WhyLeftOut::NoPath => f.write_str("it has no path"),
            WhyLeftOut::NoRoom => f.write_str("its limit leaves no room for it"),
            WhyLeftOut::TotalSpent { remaining } => {
                write!(f, "only {remaining} were left of the limit of all files")
            }
        }
    }
}
