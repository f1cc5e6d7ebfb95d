//! Files that are found by their path.

use super::{Asked, FindError};
use crate::rank::{self, Hit, ScorePart, bm25};
use std::collections::HashMap;

/// All paths, taken apart.
pub(super) struct Files {
    paths: Vec<String>,
    words: Vec<Vec<String>>,
}

impl Files {
    /// Asks for all paths.
    pub(super) fn of(asked: &Asked<'_>) -> Result<Self, FindError> {
        let paths = asked.finder.files(asked.within)?;
        let words = paths.iter().map(|path| apart(path)).collect();
        Ok(Self { paths, words })
    }

    /// Returns the first piece of each file whose path has all these words.
    pub(super) fn search(&self, words: &str, asked: &Asked<'_>) -> Result<Vec<Hit>, FindError> {
        let mut ranked = bm25::ranks(&self.words, &apart(words));
        ranked.truncate(asked.limit);
        let paths: Vec<&str> = ranked
            .iter()
            .map(|(at, _)| self.paths[*at].as_str())
            .collect();
        let mut pieces: HashMap<String, _> = asked
            .finder
            .openings(&paths, asked.within)?
            .into_iter()
            .map(|piece| (piece.path.clone(), piece))
            .collect();
        let hits = ranked.iter().filter_map(|(at, rank)| {
            let mut hit = Hit::new(pieces.remove(self.paths[*at].as_str())?);
            hit.add(ScorePart::Path, bm25::score_of_rank(*rank));
            hit.text_score = Some(0.0);
            hit.naming = rank::naming(asked.query, &hit.piece.path);
            Some(hit)
        });
        Ok(hits.collect())
    }
}

/// Returns the words of a path or of a query, as the index would.
fn apart(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}
