//! What turns changed in a workspace: `chitin changes`, `chitin blame` and `chitin undo`.

pub(crate) mod blame;
pub(crate) mod changes;
mod patch;
pub(crate) mod undo;

use super::sessions::instant;
use crate::error::{CliError, FailureKind};
use crate::printer::{Paint, Printer, plain};
use chitin_runtime::{AgentTarget, Host, Notes, Setup};
use chitin_undo::{Change, Entry, FilePath, History, TurnInfo, TurnKind, UndoError};
use std::path::{Path, PathBuf};

/// Whose workspace is meant.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Whose {
    /// The agent; if omitted, the default agent or the one of the directory.
    #[arg(long, value_name = "ID")]
    agent: Option<String>,

    /// The contract to use for the configuration.
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,
}

impl Whose {
    /// Finds the history of a workspace, and completes what a crash left in it. `here` is the command for the working directory,
    /// which is pointed at where it has a history of its own and was not named.
    fn history(
        &self,
        directory: Option<&PathBuf>,
        here: &str,
        host: &Host,
        printer: &Printer,
    ) -> Result<History, CliError> {
        let target = AgentTarget {
            directory: directory.cloned(),
            agent: self.agent.clone(),
            contract: self.contract.clone(),
            ..AgentTarget::default()
        };
        let setup = Setup::find(host, &target, &printer.notes())?;
        let unsaid = directory.is_none() && self.agent.is_none();
        let here = plain(here, '\u{fffd}');
        setup.check_directory(host).map_err(|error| {
            let error = CliError::from(error);
            // The workspace that is meant without a word may never have been made.
            if unsaid && self.record_here(host).is_some() {
                error.hint(format!(
                    "this directory has a record of its own: `chitin {here}`"
                ))
            } else {
                error
            }
        })?;
        let history = setup.history(host).ok_or_else(|| {
            CliError::new(
                FailureKind::User,
                "Could not determine where changes are recorded.",
            )
            .hint("set `CHITIN_HOME` or `HOME`")
        })?;
        let is_other = |own: History| own.directory() != history.directory();
        let has_own = unsaid && self.record_here(host).is_some_and(is_other);
        if !history.is_recorded() {
            let nothing = explained(UndoError::NothingRecorded);
            return Err(if has_own {
                nothing.hint(format!(
                    "this directory has a record of its own: `chitin {here}`"
                ))
            } else {
                nothing
            });
        }
        if has_own {
            printer.note(&format!(
                "This is the record of `{}`. The working directory has one of its own: `chitin {here}`.",
                chitin_runtime::shown(history.workspace(), host)
            ));
        }
        history.settle(Host::now_ms()).map_err(explained)?;
        match history.damaged().unwrap_or_default() {
            0 => {}
            1 => printer
                .note("One entry of the record of changes is damaged; what it said is not shown."),
            count => printer.note(&format!(
                "{count} entries of the record of changes are damaged; what they said is not shown."
            )),
        }
        Ok(history)
    }
}

impl Whose {
    /// Returns the record of the working directory, if it is a workspace that has one.
    fn record_here(&self, host: &Host) -> Option<History> {
        let target = AgentTarget {
            directory: Some(host.env.working_directory().to_path_buf()),
            contract: self.contract.clone(),
            ..AgentTarget::default()
        };
        let setup = Setup::find(host, &target, &Notes::none()).ok()?;
        setup.history(host).filter(History::is_recorded)
    }
}

/// Reads the number of a turn.
fn turn_number(typed: &str) -> Result<u64, String> {
    let number = typed.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "turns have numbers from 1 on; `chitin changes` lists them".to_owned())
}

/// Understands a path that a user typed: from the working directory if that lies in the workspace, else from the workspace.
fn path_in(history: &History, typed: &Path, host: &Host) -> Result<FilePath, CliError> {
    let outside = || {
        let message = format!(
            "`{}` is not a path in the workspace `{}`.",
            plain(&typed.to_string_lossy(), '\u{fffd}'),
            chitin_runtime::shown(history.workspace(), host)
        );
        CliError::new(FailureKind::User, message)
    };
    let root = chitin_guard::Root::open(history.workspace()).map_err(|_| outside())?;
    let here = chitin_guard::Root::open(host.env.working_directory()).ok();
    let relative = if typed.is_absolute() {
        let below = typed.strip_prefix(root.real_path());
        below
            .or_else(|_| typed.strip_prefix(history.workspace()))
            .map_err(|_| outside())?
            .to_path_buf()
    } else {
        let below = here.and_then(|here| {
            let below = here.real_path().strip_prefix(root.real_path());
            below.ok().map(Path::to_path_buf)
        });
        below.unwrap_or_default().join(typed)
    };
    FilePath::of(&chitin_guard::normalized(&relative)).ok_or_else(outside)
}

/// Says in the user's words what could not be done.
fn explained(error: UndoError) -> CliError {
    let failed = |message: &str| CliError::new(FailureKind::User, message);
    match error {
        UndoError::NothingRecorded => failed("No changes of turns are recorded for this workspace.")
            .hint("a turn that writes to the workspace is recorded, unless `undo.enabled` in `chitin.json5` is off"),
        UndoError::NotRecorded => failed("What the last turn changed could not be recorded when it ran.")
            .hint("`chitin changes` lists the turns that are recorded; `chitin undo --turn N` takes one of them back"),
        UndoError::DamagedLog => failed("The record of changes is damaged: its last entries are missing.")
            .hint("`chitin changes` lists what can be read; `chitin undo --turn N` takes a turn back and leaves files alone that may have changed since"),
        UndoError::NothingToUndo => failed("There is nothing to undo.")
            .hint("`chitin changes` lists what turns changed"),
        UndoError::NoSuchTurn { number } => {
            failed(&format!("No changes of turn {number} are recorded."))
                .hint("`chitin changes` lists the turns")
        }
        UndoError::Running {
            number,
            session,
            message,
        } => CliError::new(
            FailureKind::Refused,
            format!(
                "Turn {number} of session `{}` is running and may write: \"{}\".",
                plain(&session, '\u{fffd}'),
                plain(&message, '\u{fffd}')
            ),
        )
        .hint("wait until it is over, or stop it"),
        other @ (UndoError::NoSuchLine { .. } | UndoError::NotText { .. }) => {
            failed(&chitin_runtime::display::sentence(&other.to_string()))
        }
        other @ (UndoError::Read(_)
        | UndoError::Write(_)
        | UndoError::Io { .. }
        | UndoError::TooMany { .. }
        | UndoError::Damaged { .. }
        | UndoError::LogTooLarge { .. }) => {
            CliError::new(FailureKind::User, "Could not use the record of changes.").caused_by(other)
        }
    }
}

/// Names a turn for a person: its number, its time, and what was asked of it.
fn named(turn: &TurnInfo, paint: Paint) -> String {
    let number = paint.bold(&turn.number.to_string());
    let time = instant(turn.began_ms);
    match turn.kind {
        TurnKind::Turn => format!(
            "{number}  {time}  {}  \"{}\"",
            plain(&turn.session, '\u{fffd}'),
            plain(&turn.message, '\u{fffd}')
        ),
        TurnKind::Undo { turn } => format!("{number}  {time}  undo to before turn {turn}"),
    }
}

/// Says with one word what became of a name.
fn verb(change: &Change) -> &'static str {
    match (&change.before, &change.after) {
        (None, _) => "added",
        (_, None) => "removed",
        (Some(Entry::File { content, .. }), Some(Entry::File { content: other, .. }))
            if content == other =>
        {
            "mode"
        }
        (Some(Entry::Directory { .. }), Some(Entry::Directory { .. })) => "mode",
        _ => "changed",
    }
}

/// Describes what no line of a text shows: kind, permission bits, the text of a link.
fn described(entry: Option<&Entry>) -> String {
    match entry {
        None => "nothing".to_owned(),
        Some(Entry::File { mode, size, .. }) => format!("a file, {mode:o}, {size} bytes"),
        Some(Entry::Directory { mode }) => format!("a directory, {mode:o}"),
        Some(Entry::Link { text }) => {
            format!(
                "a link to `{}`",
                plain(&String::from_utf8_lossy(text), '\u{fffd}')
            )
        }
        Some(Entry::Uncovered {
            reason, size, mode, ..
        }) => format!(
            "a file, {mode:o}, {size} bytes, not kept: it {}",
            reason.meaning()
        ),
    }
}

/// A name for a person, with a slash behind that of a directory.
fn shown(change: &Change) -> String {
    let is_directory = change.after.as_ref().or(change.before.as_ref());
    let slash = if is_directory.is_some_and(Entry::is_directory) {
        "/"
    } else {
        ""
    };
    format!("{}{slash}", plain(&change.path.to_string(), '\u{fffd}'))
}
