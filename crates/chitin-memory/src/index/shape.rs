//! What an index depends on.

use super::schema;
use crate::embed::Embedder;
use chitin_contract::MemoryIndexRules;
use serde_json::json;
use std::collections::BTreeMap;

/// Everything that an index depends on beside the files. An index of another shape is not used.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// How words are kept.
    pub rules: MemoryIndexRules,
    /// Whose vectors there are, and how long they are if that is known.
    pub embedder: Option<(String, Option<usize>)>,
    /// Everything else by name: how files are cut, which sources there are.
    pub facts: BTreeMap<String, String>,
}

impl Shape {
    /// Begins with rules, no vectors and no other facts.
    pub const fn new(rules: MemoryIndexRules) -> Self {
        Self {
            rules,
            embedder: None,
            facts: BTreeMap::new(),
        }
    }

    /// Says whose vectors there are.
    #[must_use]
    pub fn embedded_by(mut self, embedder: &dyn Embedder) -> Self {
        self.embedder = Some((embedder.name().to_owned(), embedder.dimensions()));
        self
    }

    /// Adds a fact on which the index depends.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.facts.insert(name.into(), value.into());
        self
    }

    /// Returns it as it is written into the index. SQLite cuts words, so that its version is part of it.
    pub(super) fn written(&self) -> String {
        json!({
            "format": schema::FORMAT,
            "sqlite": rusqlite::version(),
            "rules": self.rules,
            "embedder": self.embedder,
            "facts": self.facts,
        })
        .to_string()
    }
}
