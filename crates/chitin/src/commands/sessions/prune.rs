//! `chitin sessions prune`.

use super::{Whose, count, instant, refused, size, source};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use crate::terminal::messages::one_line;
use chitin_runtime::Host;
use chitin_runtime::sessions::{SessionFiles, SessionOwner};
use chitin_store::{ArchivedTranscript, Prune, PruneMode, PruneReport, PrunedKind};
use serde::Serialize;
use std::fmt;

#[derive(Debug, clap::Args)]
pub(super) struct PruneArgs {
    /// Delete what was not used for this long: `12h`, `30d`, `8w`.
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<Age>,

    /// Delete the oldest until this many transcripts are left.
    #[arg(long, value_name = "N")]
    keep: Option<usize>,

    /// Only list what would be deleted.
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    whose: Whose,
}

/// A length of time, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Age(i64);

/// Reads a length of time.
fn age(text: &str) -> Result<Age, String> {
    let wrong = || "write a number and a unit: `45m`, `12h`, `30d` or `8w`".to_owned();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u32 = digits.parse().map_err(|_| wrong())?;
    let minutes = match text[digits.len()..].trim() {
        "m" | "min" => 1,
        "h" => 60,
        "d" => 60 * 24,
        "w" => 60 * 24 * 7,
        _ => return Err(wrong()),
    };
    Ok(Age(i64::from(number) * minutes * 60_000))
}

/// What went.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tidied {
    dry_run: bool,
    #[serde(flatten)]
    report: PruneReport,
}

pub(super) fn run(args: &PruneArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    if args.older_than.is_none() && args.keep.is_none() {
        return Err(CliError::new(
            FailureKind::Usage,
            "No limit was given, so nothing was deleted.",
        )
        .hint("use `--older-than 30d` or `--keep 100`; `--dry-run` shows what would be deleted"));
    }
    let source = source::find(host, &args.whose, SessionOwner::Chitin, printer)?;
    let SessionFiles::Own { store, .. } = &source.files else {
        return Err(CliError::new(
            FailureKind::Refused,
            "These sessions are read-only.",
        ));
    };
    let mode = if args.dry_run {
        PruneMode::DryRun
    } else {
        PruneMode::Delete
    };
    let report = store.prune(&Prune {
        now_ms: Host::now_ms(),
        older_than_ms: args.older_than.map(|Age(milliseconds)| milliseconds),
        keep_at_most: args.keep,
        total_bytes: None,
        keep: &[],
        mode,
    });
    printer.result(&Tidied {
        dry_run: args.dry_run,
        report: report.map_err(refused)?,
    })
}

impl Render for Tidied {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let PruneReport {
            gone,
            busy,
            kept,
            kept_bytes,
        } = &self.report;
        for one in gone {
            writeln!(out, "{}", line(one))?;
        }
        for one in busy {
            let text = format!("{}: in use, so it stays", line(one));
            writeln!(out, "{}", paint.warn(&text))?;
        }
        let bytes = gone.iter().map(|one| one.bytes).sum();
        writeln!(
            out,
            "{} {} ({}); {} ({}).",
            if self.dry_run {
                "Would delete"
            } else {
                "Deleted"
            },
            count(gone.len(), "transcript"),
            size(bytes),
            match kept {
                1 => "1 stays".to_owned(),
                kept => format!("{kept} stay"),
            },
            size(*kept_bytes)
        )
    }
}

fn line(one: &ArchivedTranscript) -> String {
    let what = match &one.kind {
        PrunedKind::Session { key } => one_line(key),
        PrunedKind::Archived => format!("archived {}", one_line(&one.name)),
    };
    format!(
        "{what}, last used {}, {}",
        instant(one.updated_at),
        size(one.bytes)
    )
}

#[cfg(test)]
mod tests {
    use super::{Age, age};

    #[test]
    fn ages_have_a_number_and_a_unit() {
        assert_eq!(age("45m"), Ok(Age(45 * 60_000)));
        assert_eq!(age("30d"), Ok(Age(30 * 86_400_000)));
        assert_eq!(age("2 w"), Ok(Age(14 * 86_400_000)));
        for wrong in ["", "d", "30", "-1d", "1y", "99999999999999999d", "1.5d"] {
            assert!(age(wrong).is_err(), "{wrong:?}");
        }
    }
}
