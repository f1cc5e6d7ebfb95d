//! From a line of the prompt to its file, and from a line of a file to the prompt.

use crate::error::{CliError, FailureKind};
use crate::printer::{Paint, Render, plain};
use chitin_context::Context;
use chitin_context::explain::{FileLine, NoSuchLine, PromptLine};
use serde::Serialize;
use std::fmt;

/// How many files a hint names.
const MAX_NAMED: usize = 20;

/// What there is to say about a line.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Explained {
    Prompt(PromptLine),
    File { lines: Vec<FileLine> },
}

pub(super) fn explain(context: &Context, asked: &str) -> Result<Explained, CliError> {
    let usage = |message: String| CliError::new(FailureKind::Usage, message);
    if let Ok(line) = asked.trim().parse::<usize>() {
        let lines = context.system().split('\n').count();
        return context
            .explain_prompt_line(line)
            .map(Explained::Prompt)
            .ok_or_else(|| {
                usage(format!("The prompt has no line {line}."))
                    .hint(format!("it has {lines} lines, counted from 1"))
            });
    }
    let asked = asked.trim();
    let parsed = asked
        .rsplit_once(':')
        .and_then(|(file, line)| Some((file, line.parse::<usize>().ok()?)))
        .map(|(file, line)| (file.strip_prefix("./").unwrap_or(file), line));
    let Some((file, line)) = parsed else {
        let shown = plain(asked, '\u{fffd}');
        return Err(usage(format!("`{shown}` is not a line."))
            .hint("give a line of the prompt (`120`) or of a file (`MEMORY.md:300`)"));
    };
    let lines = context.explain_file_line(file, line).map_err(|error| {
        let failed = usage(sentence(&error));
        match error {
            NoSuchLine::File(_) => {
                let mut names: Vec<&str> = Vec::new();
                for record in &context.files.records {
                    if names.len() < MAX_NAMED && !names.contains(&&*record.name) {
                        names.push(&record.name);
                    }
                }
                failed.hint(format!("there are `{}`", names.join("`, `")))
            }
            NoSuchLine::NoText { .. } | NoSuchLine::Line { .. } => failed,
        }
    })?;
    Ok(Explained::File { lines })
}

fn sentence(error: &NoSuchLine) -> String {
    let text = plain(&error.to_string(), '\u{fffd}');
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), chars.as_str())
}

impl Render for Explained {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        match self {
            Self::Prompt(line) => {
                writeln!(
                    out,
                    "{} {}",
                    paint.dim(&format!("{}:", line.line)),
                    plain(&line.text, '\u{fffd}')
                )?;
                for part in &line.parts {
                    let from = plain(&part.from.to_string(), '\u{fffd}');
                    if line.parts.len() > 1 && !part.text.is_empty() {
                        writeln!(
                            out,
                            "  {}  {}",
                            paint.bold(&from),
                            plain(&part.text, '\u{fffd}')
                        )?;
                    } else {
                        writeln!(out, "  {}", paint.bold(&from))?;
                    }
                }
                Ok(())
            }
            Self::File { lines } => {
                for line in lines {
                    let place = plain(&format!("{}:{}", line.path, line.line), '\u{fffd}');
                    writeln!(
                        out,
                        "{} {}",
                        paint.dim(&format!("{place}:")),
                        plain(&line.text, '\u{fffd}')
                    )?;
                    match (line.prompt_line, line.whole) {
                        (Some(at), true) => writeln!(
                            out,
                            "  {} line {at} of the prompt",
                            paint.good("in the prompt,")
                        )?,
                        (Some(at), false) => writeln!(
                            out,
                            "  {} line {at} of the prompt",
                            paint.warn("partly in the prompt,")
                        )?,
                        (None, _) => writeln!(out, "  {}", paint.bad("not in the prompt"))?,
                    }
                    for reason in &line.reasons {
                        writeln!(out, "  {}", plain(reason, '\u{fffd}'))?;
                    }
                }
                Ok(())
            }
        }
    }
}
