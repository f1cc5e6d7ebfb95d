//! `chitin trace export`.

use super::ExportArgs;
use crate::commands::skills::count;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, grouped, plain};
use chitin_agent::journal::{self, BundleInput, TraceError, Transcript};
use chitin_runtime::{Host, traces, without_numbers};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// How many bytes of events are exported: the newest. They are written out, which a recording is not.
const MOST_BYTES: usize = 64 << 20;

/// What was written.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Exported {
    session_key: String,
    session_id: String,
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    directory: PathBuf,
    events: usize,
    files: Vec<Written>,
    #[serde(skip)]
    shown: String,
}

#[derive(Debug, Serialize)]
struct Written {
    name: &'static str,
    bytes: usize,
}

pub(super) fn run(args: &ExportArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let summary = traces::find(&args.session, host, &printer.notes())?;
    let file = traces::read(&summary, &printer.notes())?;
    let contract = traces::contract_of(args.contract.as_deref(), &file, host)?;
    let transcript_file = traces::transcript_of(&file);
    let transcript = transcript_file.as_deref().and_then(|path| {
        let read = Transcript::read(path);
        read.map_err(|error| {
            let error = without_numbers(&error.to_string());
            printer.note(&format!("the transcript is not included: {error}"));
        })
        .ok()
    });
    let workspace = Path::new(&summary.workspace);
    let events = file.newest(usize::MAX, MOST_BYTES);
    if events.len() < file.len() {
        printer.note(&format!(
            "only the newest {} of {} events are included: all together are longer than {} MiB",
            events.len(),
            file.len(),
            MOST_BYTES >> 20
        ));
    }
    let now = now();
    let bundle = journal::build(&BundleInput {
        events: &events,
        transcript: transcript.as_ref(),
        session_id: &summary.session_id,
        session_key: &summary.session_key,
        workspace,
        home: traces::home(host).as_deref(),
        session_file: transcript_file.as_deref().filter(|_| transcript.is_some()),
        runtime_file: Some(&summary.path),
        now,
        rules: &contract.runtime.trace,
        redactor: &traces::redactor(host),
    });
    let directory = match &args.out {
        Some(out) => {
            let directory = chitin_guard::normalized(&host.env.resolve(out));
            bundle.write(&directory).map(|()| directory)
        }
        None => bundle.write_below(workspace, &summary.session_id, now),
    };
    let directory = directory.map_err(not_written)?;
    let files = bundle.files.iter();
    printer.result(&Exported {
        shown: chitin_runtime::shown(&directory, host),
        session_key: summary.session_key,
        session_id: summary.session_id,
        directory,
        events: bundle.events,
        files: files
            .map(|file| Written {
                name: file.name,
                bytes: file.bytes.len(),
            })
            .collect(),
    })
}

fn now() -> i64 {
    let now: Result<jiff::Timestamp, _> = Host::now().parse();
    now.map_or(0, jiff::Timestamp::as_millisecond)
}

fn not_written(error: TraceError) -> CliError {
    let hint = match &error {
        TraceError::Exists { .. } => "name another directory with `--out`; nothing is overwritten",
        TraceError::Link { .. } => "name a directory with `--out`",
        TraceError::Io { .. } | TraceError::NoTranscript { .. } => {
            "`--out DIR` writes it to another directory"
        }
    };
    CliError::new(FailureKind::User, "The export was not written.")
        .caused_by(error)
        .hint(hint)
}

impl Render for Exported {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        writeln!(
            out,
            "{} {}",
            paint.bold(&plain(&self.shown, '\u{fffd}')),
            paint.dim(&count(self.events, "event"))
        )?;
        for file in &self.files {
            writeln!(out, "  {:<20} {:>9} bytes", file.name, grouped(file.bytes))?;
        }
        writeln!(
            out,
            "Secrets and local paths were removed; the conversation is included. Review it before you share it."
        )
    }
}
