//! `chitin check`: findings about a workspace, with severity, place and remedy.

mod listing;

use crate::args::TargetArgs;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{self, Paint, Printer, Render};
use chitin_check::{CheckReport, CheckRule, PlannedFix};
use chitin_runtime::{Host, Setup, WorkspaceCheck};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// Find problems in a workspace: secrets, hidden instructions, risky skills, broken links.
///
/// Exits with 1 if there are errors. `<!-- chitin: allow CODE reason -->` on the line of a finding or the line before suppresses it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin check
  chitin check ~/agents/main --contract openclaw-2026.9
  chitin check --format sarif > findings.sarif
  chitin check --fix --dry-run
  chitin check --explain CH601")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    /// How findings are printed; `--json` is short for `--format json`.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Fix what can be fixed without changing meaning: byte order marks and write permissions of others.
    #[arg(long)]
    fix: bool,

    /// With `--fix`, only list what would be changed.
    #[arg(long, requires = "fix")]
    dry_run: bool,

    /// Exit with 1 on these findings too.
    #[arg(long, value_name = "WHAT", value_enum)]
    deny: Option<Deny>,

    /// Leave out findings of this code; may be given more than once.
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    ignore: Vec<String>,

    /// Explain a rule instead of checking.
    #[arg(long, value_name = "CODE", conflicts_with_all = ["directory", "fix"])]
    explain: Option<String>,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For code scanning services.
    Sarif,
}

/// Which findings beside errors make the check fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    /// Warnings.
    Warnings,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        if let Some(code) = &self.explain {
            let rule = find_rule(code)?;
            return printer.result(&Explanation { rule });
        }
        for code in &self.ignore {
            find_rule(code)?;
        }
        let setup = Setup::find(host, &self.target.target(), &printer.notes())?;
        let mut loaded = WorkspaceCheck::load(host, &setup)?;
        let mut report = loaded.report(&self.ignore);
        let mut fixes = Vec::new();
        if self.fix {
            fixes = self.fixes(&loaded, &report);
            if fixes.iter().any(|fix| fix.outcome == Outcome::Done) {
                loaded = WorkspaceCheck::load(host, &setup)?;
                report = loaded.report(&self.ignore);
            }
        }
        let failed = report.summary.errors > 0
            || (self.deny == Some(Deny::Warnings) && report.summary.warnings > 0);
        printer.result(&Checked {
            sarif: (self.format == Format::Sarif)
                .then(|| chitin_check::sarif(&report, env!("CARGO_PKG_VERSION"))),
            format: self.format,
            failed,
            body: Body { report, fixes },
        })
    }

    fn fixes(&self, loaded: &WorkspaceCheck, report: &CheckReport) -> Vec<FixDone> {
        chitin_check::planned(&report.findings)
            .into_iter()
            .map(|planned| {
                let (outcome, error) = if self.dry_run {
                    (Outcome::Planned, None)
                } else {
                    match loaded.fix(&planned) {
                        Ok(()) => (Outcome::Done, None),
                        Err(error) => (Outcome::Failed, Some(error.to_string())),
                    }
                };
                FixDone {
                    planned,
                    outcome,
                    error,
                }
            })
            .collect()
    }
}

fn find_rule(code: &str) -> Result<&'static CheckRule, CliError> {
    chitin_check::rule(code).ok_or_else(|| {
        CliError::new(FailureKind::Usage, format!("There is no rule `{code}`."))
            .hint("codes look like `CH601`; `chitin check` prints them with each finding")
    })
}

/// The result of a check, in the form that was asked for.
#[derive(Debug)]
struct Checked {
    body: Body,
    sarif: Option<Value>,
    format: Format,
    failed: bool,
}

/// What the JSON form shows.
#[derive(Debug, Serialize)]
struct Body {
    #[serde(flatten)]
    report: CheckReport,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<FixDone>,
}

/// A fix and what became of it.
#[derive(Debug, Serialize)]
struct FixDone {
    #[serde(flatten)]
    planned: PlannedFix,
    outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// What became of a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    /// It was made.
    Done,
    /// It would be made.
    Planned,
    /// It was tried; the file is as it was.
    Failed,
}

impl Serialize for Checked {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.sarif {
            Some(sarif) => sarif.serialize(serializer),
            None => self.body.serialize(serializer),
        }
    }
}

impl Render for Checked {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        match self.format {
            Format::Text => self.body.text(out, paint),
            Format::Json | Format::Sarif => {
                let json = serde_json::to_string_pretty(self).map_err(|_| fmt::Error)?;
                writeln!(out, "{json}")
            }
        }
    }

    fn exit(&self) -> Exit {
        if self.failed {
            Exit::Findings
        } else {
            Exit::Success
        }
    }
}

impl Body {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for fix in &self.fixes {
            let what = fix.planned.fix.describe();
            let path = paint.bold(&plain(&fix.planned.path));
            match (fix.outcome, &fix.error) {
                (Outcome::Done, _) => writeln!(out, "{} {path}: {what}", paint.good("fixed"))?,
                (Outcome::Planned, _) => {
                    writeln!(out, "{} {path}: {what}", paint.dim("would fix"))?;
                }
                (Outcome::Failed, error) => {
                    let error = plain(error.as_deref().unwrap_or_default());
                    writeln!(out, "{} {path}: {what}: {error}", paint.bad("not fixed"))?;
                }
            }
        }
        if !self.fixes.is_empty() {
            writeln!(out)?;
        }
        listing::write(&self.report, out, paint)
    }
}

/// Takes out what a terminal would obey, and what would not show: names of files and skills come from strangers.
fn plain(text: &str) -> String {
    printer::plain(text, '\u{fffd}')
        .chars()
        .map(|c| if is_unseen(c) { '\u{fffd}' } else { c })
        .collect()
}

/// Tells whether a character has no width or turns the direction of text, and is no joiner that scripts need.
const fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// One rule, for `--explain`.
#[derive(Debug, Serialize)]
struct Explanation {
    #[serde(flatten)]
    rule: &'static CheckRule,
}

impl Render for Explanation {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let rule = self.rule;
        let fixable = if rule.fixable {
            ", fixed by `--fix`"
        } else {
            ""
        };
        writeln!(out, "{} {}", paint.bold(rule.code), paint.bold(rule.title))?;
        writeln!(out, "{}{fixable}\n", rule.severity.as_str())?;
        writeln!(out, "{}\n", rule.explanation)?;
        writeln!(out, "Remedy: {}", rule.remedy)
    }
}
