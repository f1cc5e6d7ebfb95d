//! `chitin memory status`.

use super::{Found, unsearchable};
use crate::args::TargetArgs;
use crate::commands::{count, size};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_runtime::Host;
use chitin_runtime::{AgentMemory, MemoryOptions};
use chitin_runtime::{Setup, shown};
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    target: TargetArgs,
}

/// What there is to remember.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    agent: String,
    contract: &'static str,
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    workspace: PathBuf,
    enabled: bool,
    /// Memory files, and their bytes.
    files: usize,
    bytes: u64,
    /// Transcripts of past conversations, if these are searched.
    conversations: Option<usize>,
    index: IndexStatus,
    /// What makes vectors; nothing if it is searched by words alone.
    embeddings: Option<String>,
    recall: Option<RecallStatus>,
    #[serde(skip)]
    shown_workspace: String,
    #[serde(skip)]
    shown_index: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct IndexStatus {
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    path: PathBuf,
    /// What is in it; nothing before the first search.
    figures: Option<Figures>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Figures {
    files: usize,
    pieces: usize,
    vectors: usize,
    bytes: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RecallStatus {
    results: usize,
    tokens: usize,
    min_score: f64,
}

pub(super) fn run(args: &StatusArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let found = Found::new(host, &args.target.target(), printer)?;
    let (status, notes) = found.with(|_| Status::of(host, &found.setup, &found.kit))?;
    for note in &notes {
        printer.note(note);
    }
    printer.result(&status)
}

/// Says how an agent's memory stands, for whoever shows it.
pub(crate) fn standing(
    host: &Host,
    setup: &Setup,
    kit: &AgentMemory,
) -> Result<impl Serialize + use<>, CliError> {
    Ok(Status::of(host, setup, kit)?.0)
}

impl Status {
    fn of(host: &Host, setup: &Setup, kit: &AgentMemory) -> Result<(Self, Vec<String>), CliError> {
        let memory = kit.memory();
        let (listing, figures) = (memory.list(), memory.figures());
        let figures = figures.map_err(unsearchable)?;
        let made = kit.made();
        let path = kit.index_file();
        let MemoryOptions {
            enabled, recall, ..
        } = &kit.options;
        let mut notes = made.notes.clone();
        notes.extend(listing.notes.iter().map(ToString::to_string));
        if let Some((_, said)) = &figures {
            notes.extend(said.iter().map(ToString::to_string));
        }
        let embedder = made.memory.setting().embedder.as_ref();
        let status = Self {
            agent: setup.agent.to_string(),
            contract: setup.contract().name,
            shown_workspace: shown(&setup.directory, host),
            workspace: setup.directory.clone(),
            enabled: *enabled,
            files: listing.files.len(),
            bytes: listing.files.iter().map(|file| file.size).sum(),
            conversations: listing.conversations(),
            shown_index: shown(&path, host),
            index: IndexStatus {
                path,
                figures: figures.map(|(figures, _)| Figures {
                    files: figures.files,
                    pieces: figures.pieces,
                    vectors: figures.vectors,
                    bytes: figures.bytes,
                }),
            },
            embeddings: embedder.map(|embedder| embedder.name().to_owned()),
            recall: recall.map(|recall| RecallStatus {
                results: recall.results,
                tokens: recall.tokens,
                min_score: recall.min_score,
            }),
        };
        Ok((status, notes))
    }
}

impl Render for Status {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let row = |out: &mut dyn fmt::Write, name: &str, value: &str| {
            writeln!(out, "  {} {value}", paint.dim(&format!("{name:<14}")))
        };
        writeln!(
            out,
            "Memory of {} in {}",
            paint.bold(&self.agent),
            self.shown_workspace
        )?;
        let files = format!("{}, {}", count(self.files, "file"), size(self.bytes));
        row(out, "notes", &files)?;
        let conversations = match self.conversations {
            Some(number) => count(number, "transcript"),
            None => "not searched".to_owned(),
        };
        row(out, "conversations", &conversations)?;
        let index = match &self.index.figures {
            None => "made at the first search".to_owned(),
            Some(figures) => format!(
                "{} of {}, {} with vectors, {}",
                count(figures.pieces, "piece"),
                count(figures.files, "file"),
                figures.vectors,
                size(figures.bytes)
            ),
        };
        row(out, "index", &index)?;
        row(out, "", &self.shown_index)?;
        let searched = match &self.embeddings {
            Some(name) => format!("by words and by meaning ({name})"),
            None => "by words only; `chitin memory words` adds meaning".to_owned(),
        };
        row(out, "searched", &searched)?;
        let recall = match &self.recall {
            Some(recall) => format!(
                "for every message: up to {}, {} tokens, score from {:.2}",
                count(recall.results, "result"),
                recall.tokens,
                recall.min_score
            ),
            None => "only when the model asks".to_owned(),
        };
        row(out, "looked up", &recall)?;
        if !self.enabled {
            row(out, "", &paint.warn("switched off"))?;
        }
        Ok(())
    }
}
