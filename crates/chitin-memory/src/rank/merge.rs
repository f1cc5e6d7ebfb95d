//! Two lists become one (M30, M31).

use super::bm25::as_float;
use super::{Hit, ScorePart};
use crate::search::FoundChunk;
use chitin_contract::{CosineScore, Fusion, NameOrder, PathOrder, RankingTies};
use chitin_workspace::skills::Names;
use std::cmp::Ordering;
use std::collections::HashMap;

/// Joins what was found by vectors with what was found by words. Not in order yet.
pub fn merge(
    near: Vec<FoundChunk>,
    words: Vec<Hit>,
    fusion: Fusion,
    cosine: CosineScore,
) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::with_capacity(near.len() + words.len());
    let mut places: HashMap<i64, usize> = HashMap::with_capacity(near.len());
    for (at, found) in near.into_iter().enumerate() {
        let score = cosine_score(found.strength, cosine);
        let mut hit = Hit::new(found.piece);
        hit.vector_score = Some(found.strength);
        hit.add(ScorePart::Vector, share(fusion, Side::Vector, at, score));
        // A list that names a piece twice means its last word on it.
        if let Some(place) = places.get(&hit.piece.id) {
            hits[*place] = hit;
        } else {
            places.insert(hit.piece.id, hits.len());
            hits.push(hit);
        }
    }
    for (at, by_words) in words.into_iter().enumerate() {
        let weight = share(fusion, Side::Text, at, 1.0);
        if let Some(place) = places.get(&by_words.piece.id) {
            join(&mut hits[*place], by_words, fusion, weight);
        } else {
            places.insert(by_words.piece.id, hits.len());
            let mut hit = Hit::new(by_words.piece.clone());
            join(&mut hit, by_words, fusion, weight);
            hits.push(hit);
        }
    }
    hits
}

fn join(hit: &mut Hit, by_words: Hit, fusion: Fusion, weight: f64) {
    match fusion {
        // Every part of the score of words comes along with its weight.
        Fusion::WeightedSum { .. } => {
            for (part, amount) in by_words.parts.telling() {
                hit.add(part, weight * amount);
            }
        }
        Fusion::ReciprocalRanks { .. } => hit.add(ScorePart::Text, weight),
    }
    hit.text_score = by_words.text_score;
    hit.naming = hit.naming.max(by_words.naming);
    if !by_words.piece.text.is_empty() {
        hit.piece.text = by_words.piece.text;
    }
}

#[derive(Clone, Copy)]
enum Side {
    Vector,
    Text,
}

/// Returns what a score, or a place, in one of the lists is worth.
fn share(fusion: Fusion, side: Side, at: usize, score: f64) -> f64 {
    match fusion {
        Fusion::WeightedSum { vector, text } => {
            let weight = match side {
                Side::Vector => vector,
                Side::Text => text,
            };
            weight * score
        }
        Fusion::ReciprocalRanks {
            vector,
            text,
            steepness,
        } => {
            let weight = match side {
                Side::Vector => vector,
                Side::Text => text,
            };
            // The first place in both lists is 1.
            let all = vector + text;
            if all <= 0.0 {
                return 0.0;
            }
            weight / all * (steepness + 1.0) / (steepness + 1.0 + as_float(at))
        }
    }
}

/// Returns the weights, made to sum to 1.
pub fn normalised(vector: f64, text: f64) -> Fusion {
    let (vector, text) = (vector.max(0.0), text.max(0.0));
    let sum = vector + text;
    if sum > 0.0 && sum.is_finite() {
        Fusion::WeightedSum {
            vector: vector / sum,
            text: text / sum,
        }
    } else {
        Fusion::WeightedSum {
            vector: 0.7,
            text: 0.3,
        }
    }
}

fn cosine_score(cosine: f64, rule: CosineScore) -> f64 {
    match rule {
        CosineScore::AsIs => cosine,
        CosineScore::Stretched { nothing, all } => {
            ((cosine - nothing) / (all - nothing)).clamp(0.0, 1.0)
        }
    }
}

/// Puts hits in order: named files first, then the best; what is equal as the rule says.
pub fn sort(hits: &mut [Hit], ties: RankingTies) {
    match ties {
        RankingTies::AsFound => hits.sort_by(by_score),
        RankingTies::ByPlace(order) => {
            let names = names(order);
            hits.sort_by(|a, b| by_score(a, b).then_with(|| by_place(a, b, &names)));
        }
    }
}

/// Puts hits of a search by words in order. Where places decide among equals, the better text does so before them.
pub fn sort_by_words(hits: &mut [Hit], ties: RankingTies) {
    let text = |hit: &Hit| hit.text_score.unwrap_or(0.0);
    match ties {
        RankingTies::AsFound => sort(hits, ties),
        RankingTies::ByPlace(order) => {
            let names = names(order);
            hits.sort_by(|a, b| {
                by_score(a, b)
                    .then_with(|| text(b).total_cmp(&text(a)))
                    .then_with(|| by_place(a, b, &names))
            });
        }
    }
}

fn by_score(a: &Hit, b: &Hit) -> Ordering {
    b.naming
        .cmp(&a.naming)
        .then_with(|| b.score.total_cmp(&a.score))
}

fn by_place(a: &Hit, b: &Hit, names: &Names) -> Ordering {
    let (a, b) = (&a.piece, &b.piece);
    names
        .compare(&a.path, &b.path)
        .then(a.start_line.cmp(&b.start_line))
        .then(a.end_line.cmp(&b.end_line))
}

fn names(order: PathOrder) -> Names {
    Names::new(match order {
        PathOrder::CodePoint => NameOrder::CodePoint,
        PathOrder::Locale => NameOrder::Locale,
    })
}
