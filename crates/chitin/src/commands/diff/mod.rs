//! `chitin diff`: two artifacts, or an artifact and a directory: layers, files, and what the model gets of it.

mod side;

use super::context::{Comparison, Lines, write_comparison};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, plain};
use crate::ship::{Finder, NetworkArgs, RefreshArgs, count, known_as, size};
use chitin_pack::diff::{ArtifactDifference, ArtifactFileChange, DiffDepth, LayerChange, diff};
use chitin_pack::layer::LayerKind;
use chitin_runtime::Host;
use serde::Serialize;
use side::Side;
use std::fmt;

/// Compare two artifacts, or an artifact and a directory.
///
/// Besides the files it shows the effect on the model: tokens, the first byte at which the cached prefix breaks, and the cost. `--text` adds the lines of the prompt.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin diff my-agent:1.1.0 my-agent:1.2.0
  chitin diff my-agent:1.2.0 ./my-agent               the changes since it was packed
  chitin diff registry.example/team/agent:1.2.0 ./my-agent --json
  chitin diff my-agent:1.1.0 my-agent:1.2.0 --text

Exit codes: 0 compared, even if they differ; 1 wrong arguments; 2 not found or damaged; 3 the registry failed.")]
pub(crate) struct Args {
    /// The old side: an artifact or a workspace directory.
    left: String,

    /// The new side: an artifact or a workspace directory.
    right: String,

    /// Do not compare the contexts.
    #[arg(long)]
    no_context: bool,

    /// Show the lines of the prompt that differ.
    #[arg(long, conflicts_with = "no_context")]
    text: bool,

    /// The contract to use for both sides.
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,

    #[command(flatten)]
    network: NetworkArgs,

    #[command(flatten)]
    refresh: RefreshArgs,
}

#[derive(Debug, Serialize)]
struct Compared {
    left: String,
    right: String,
    #[serde(flatten)]
    difference: ArtifactDifference,
    /// What changes for the model; absent where a side is no agent's workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Comparison>,
    #[serde(skip)]
    lines: Lines,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let finder = Finder::new(host, &self.network, printer)?.refreshing(self.refresh);
        let _adding = finder.store.adding()?;
        let left = Side::find(&self.left, &finder, host)?;
        let right = Side::find_like(&self.right, &left, &finder, host)?;
        let left = left.like(&right, &finder)?;
        let difference = diff(&left.artifact, &right.artifact, DiffDepth::Files)?;
        let context = if self.no_context {
            None
        } else {
            side::compare(&left, &right, &finder, self.contract.as_deref(), host)?
        };
        printer.result(&Compared {
            left: left.name,
            right: right.name,
            difference,
            context,
            lines: if self.text {
                Lines::Shown
            } else {
                Lines::Counted
            },
        })
    }
}

impl Render for Compared {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let tame = |text: &str| plain(text, '\u{fffd}');
        writeln!(
            out,
            "{} {} → {}\n",
            paint.bold("Files"),
            tame(&self.left),
            tame(&self.right)
        )?;
        if self.difference.config != LayerChange::Identical {
            writeln!(
                out,
                "  {} config: name, version, description or adapter",
                paint.warn("changed")
            )?;
        }
        for layer in &self.difference.changes {
            if layer.change == LayerChange::Identical {
                continue;
            }
            let kind = LayerKind::from_media_type(&layer.media_type);
            let name = match kind {
                Some(kind) => kind.name(),
                None => layer.media_type.as_str(),
            };
            writeln!(out, "  {} {}", word(layer.change, paint), tame(name))?;
            for file in &layer.files {
                let mark = match file.change {
                    ArtifactFileChange::Added => paint.good("+"),
                    ArtifactFileChange::Removed => paint.bad("-"),
                    ArtifactFileChange::Changed => paint.warn("~"),
                    ArtifactFileChange::Mode => paint.warn("x"),
                };
                let bytes = |facts: &Option<chitin_pack::inspect::LayerFile>| {
                    facts
                        .as_ref()
                        .map_or_else(|| "–".to_owned(), |facts| size(facts.size))
                };
                let path = if file.path.is_empty() {
                    name.to_owned()
                } else {
                    known_as(kind, &file.path)
                };
                writeln!(
                    out,
                    "    {mark} {} {} → {}",
                    tame(&path),
                    bytes(&file.left),
                    bytes(&file.right)
                )?;
            }
        }
        let same = self
            .difference
            .changes
            .iter()
            .filter(|layer| layer.change == LayerChange::Identical);
        writeln!(
            out,
            "  {}",
            paint.dim(&format!("{} the same", count(same.count(), "layer")))
        )?;
        match &self.context {
            Some(context) => {
                writeln!(out)?;
                write_comparison(context, out, paint, self.lines)
            }
            None => Ok(()),
        }
    }
}

fn word(change: LayerChange, paint: Paint) -> String {
    match change {
        LayerChange::Added => paint.good("added"),
        LayerChange::Removed => paint.bad("removed"),
        LayerChange::Changed => paint.warn("changed"),
        LayerChange::Identical => paint.dim("same"),
    }
}
