//! Pieces that have every word, and when there are none, pieces that have one of them (M40).

use super::{Asked, FindError, FoundChunk, SearchMode, paths};
use crate::rank::{self, Additions, Hit, NameMatch, Overlap, ScorePart, bm25};
use crate::words;
use chitin_contract::{
    CountedWords, ExactPath, LexicalScore, PathSearch, RankingTies, SingleWords,
};
use std::collections::HashMap;

/// Looks for all words of the query, and for each by itself where the rules ask for that.
pub(super) fn by_words(asked: &Asked<'_>, mode: SearchMode) -> Result<Vec<Hit>, FindError> {
    let flow = &asked.rules.lexical.flow;
    let files = match flow.paths {
        PathSearch::Ranked => Some(paths::Files::of(asked)?),
        PathSearch::Not | PathSearch::NamedFiles => None,
    };
    let files = files.as_ref();
    let mut joined = Joined::new(asked.rules.ranking.ties);
    joined.add(once(asked, asked.query, mode, files)?);
    let keywords = words::keywords(asked.query, &asked.rules.lexical.words);
    let single = match flow.single {
        SingleWords::Never => false,
        SingleWords::WhenNothingHasAll => joined.hits.is_empty(),
        SingleWords::WhenNoTextHasAllOrSomeSayNothing => {
            joined.hits.is_empty() || leaves_out(asked.query, &keywords)
        }
    };
    if single {
        let query = asked.query.to_lowercase();
        for keyword in keywords.iter().take(flow.single_limit as usize) {
            if *keyword != query {
                joined.add(once(asked, keyword, mode, files)?);
            }
        }
    }
    Ok(joined.sorted(asked.limit))
}

/// Tells whether the keywords of a query are not all of its words.
fn leaves_out(query: &str, keywords: &[String]) -> bool {
    let query = query.to_lowercase();
    tokens(&query).any(|word| !keywords.iter().any(|keyword| keyword == word))
}

/// Returns the runs of letters, digits and underscores.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
}

/// Looks for all of these words.
fn once(
    asked: &Asked<'_>,
    words: &str,
    mode: SearchMode,
    files: Option<&paths::Files>,
) -> Result<Vec<Hit>, FindError> {
    let Some(expression) = crate::words::fts_query(words) else {
        return Ok(Vec::new());
    };
    let found = asked.finder.words(&expression, asked.limit, asked.within)?;
    let overlap = overlap(asked, words, mode);
    let mut hits: Vec<Hit> = found
        .into_iter()
        .map(|found| scored(found, overlap.as_ref(), asked))
        .collect();
    if let Some(files) = files {
        let mut joined = Joined::new(asked.rules.ranking.ties);
        joined.add(hits);
        joined.add(files.search(words, asked)?);
        hits = joined.sorted(asked.limit);
    }
    Ok(hits)
}

fn overlap(asked: &Asked<'_>, words: &str, mode: SearchMode) -> Option<Overlap> {
    let LexicalScore::Additions {
        of,
        share,
        density,
        path,
        length_units,
        length_most,
    } = asked.rules.lexical.flow.score
    else {
        return None;
    };
    // With vectors at hand, the rank alone is the score of words.
    if mode == SearchMode::Hybrid {
        return None;
    }
    let counted = match of {
        CountedWords::LookedFor => words,
        CountedWords::WholeQuery => asked.query,
    };
    Some(Overlap::new(
        counted,
        Additions {
            share,
            density,
            path,
            length_units,
            length_most,
        },
    ))
}

fn scored(found: FoundChunk, overlap: Option<&Overlap>, asked: &Asked<'_>) -> Hit {
    let text = bm25::score_of_rank(found.strength);
    let mut hit = Hit::new(found.piece);
    hit.text_score = Some(text);
    hit.add(ScorePart::Text, text);
    if let Some(overlap) = overlap {
        overlap.add(&mut hit);
    }
    match asked.rules.ranking.factors.exact_path {
        ExactPath::NotSpecial => {}
        ExactPath::First => hit.naming = rank::naming(asked.query, &hit.piece.path),
    }
    hit
}

/// Hits of several searches, each piece once.
struct Joined {
    hits: Vec<Hit>,
    places: HashMap<i64, usize>,
    ties: RankingTies,
}

impl Joined {
    fn new(ties: RankingTies) -> Self {
        Self {
            hits: Vec::new(),
            places: HashMap::new(),
            ties,
        }
    }

    /// Adds hits. Of a piece that was found before, the better score counts.
    fn add(&mut self, hits: Vec<Hit>) {
        for hit in hits {
            let Some(place) = self.places.get(&hit.piece.id) else {
                self.places.insert(hit.piece.id, self.hits.len());
                self.hits.push(hit);
                continue;
            };
            let kept = &mut self.hits[*place];
            let naming = kept.naming.max(hit.naming);
            let text = match (kept.text_score, hit.text_score) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            };
            let is_better = hit.score > kept.score;
            if is_better {
                *kept = hit;
            }
            match self.ties {
                // The one that is kept is kept as it is.
                RankingTies::AsFound => {}
                RankingTies::ByPlace(_) => kept.text_score = text,
            }
            kept.naming = naming;
        }
    }

    fn sorted(mut self, limit: usize) -> Vec<Hit> {
        match self.ties {
            RankingTies::AsFound => rank::sort(&mut self.hits, self.ties),
            RankingTies::ByPlace(_) => {
                for hit in &mut self.hits {
                    if hit.naming > NameMatch::Not {
                        hit.set(ScorePart::Named, 1.0);
                    }
                }
                rank::sort_by_words(&mut self.hits, self.ties);
            }
        }
        self.hits.truncate(limit);
        self.hits
    }
}
