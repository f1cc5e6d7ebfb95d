//! `chitin doctor`: is everything there that an agent needs to run here.

mod house;
mod outside;

use crate::args::TargetArgs;
use crate::error::{CliError, Kind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_runtime::{Host, Notes};
use chitin_runtime::{Setup, chitin_home};
use serde::Serialize;
use std::fmt;

/// Find out what would keep an agent from running here: configuration, permissions, port, sandbox, model, chat networks.
///
/// Nothing is changed, and nobody sees anything of it: networks and the model's provider are only asked whether they are there and know us.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin doctor
  chitin doctor ./my-agent --offline
  chitin doctor --json

Exit codes: 0 nothing is in the way; 1 something is; 4 a configuration file cannot be read.")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    /// Ask nobody outside this machine.
    #[arg(long)]
    offline: bool,

    /// The model to look at, as `provider/name`.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

/// Something that was looked at.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Check {
    /// What part it belongs to.
    area: &'static str,
    verdict: Verdict,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// How it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Verdict {
    /// As it should be.
    Fine,
    /// It works, and could be better.
    Odd,
    /// It is in the way.
    Wrong,
    /// It was not looked at.
    Skipped,
}

impl Check {
    fn fine(area: &'static str, message: impl Into<String>) -> Self {
        Self::new(area, Verdict::Fine, message, None)
    }

    fn odd(area: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(area, Verdict::Odd, message, Some(hint.into()))
    }

    fn wrong(area: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(area, Verdict::Wrong, message, Some(hint.into()))
    }

    fn new(
        area: &'static str,
        verdict: Verdict,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Self {
        Self {
            area,
            verdict,
            message: message.into(),
            hint: hint.filter(|hint| !hint.is_empty()),
        }
    }

    /// Says an error of the command line as something that is in the way.
    fn of_error(area: &'static str, error: &CliError) -> Self {
        let hint = error.hints().first().cloned();
        Self::new(area, Verdict::Wrong, error.with_causes(), hint)
    }
}

#[derive(Debug, Serialize)]
struct Report {
    checks: Vec<Check>,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let quiet = Notes::none();
        let setup = Setup::find(host, &self.target.target(), &quiet)?;
        let Some(state) = chitin_home(host) else {
            return Err(
                CliError::new(Kind::User, "There is no home.").hint("set `CHITIN_HOME` or `HOME`")
            );
        };
        let mut checks = house::look(host, &setup, &state);
        checks.extend(outside::look(
            host,
            &setup,
            &state,
            self.model.as_deref(),
            self.offline,
        )?);
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
                Verdict::Fine => paint.good("  ok  "),
                Verdict::Odd => paint.warn("  odd "),
                Verdict::Wrong => paint.bad("  no  "),
                Verdict::Skipped => paint.dim("  –   "),
            };
            writeln!(out, "{mark}{}", check.message)?;
            if let Some(hint) = &check.hint {
                writeln!(out, "      {}", paint.dim(&format!("hint: {hint}")))?;
            }
        }
        let wrong = self.count(Verdict::Wrong);
        let odd = self.count(Verdict::Odd);
        match (wrong, odd) {
            (0, 0) => writeln!(out, "\n{}", paint.good("Nothing is in the way.")),
            (0, odd) => writeln!(out, "\nNothing is in the way; {odd} could be better."),
            (wrong, _) => writeln!(out, "\n{}", paint.bad(&format!("In the way: {wrong}."))),
        }
    }

    fn exit(&self) -> Exit {
        match self.count(Verdict::Wrong) {
            0 => Exit::Success,
            _ => Exit::Findings,
        }
    }
}

impl Report {
    fn count(&self, verdict: Verdict) -> usize {
        let checks = self.checks.iter();
        checks.filter(|check| check.verdict == verdict).count()
    }
}
