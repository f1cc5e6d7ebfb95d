//! Notes of the days that a question names.

use super::{Asked, FindError};
use crate::rank::{self, Hit, ScorePart};
use crate::words;
use chitin_contract::NamedDays;
use std::collections::HashSet;

/// Lets days count that the question names, and brings in the notes of those days.
pub(super) fn count(hits: &mut Vec<Hit>, asked: &Asked<'_>, now_ms: i64) -> Result<(), FindError> {
    let NamedDays::Counted { bonus } = asked.rules.lexical.flow.days else {
        return Ok(());
    };
    let Some(days) = words::days(asked.query, now_ms) else {
        return Ok(());
    };
    let names = asked.rules.ranking.decay.dates;
    let is_of_days = |path: &str| rank::day_of(path, names).is_some_and(|day| days.contains(day));
    let known: HashSet<i64> = hits.iter().map(|hit| hit.piece.id).collect();
    for month in days.months() {
        let found = asked.finder.paths(&[month], asked.limit, asked.within)?;
        let new = found
            .into_iter()
            .filter(|found| is_of_days(&found.piece.path) && !known.contains(&found.piece.id));
        hits.extend(new.map(|found| Hit {
            text_score: Some(0.0),
            ..Hit::new(found.piece)
        }));
    }
    for hit in hits {
        if is_of_days(&hit.piece.path) {
            hit.add(ScorePart::Day, bonus);
            hit.cap();
        }
    }
    Ok(())
}
