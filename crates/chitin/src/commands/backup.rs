//! `chitin backup` and `chitin restore`: everything in Chitin's home, in one file and back.

use super::{count, size};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, Stream, Weight};
use crate::terminal::messages::one_line;
use chitin_guard::{ReadPolicy, Root};
use chitin_runtime::backup::{
    BackupOptions, BackupReport, BackupTotals, LeftOutReason, RestoreOptions, RestoreReport,
    check_backup, restore_backup, write_backup,
};
use chitin_runtime::{Host, RuntimeError, chitin_home};
use serde::Serialize;
use std::fmt;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Stands for a pipe in place of a file.
const PIPE: &str = "-";
/// How often progress is drawn.
const EVERY: Duration = Duration::from_millis(100);
/// How much is collected before it is written.
const BUFFER: usize = 256 << 10;
/// The permissions of a backup: it holds what the home holds.
const OWNER_ONLY: u32 = 0o600;

/// Back up Chitin's home into one file, while it is in use.
///
/// The file holds the configuration, sessions, archived transcripts, open jobs and outcomes, recordings, changes for `chitin undo`, pairing, approvals, cron jobs, what plugins keep, and the artifact store. Left out: caches and the memory index, which is made again from notes and transcripts. Workspaces are not part of Chitin's home: back them up as you do with other files.
///
/// Secrets are included (the server's token, logins of the page, tokens of channels and registries), so that a restored home works at once; only you can read the file. `--without-secrets` leaves these files out. What is written in configuration files, transcripts and recordings is always as it is there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin backup                                  write `chitin-backup-DATE.tar.gz` here
  chitin backup ~/safe/monday.tar.gz
  chitin backup --without-secrets --without-artifacts small.tar.gz
  chitin backup - | ssh safe 'cat > chitin.tar.gz'
  chitin restore --check ~/safe/monday.tar.gz    see that it is whole

Exit codes: 0 done; 2 the command line is wrong; 3 the file exists, or something could not be read or written.")]
pub(crate) struct BackupArgs {
    /// The file to write; `-` for standard output. By default `chitin-backup-DATE.tar.gz` in the working directory.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,

    /// Leave out files that only hold secrets: the server's token, logins, tokens of channels and registries.
    #[arg(long)]
    without_secrets: bool,

    /// Leave out the artifact store.
    #[arg(long)]
    without_artifacts: bool,
}

/// Restore Chitin's home from a backup.
///
/// The whole backup is checked before anything is put in place: until then the home is as it was, and from then on it is the new one, also if the machine stops in between. Messages that were accepted and not answered when the backup was made are answered when `chitin serve` starts.
///
/// A home that is not empty is refused; `--force` sets it aside beside the new one and deletes nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin restore --check chitin-backup.tar.gz
  chitin restore chitin-backup.tar.gz
  CHITIN_HOME=/tmp/look chitin restore chitin-backup.tar.gz
  ssh safe 'cat chitin.tar.gz' | chitin restore -

Exit codes: 0 done; 2 the command line is wrong; 3 it is not a whole backup, or cannot be put in place; 5 the home is not empty or in use.")]
pub(crate) struct RestoreArgs {
    /// The backup; `-` for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Only check the backup.
    #[arg(long)]
    check: bool,

    /// Set a home that is not empty aside.
    #[arg(long, conflicts_with = "check")]
    force: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct BackedUp {
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    file: PathBuf,
    /// How long the file is.
    file_bytes: u64,
    #[serde(flatten)]
    report: BackupReport,
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Restored(RestoreReport);

impl BackupArgs {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let home = home(host)?;
        let options = BackupOptions {
            secrets: !self.without_secrets,
            artifacts: !self.without_artifacts,
        };
        let mut line = Line::new(printer.stream(), "Backed up");
        if self.file.as_deref() == Some(Path::new(PIPE)) {
            return self.to_pipe(&home, options, &mut line, printer);
        }
        let path = match &self.file {
            Some(file) => host.env.resolve(file),
            None => host.env.resolve(default_name(&Host::now())),
        };
        let (parent, name) = place(&path)?;
        refuse_inside(&home, &parent, &path)?;
        if !self.force && parent.kind(&name).is_some() {
            return Err(exists(&path));
        }
        let new = parent
            .begin_file(Path::new(""), OWNER_ONLY)
            .map_err(|error| unwritable(&path, error))?;
        let out = BufWriter::with_capacity(BUFFER, new);
        let written = write_backup(&home, options, out, &mut |totals| line.draw(totals));
        line.clear();
        let (out, report) = written.map_err(RuntimeError::from)?;
        let new = out
            .into_inner()
            .map_err(|error| unwritable(&path, error.into_error()))?;
        let file_bytes = new
            .fingerprint()
            .map_err(|error| unwritable(&path, error))?
            .size;
        if self.force {
            let kept = parent.keep_file_over(new, &name);
            kept.map_err(|error| unwritable(&path, error))?;
        } else {
            let kept = parent.keep_file(new, &name);
            if kept.map_err(|error| unwritable(&path, error))?
                == chitin_guard::WriteOutcome::AlreadyThere
            {
                return Err(exists(&path));
            }
        }
        printer.result(&BackedUp {
            file: path,
            file_bytes,
            report,
        })
    }

    fn to_pipe(
        &self,
        home: &Path,
        options: BackupOptions,
        line: &mut Line,
        printer: &Printer,
    ) -> Result<Exit, CliError> {
        let refuse = |what: &str, hint: &str| {
            Err(CliError::new(FailureKind::Usage, what).hint(hint.to_owned()))
        };
        if printer.is_json() || self.force {
            return refuse(
                "The backup itself goes to standard output.",
                "leave out `--json` and `--force`, or name a file",
            );
        }
        if Stream::out_is_terminal() {
            return refuse(
                "A backup is not shown on a terminal.",
                "name a file, or send it into a pipe",
            );
        }
        let mut told = None;
        printer.write_with(|out| {
            let out = BufWriter::with_capacity(BUFFER, out);
            let written = write_backup(home, options, out, &mut |totals| line.draw(totals));
            line.clear();
            let (mut out, report) = written.map_err(RuntimeError::from)?;
            out.flush()?;
            told = Some(report);
            Ok(())
        })?;
        if let Some(report) = told {
            let mut text = String::new();
            let _ = write_report(&report, &mut text, printer.stream().err_paint());
            printer.note(text.trim_end());
        }
        Ok(Exit::Success)
    }
}

impl RestoreArgs {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let home = home(host)?;
        let verb = if self.check { "Checked" } else { "Restored" };
        let mut line = Line::new(printer.stream(), verb);
        let now = Host::now();
        let source: Box<dyn Read> = if self.file == Path::new(PIPE) {
            Box::new(std::io::stdin().lock())
        } else {
            let path = host.env.resolve(&self.file);
            let (parent, name) = place(&path)?;
            let policy = ReadPolicy {
                links: chitin_guard::LinkPolicy::Anywhere,
                hardlinks: chitin_guard::Hardlinks::Allow,
                oversized: chitin_guard::Oversized::Keep,
                ..ReadPolicy::inside(u64::MAX)
            };
            let file = parent.open_reader(&name, &policy).map_err(|error| {
                let message = format!("`{}` could not be read.", path.display());
                CliError::new(FailureKind::User, message).caused_by(error)
            })?;
            Box::new(file)
        };
        let progress = &mut |totals| line.draw(totals);
        let done = if self.check {
            check_backup(source, progress)
        } else {
            let options = RestoreOptions {
                force: self.force,
                now: &now,
            };
            restore_backup(source, &home, options, progress)
        };
        line.clear();
        printer.result(&Restored(done.map_err(RuntimeError::from)?))
    }
}

fn home(host: &Host) -> Result<PathBuf, CliError> {
    chitin_home(host).ok_or_else(|| {
        CliError::new(FailureKind::User, "Could not determine Chitin's home.")
            .hint("set `CHITIN_HOME` or `HOME`")
    })
}

/// Makes up the name of a backup of this moment.
fn default_name(now: &str) -> String {
    let stamp: String = now
        .chars()
        .take(19)
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    format!("chitin-backup-{stamp}.tar.gz")
}

/// Opens the directory of a file.
fn place(path: &Path) -> Result<(Root, PathBuf), CliError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        let message = format!("`{}` is not the name of a file.", path.display());
        return Err(CliError::new(FailureKind::Usage, message));
    };
    let root = Root::open(parent).map_err(|error| {
        let message = format!("`{}` could not be opened.", parent.display());
        CliError::new(FailureKind::User, message).caused_by(error)
    })?;
    Ok((root, PathBuf::from(name)))
}

/// A backup in the home would be lost with it, and be part of the next one.
fn refuse_inside(home: &Path, parent: &Root, path: &Path) -> Result<(), CliError> {
    let real = Root::open(home).map_err(|error| {
        let message = format!("There is nothing to back up in `{}`.", home.display());
        CliError::new(FailureKind::User, message)
            .caused_by(error)
            .hint("`CHITIN_HOME` names another home")
    })?;
    if parent.real_path().starts_with(real.real_path()) {
        let message = format!("`{}` is in Chitin's home.", path.display());
        return Err(CliError::new(FailureKind::Usage, message)
            .hint("name a file outside of it, best on another disk"));
    }
    Ok(())
}

fn exists(path: &Path) -> CliError {
    CliError::new(
        FailureKind::User,
        format!("`{}` already exists.", path.display()),
    )
    .hint("name another file, or replace it with `--force`")
}

fn unwritable(path: &Path, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> CliError {
    let message = format!("`{}` could not be written.", path.display());
    CliError::new(FailureKind::User, message).caused_by(error)
}

/// How far it is, on one line of a terminal.
struct Line {
    stream: Stream,
    verb: &'static str,
    drawn: Option<Instant>,
}

impl Line {
    const fn new(stream: Stream, verb: &'static str) -> Self {
        Self {
            stream,
            verb,
            drawn: None,
        }
    }

    fn draw(&mut self, totals: BackupTotals) {
        let is_due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= EVERY);
        if !is_due || !self.stream.may_draw() {
            return;
        }
        self.drawn = Some(Instant::now());
        let text = format!("\r\x1b[K{} {}", self.verb, amount(totals));
        self.stream.aside(&text, Weight::Note);
    }

    fn clear(&mut self) {
        if self.drawn.take().is_some() {
            self.stream.aside("\r\x1b[K", Weight::Note);
        }
    }
}

fn amount(totals: BackupTotals) -> String {
    let files = usize::try_from(totals.files).unwrap_or(usize::MAX);
    format!("{}, {}", count(files, "file"), size(totals.bytes))
}

fn shown(path: &Path) -> String {
    one_line(&path.display().to_string())
}

impl Render for BackedUp {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        write_report(&self.report, out, paint)?;
        let (file, bytes) = (shown(&self.file), size(self.file_bytes));
        writeln!(out, "Wrote `{file}`, {bytes}, readable by you alone.")?;
        writeln!(out, "`chitin restore --check {file}` checks it.")
    }
}

fn write_report(report: &BackupReport, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    for one in &report.left_out {
        let text = format!("`{}` {}.", one_line(&one.path), one.reason.meaning());
        match one.reason {
            LeftOutReason::Cache | LeftOutReason::Secret | LeftOutReason::Artifact => {
                writeln!(out, "Left out: {text}")?;
            }
            LeftOutReason::NotAFile
            | LeftOutReason::OddName
            | LeftOutReason::Gone
            | LeftOutReason::Changed => writeln!(out, "{}", paint.warn(&text))?,
        }
    }
    if !report.secrets.is_empty() {
        let names: Vec<String> = report
            .secrets
            .iter()
            .map(|name| format!("`{}`", one_line(name)))
            .collect();
        writeln!(
            out,
            "It holds secrets: {}. `--without-secrets` leaves them out.",
            names.join(", ")
        )?;
    }
    writeln!(
        out,
        "Backed up `{}`: {}.",
        shown(&report.home),
        amount(report.totals)
    )
}

impl Render for Restored {
    fn text(&self, out: &mut dyn fmt::Write, _: Paint) -> fmt::Result {
        let RestoreReport {
            backup,
            totals,
            home,
            set_aside,
        } = &self.0;
        let of = format!(
            "the backup of `{}` of {}, by version {}",
            one_line(&backup.home),
            one_line(&backup.created),
            one_line(&backup.chitin)
        );
        let Some(home) = home else {
            return writeln!(out, "It is whole: {of}, {}.", amount(*totals));
        };
        writeln!(out, "Restored {of}: {}.", amount(*totals))?;
        if let Some(aside) = set_aside {
            writeln!(out, "The home that was there is now `{}`.", shown(aside))?;
        }
        if !backup.secrets {
            writeln!(
                out,
                "It holds no secrets: `chitin serve` makes a new token; sign in to channels and registries again."
            )?;
        }
        writeln!(
            out,
            "The home is `{}`. Open messages are answered when `chitin serve` starts.",
            shown(home)
        )
    }
}
