//! Findings: what a rule says about a place, and the list that they are collected in.

use super::rules::{self, CheckRule};
use super::subject::Subject;
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Range;

/// More findings than this in one file are counted, not listed.
pub const MAX_FINDINGS_PER_FILE: usize = 100;

/// How bad it is. The order is from worst to mildest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is broken or dangerous.
    Error,
    /// Something is probably not meant so.
    Warning,
    /// Something to know.
    Info,
}

impl Severity {
    /// Returns the word that output uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// A place in a file. Lines and columns count from one, columns in characters; the span is in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Location {
    /// The line of the first byte.
    pub line: usize,
    /// The column of the first byte.
    pub column: usize,
    /// The line just after the last byte.
    pub end_line: usize,
    /// The column just after the last byte.
    pub end_column: usize,
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

/// A change that alters no meaning and can be made for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum Fix {
    /// Takes the byte order mark off the beginning.
    StripByteOrderMark,
    /// Takes these permission bits away.
    RemovePermissions {
        /// The bits, such as `0o022`.
        bits: u32,
    },
}

impl Fix {
    /// Returns what the fix does, as the rest of a sentence that begins with a file.
    pub fn describe(self) -> String {
        match self {
            Self::StripByteOrderMark => "remove the byte order mark".to_owned(),
            Self::RemovePermissions { bits } => {
                let who = match (bits & 0o020 != 0, bits & 0o002 != 0) {
                    (true, true) => "go-w",
                    (true, false) => "g-w",
                    (false, true) => "o-w",
                    (false, false) => "nothing",
                };
                format!("change permissions: `{who}`")
            }
        }
    }
}

/// What a rule says about a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The stable code, such as `CH601`.
    pub code: &'static str,
    /// How bad it is here.
    pub severity: Severity,
    /// The file, relative to the workspace; `.` is the directory itself.
    pub path: String,
    /// Where in the file, if the finding is about a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Location>,
    /// What was found. Never holds a secret.
    pub message: String,
    /// What to do about it.
    pub remedy: Cow<'static, str>,
    /// The change that `--fix` makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

/// A finding that a comment in the file lets pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suppressed {
    /// What would have been reported.
    #[serde(flatten)]
    pub finding: Finding,
    /// The reason that the comment gives; may be empty.
    pub reason: String,
}

/// A finding before it has a place.
pub(crate) struct Draft {
    rule: &'static CheckRule,
    message: String,
    severity: Severity,
    remedy: Cow<'static, str>,
    fix: Option<Fix>,
}

/// Spells out what a terminal would act on: a message may repeat what a file says.
fn quiet(text: String) -> String {
    if !text.contains(char::is_control) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

impl Draft {
    pub(crate) fn new(rule: &'static CheckRule, message: impl Into<String>) -> Self {
        Self {
            rule,
            message: message.into(),
            severity: rule.severity,
            remedy: Cow::Borrowed(rule.remedy),
            fix: None,
        }
    }

    pub(crate) const fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<Cow<'static, str>>) -> Self {
        self.remedy = remedy.into();
        self
    }

    pub(crate) const fn fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }

    fn into_finding(self, path: &str, place: Option<Location>) -> Finding {
        Finding {
            code: self.rule.code,
            severity: self.severity,
            path: path.to_owned(),
            place,
            message: quiet(self.message),
            remedy: self.remedy,
            fix: self.fix,
        }
    }
}

/// Collects findings; knows which codes nobody wants to hear of, and how many are enough.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    ignore: Vec<String>,
    listed: Vec<Finding>,
    suppressed: Vec<Suppressed>,
    /// How many of the subject at hand were listed, and how many were only counted.
    here: usize,
    dropped: usize,
}

impl Findings {
    pub(crate) fn new(ignore: &[String]) -> Self {
        Self {
            ignore: ignore.to_vec(),
            ..Self::default()
        }
    }

    /// Reports something about a whole file or directory.
    pub(crate) fn about(&mut self, path: &str, draft: Draft) {
        if !self.is_ignored(draft.rule) {
            self.listed.push(draft.into_finding(path, None));
        }
    }

    /// Reports something about a part of a text.
    pub(crate) fn at(&mut self, subject: &Subject<'_>, span: Range<usize>, draft: Draft) {
        self.add(subject, Some(span), draft);
    }

    /// Reports something about a text as a whole.
    pub(crate) fn whole(&mut self, subject: &Subject<'_>, draft: Draft) {
        self.add(subject, None, draft);
    }

    fn add(&mut self, subject: &Subject<'_>, span: Option<Range<usize>>, mut draft: Draft) {
        if self.is_ignored(draft.rule) {
            return;
        }
        if self.here >= MAX_FINDINGS_PER_FILE {
            self.dropped += 1;
            return;
        }
        self.here += 1;
        subject.scrub(&mut draft.message);
        let place = span.map(|span| subject.place(span));
        let finding = draft.into_finding(subject.path, place);
        match subject.allowed(finding.code, place.map(|place| place.line)) {
            Some(reason) => self.suppressed.push(Suppressed { finding, reason }),
            None => self.listed.push(finding),
        }
    }

    /// Ends a subject: says how many findings were left out, lets pass what its comments allow, starts counting anew.
    pub(crate) fn end_of(&mut self, subject: &Subject<'_>) {
        let dropped = std::mem::take(&mut self.dropped);
        self.here = 0;
        if dropped > 0 {
            let message =
                format!("{dropped} more findings in this file are counted but not listed.");
            self.about(subject.path, Draft::new(&rules::MORE_FINDINGS, message));
        }
        if subject.allows.is_empty() {
            return;
        }
        for finding in std::mem::take(&mut self.listed) {
            let is_about = finding.path == subject.path && finding.place.is_none();
            match subject.allowed(finding.code, None) {
                Some(reason) if is_about => self.suppressed.push(Suppressed { finding, reason }),
                Some(_) | None => self.listed.push(finding),
            }
        }
    }

    pub(crate) fn finish(mut self) -> (Vec<Finding>, Vec<Suppressed>) {
        let key = |f: &Finding| (f.path != ".", f.path.clone(), f.place, f.severity, f.code);
        self.listed.sort_by_cached_key(key);
        self.suppressed
            .sort_by_cached_key(|suppressed| key(&suppressed.finding));
        (self.listed, self.suppressed)
    }

    fn is_ignored(&self, rule: &CheckRule) -> bool {
        self.ignore
            .iter()
            .any(|code| code.eq_ignore_ascii_case(rule.code))
    }
}
