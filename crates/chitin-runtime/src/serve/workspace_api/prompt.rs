//! A system prompt taken apart: the next one, or one that was recorded.

use crate::context::TokenCounting as Tokens;
use crate::context::{ModelFigures, TurnContext};
use chitin_agent::journal::{RecordedRun, TraceEvent, fragments};
use chitin_context::FragmentOrigin;
use chitin_context::view::View;
use std::ops::Range;
use std::path::Path;

/// A system prompt and its parts.
pub(super) struct Prompt {
    /// The name of its turn.
    pub(super) id: String,
    pub(super) text: String,
    pub(super) parts: Vec<Part>,
}

/// A part of a system prompt.
pub(super) struct Part {
    /// What people call it: a key, or a path below the workspace.
    pub(super) name: String,
    /// The file, if it is one.
    pub(super) path: Option<String>,
    pub(super) cache: String,
    pub(super) range: Range<usize>,
    pub(super) raw: Option<usize>,
    /// `kept`, `cut`, `missing` or `refused`.
    pub(super) decision: String,
    pub(super) cause: Option<String>,
    pub(super) boundary: bool,
}

impl Prompt {
    /// Takes a recorded prompt apart. One of whose parts nothing is known is one part.
    pub(super) fn recorded(run: &RecordedRun<'_>, directory: &Path) -> Option<Self> {
        let text = run.contexts().next()?.data()["systemPrompt"].as_str()?;
        let metadata = run.event("trace.metadata").map(TraceEvent::data);
        let known = metadata.and_then(|metadata| fragments::read(metadata, text));
        let mut at = 0;
        let parts = match known {
            None => vec![Part {
                name: "system prompt".to_owned(),
                path: None,
                cache: "session".to_owned(),
                range: 0..text.len(),
                raw: None,
                decision: "kept".to_owned(),
                cause: None,
                boundary: false,
            }],
            Some(known) => known
                .into_iter()
                .map(|part| {
                    let start = at;
                    at += part.bytes;
                    let path = part.path.as_deref().map(|path| below(path, directory));
                    Part {
                        name: path.clone().unwrap_or(part.name),
                        path,
                        cache: part.cache,
                        range: start..at,
                        raw: part.raw,
                        decision: part.decision.unwrap_or_else(|| "kept".to_owned()),
                        cause: part.cause,
                        boundary: part.boundary,
                    }
                })
                .collect(),
        };
        Some(Self {
            id: run.run_id.to_owned(),
            text: text.to_owned(),
            parts,
        })
    }

    /// Takes the next prompt apart.
    pub(super) fn next(seen: &TurnContext, view: &View, directory: &Path) -> Self {
        let parts = seen.context.fragments.iter().zip(&view.fragments);
        let system =
            parts.filter(|(fragment, _)| fragment.role == chitin_context::FragmentRole::System);
        let parts = system.map(|(fragment, shown)| {
            let (name, path) = match &fragment.origin {
                FragmentOrigin::Section { key } => ((*key).to_owned(), None),
                FragmentOrigin::Boundary => ("boundary".to_owned(), None),
                FragmentOrigin::File { path, .. } => {
                    let path = below(path, directory);
                    (path.clone(), Some(path))
                }
            };
            Part {
                name,
                path,
                cache: String::new(),
                range: shown.start..shown.end,
                raw: None,
                decision: String::new(),
                cause: None,
                boundary: fragment.origin == FragmentOrigin::Boundary,
            }
        });
        Self {
            id: "next".to_owned(),
            text: seen.context.system(),
            parts: parts.collect(),
        }
    }

    /// Returns how many bytes of it can be cached.
    pub(super) fn cacheable(&self) -> usize {
        let boundary = self.parts.iter().find(|part| part.boundary);
        boundary.map_or(self.text.len(), |part| part.range.start)
    }

    /// Returns the text of the part of that name.
    pub(super) fn text_of(&self, name: &str) -> Option<&str> {
        let part = self.parts.iter().find(|part| part.name == name)?;
        self.text.get(part.range.clone())
    }

    /// Returns the part in which a byte stands.
    pub(super) fn part_at(&self, offset: usize) -> Option<&Part> {
        let mut parts = self.parts.iter();
        let found = parts.find(|part| part.range.contains(&offset));
        found.or_else(|| self.parts.last())
    }
}

/// Returns a path below the workspace as short as it can be said.
pub(super) fn below(path: &str, directory: &Path) -> String {
    let below = Path::new(path).strip_prefix(directory);
    below.map_or_else(
        |_| path.to_owned(),
        |below| below.to_string_lossy().into_owned(),
    )
}

/// Counts the tokens of a text, as the page's figures do.
pub(super) fn counter(model: &ModelFigures) -> impl FnMut(&str) -> usize + use<> {
    let mut count = model.counter(Tokens::Estimate);
    move |text| if text.is_empty() { 0 } else { count(text) }
}

/// Says an amount of money in US dollars.
pub(super) fn dollars(cost: chitin_context::models::Cost) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a prompt costs far less than the millions of dollars where digits get lost"
    )]
    let nanodollars = cost.nanodollars as f64;
    nanodollars / 1e9
}
