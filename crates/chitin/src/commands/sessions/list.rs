//! `chitin sessions list`.

use super::{Whose, count, instant, refused, size, source};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use crate::terminal::messages::{UNKNOWN, cost, counted, fit, one_line, tokens};
use chitin_runtime::sessions::{AgentSessions, SessionFiles, SessionOwner};
use chitin_runtime::{Host, shown};
use chitin_store::{SessionCursor, SessionEntry};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use unicode_width::UnicodeWidthStr;

const MAX_KEY_WIDTH: usize = 48;
const MAX_MODEL_WIDTH: usize = 32;

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// List OpenClaw's own sessions, read-only.
    #[arg(long)]
    openclaw: bool,

    /// List at most this many.
    #[arg(long, value_name = "N", default_value_t = LISTED, value_parser = clap::value_parser!(u32).range(1..=MOST_LISTED))]
    limit: u32,

    /// Continue where another list ended: the place that it named.
    #[arg(long, value_name = "PLACE", value_parser = place)]
    after: Option<SessionCursor>,

    #[command(flatten)]
    whose: Whose,
}

/// How many sessions are listed when nothing is said.
const LISTED: u32 = 100;
/// How many are listed at most.
const MOST_LISTED: i64 = 100_000;

fn place(text: &str) -> Result<SessionCursor, String> {
    SessionCursor::parse(text).ok_or_else(|| {
        "a place is what `chitin sessions list` names when there are more".to_owned()
    })
}

/// The table.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Table {
    agent: String,
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    directory: PathBuf,
    sessions: Vec<Row>,
    /// How many sessions there are, listed or not.
    total: usize,
    /// Where the list goes on; absent when these are the last ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// How many transcripts are kept that no session goes on with.
    archived: usize,
    #[serde(skip)]
    shown_directory: String,
    #[serde(skip)]
    keeper: SessionOwner,
}

/// One session.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    key: String,
    session_id: String,
    /// Milliseconds since 1970.
    updated_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// How many turns there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<u64>,
    /// Tokens of all turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    /// Whether the provider did not say how many tokens some answer took.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    tokens_unknown: bool,
    /// Tokens in the model's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    context_tokens: Option<u64>,
    /// Tokens that fit into it.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(
        serialize_with = "chitin_workspace::json_path::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    file: Option<PathBuf>,
    compactions: u64,
    aborted: bool,
}

impl Row {
    fn new(key: String, entry: SessionEntry, source: &AgentSessions) -> Result<Self, CliError> {
        let name = entry.session_file.as_deref().map(Path::new);
        let name = name.and_then(|path| path.file_name()?.to_str());
        let mut file = match name {
            Some(name) => source.transcript(name)?,
            None => None,
        };
        if file.is_none() {
            file = source.transcript(&format!("{}.jsonl", entry.session_id))?;
        }
        Ok(Self {
            model: match (entry.model_provider, entry.model) {
                (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
                (None, model) => model,
                (Some(_), None) => None,
            },
            turns: entry.totals.map(|totals| totals.turns),
            tokens: entry.totals.map(|totals| totals.tokens()),
            tokens_unknown: entry.totals.is_some_and(|totals| totals.tokens_unknown),
            context_tokens: entry.total_tokens,
            window: entry.context_tokens,
            cost_usd: entry.estimated_cost_usd,
            bytes: file.as_ref().map(|file| file.bytes),
            file: file.map(|file| file.path),
            compactions: entry.compaction_count.unwrap_or(0),
            aborted: entry.aborted_last_run.unwrap_or(false),
            updated_at: entry.updated_at,
            session_id: entry.session_id,
            key,
        })
    }

    /// Returns the cells of the table.
    fn cells(&self) -> [String; 7] {
        let dash = || "–".to_owned();
        [
            fit(&one_line(&self.key), MAX_KEY_WIDTH),
            instant(self.updated_at),
            self.model
                .as_deref()
                .map_or_else(dash, |model| fit(&one_line(model), MAX_MODEL_WIDTH)),
            self.context_tokens
                .map_or_else(|| UNKNOWN.to_owned(), tokens),
            self.tokens.map_or_else(
                || UNKNOWN.to_owned(),
                |sum| counted(sum, self.tokens_unknown),
            ),
            cost(self.cost_usd),
            self.bytes.map_or_else(dash, size),
        ]
    }
}

pub(super) fn run(args: &ListArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let keeper = source::owner(args.openclaw);
    let source = source::find(host, &args.whose, keeper, printer)?;
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    print(&source, keeper, (args.after.as_ref(), limit), host, printer)
}

/// Prints the table of an agent's sessions from the first one on.
pub(super) fn print_first(
    source: &AgentSessions,
    keeper: SessionOwner,
    host: &Host,
    printer: &Printer,
) -> Result<Exit, CliError> {
    print(source, keeper, (None, LISTED as usize), host, printer)
}

fn print(
    source: &AgentSessions,
    keeper: SessionOwner,
    (after, limit): (Option<&SessionCursor>, usize),
    host: &Host,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let archived = match &source.files {
        SessionFiles::Own { store, .. } => store.archived_count().map_err(refused)?,
        SessionFiles::OpenClaw { .. } => 0,
    };
    let page = source.page(after, limit)?;
    let (total, next) = (page.total, page.next());
    let rows = page.sessions.into_iter();
    let rows = rows.map(|(key, entry)| Row::new(key, entry, source));
    let directory = source.directory();
    printer.result(&Table {
        agent: source.agent.to_string(),
        sessions: rows.collect::<Result<_, _>>()?,
        total,
        next: next.map(|place| place.to_string()),
        archived,
        shown_directory: shown(&directory, host),
        directory,
        keeper,
    })
}

impl Render for Table {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let head = [
            "KEY",
            "LAST USED",
            "MODEL",
            "CONTEXT",
            "TOKENS",
            "COST",
            "SIZE",
        ]
        .map(str::to_owned);
        let rows: Vec<[String; 7]> = self.sessions.iter().map(Row::cells).collect();
        let widths: [usize; 7] = std::array::from_fn(|column| {
            let cells = rows.iter().chain([&head]).map(|row| row[column].width());
            cells.max().unwrap_or(0)
        });
        if !rows.is_empty() {
            writeln!(out, "{}", paint.dim(&line(&head, &widths)))?;
        }
        for row in &rows {
            writeln!(out, "{}", line(row, &widths))?;
        }
        if !rows.is_empty() {
            writeln!(out)?;
        }
        let whose = match self.keeper {
            SessionOwner::Chitin => "",
            SessionOwner::OpenClaw => "OpenClaw's ",
        };
        let listed = match &self.next {
            None if self.sessions.len() == self.total => String::new(),
            Some(_) | None => format!("{} of ", self.sessions.len()),
        };
        write!(
            out,
            "{listed}{} of {whose}agent `{}` in `{}`.",
            count(self.total, "session"),
            self.agent,
            one_line(&self.shown_directory)
        )?;
        if self.archived > 0 {
            write!(
                out,
                " {} in the archive.",
                count(self.archived, "transcript")
            )?;
        }
        if let Some(next) = &self.next {
            write!(out, " `--after '{}'` lists the next ones.", one_line(next))?;
        }
        writeln!(out)
    }
}

/// Puts cells on a line: words to the left, numbers to the right.
fn line(cells: &[String; 7], widths: &[usize; 7]) -> String {
    let mut line = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let blank = " ".repeat(width.saturating_sub(cell.width()));
        if column > 0 {
            line.push_str("  ");
        }
        if column < 3 {
            line.push_str(cell);
            line.push_str(&blank);
        } else {
            line.push_str(&blank);
            line.push_str(cell);
        }
    }
    line
}
