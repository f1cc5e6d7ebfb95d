//! `chitin sessions adopt OLD [DIR]`.

use crate::args::TargetArgs;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_protocol::agent_id::AgentId;
use chitin_runtime::{AdoptWhich, Adoption, Existing, Host, Setup, adopt, chitin_home};
use std::fmt;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin sessions adopt harbor-3f9a1c2e ./harbor   after the directory was moved or renamed
  chitin sessions adopt main ./harbor              conversations from older versions of Chitin
  chitin sessions adopt main ./harbor --all        every session of `main`, wherever it started

Sessions and the facts of `chitin memory facts` are copied; those of the other agent are not changed. A session that the\ndirectory already has under the same key is kept; `--replace` archives it.
Exit codes: 0 copied; 3 nothing to copy, or the directory already has them all.")]
pub(super) struct AdoptArgs {
    /// The agent that owns the sessions now.
    #[arg(value_name = "OLD")]
    from: String,

    #[command(flatten)]
    target: TargetArgs,

    /// Copy sessions that started in other directories too.
    #[arg(long)]
    all: bool,

    /// Archive existing sessions of the directory with the same keys.
    #[arg(long)]
    replace: bool,
}

pub(super) fn run(args: &AdoptArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let setup = Setup::find(host, &args.target.target(), &printer.notes())?;
    let state = chitin_home(host).ok_or_else(|| {
        CliError::new(
            FailureKind::User,
            "Could not determine where sessions are kept.",
        )
        .hint("set `CHITIN_HOME` or `HOME`")
    })?;
    let which = if args.all {
        AdoptWhich::All
    } else {
        AdoptWhich::OfDirectory
    };
    let existing = if args.replace {
        Existing::Archive
    } else {
        Existing::Keep
    };
    setup.check_directory(host)?;
    let from = AgentId::normalize(&args.from);
    printer.result(&adopt(&setup, &state, &from, which, existing)?)
}

impl Render for Adoption {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let adopted = super::count(self.adopted.len(), "session");
        writeln!(out, "Copied {adopted} of `{}` to `{}`.", self.from, self.to)?;
        for key in &self.adopted {
            writeln!(out, "  {key}")?;
        }
        if self.archived > 0 {
            let archived = super::count(self.archived, "conversation");
            writeln!(out, "  {archived} from before a reset, for memory")?;
        }
        if self.facts > 0 {
            let facts = super::count(self.facts, "fact");
            writeln!(out, "  {facts} and notes of `chitin memory facts`")?;
        }
        for key in &self.kept {
            writeln!(
                out,
                "  {}",
                paint.dim(&format!("{key} exists already and was not replaced"))
            )?;
        }
        if self.elsewhere > 0 {
            let elsewhere = super::count(self.elsewhere, "session");
            let line = format!(
                "{elsewhere} of `{}` started in other directories; `--all` copies them too",
                self.from
            );
            writeln!(out, "{}", paint.dim(&line))?;
        }
        Ok(())
    }
}
