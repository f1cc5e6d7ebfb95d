//! The best of both lists, looked at line by line and word by word.

use crate::embed::Embedder;
use crate::rank::{Hit, ScorePart};
use chitin_contract::CloserLookRule;

/// Lets a closer look count, where there is one. The vector of a piece blurs what its lines say, and words that mean the same are
/// not the same words: both lists are poor judges of the order, and good at finding what to judge.
pub(super) fn look(hits: &mut [Hit], embedder: &dyn Embedder, query: &str, rule: CloserLookRule) {
    let CloserLookRule::Best { pieces, weight } = rule else {
        return;
    };
    let Some(mut look) = embedder.look_closer(query) else {
        return;
    };
    hits.sort_by(|one, other| other.score.total_cmp(&one.score));
    let pieces = usize::try_from(pieces).unwrap_or(usize::MAX);
    for hit in hits.iter_mut().take(pieces) {
        let seen = look.at(&hit.piece.text);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a cosine needs no more digits"
        )]
        let vector = hit
            .vector_score
            .map_or(seen.closeness, |cosine| cosine as f32);
        let strength = f64::from(seen.strength(vector));
        hit.set(
            ScorePart::Closer,
            hit.score.mul_add(1.0 - weight, strength * weight),
        );
    }
}
