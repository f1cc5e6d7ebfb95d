//! Commands that a text asks to run: downloads that are started, protections that are switched off.

mod downloads;

use super::finding::{Draft, Findings, Severity};
use super::phrases::{Hit, Meaning};
use super::rules::{self, CheckRule};
use super::subject::{FileRole, Subject, floor_boundary};
use super::surroundings::has;
pub(crate) use downloads::feeds_interpreter;
use std::ops::Range;

/// Reports commands that nobody should run unseen.
pub(crate) fn check(subject: &Subject<'_>, findings: &mut Findings) {
    let mut last_end = 0;
    for hit in &subject.hits {
        if hit.span.start < last_end {
            continue;
        }
        let found = match hit.meaning {
            Meaning::Fetch => downloads::started(subject, hit),
            Meaning::Decode => decode(subject, hit),
            Meaning::RunText => run_text(subject, hit),
            Meaning::ProtectionOff => Some(Found::new(
                &rules::PROTECTION_OFF,
                hit.span.clone(),
                "disables a system protection",
            )),
            Meaning::Paste => paste(subject, hit),
            Meaning::Password => locked_archive(subject, hit),
            Meaning::Override
            | Meaning::Conceal
            | Meaning::Order
            | Meaning::AutoRead
            | Meaning::FillIn
            | Meaning::Todo
            | Meaning::Sign(_) => None,
        };
        if let Some(found) = found {
            // Only what is spoken of may be described; a block is there to be run.
            if subject.is_described(hit.span.start) {
                continue;
            }
            last_end = found.span.end;
            let severity = severity(subject.role, &found);
            let quoted = subject.excerpt(found.span.clone());
            let message = format!("`{quoted}` {}.", found.what);
            findings.at(
                subject,
                found.span,
                Draft::new(found.rule, message).severity(severity),
            );
        }
    }
}

/// What was found where.
struct Found {
    rule: &'static CheckRule,
    span: Range<usize>,
    what: &'static str,
    well_known: bool,
}

impl Found {
    const fn new(rule: &'static CheckRule, span: Range<usize>, what: &'static str) -> Self {
        Self {
            rule,
            span,
            what,
            well_known: false,
        }
    }
}

/// Skills come from strangers; what stands elsewhere was probably written by the user.
fn severity(role: FileRole, found: &Found) -> Severity {
    if found.well_known {
        Severity::Info
    } else if role.is_skill() {
        found.rule.severity
    } else {
        found.rule.severity.max(Severity::Warning)
    }
}

/// `base64 -d | sh`, `eval "$(… | base64 -d)"`, `powershell -EncodedCommand …`, `exec(base64.b64decode(…))`.
fn decode(subject: &Subject<'_>, hit: &Hit) -> Option<Found> {
    let lower = &*subject.lower;
    let command = subject.command_around(hit.span.start);
    let whole = &lower[command.clone()];
    let rest = lower.get(hit.span.end..command.end).unwrap_or_default();
    let before = &lower[command.start..hit.span.start];
    let runs = if lower[hit.span.clone()].starts_with("encodedcommand") {
        before.contains("powershell") || before.contains("pwsh")
    } else {
        let decodes = [" -d", " --decode"]
            .iter()
            .any(|option| rest.starts_with(option));
        let evaluates = (before.contains("$(") || before.contains("<("))
            && ["eval ", "bash ", "sh ", "source "]
                .iter()
                .any(|word| before.contains(word));
        let phrase = lower[hit.span.clone()].trim_end();
        let decodes = decodes
            || phrase.starts_with("xxd")
            || phrase.starts_with("tr ")
            || phrase.starts_with("rev")
            || phrase.starts_with("printf")
            || (phrase == "gunzip" || phrase == "zcat")
            || (phrase.starts_with("openssl") && rest.contains(" -d"));
        (decodes && (feeds_interpreter(rest) || evaluates))
            || (rest.starts_with(".b64decode")
                && (before.contains("exec(") || before.contains("eval(")))
    };
    let start = command.start + (whole.len() - whole.trim_start().len());
    runs.then(|| {
        Found::new(
            &rules::DECODED_AND_RUN,
            start.min(hit.span.start)..command.end.max(hit.span.end),
            "decodes something and runs it",
        )
    })
}

/// `iex (iwr …)`, `Invoke-Expression ((New-Object …).DownloadString(…))`.
fn run_text(subject: &Subject<'_>, hit: &Hit) -> Option<Found> {
    let command = subject.command_around(hit.span.start);
    let rest = subject
        .lower
        .get(hit.span.end..command.end)
        .unwrap_or_default();
    let fetches = [
        "iwr",
        "irm",
        "invoke-webrequest",
        "invoke-restmethod",
        "downloadstring",
    ]
    .iter()
    .any(|word| rest.contains(word));
    (fetches && rest.contains("http")).then(|| {
        Found::new(
            &rules::DOWNLOAD_AND_RUN,
            hit.span.start..command.end,
            "downloads something and runs it",
        )
    })
}

/// `paste this into your terminal`.
fn paste(subject: &Subject<'_>, hit: &Hit) -> Option<Found> {
    if subject.role == FileRole::Bootstrap {
        return None;
    }
    let end = floor_boundary(&subject.lower, subject.lower.len().min(hit.span.end + 80));
    let rest = &subject.lower[hit.span.end..end];
    let sentence = rest.split(['.', '!', '?', '\n']).next().unwrap_or(rest);
    let place = [
        "terminal",
        "shell",
        "command prompt",
        "console",
        "run dialog",
    ]
    .iter()
    .filter_map(|place| sentence.find(place).map(|at| at + place.len()))
    .min()?;
    let before = subject.near(hit.span.start);
    let forbids = ["never ", "not ", "n't ", "avoid ", "without "]
        .iter()
        .any(|word| before.contains(word));
    (!forbids).then(|| {
        Found::new(
            &rules::PASTE_INTO_TERMINAL,
            hit.span.start..hit.span.end + place,
            "has the user run a command by hand",
        )
    })
}

/// A download, an archive and its password, close together.
fn locked_archive(subject: &Subject<'_>, hit: &Hit) -> Option<Found> {
    let window = |reach: usize| {
        let start = floor_boundary(&subject.lower, hit.span.start.saturating_sub(reach));
        let end = floor_boundary(
            &subject.lower,
            subject.lower.len().min(hit.span.end + reach),
        );
        &subject.lower[start..end]
    };
    let close = window(120);
    let archive = has(close, &["archive", ".zip", ".rar", ".7z", " zip"]);
    let unpack = has(close, &["extract", "unzip", "unpack", "open it"]);
    let download = has(window(300), &["download", "http"]);
    (archive && unpack && download && subject.role != FileRole::Bootstrap).then(|| {
        let line = subject.lines.range(subject.lines.of(hit.span.start));
        let start = line.start.max(floor_boundary(
            &subject.lower,
            hit.span.start.saturating_sub(120),
        ));
        Found::new(
            &rules::LOCKED_ARCHIVE,
            start..hit.span.end,
            "mentions a download in an archive with a password",
        )
    })
}
