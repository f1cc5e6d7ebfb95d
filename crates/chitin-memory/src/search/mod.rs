//! Asking the index, in words and in vectors.
//!
//! [`search`] is all of it: it asks a [`Finder`], and puts what that finds in order by [`crate::rank`]. Which releases ask what, and
//! what counts how much, is data ([`MemoryRules`]); a caller that wants another weight, no decay or only words changes a copy of it.

mod and_query;
mod dated;
mod finder;
mod or_query;
mod paths;
mod rerank;

pub use finder::*;

use crate::embed::{Embedder, Purpose};
use crate::rank::{self, Hit, NameMatch, RankCandidate, ScorePart};
use chitin_contract::{
    BarRules, CandidateRules, ExactPath, Fusion, LexicalFlow, MemoryRules, RankingRules,
    RankingSwitch, WantedWords,
};
use chitin_protocol::text::utf16_prefix;

/// What is searched of a question; the rest is left out with a note.
pub const MAX_QUERY_BYTES: usize = 8 * 1024;
/// More results than these are never given.
pub const MAX_RESULTS: usize = 1_000;

/// A question.
#[derive(Debug, Clone, Default)]
pub struct SearchRequest<'a> {
    /// What is looked for.
    pub query: &'a str,
    /// How many results there may be; the rules know if nothing is said.
    pub max_results: Option<usize>,
    /// The least score; the rules know if nothing is said.
    pub min_score: Option<f64>,
    /// Where to look.
    pub within: Within,
    /// What time it is, in milliseconds.
    pub now_ms: i64,
    /// The project at hand.
    pub project: Option<&'a str>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults {
    /// The hits, the best first.
    pub hits: Vec<Hit>,
    /// How it was looked for.
    pub mode: SearchMode,
    /// What whoever asked should know, as sentences.
    pub notes: Vec<String>,
}

/// How something was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchMode {
    /// By words.
    Lexical,
    /// By words and by meaning.
    Hybrid,
}

impl SearchMode {
    /// Returns the name that answers say.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Hybrid => "hybrid",
        }
    }
}

/// Looks for pieces. Without an embedder, or if it fails, only words are looked for.
pub fn search(
    finder: &dyn Finder,
    embedder: Option<&dyn Embedder>,
    ask: &SearchRequest<'_>,
    rules: &MemoryRules,
) -> Result<SearchResults, FindError> {
    let mut notes = Vec::new();
    let query = bounded(ask.query.trim(), &mut notes);
    let ranking = &rules.ranking;
    let wanted = Wanted {
        max_results: ask
            .max_results
            .unwrap_or(BarRules::MAX_RESULTS as usize)
            .min(MAX_RESULTS),
        min_score: ask.min_score.unwrap_or(ranking.bar.min_score),
    };
    if query.is_empty() || wanted.max_results == 0 {
        return Ok(SearchResults {
            hits: Vec::new(),
            mode: SearchMode::Lexical,
            notes,
        });
    }
    let limit = candidates(wanted.max_results, ranking);
    let near = match embedder {
        Some(embedder) => near(finder, embedder, query, limit, &ask.within, &mut notes)?,
        None => None,
    };
    let asked = Asked {
        finder,
        query,
        limit,
        within: &ask.within,
        rules,
    };
    let mode = if near.is_some() {
        SearchMode::Hybrid
    } else {
        SearchMode::Lexical
    };
    let words = match rules.lexical.flow.wanted {
        WantedWords::Any => or_query::by_words(&asked)?,
        WantedWords::All => and_query::by_words(&asked, mode)?,
    };
    let mut hits = match near {
        Some(near) => rank::merge(near, words, ranking.fusion, ranking.cosine),
        None => words,
    };
    if let (SearchMode::Hybrid, Some(embedder)) = (mode, embedder) {
        rerank::look(&mut hits, embedder, query, ranking.closer_look);
    }
    dated::count(&mut hits, &asked, ask.now_ms)?;
    settle(&mut hits, ask, ranking);
    let hits = ordered(hits, mode, &wanted, rules);
    let lower = match (mode, ranking.fusion) {
        (SearchMode::Lexical, _) => 0.0,
        (
            SearchMode::Hybrid,
            Fusion::WeightedSum { text, .. } | Fusion::ReciprocalRanks { text, .. },
        ) => text,
    };
    let hits = rank::passing(
        hits,
        wanted.max_results,
        wanted.min_score,
        lower,
        ranking.bar.relief,
    );
    Ok(SearchResults { hits, mode, notes })
}

/// Returns as much of a piece's text as is shown.
pub fn shown(text: &str) -> &str {
    utf16_prefix(text, LexicalFlow::SNIPPET_UNITS as usize)
}

/// What every part of a search needs.
#[derive(Clone, Copy)]
struct Asked<'a> {
    finder: &'a dyn Finder,
    query: &'a str,
    limit: usize,
    within: &'a Within,
    rules: &'a MemoryRules,
}

struct Wanted {
    max_results: usize,
    min_score: f64,
}

fn bounded<'q>(query: &'q str, notes: &mut Vec<String>) -> &'q str {
    if query.len() <= MAX_QUERY_BYTES {
        return query;
    }
    let mut end = MAX_QUERY_BYTES;
    while !query.is_char_boundary(end) {
        end -= 1;
    }
    notes.push(format!(
        "The query has {} bytes; only the first {end} were searched for.",
        query.len()
    ));
    &query[..end]
}

fn candidates(max_results: usize, ranking: &RankingRules) -> usize {
    let rule = &ranking.candidates;
    max_results
        .saturating_mul(rule.times as usize)
        .clamp(rule.least as usize, CandidateRules::MOST as usize)
        .max(1)
}

/// Looks for what is near in meaning. Nothing, and a note, if that cannot be.
fn near(
    finder: &dyn Finder,
    embedder: &dyn Embedder,
    query: &str,
    limit: usize,
    within: &Within,
    notes: &mut Vec<String>,
) -> Result<Option<Vec<FoundChunk>>, FindError> {
    let vector = match embedder.embed(&[query], Purpose::Query) {
        Ok(mut vectors) if vectors.len() == 1 => vectors.swap_remove(0),
        Ok(_) => {
            notes.push(by_words_only("the embedding provider gave no vector"));
            return Ok(None);
        }
        Err(error) => {
            notes.push(by_words_only(&error.message));
            return Ok(None);
        }
    };
    if vector.iter().any(|number| !number.is_finite()) {
        notes.push(by_words_only(
            "the embedding provider gave a vector that is none",
        ));
        return Ok(None);
    }
    // A text of which the embedder knows nothing has no direction.
    if vector.iter().all(|number| *number == 0.0) {
        return Ok(None);
    }
    let near = finder.near(&vector, limit, within)?;
    if near.is_empty() {
        notes.push(by_words_only("there are no vectors in the index yet"));
        return Ok(None);
    }
    Ok(Some(near))
}

fn by_words_only(why: &str) -> String {
    let why = why.trim().trim_end_matches('.');
    format!("Searched by words only: {why}.")
}

/// Lets age and other factors count, and puts files first that the query names.
fn settle(hits: &mut Vec<Hit>, ask: &SearchRequest<'_>, ranking: &RankingRules) {
    let mut named: Vec<Hit> = Vec::new();
    match ranking.factors.exact_path {
        ExactPath::NotSpecial => {}
        ExactPath::First => {
            named = hits
                .extract_if(.., |hit| hit.naming > NameMatch::Not)
                .collect();
            for hit in &mut named {
                hit.set(ScorePart::Named, 1.0);
            }
        }
    }
    if ranking.decay.default == RankingSwitch::On {
        rank::decay(
            hits,
            ask.now_ms,
            ranking.decay.half_life_days,
            &ranking.decay,
        );
    }
    rank::factors(hits, ask.project, &ranking.factors);
    hits.append(&mut named);
}

/// Puts hits in order, and near-copies apart.
fn ordered(mut hits: Vec<Hit>, mode: SearchMode, wanted: &Wanted, rules: &MemoryRules) -> Vec<Hit> {
    let ranking = &rules.ranking;
    let diversity = &ranking.diversity;
    let apart = match mode {
        SearchMode::Lexical => {
            rank::sort_by_words(&mut hits, ranking.ties);
            diversity.lexical
        }
        SearchMode::Hybrid => {
            rank::sort(&mut hits, ranking.ties);
            RankingSwitch::On
        }
    };
    if apart == RankingSwitch::Off || diversity.default == RankingSwitch::Off {
        return hits;
    }
    let first = hits
        .iter()
        .take_while(|hit| hit.naming > NameMatch::Not)
        .count();
    let mut rest = hits.split_off(first);
    let later = rest.split_off((diversity.window as usize).min(rest.len()));
    let texts: Vec<RankCandidate<'_>> = rest
        .iter()
        .map(|hit| RankCandidate {
            score: hit.score,
            text: shown(&hit.piece.text),
        })
        .collect();
    let order = rank::diverse(
        &texts,
        diversity.lambda,
        diversity,
        wanted.max_results.saturating_sub(first),
        |at| texts[at].score >= wanted.min_score,
    );
    let mut rest: Vec<Option<Hit>> = rest.into_iter().map(Some).collect();
    hits.extend(order.iter().filter_map(|at| rest[*at].take()));
    hits.extend(rest.into_iter().flatten());
    hits.extend(later);
    hits
}
