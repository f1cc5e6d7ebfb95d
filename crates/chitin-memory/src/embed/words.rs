//! A text as the weighted mean of the vectors of its words.

use super::spelling::{each_known, each_word};
use super::table::WordTable;
use super::{ClosestLine, EmbedError, Embedder, Purpose};
use std::sync::Arc;

/// How many texts are best given at once: enough that asking costs nothing.
const BATCH: usize = 256;

/// What is shorter than this is nothing but rounding.
const SHORTEST: f32 = 1e-6;

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
        let common = table.common();
        let shared: f32 = sum.iter().zip(common).map(|(a, b)| a * b).sum();
        for (number, common) in sum.iter_mut().zip(common) {
            *number -= shared * common;
        }
        let length = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
        // What is left is judged against the weight that went in, so that long texts are treated like short ones.
        if length.is_finite() && length > SHORTEST * weight && length > 0.0 {
            for number in &mut sum {
                *number /= length;
            }
        } else {
            sum.fill(0.0);
        }
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

    fn closest_line(&self, question: &[f32], text: &str) -> Option<ClosestLine> {
        let mut closest: Option<ClosestLine> = None;
        for (line, words) in text.lines().enumerate() {
            let vector = self.vector(words);
            let similarity = vector.iter().zip(question).map(|(a, b)| a * b).sum();
            // The first of equals; a line without a vector is no answer.
            if similarity > closest.map_or(0.0, |closest| closest.similarity) {
                closest = Some(ClosestLine { line, similarity });
            }
        }
        closest
    }
}
