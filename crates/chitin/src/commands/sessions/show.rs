//! `chitin sessions show KEY`.

use super::{Whose, conversation, source};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use crate::terminal::messages::one_line;
use chitin_protocol::transcript::{Header, TranscriptEntry};
use chitin_runtime::Host;
use chitin_store::{BranchReach, StoreNote};
use serde::Serialize;
use std::fmt;

/// No reading for a few records goes further back than this.
const TAIL_BYTES: u64 = 256 * 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The session key; `main` is short for the agent's main session.
    key: String,

    /// Only the last N records.
    #[arg(long, value_name = "N")]
    tail: Option<usize>,

    /// One of OpenClaw's own sessions, read-only.
    #[arg(long)]
    openclaw: bool,

    #[command(flatten)]
    whose: Whose,
}

/// A session and what was said in it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    key: String,
    header: Header,
    /// Whether there are older records than those below.
    has_older: bool,
    records: Vec<TranscriptEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<StoreNote>,
}

pub(super) fn run(args: &ShowArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let keeper = source::owner(args.openclaw);
    let source = source::find(host, &args.whose, keeper, printer)?;
    let key = source.key(&args.key)?;
    let reach = match args.tail {
        Some(records) => BranchReach::Bounded {
            bytes: TAIL_BYTES,
            records: records.max(1),
        },
        None => BranchReach::Whole,
    };
    let seen = source.read(&key, reach)?;
    let mut records = seen.branch.entries;
    let left_out = records
        .len()
        .saturating_sub(args.tail.unwrap_or(usize::MAX));
    records.drain(..left_out);
    printer.result(&Shown {
        key,
        header: seen.header,
        has_older: seen.branch.has_older || left_out > 0,
        records,
        notes: seen.notes,
    })
}

impl Render for Shown {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        writeln!(out, "{}", paint.bold(&one_line(&self.key)))?;
        let began = format!(
            "session {}, began {}, in {}",
            self.header.id, self.header.timestamp, self.header.cwd
        );
        writeln!(out, "{}\n", paint.dim(&one_line(&began)))?;
        for note in &self.notes {
            writeln!(out, "{}", paint.warn(&said(note)))?;
        }
        if self.has_older {
            writeln!(out, "{}\n", paint.dim("(older records are not shown)"))?;
        }
        for record in &self.records {
            conversation::write_text(record, out, paint)?;
        }
        if self.records.is_empty() {
            writeln!(out, "No messages yet.")?;
        }
        Ok(())
    }
}

/// Says what is not as it should be.
fn said(note: &StoreNote) -> String {
    match note {
        StoreNote::SetAside { path, bytes } => one_line(&format!(
            "The last {bytes} bytes are not a valid record; they were moved to `{}`.",
            path.display()
        )),
        StoreNote::TornEnd { bytes } => format!("The last {bytes} bytes are not a valid record."),
        StoreNote::DamagedLine {
            offset,
            bytes,
            reason,
        } => one_line(&format!(
            "The {bytes} bytes at {offset} are not a valid record: {reason}."
        )),
        StoreNote::LostParent { id } => one_line(&format!("The record `{id}` is missing.")),
        StoreNote::LostTranscript { path } => {
            one_line(&format!("`{}` is not there.", path.display()))
        }
        StoreNote::IndexRebuilt { .. } => {
            "The session index was rebuilt from the transcripts.".to_owned()
        }
    }
}
