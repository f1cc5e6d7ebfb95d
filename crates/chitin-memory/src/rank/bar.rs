//! What is good enough (M35).

use super::Hit;
use chitin_contract::BarRelief;

/// Keeps what is good enough, at most `max_results` of it. `lower` is what hits by words have to reach if nothing is.
pub fn passing(
    hits: Vec<Hit>,
    max_results: usize,
    min_score: f64,
    lower: f64,
    relief: BarRelief,
) -> Vec<Hit> {
    let bar = if hits.iter().any(|hit| hit.score >= min_score) {
        None
    } else {
        match relief {
            BarRelief::None => None,
            BarRelief::LowerBar => Some(lower.min(min_score)),
            BarRelief::WordsAnyway => Some(f64::NEG_INFINITY),
        }
    };
    let passes = |hit: &Hit| match bar {
        None => hit.score >= min_score,
        Some(bar) => hit.text_score.is_some() && hit.score >= bar,
    };
    hits.into_iter().filter(passes).take(max_results).collect()
}
