//! Questions in, words to look for out.
//!
//! [`fts_query`] and [`keywords`] do what the recorded programs do. [`segmented`] and [`canonical_terms`] belong together and
//! are our own: what the first writes into the index, the second finds there, in scripts without spaces too.

mod days;
mod keywords;
mod korean;
mod stop;
mod terms;
mod unspaced;

pub use days::{Days, days};
pub use keywords::{Tokenizer, keywords, keywords_for};
pub use stop::is_stop_word;
pub use terms::{Term, canonical_terms};
pub use unspaced::segmented;

use regex::Regex;
use std::sync::LazyLock;

/// A run of letters, digits and underscores.
static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\p{L}\p{N}_]+").ok());

/// Returns the expression of FTS5 that asks for all words of a question; none if it has no words.
pub fn fts_query(raw: &str) -> Option<String> {
    let words: Vec<String> = WORD
        .as_ref()?
        .find_iter(raw)
        .map(|word| format!("\"{}\"", word.as_str()))
        .collect();
    (!words.is_empty()).then(|| words.join(" AND "))
}
