//! A text as the weighted mean of the vectors of its words.

use super::similarity::WordLook;
use super::spelling::{each_known, each_word};
use super::table::WordTable;
use super::{CloserLook, EmbedError, Embedder, Purpose};
use std::sync::Arc;

/// How many texts are best given at once: enough that asking costs nothing.
const BATCH: usize = 256;

/// Embeds texts by a table of words. It needs no network, and takes microseconds.
#[derive(Debug, Clone)]
pub struct WordEmbedder {
    table: Arc<WordTable>,
}

impl WordEmbedder {
    /// Embeds by a table.
    pub const fn new(table: Arc<WordTable>) -> Self {
        Self { table }
    }

    /// Returns the table.
    pub fn table(&self) -> &WordTable {
        &self.table
    }

    /// Returns the vector of one text: zeros when no word is known.
    pub fn vector(&self, text: &str) -> Vec<f32> {
        let table = &*self.table;
        let mut sum = vec![0.0; table.dimensions()];
        let mut weight = 0.0;
        each_word(text, |word| {
            each_known(word, &|word| table.find(word), &mut |found| {
                weight += table.add(found, &mut sum);
            });
        });
        table.shorten(&mut sum, weight);
        sum
    }
}

impl Embedder for WordEmbedder {
    fn name(&self) -> &str {
        self.table.name()
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.table.dimensions())
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }

    fn look_closer(&self, question: &str) -> Option<Box<dyn CloserLook + '_>> {
        Some(Box::new(WordLook::new(self, question)))
    }
}
