//! Near-copies are kept apart (M33).

use super::bm25::as_float;
use chitin_contract::{DiversityFit, DiversityRules, WordlessTexts};

/// Something to put in order: how well it fits, and its text.
#[derive(Debug, Clone, Copy)]
pub struct RankCandidate<'t> {
    /// How well it fits.
    pub score: f64,
    /// Its text.
    pub text: &'t str,
}

/// Puts candidates in an order in which each next one fits well and is unlike those before it. Gives their places.
///
/// `lambda` is what is configured. It stops when `enough` of those that `counts` were picked; what is left out would come later.
pub fn diverse(
    candidates: &[RankCandidate<'_>],
    lambda: f64,
    rules: &DiversityRules,
    enough: usize,
    counts: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let lambda = if lambda.is_nan() {
        1.0
    } else {
        lambda.clamp(0.0, 1.0)
    };
    let mut rest: Vec<usize> = (0..candidates.len()).collect();
    if candidates.len() < 2 {
        return rest;
    }
    if lambda >= 1.0 {
        rest.sort_by(|a, b| candidates[*b].score.total_cmp(&candidates[*a].score));
        return rest;
    }
    let fits = match rules.fit {
        DiversityFit::Stretched => spread(candidates),
        DiversityFit::AsScored => candidates.iter().map(|one| one.score).collect(),
    };
    let words: Vec<Words<'_>> = candidates.iter().map(|one| Words::of(one.text)).collect();
    let mut likest = vec![0.0_f64; candidates.len()];
    let mut picked = Vec::with_capacity(enough.min(candidates.len()));
    let mut counted = 0;
    while !rest.is_empty() && counted < enough {
        let mut best = 0;
        let mut best_worth = f64::NEG_INFINITY;
        for (at, &one) in rest.iter().enumerate() {
            let worth = lambda * fits[one] - (1.0 - lambda) * likest[one];
            let is_better = worth > best_worth
                || (worth.total_cmp(&best_worth).is_eq()
                    && candidates[one].score > candidates[rest[best]].score);
            if is_better {
                (best, best_worth) = (at, worth);
            }
        }
        let chosen = rest.remove(best);
        picked.push(chosen);
        counted += usize::from(counts(chosen));
        for &one in &rest {
            likest[one] = likest[one].max(words[chosen].likeness(&words[one], rules.wordless));
        }
    }
    picked
}

/// Stretches the scores to 0 to 1; if all are equal, all fit.
fn spread(candidates: &[RankCandidate<'_>]) -> Vec<f64> {
    let scores = candidates.iter().map(|one| one.score);
    let most = scores.clone().fold(f64::NEG_INFINITY, f64::max);
    let least = scores.clone().fold(f64::INFINITY, f64::min);
    let range = most - least;
    scores
        .map(|score| {
            if range > 0.0 {
                (score - least) / range
            } else {
                1.0
            }
        })
        .collect()
}

/// The words of a text, each once, as numbers that are quick to compare.
struct Words<'t> {
    numbers: Vec<u64>,
    text: &'t str,
}

impl<'t> Words<'t> {
    fn of(text: &'t str) -> Self {
        let mut numbers = Vec::with_capacity(text.len() / 6);
        if text.is_ascii() {
            ascii_words(text, &mut numbers);
        } else {
            all_words(&text.to_lowercase(), &mut numbers);
        }
        numbers.sort_unstable();
        numbers.dedup();
        Self { numbers, text }
    }

    /// Returns which share of all their words both have.
    fn likeness(&self, other: &Self, wordless: WordlessTexts) -> f64 {
        let (a, b) = (&self.numbers, &other.numbers);
        if a.is_empty() && b.is_empty() {
            return match wordless {
                WordlessTexts::Alike => 1.0,
                WordlessTexts::AlikeIfEqual if self.text == other.text => 1.0,
                WordlessTexts::AlikeIfEqual => 0.0,
            };
        }
        let (mut left, mut right, mut both) = (0, 0, 0);
        while left < a.len() && right < b.len() {
            // Without branches: which of the two is less cannot be foreseen.
            let order = a[left].cmp(&b[right]);
            both += usize::from(order.is_eq());
            left += usize::from(order.is_le());
            right += usize::from(order.is_ge());
        }
        as_float(both) / as_float(a.len() + b.len() - both)
    }
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

fn mixed(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(PRIME)
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn ascii_words(text: &str, numbers: &mut Vec<u64>) {
    let mut hash = SEED;
    for byte in text.bytes().chain([b' ']) {
        if is_of_word(byte) {
            hash = mixed(hash, byte.to_ascii_lowercase());
        } else if hash != SEED {
            numbers.push(hash);
            hash = SEED;
        }
    }
}

fn all_words(text: &str, numbers: &mut Vec<u64>) {
    let mut hash = SEED;
    let mut before: Option<char> = None;
    for c in text.chars().chain([' ']) {
        match u8::try_from(c) {
            Ok(byte) if is_of_word(byte) => hash = mixed(hash, byte),
            Ok(_) | Err(_) => {
                if hash != SEED {
                    numbers.push(hash);
                    hash = SEED;
                }
            }
        }
        let this = is_unspaced(c).then_some(c);
        if let Some(this) = this {
            numbers.push(character(SEED, this));
            if let Some(before) = before {
                numbers.push(character(character(SEED, before), this));
            }
        }
        before = this;
    }
}

fn character(hash: u64, c: char) -> u64 {
    let mut bytes = [0; 4];
    c.encode_utf8(&mut bytes).bytes().fold(hash, mixed)
}

/// Tells whether a character is of a script that has no spaces between words, or counts as one here.
fn is_unspaced(c: char) -> bool {
    matches!(
        c,
        '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7af}'
            | '\u{1100}'..='\u{11ff}'
    )
}
