//! `chitin memory facts`: what an agent keeps about one user, in the files that the Atmosphere bridge reads and writes.

use crate::args::TargetArgs;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, tame};
use chitin_runtime::{Host, Setup, shown};
use chitin_workspace::state::{
    Owner, Promotion, Stamp, State, StateEntry, StateError, StateWriter,
};
use jiff::civil::Date;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin memory facts ./my-agent --user ada
  chitin memory facts ./my-agent --user ada --add 'Prefers oak.'
  chitin memory facts ./my-agent --user ada --day 2026-03-02 --add 'The larch came.'
  chitin memory facts ./my-agent --user ada --day 2026-03-02 --promote ID
  chitin memory facts ./my-agent --user ada --remove ID")]
pub(super) struct FactsArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// The user that the facts are about.
    #[arg(long, value_name = "NAME")]
    user: String,

    /// The notes of this day instead of the facts, as YYYY-MM-DD.
    #[arg(long, value_name = "DATE")]
    day: Option<Date>,

    /// Add a fact, or a note to the day.
    #[arg(long, value_name = "TEXT")]
    add: Option<String>,

    /// Remove the fact or note with this id.
    #[arg(long, value_name = "ID", conflicts_with = "add")]
    remove: Option<String>,

    /// Turn the day's note with this id into a fact.
    #[arg(long, value_name = "ID", requires = "day", conflicts_with_all = ["add", "remove"])]
    promote: Option<String>,
}

/// What is kept after the command.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    user: String,
    agent: String,
    /// The file that was listed, relative to the workspace.
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    file: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<StateEntry>,
    entries: Vec<StateEntry>,
}

pub(super) fn run(args: &FactsArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let setup = Setup::find(host, &args.target.target(), &printer.notes())?;
    let agent = setup.agent.as_str();
    let owner = Owner::new(&args.user, agent).map_err(|error| {
        CliError::new(FailureKind::Usage, error.to_string())
            .hint("a name is one part of a path, such as `ada`")
    })?;
    // Reading first: a workspace that is not there is an error and is not made.
    let state = State::open(&setup.directory).map_err(failed)?;
    let writer = || StateWriter::create(&setup.directory).map_err(failed);
    let mut added = None;
    let mut listed_day = args.day;
    if let Some(text) = &args.add {
        let id = uuid::Uuid::new_v4().to_string();
        let at = jiff::Timestamp::now();
        let stamp = Stamp { id: &id, at };
        let entry = match args.day {
            Some(day) => writer()?.add_note(owner, day, stamp, text),
            None => writer()?.add_fact(owner, stamp, text),
        };
        added = Some(entry.map_err(failed)?);
    } else if let Some(id) = &args.remove {
        let removed = match args.day {
            Some(day) => writer()?.remove_note(owner, day, id),
            None => writer()?.remove_fact(owner, id),
        };
        if removed.map_err(failed)? == 0 {
            return Err(unknown(id));
        }
    } else if let (Some(id), Some(day)) = (&args.promote, args.day) {
        match writer()?.promote(owner, day, id).map_err(failed)? {
            Promotion::Moved => listed_day = None,
            Promotion::NoSuchNote => return Err(unknown(id)),
        }
    }
    let (file, entries) = match listed_day {
        Some(day) => (owner.notes_file(day), state.notes(owner, day)),
        None => (owner.facts_file(), state.facts(owner)),
    };
    let entries = entries.map_err(failed)?;
    if entries.is_empty() {
        // A directory that was moved or renamed is another agent; what it kept lies under the former one.
        for other in state.other_agents(owner).map_err(failed)? {
            let (user, directory) = (tame(&args.user), shown(&setup.directory, host));
            printer.note(&format!(
                "the agent `{other}` keeps facts about `{user}` in this directory; `chitin sessions adopt {other} {directory}` copies them"
            ));
        }
    }
    printer.result(&Report {
        user: args.user.clone(),
        agent: agent.to_owned(),
        file,
        added,
        entries,
    })
}

fn unknown(id: &str) -> CliError {
    CliError::new(
        FailureKind::User,
        format!("There is no entry with the id `{id}`."),
    )
    .hint("`chitin memory facts` without `--remove` or `--promote` lists the ids")
}

fn failed(error: StateError) -> CliError {
    let kind = match error {
        StateError::Name(_) | StateError::Entry { .. } => FailureKind::Usage,
        StateError::Unreadable(_) | StateError::Read(_) | StateError::Write(_) => FailureKind::User,
    };
    CliError::new(kind, "The facts could not be read or changed.").caused_by(error)
}

impl Render for Report {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        writeln!(out, "{}", paint.bold(&self.file.display().to_string()))?;
        for entry in &self.entries {
            let stamp = paint.dim(&format!("{}  {}", tame(&entry.id), entry.at));
            writeln!(out, "  {stamp}  {}", tame(&entry.content))?;
        }
        if self.entries.is_empty() {
            writeln!(out, "  {}", paint.dim("No entries."))?;
        }
        Ok(())
    }
}
