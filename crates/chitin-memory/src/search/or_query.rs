//! Pieces that have any of the words that say something; the more of them, and the rarer these, the better. Our own way.

use super::{Asked, FindError};
use crate::rank::{self, Hit, NameMatch, QueryCoverage};
use crate::words::{self, Term};
use chitin_contract::{LexicalScore, PathSearch};
use std::collections::HashMap;

/// A query that names a file is no longer than this.
const MAX_NAME_BYTES: usize = 256;

pub(super) fn by_words(asked: &Asked<'_>) -> Result<Vec<Hit>, FindError> {
    let terms = words::canonical_terms(asked.query);
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let expression: Vec<String> = terms.iter().map(Term::expression).collect();
    let found = asked
        .finder
        .words(&expression.join(" OR "), asked.limit, asked.within)?;
    let shares = match asked.rules.lexical.flow.score {
        LexicalScore::Coverage {
            share,
            rank,
            place,
            together,
        } => [share, rank, place, together],
        // Additions are for searches that ask for every word; here the share of words has to count.
        LexicalScore::Additions { .. } => [0.75, 0.25, 0.0, 0.0],
    };
    let texts: Vec<String> = terms.iter().map(|term| term.text.clone()).collect();
    let coverage = QueryCoverage::new(
        terms,
        &asked.finder.frequencies(&texts)?,
        asked.finder.size()?,
        shares,
    );
    let mut hits: Vec<Hit> = found
        .into_iter()
        .map(|found| {
            let mut hit = Hit::new(found.piece);
            coverage.score(&mut hit, found.strength);
            hit
        })
        .collect();
    match asked.rules.lexical.flow.paths {
        PathSearch::Not => {}
        PathSearch::Ranked | PathSearch::NamedFiles => name(&mut hits, asked)?,
    }
    Ok(hits)
}

/// Marks the best piece of each file that the query names, and looks for such files if none was found.
fn name(hits: &mut Vec<Hit>, asked: &Asked<'_>) -> Result<(), FindError> {
    if asked.query.len() > MAX_NAME_BYTES {
        return Ok(());
    }
    let mut best: HashMap<String, (usize, NameMatch)> = HashMap::new();
    for (at, hit) in hits.iter().enumerate() {
        let naming = rank::naming(asked.query, &hit.piece.path);
        if naming == NameMatch::Not {
            continue;
        }
        match best.get_mut(&hit.piece.path) {
            Some(other) if hits[other.0].score >= hit.score => {}
            Some(other) => *other = (at, naming),
            None => {
                best.insert(hit.piece.path.clone(), (at, naming));
            }
        }
    }
    for (at, naming) in best.values() {
        hits[*at].naming = *naming;
    }
    // Words of a file's name need not stand in its text. Looking at all paths costs, so it is done for what looks like a name.
    let looks_like_name =
        asked.query.contains(['.', '/']) && !asked.query.contains(char::is_whitespace);
    if best.is_empty() && looks_like_name {
        let query = asked.query.replace('\\', "/").to_lowercase();
        let name = query.rsplit('/').next().unwrap_or(&query).to_owned();
        let found = asked.finder.paths(&[name], asked.limit, asked.within)?;
        let mut seen: Option<String> = None;
        for found in found {
            let naming = rank::naming(asked.query, &found.piece.path);
            if naming == NameMatch::Not || seen.as_deref() == Some(found.piece.path.as_str()) {
                continue;
            }
            seen = Some(found.piece.path.clone());
            let mut hit = Hit::new(found.piece);
            hit.text_score = Some(0.0);
            hit.naming = naming;
            hits.retain(|other| other.piece.id != hit.piece.id);
            hits.push(hit);
        }
    }
    Ok(())
}
