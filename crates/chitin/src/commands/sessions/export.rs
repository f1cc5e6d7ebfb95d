//! `chitin sessions export KEY`.

use super::{Whose, conversation, refused, size, source};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use crate::terminal::messages::one_line;
use crate::terminal::tame::tamed;
use chitin_runtime::Host;
use chitin_runtime::sessions::AgentSessions;
use chitin_store::BranchReach;
use rustix::fs::{Mode, OFlags};
use serde::Serialize;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// The session key; `main` is short for the agent's main session.
    key: String,

    /// Write to a new file, readable by you alone; by default to standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,

    /// One of OpenClaw's own sessions, read-only.
    #[arg(long)]
    openclaw: bool,

    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The exact bytes of the transcript, up to its last whole line.
    Jsonl,
    /// The conversation, for people.
    Markdown,
}

/// What was written.
#[derive(Debug, Serialize)]
struct Exported {
    key: String,
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    file: PathBuf,
    bytes: u64,
}

pub(super) fn run(args: &ExportArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let keeper = source::owner(args.openclaw);
    let source = source::find(host, &args.whose, keeper, printer)?;
    let key = source.key(&args.key)?;
    let write = |to: &mut dyn Write| -> Result<u64, CliError> {
        match args.format {
            Format::Jsonl => source.copy(&key, to).map_err(refused),
            Format::Markdown => {
                let text = markdown(&source, &key)?;
                to.write_all(text.as_bytes())?;
                Ok(text.len() as u64)
            }
        }
    };
    let Some(file) = &args.out else {
        printer.write_with(|to| write(to).map(|_| ()))?;
        return Ok(Exit::Success);
    };
    let path = host.env.resolve(file);
    let mut new = create(&path)?;
    let written = write(&mut new).and_then(|bytes| {
        new.sync_all()?;
        Ok(bytes)
    });
    let bytes = written.inspect_err(|_| {
        // Half a conversation is worse than none.
        let _ = rustix::fs::unlink(&path);
    })?;
    printer.result(&Exported {
        key,
        file: path,
        bytes,
    })
}

fn markdown(source: &AgentSessions, key: &str) -> Result<String, CliError> {
    let seen = source.read(key, BranchReach::Whole)?;
    let mut text = format!(
        "# {}\n\nBegan {}.\n\n",
        one_line(key),
        one_line(&seen.header.timestamp)
    );
    for record in &seen.branch.entries {
        let _ = conversation::write_markdown(record, &mut text);
    }
    // People read it, perhaps on a terminal.
    let mut text = tamed(text.trim_end());
    text.push('\n');
    Ok(text)
}

/// Makes a file that was not there before.
fn create(path: &Path) -> Result<std::fs::File, CliError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(file.into()),
        Err(rustix::io::Errno::EXIST) => Err(CliError::new(
            FailureKind::User,
            format!("`{}` already exists.", path.display()),
        )
        .hint("name a file that does not exist")),
        Err(error) => {
            let message = format!("`{}` cannot be written.", path.display());
            Err(CliError::new(FailureKind::User, message).caused_by(io::Error::from(error)))
        }
    }
}

impl Render for Exported {
    fn text(&self, out: &mut dyn fmt::Write, _paint: Paint) -> fmt::Result {
        writeln!(
            out,
            "Wrote `{}` to `{}`, {}.",
            one_line(&self.key),
            one_line(&self.file.display().to_string()),
            size(self.bytes)
        )
    }
}
