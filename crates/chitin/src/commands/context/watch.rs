//! The table again and again, whenever the workspace changes.

use super::Args;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::Printer;
use chitin_runtime::Host;
use chitin_runtime::Setup;
use chitin_runtime::context::FileSource;
use chitin_workspace::watch::{WatchOptions, Watcher};
use std::sync::mpsc;

/// Goes on until the process is stopped or nobody reads along any more.
pub(super) fn run(
    args: &Args,
    host: &Host,
    setup: &Setup,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let (sender, changes) = mpsc::channel();
    let unwatchable =
        |error| CliError::new(FailureKind::User, "Could not watch the workspace.").caused_by(error);
    // Watching begins before the first look, so that no change falls between the two.
    let _watcher = Watcher::new(&setup.directory, &WatchOptions::default(), move |change| {
        let _ = sender.send(change);
    })
    .map_err(unwatchable)?;
    // What is wrong before anything was shown is wrong with what the user typed.
    let mut looked = Ok(args.turn.request().context(host, setup, FileSource::Disk)?);
    loop {
        printer.begin_screen()?;
        match looked {
            Ok(seen) => {
                for note in &seen.notes {
                    printer.note(note);
                }
                let report = args.figures(host, setup, &seen);
                super::say_notes(&report, printer);
                printer.result(&report)?;
            }
            // A workspace in the middle of a change may be unusable for a moment.
            Err(error) => printer.error(&error),
        }
        printer.note("watching; Ctrl-C stops");
        if changes.recv().is_err() {
            return Ok(Exit::Success);
        }
        while changes.try_recv().is_ok() {}
        looked = args
            .turn
            .request()
            .context(host, setup, FileSource::Disk)
            .map_err(CliError::from);
    }
}
