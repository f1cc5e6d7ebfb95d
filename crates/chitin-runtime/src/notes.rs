//! Where the runtime tells a person what is worth knowing and is no error.

use std::fmt;
use std::sync::Arc;

type Sink = Arc<dyn Fn(&str) + Send + Sync>;

/// Takes notes for a person: a model was picked, a server did not start, a file was left out.
///
/// The runtime never prints. A command line writes notes to stderr, a server to its log; an embedder may drop them.
#[derive(Clone)]
pub struct Notes(Option<Sink>);

impl Notes {
    /// Hands every note to a function.
    pub fn to(sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(sink)))
    }

    /// Drops every note.
    pub const fn none() -> Self {
        Self(None)
    }

    /// Tells a note: one sentence or part of one.
    pub fn note(&self, text: &str) {
        tracing::info!(note = text);
        if let Some(sink) = &self.0 {
            sink(text);
        }
    }

    /// Returns what takes notes as a plain function, for parts that know nothing of this type.
    pub fn sink(&self) -> Arc<dyn Fn(&str) + Send + Sync> {
        let notes = self.clone();
        Arc::new(move |text| notes.note(text))
    }
}

impl fmt::Debug for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.0.is_some() {
            "Notes(..)"
        } else {
            "Notes(none)"
        };
        f.write_str(kind)
    }
}
