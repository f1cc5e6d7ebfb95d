//! In how many pieces a word stands, and what to ask when some of the words stand nearly everywhere.

use super::Index;
use super::state::State;
use super::trouble::Trouble;
use crate::search::FindError;
use chitin_contract::FrequentWords;
use rusqlite::{Connection, OptionalExtension};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::PoisonError;

/// How many pieces are counted. A word in more of them is as good as everywhere, and counting on would take longer than the search.
const COUNTED: usize = 20_000;
/// How many pieces a search by any of several words ranks, if rarer words can be asked for alone.
const RANKED: usize = 5_000;
/// How many pieces are ranked if no rarer word can be asked for: the latest of those that match.
const LATEST: usize = 6_000;
/// How many counts are remembered.
const REMEMBERED: usize = 4_096;

/// Counts that were asked for, as long as the index does not change.
#[derive(Debug, Default)]
pub(super) struct Frequencies {
    generation: i64,
    counts: HashMap<String, usize>,
}

impl Index {
    /// Returns in how many pieces each word stands, in any of the forms that the index holds for one. Counting ends at 20,000.
    pub fn frequencies(&self, words: &[String]) -> Result<Vec<usize>, FindError> {
        self.guarded(|db| self.counts(db, words.iter().map(|word| quoted(word))))
    }

    fn counts(
        &self,
        db: &Connection,
        phrases: impl Iterator<Item = String>,
    ) -> Result<Vec<usize>, Trouble> {
        let mut known = self
            .frequencies
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let generation = State::read(db)?.generation;
        if known.generation != generation || known.counts.len() > REMEMBERED {
            known.counts.clear();
            known.generation = generation;
        }
        let mut ask = db.prepare_cached(
            "SELECT count(*) FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)",
        )?;
        phrases
            .map(|phrase| {
                if let Some(count) = known.counts.get(&phrase) {
                    return Ok(*count);
                }
                let count = ask
                    .query_row((&phrase, COUNTED), |row| row.get(0))
                    .map_err(|error| Trouble::of_expression(error, db))?;
                known.counts.insert(phrase, count);
                Ok(count)
            })
            .collect()
    }

    /// Returns what to ask instead of an expression that asks for any of several words.
    pub(super) fn narrowed<'e>(
        &self,
        db: &Connection,
        expression: &'e str,
    ) -> Result<Narrowed<'e>, Trouble> {
        let as_it_is = Narrowed {
            expression: Cow::Borrowed(expression),
            from: i64::MIN,
        };
        match self.shape.rules.frequent {
            FrequentWords::Find => return Ok(as_it_is),
            FrequentWords::LeaveToRarer => {}
        }
        let Some(phrases) = alternatives(expression) else {
            return Ok(as_it_is);
        };
        let counts = self.counts(db, phrases.iter().map(|phrase| (*phrase).to_owned()))?;
        let mut by_count: Vec<(usize, &str)> = counts.into_iter().zip(phrases).collect();
        by_count.retain(|(count, _)| *count > 0);
        by_count.sort_by_key(|(count, _)| *count);
        let mut ranked = 0;
        let rare = by_count.iter().take_while(|(count, _)| {
            ranked += count;
            ranked <= RANKED
        });
        let rare: Vec<&str> = rare.map(|(_, phrase)| *phrase).collect();
        if by_count.is_empty() || !rare.is_empty() {
            return Ok(match rare.len() {
                0 => as_it_is,
                _ => Narrowed {
                    expression: Cow::Owned(rare.join(" OR ")),
                    from: i64::MIN,
                },
            });
        }
        let expression = together(&by_count, State::read(db)?.pieces);
        let mut ask = db.prepare_cached(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?",
        )?;
        let from = ask
            .query_row((&expression, LATEST), |row| row.get(0))
            .optional()?;
        Ok(Narrowed {
            expression: Cow::Owned(expression),
            from: from.unwrap_or(i64::MIN),
        })
    }
}

/// What is asked so that an answer comes soon.
///
/// If some of the words stand in very many pieces and others do not, the rarer ones find what is ranked. If all do, pieces that
/// hold several of them are ranked; and if even these are very many, the latest of them.
pub(super) struct Narrowed<'e> {
    /// What to ask for.
    pub(super) expression: Cow<'e, str>,
    /// The first piece to look at.
    pub(super) from: i64,
}

/// Asks for pieces that hold several frequent words, as many of the rarest as it takes to find few enough.
fn together(by_count: &[(usize, &str)], pieces: usize) -> String {
    let mut phrases = Vec::new();
    let mut expected = pieces;
    for (count, phrase) in by_count {
        phrases.push(*phrase);
        expected = expected.saturating_mul(*count) / pieces.max(1);
        if expected <= RANKED {
            break;
        }
    }
    phrases.join(" AND ")
}

/// Returns the phrases of an expression that is nothing but quoted phrases, some with a star, and `OR`.
fn alternatives(expression: &str) -> Option<Vec<&str>> {
    let mut phrases = Vec::new();
    let mut rest = expression.trim();
    loop {
        let inside = rest.strip_prefix('"')?;
        let end = inside.find('"')?;
        let star = usize::from(inside[end + 1..].starts_with('*'));
        phrases.push(&rest[..end + 2 + star]);
        rest = inside[end + 1 + star..].trim_start();
        if rest.is_empty() {
            return Some(phrases);
        }
        rest = rest.strip_prefix("OR")?.trim_start();
    }
}

/// Returns a word as FTS5 takes it literally.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('"', " "))
}
