//! Findings as people read them: the gravest first, and what repeats itself told once.

use super::plain;
use crate::printer::Paint;
use chitin_check::{CheckReport, FileRole, Finding, RULES, Severity, Summary, Suppressed};
use std::collections::BTreeMap;
use std::fmt;

/// Errors of one code that are listed one by one; more are one entry.
const MOST_ERRORS: usize = 10;

/// Other findings of one code that are listed one by one.
const MOST_OTHERS: usize = 3;

/// Places that an entry for many findings names.
const NAMED: usize = 3;

/// What stands on its own in the list.
enum Entry<'a> {
    One(&'a Finding),
    /// Findings of one code and severity.
    Many(Vec<&'a Finding>),
}

/// Writes the findings of a report and how many there are.
pub(super) fn write(report: &CheckReport, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    let mut previous = None;
    for entry in entries(&report.findings) {
        let severity = match &entry {
            Entry::One(finding) => finding.severity,
            Entry::Many(findings) => findings[0].severity,
        };
        if previous.is_some_and(|previous| previous != severity) {
            writeln!(out)?;
        }
        previous = Some(severity);
        match entry {
            Entry::One(finding) => one(finding, out, paint)?,
            Entry::Many(findings) => many(&findings, out, paint)?,
        }
    }
    if previous.is_some() {
        writeln!(out)?;
    }
    for passed in report.suppressed.iter().filter(|passed| is_named(passed)) {
        let place = paint.bold(&place_of(&passed.finding));
        let code = passed.finding.code;
        writeln!(out, "{place} suppressed {code} {}", plain(&passed.reason))?;
    }
    writeln!(out, "{}", summary(&report.summary))
}

/// Sorts by severity, file and place. What repeats itself stands where its first finding would.
fn entries(findings: &[Finding]) -> Vec<Entry<'_>> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    // The directory itself comes before its files.
    sorted.sort_by_key(|f| (f.severity, f.path != ".", &f.path, f.place, f.code));
    let mut of_one_code: BTreeMap<_, Vec<&Finding>> = BTreeMap::new();
    for finding in &sorted {
        let key = (finding.severity, finding.code);
        of_one_code.entry(key).or_default().push(finding);
    }
    let mut entries = Vec::new();
    for finding in sorted {
        let most = match finding.severity {
            Severity::Error => MOST_ERRORS,
            Severity::Warning | Severity::Info => MOST_OTHERS,
        };
        let key = (finding.severity, finding.code);
        match of_one_code.get(&key).map(Vec::len) {
            Some(count) if count <= most => entries.push(Entry::One(finding)),
            // The first of its kind takes the others along.
            Some(_) => entries.extend(of_one_code.remove(&key).map(Entry::Many)),
            None => {}
        }
    }
    entries
}

fn one(finding: &Finding, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    writeln!(
        out,
        "{} {} {} {}",
        paint.bold(&place_of(finding)),
        word(finding.severity, paint),
        finding.code,
        plain(&finding.message)
    )?;
    writeln!(out, "    {}", paint.dim(&plain(&finding.remedy)))
}

fn many(findings: &[&Finding], out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    let first = findings[0];
    let count = findings.len();
    let title = RULES
        .iter()
        .find(|rule| rule.code == first.code)
        .map_or("", |rule| rule.title);
    let mut places: Vec<String> = findings.iter().map(|f| place_of(f)).collect();
    places.dedup();
    let shown = places.len().min(NAMED);
    let mut names = places[..shown].join(", ");
    if places.len() > shown {
        names = format!("{names} and {} more", places.len() - shown);
    }
    writeln!(
        out,
        "{} {} {title}, {count} times",
        word(first.severity, paint),
        first.code
    )?;
    writeln!(out, "    {}", paint.bold(&names))?;
    writeln!(out, "    {}", paint.dim(&plain(&first.remedy)))
}

/// Whoever writes a skill can also write the comment that lets its findings pass, so what is dangerous is always named.
fn is_named(passed: &Suppressed) -> bool {
    let Finding {
        code,
        path,
        severity,
        ..
    } = &passed.finding;
    let from_others = matches!(FileRole::of(path), FileRole::Skill | FileRole::SkillFile);
    *severity == Severity::Error
        || (from_others && (code.starts_with("CH5") || code.starts_with("CH7")))
}

fn word(severity: Severity, paint: Paint) -> String {
    let word = severity.as_str();
    match severity {
        Severity::Error => paint.bad(word),
        Severity::Warning => paint.warn(word),
        Severity::Info => paint.dim(word),
    }
}

fn place_of(finding: &Finding) -> String {
    match finding.place {
        Some(place) => format!("{}:{}:{}", plain(&finding.path), place.line, place.column),
        None => plain(&finding.path),
    }
}

fn summary(summary: &Summary) -> String {
    let count = |number: usize, word: &str| match number {
        1 => format!("1 {word}"),
        _ => format!("{number} {word}s"),
    };
    let files = count(summary.files, "file");
    let mut parts = Vec::new();
    for (number, word) in [(summary.errors, "error"), (summary.warnings, "warning")] {
        if number > 0 {
            parts.push(count(number, word));
        }
    }
    if summary.infos > 0 {
        parts.push(count(summary.infos, "note"));
    }
    if parts.is_empty() {
        parts.push("Nothing to report".to_owned());
    }
    let passed = match summary.suppressed {
        0 => String::new(),
        number => format!("; {number} suppressed by comments"),
    };
    format!("{} in {files}{passed}.", parts.join(", "))
}
