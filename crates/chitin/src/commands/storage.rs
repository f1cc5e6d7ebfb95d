//! `chitin storage`: the files in Chitin's home, for other versions of Chitin.

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_runtime::serve::downgrade_job_log;
use chitin_runtime::{Host, chitin_home};
use clap::Subcommand;
use serde::Serialize;
use std::fmt;

/// Write stored data in the format of earlier versions.
///
/// Newer versions read what earlier ones wrote, and write their own format from then on. Before you go back to an earlier version, stop `chitin serve` and run `chitin storage downgrade`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin storage downgrade          write the job log as earlier versions read it

Exit codes: 0 done; 2 the command line is wrong; 3 a server is running, or the files cannot be used.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write the job log as earlier versions read it. Open jobs are kept.
    Downgrade,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Downgraded {
    /// How many jobs are open; none if there is no job log.
    open_jobs: Option<usize>,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let state = chitin_home(host).ok_or_else(|| {
            CliError::new(FailureKind::User, "Could not determine Chitin's home.")
                .hint("set `CHITIN_HOME` or `HOME`")
        })?;
        match self.action {
            Action::Downgrade => printer.result(&Downgraded {
                open_jobs: downgrade_job_log(&state)?,
            }),
        }
    }
}

impl Render for Downgraded {
    fn text(&self, out: &mut dyn fmt::Write, _: Paint) -> fmt::Result {
        match self.open_jobs {
            Some(open) => writeln!(
                out,
                "The job log is in the format of earlier versions now. Open jobs: {open}."
            ),
            None => writeln!(out, "There is no job log, so there is nothing to do."),
        }
    }
}
