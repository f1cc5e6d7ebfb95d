//! `chitin context`: exactly what the model gets, from which file, what was cut and why.

mod compare;
mod explain;
mod html;
mod table;
mod text;
mod watch;
mod whole;

pub(crate) use compare::{Comparison, Lines, write as write_comparison};

use crate::args::{TargetArgs, Tokens, TurnArgs};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Printer, ShowSecrets};
use chitin_runtime::AgentFactory;
use chitin_runtime::Host;
use chitin_runtime::Setup;
use chitin_runtime::context::report::ContextReport;
use chitin_runtime::context::{Caller, ComparedContext, FileSource, TurnContext};
use clap::builder::NonEmptyStringValueParser;
use std::path::PathBuf;

/// Show exactly what the model gets: files, sizes, tokens, truncation, cache boundary.
///
/// The table has one row per part of the prompt. `--text` is the prompt itself, to the byte. Token figures are estimates
/// unless the model's tokenizer is published and `--tokens exact` is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin context
  chitin context ./my-agent --text
  chitin context --run subagent --contract openclaw-2026.9
  chitin context --budget file=4000,total=20000
  chitin context --explain 120             which file and line did prompt line 120 come from?
  chitin context --explain MEMORY.md:300   is that line in the prompt, and if not, why?
  chitin context --diff openclaw-2026.4    another contract, a directory or a git revision
  chitin context --diff HEAD~1
  chitin context --html context.html
  chitin context --json")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    turn: TurnArgs,

    /// Print the system prompt, to the byte.
    #[arg(long, group = "what")]
    text: bool,

    #[command(flatten)]
    show_secrets: ShowSecrets,

    /// Explain where a line of the prompt comes from (`120`), or whether a line of a file is in it (`MEMORY.md:300`).
    #[arg(long, value_name = "LINE", group = "what")]
    explain: Option<String>,

    /// Compare with another contract, another directory or a git revision of this workspace.
    #[arg(long, value_name = "OTHER", value_parser = NonEmptyStringValueParser::new())]
    diff: Option<String>,

    /// Write a self-contained HTML page.
    #[arg(long, value_name = "FILE", group = "what")]
    html: Option<PathBuf>,

    /// Show the table again whenever the workspace changes.
    #[arg(long, group = "what", conflicts_with = "diff")]
    watch: bool,

    /// How tokens are counted.
    #[arg(long, value_enum, default_value_t = Tokens::Estimate)]
    tokens: Tokens,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let setup = self
            .turn
            .request()
            .find(host, &self.target.target(), &printer.notes())?;
        if self.watch {
            return watch::run(self, host, &setup, printer);
        }
        let seen = self
            .turn
            .request()
            .context(host, &setup, FileSource::Disk)?;
        let missed = setup.release(host).note(setup.contract());
        for note in seen.notes.iter().chain(&missed) {
            printer.note(note);
        }
        if let Some(other) = &self.diff {
            if self.text || self.explain.is_some() {
                return Err(CliError::new(
                    FailureKind::Usage,
                    "`--diff` works only with the table, `--json` or `--html`.",
                ));
            }
            let other = ComparedContext::find(
                other,
                host,
                &self.turn.request(),
                &self.target.target(),
                &setup,
            )?;
            for note in &other.context.notes {
                if !seen.notes.contains(note) {
                    printer.note(note);
                }
            }
            if let Some(file) = &self.html {
                return html::write(self, host, &setup, &seen, Some(&other), file, printer);
            }
            let tokens = self.tokens.into();
            return printer.result(&Comparison::with(&other, &setup, &seen, tokens));
        }
        if self.text {
            return text::print(&seen, self.show_secrets.of_exact(), printer);
        }
        if let Some(line) = &self.explain {
            return printer.result(&explain::explain(&seen.context, line)?);
        }
        if let Some(file) = &self.html {
            return html::write(self, host, &setup, &seen, None, file, printer);
        }
        let report = self.figures(host, &setup, &seen);
        say_notes(&report, printer);
        printer.result(&report)
    }

    fn figures(&self, host: &Host, setup: &Setup, seen: &TurnContext) -> ContextReport {
        ContextReport::new(&self.turn.request(), self.tokens.into(), host, setup, seen)
    }
}

/// Shows the table of a running conversation.
pub(crate) fn show(
    factory: &AgentFactory,
    session: &str,
    model: &str,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let report = ContextReport::of_session(factory, session, Some(model), Caller::Terminal)?;
    say_notes(&report, printer);
    printer.result(&report)
}

/// Says what people should know about the figures.
fn say_notes(report: &ContextReport, printer: &Printer) {
    for note in &report.notes {
        printer.note(note);
    }
}
