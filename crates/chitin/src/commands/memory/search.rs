//! `chitin memory search`.

use super::Found;
use super::highlight::Highlighter;
use crate::args::TargetArgs;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, tame};
use chitin_memory::search::{ChunkSource, SearchRequest, Within};
use chitin_runtime::Host;
use chitin_runtime::memory::MemorySearch;
use clap::ValueEnum;
use serde::Serialize;
use std::fmt;

/// How many lines of a result a person sees.
const LINES: usize = 6;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin memory search 'who approves purchases'
  chitin memory search boiler ./my-agent --results 3 --explain
  chitin memory search 'what did we decide about the roof' --source sessions
  chitin memory search kestrel.md --json

Exit codes: 0 when something was found, 1 when nothing was.")]
pub(super) struct SearchArgs {
    /// The query; put several words in quotes.
    #[arg(value_name = "QUESTION")]
    question: String,

    /// The maximum number of results.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1000))]
    results: Option<u16>,

    /// The minimum score of a result, from 0 to 1.
    #[arg(long, value_name = "SCORE", value_parser = score)]
    min_score: Option<f64>,

    /// Search only notes, or only past conversations.
    #[arg(long, value_enum)]
    source: Option<Only>,

    /// Explain each score.
    #[arg(long)]
    explain: bool,

    #[command(flatten)]
    target: TargetArgs,
}

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Only {
    /// `MEMORY.md` and the files below `memory/`.
    Memory,
    /// Past conversations.
    Sessions,
}

/// What was found, for people and programs.
#[derive(Debug, Serialize)]
struct Search {
    #[serde(flatten)]
    found: MemorySearch,
    #[serde(skip)]
    explain: bool,
}

pub(super) fn run(args: &SearchArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    if args.question.trim().is_empty() {
        return Err(CliError::new(FailureKind::Usage, "The query is empty.")
            .hint("`chitin memory search 'who approves purchases'`"));
    }
    let found = Found::new(host, &args.target.target(), printer)?;
    let options = &found.kit.options;
    let mut within = Within::default();
    match args.source {
        None => {}
        Some(Only::Memory) => {
            within.sources.insert(ChunkSource::Memory);
        }
        Some(Only::Sessions) if options.sessions => {
            within.sources.insert(ChunkSource::Sessions);
        }
        Some(Only::Sessions) => {
            return Err(CliError::new(
                FailureKind::User,
                "Past conversations are not searched for this agent.",
            )
            .hint("`memory: { sources: [\"memory\", \"sessions\"] }` in `chitin.json5`"));
        }
    }
    let ask = SearchRequest {
        query: &args.question,
        max_results: Some(args.results.map_or(options.results, usize::from)),
        min_score: Some(args.min_score.unwrap_or(options.min_score)),
        within,
        now_ms: jiff::Timestamp::now().as_millisecond(),
        project: None,
    };
    let found = found.with(|_| found.kit.search(&ask))?;
    for note in &found.notes {
        printer.note(note);
    }
    printer.result(&Search {
        explain: args.explain,
        found,
    })
}

fn score(text: &str) -> Result<f64, String> {
    let score: f64 = text.parse().map_err(|_| "a score is a number".to_owned())?;
    (0.0..=1.0)
        .contains(&score)
        .then_some(score)
        .ok_or_else(|| "a score is a number from 0 to 1".to_owned())
}

impl Render for Search {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        if self.found.results.is_empty() {
            return writeln!(out, "No matches in memory.");
        }
        let light = Highlighter::new(&self.found.question);
        for (at, row) in self.found.results.iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            let place = if row.start_line == row.end_line {
                format!("{}:{}", row.path, row.start_line)
            } else {
                format!("{}:{}-{}", row.path, row.start_line, row.end_line)
            };
            writeln!(
                out,
                "{}  {}",
                paint.bold(&tame(&place)),
                paint.dim(&format!("{:.2}", row.score))
            )?;
            for line in light.best_lines(&row.snippet, LINES) {
                writeln!(out, "  {}", light.paint(&tame(line), paint))?;
            }
            if self.explain {
                let parts: Vec<String> = row
                    .parts
                    .iter()
                    .map(|(name, amount)| format!("{name} {amount:+.3}"))
                    .collect();
                writeln!(out, "  {}", paint.dim(&parts.join(", ")))?;
            }
        }
        if self.explain {
            let how = match &self.found.embeddings {
                Some(name) if self.found.mode == "hybrid" => {
                    format!("by keyword and by meaning ({name})")
                }
                Some(_) | None => "by keyword only".to_owned(),
            };
            writeln!(out, "\n{}", paint.dim(&format!("Searched {how}.")))?;
        }
        Ok(())
    }

    fn exit(&self) -> Exit {
        if self.found.results.is_empty() {
            Exit::Findings
        } else {
            Exit::Success
        }
    }
}
