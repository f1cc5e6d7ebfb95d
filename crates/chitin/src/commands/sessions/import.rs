//! `chitin sessions import FILE`.

use super::{Whose, refused, source};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use crate::terminal::messages::one_line;
use chitin_runtime::Host;
use chitin_runtime::sessions::{SessionFiles, SessionOwner};
use chitin_store::{Begin, BranchReach, StoreError};
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// A transcript, such as one of OpenClaw's; it is not changed.
    file: PathBuf,

    /// The key of the new session; by default derived from the file's name.
    #[arg(long = "as", value_name = "KEY")]
    key: Option<String>,

    /// Archive an existing session with the same key.
    #[arg(long)]
    replace: bool,

    #[command(flatten)]
    whose: Whose,
}

/// What came in.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Imported {
    key: String,
    session_id: String,
    /// How many records are on the branch that goes on.
    records: usize,
}

pub(super) fn run(args: &ImportArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let source = source::find(host, &args.whose, SessionOwner::Chitin, printer)?;
    let SessionFiles::Own { store, .. } = &source.files else {
        return Err(CliError::new(
            FailureKind::Refused,
            "These sessions are read-only.",
        ));
    };
    let path = host.env.resolve(&args.file);
    let key = if let Some(key) = &args.key {
        source.long_key(key.trim())
    } else {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        format!("agent:{}:explicit:{}", source.agent, stem.to_lowercase())
    };
    let workspace = source.workspace.display().to_string();
    let entry = store.import(
        &key,
        &path,
        &Begin {
            workspace: &workspace,
            now: &Host::now(),
            now_ms: Host::now_ms(),
            new_session: args.replace,
        },
    );
    let entry = entry.map_err(|error| match error {
        StoreError::Exists { .. } => {
            let message = format!("The session `{}` already exists.", one_line(&key));
            CliError::new(FailureKind::User, message)
                .hint("name another key with `--as`, or archive the old session with `--replace`")
        }
        StoreError::Damaged { .. } => {
            let message = format!("Could not import `{}`.", path.display());
            CliError::new(FailureKind::User, message).caused_by(error)
        }
        StoreError::Busy { .. }
        | StoreError::Unknown { .. }
        | StoreError::BadKey { .. }
        | StoreError::NoRoom { .. }
        | StoreError::Poisoned { .. }
        | StoreError::TooLong { .. }
        | StoreError::Io { .. } => refused(error),
    })?;
    let seen = source.read(&key, BranchReach::Whole)?;
    printer.result(&Imported {
        key,
        session_id: entry.session_id,
        records: seen.branch.entries.len(),
    })
}

impl Render for Imported {
    fn text(&self, out: &mut dyn fmt::Write, _paint: Paint) -> fmt::Result {
        let key = one_line(&self.key);
        writeln!(
            out,
            "Imported {} as `{key}`.\n`chitin run --session {key}` continues it.",
            super::count(self.records, "record")
        )
    }
}
