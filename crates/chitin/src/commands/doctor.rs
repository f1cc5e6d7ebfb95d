//! `chitin doctor`: is everything there that an agent needs to run here.

use crate::args::TargetArgs;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_runtime::doctor::{DoctorCheck, DoctorFix, DoctorVerdict, diagnose};
use chitin_runtime::{Host, Notes, Setup, chitin_home};
use serde::Serialize;
use std::fmt;

/// Diagnose problems: configuration, permissions, port, sandbox, model, channels.
///
/// Secrets that older versions recorded are listed, and files that killed processes left unfinished; `--fix` takes them out. Nothing else is changed, and nothing is posted: channels and the model provider are only asked whether they are reachable and accept the credentials.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin doctor
  chitin doctor ./my-agent --offline
  chitin doctor --fix            take secrets out of older recordings, remove unfinished files
  chitin doctor --json

Exit codes: 0 no problems; 1 problems found; 4 a configuration file cannot be read.")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    /// Do not use the network.
    #[arg(long)]
    offline: bool,

    /// Take secrets out of older recordings (tool results in transcripts, recorded turns and logs), and remove files that killed processes left unfinished.
    #[arg(long)]
    fix: bool,

    /// The model to check, as `provider/name`.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

#[derive(Debug, Serialize)]
struct Report {
    checks: Vec<DoctorCheck>,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let quiet = Notes::none();
        let setup = Setup::find(host, &self.target.target(), &quiet)?;
        let Some(state) = chitin_home(host) else {
            return Err(
                CliError::new(FailureKind::User, "Could not determine Chitin's home.")
                    .hint("set `CHITIN_HOME` or `HOME`"),
            );
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| {
                CliError::new(
                    FailureKind::Internal,
                    "Could not set up the network client.",
                )
                .caused_by(error)
            })?;
        let fix = if self.fix {
            DoctorFix::All
        } else {
            DoctorFix::Nothing
        };
        let checks = runtime.block_on(async {
            tokio::select! {
                checks = diagnose(host, &setup, &state, self.model.as_deref(), self.offline, fix) => Ok(checks),
                _ = tokio::signal::ctrl_c() => Err(CliError::new(FailureKind::Interrupted, "Stopped.")),
            }
        })?;
        printer.result(&Report { checks })
    }
}

impl Render for Report {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let mut area = "";
        for check in &self.checks {
            if check.area != area {
                area = check.area;
                writeln!(out, "{}", paint.bold(area))?;
            }
            let mark = match check.verdict {
                DoctorVerdict::Fine => paint.good("  ok  "),
                DoctorVerdict::Odd => paint.warn("  odd "),
                DoctorVerdict::Wrong => paint.bad("  no  "),
                DoctorVerdict::Skipped => paint.dim("  –   "),
            };
            writeln!(out, "{mark}{}", check.message)?;
            if let Some(hint) = &check.hint {
                writeln!(out, "      {}", paint.dim(&format!("hint: {hint}")))?;
            }
        }
        let wrong = self.count(DoctorVerdict::Wrong);
        let odd = self.count(DoctorVerdict::Odd);
        match (wrong, odd) {
            (0, 0) => writeln!(out, "\n{}", paint.good("No problems found.")),
            (0, odd) => writeln!(out, "\nNo problems found; {odd} could be better."),
            (wrong, _) => writeln!(out, "\n{}", paint.bad(&format!("Problems found: {wrong}."))),
        }
    }

    fn exit(&self) -> Exit {
        match self.count(DoctorVerdict::Wrong) {
            0 => Exit::Success,
            _ => Exit::Findings,
        }
    }
}

impl Report {
    fn count(&self, verdict: DoctorVerdict) -> usize {
        let checks = self.checks.iter();
        checks.filter(|check| check.verdict == verdict).count()
    }
}
