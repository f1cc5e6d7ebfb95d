//! `chitin sessions delete`.

use super::{Whose, count, size, source};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use crate::running_server::RunningServer;
use crate::terminal::approval;
use crate::terminal::messages::one_line;
use chitin_gateway::forget::{ForgetReport, ForgetRequest};
use chitin_runtime::forget::{UnansweredMessages, forget_sessions};
use chitin_runtime::sessions::SessionOwner;
use chitin_runtime::{AgentTarget, Host, Setup, chitin_home};
use serde::Serialize;
use serde_json::json;
use std::fmt::{self, Write};
use std::path::PathBuf;

/// How many sessions a question names.
const NAMED: usize = 10;

/// Delete sessions everywhere, and search for what is left of them.
///
/// Deleted with a session: its transcripts, those from before it was reset included, its place in the index, recordings, lines of logs, what the memory index and `chitin undo` keep of its turns, stored outcomes, what was typed on the terminal, and the sessions that it began. Then every file in Chitin's home is searched for its ids and for passages of it, and what is found is listed with the reason.
///
/// Files of the workspace stay, also those that the agent wrote, and so do backups, exports and what was sent. While `chitin serve` runs, it does the deleting; a session with a running turn or a waiting message is refused unless `--stop` is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin sessions delete main --dry-run
  chitin sessions delete agent:main:diary agent:main:trip --yes
  chitin sessions delete main --dir ./my-agent --stop --json

Exit codes: 0 done, nothing is left; 1 done, and something is left; 2 the command line is wrong; 3 there is no such session, or it could not be deleted; 5 it is in use.")]
pub(super) struct DeleteArgs {
    /// The session keys; `main` is short for the agent's main session.
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<String>,

    /// Do not ask.
    #[arg(long)]
    yes: bool,

    /// Only show what would be deleted.
    #[arg(long)]
    dry_run: bool,

    /// Stop running turns and drop messages that wait.
    #[arg(long)]
    stop: bool,

    /// The file with the token of the running server; by default the one in Chitin's home.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    #[command(flatten)]
    whose: Whose,
}

/// What was deleted.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Deleted(ForgetReport);

pub(super) fn run(args: &DeleteArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let target = AgentTarget {
        directory: args.whose.directory.clone(),
        agent: args.whose.agent.clone(),
        contract: args.whose.contract.clone(),
        ..AgentTarget::default()
    };
    let setup = Setup::find(host, &target, &printer.notes())?;
    let sessions = source::find(host, &args.whose, SessionOwner::Chitin, printer)?;
    let state = chitin_home(host).ok_or_else(|| {
        CliError::new(FailureKind::User, "Could not determine Chitin's home.")
            .hint("set `CHITIN_HOME` or `HOME`")
    })?;
    // One that is only in the archive has a key, too.
    let keys: Vec<String> = args
        .keys
        .iter()
        .map(|key| {
            sessions
                .key(key)
                .unwrap_or_else(|_| sessions.long_key(key.trim()))
        })
        .collect();
    let request = ForgetRequest {
        keys,
        dry_run: true,
    };
    let plan = forget_sessions(host, &setup, &state, &request, UnansweredMessages::Refuse);
    let plan = plan.map_err(|error| match args.keys.as_slice() {
        // Says which sessions there are.
        [key] => sessions.key(key).err().unwrap_or(error),
        _ => error,
    })?;
    if args.dry_run {
        return printer.result(&Deleted(plan));
    }
    if !args.yes && (printer.is_json() || !approval::confirmed(&question(&plan))) {
        return Err(CliError::new(FailureKind::Usage, "Nothing was deleted.")
            .hint("`--yes` deletes without a question; `--dry-run` shows what would be deleted"));
    }
    let server = RunningServer::find(host, &state, args.token_file.as_ref())?;
    let Some(server) = server else {
        let unanswered = if args.stop {
            UnansweredMessages::Drop
        } else {
            UnansweredMessages::Refuse
        };
        let request = ForgetRequest {
            dry_run: false,
            ..request
        };
        let done = forget_sessions(host, &setup, &state, &request, unanswered)?;
        return printer.result(&Deleted(done));
    };
    let mut all = ForgetReport::default();
    for key in &request.keys {
        // One of them may have begun another.
        if all.sessions.iter().any(|session| session.key == *key) {
            continue;
        }
        let report = server.delete_session(key, &json!({"stop": args.stop}))?;
        let report: ForgetReport = serde_json::from_value(report).map_err(|error| {
            CliError::new(FailureKind::Internal, "Could not read the server's report.")
                .caused_by(error)
        })?;
        add(&mut all, report);
    }
    printer.result(&Deleted(all))
}

/// Adds one report to another. What was searched last counts.
fn add(all: &mut ForgetReport, one: ForgetReport) {
    all.sessions.extend(one.sessions);
    all.recordings.files += one.recordings.files;
    all.recordings.lines += one.recordings.lines;
    all.turns.turns += one.turns.turns;
    all.turns.contents += one.turns.contents;
    all.turns.bytes += one.turns.bytes;
    all.jobs.outcomes += one.jobs.outcomes;
    all.jobs.open += one.jobs.open;
    all.jobs.damaged_logs += one.jobs.damaged_logs;
    all.memory_pieces += one.memory_pieces;
    all.memory_indexes_discarded += one.memory_indexes_discarded;
    all.typed_lines += one.typed_lines;
    all.searched = one.searched.or(all.searched.take());
    for left in one.left {
        if !all.left.contains(&left) {
            all.left.push(left);
        }
    }
    for note in one.notes {
        if !all.notes.contains(&note) {
            all.notes.push(note);
        }
    }
}

fn question(plan: &ForgetReport) -> String {
    let mut question = String::new();
    for session in plan.sessions.iter().take(NAMED) {
        let _ = writeln!(question, "  {}", one_line(&session.key));
    }
    if plan.sessions.len() > NAMED {
        let _ = writeln!(question, "  and {} more", plan.sessions.len() - NAMED);
    }
    let sessions = count(plan.sessions.len(), "session");
    let _ = write!(question, "Delete {sessions} for good? [y/N] ");
    question
}

impl Render for Deleted {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let report = &self.0;
        for session in &report.sessions {
            let key = one_line(&session.key);
            let files = count(session.transcripts, "transcript");
            let began = session
                .began_by
                .as_deref()
                .map_or_else(String::new, |by| format!(", begun by `{}`", one_line(by)));
            writeln!(out, "{key}: {files}, {}{began}", size(session.bytes))?;
        }
        let parts = [
            (report.recordings.files, "recording"),
            (report.recordings.lines, "line of logs"),
            (report.turns.turns, "turn of `chitin undo`"),
            (report.turns.contents, "file content"),
            (report.memory_pieces, "piece of memory"),
            (report.jobs.outcomes, "outcome"),
            (report.jobs.open, "unanswered message"),
            (report.typed_lines, "typed line"),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, noun)| counted(number, noun))
            .collect();
        if !parts.is_empty() {
            writeln!(out, "Also: {}.", parts.join(", "))?;
        }
        let verb = if report.dry_run {
            "Would delete"
        } else {
            "Deleted"
        };
        writeln!(out, "{verb} {}.", count(report.sessions.len(), "session"))?;
        if let Some(searched) = &report.searched {
            let files = usize::try_from(searched.files).unwrap_or(usize::MAX);
            let what = format!(
                "Searched {} ({}) for {} of them",
                count(files, "file"),
                size(searched.bytes),
                count(searched.words, "id or passage")
                    .replace("id or passages", "ids and passages"),
            );
            if report.left.is_empty() {
                writeln!(out, "{what}: {}.", paint.good("nothing is left"))?;
            } else {
                let places = count(report.left.len(), "file");
                writeln!(out, "{what}: {}", paint.warn(&format!("{places} left.")))?;
            }
        }
        for left in &report.left {
            let what = if left.is_id { "its id" } else { "words of it" };
            let (path, place) = (one_line(&left.path), left.kept_by.meaning());
            writeln!(out, "  `{path}` has {what}: {place}")?;
        }
        for note in &report.notes {
            writeln!(out, "{}", one_line(note))?;
        }
        Ok(())
    }

    fn exit(&self) -> Exit {
        if self.0.left.is_empty() {
            Exit::Success
        } else {
            Exit::Findings
        }
    }
}

/// Says a count with a noun whose plural is in its first word.
fn counted(number: usize, noun: &str) -> String {
    if number == 1 {
        return format!("1 {noun}");
    }
    match noun.split_once(' ') {
        Some((first @ ("line" | "turn" | "piece"), rest)) => format!("{number} {first}s {rest}"),
        Some(_) | None => format!("{number} {noun}s"),
    }
}
