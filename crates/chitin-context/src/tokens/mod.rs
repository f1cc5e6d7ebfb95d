//! How many tokens a text has: guessed, or counted with a published tokenizer.
//!
//! A count always says what it rests on ([`Basis`]). Few makers publish the tokenizer of their models, so for the others
//! a count with somebody else's tokenizer is still an estimate and is labelled so.

mod class;
mod estimate;
#[cfg(feature = "exact-tokens")]
pub mod exact;
mod place;
mod weights;

pub use estimate::{estimate, units_within};

use serde::Serialize;

/// A published vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum TokenEncoding {
    /// That of the GPT-4o, GPT-4.1, GPT-5 and o-series models.
    #[serde(rename = "o200k_base")]
    O200kBase,
}

impl TokenEncoding {
    /// All of them.
    pub const ALL: &[Self] = &[Self::O200kBase];

    /// Returns the name that its maker gave it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
        }
    }

    /// Finds one by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|encoding| encoding.as_str() == name)
    }
}

/// How tokens are to be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// Guess: fast, needs nothing.
    Estimate,
    /// Count with this vocabulary; without the feature `exact-tokens` it is a guess after all, and says so.
    Exact(TokenEncoding),
}

/// What a count rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// A rule of thumb about characters.
    Estimate,
    /// The published tokenizer of the model itself: exact.
    Tokenizer,
    /// The published tokenizer of another model: near, but an estimate.
    Neighbour,
}

impl Basis {
    /// Tells whether the number is what the model will be charged for.
    pub const fn is_exact(self) -> bool {
        match self {
            Self::Tokenizer => true,
            Self::Estimate | Self::Neighbour => false,
        }
    }
}

/// A number of tokens and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TokenCount {
    /// How many.
    pub tokens: usize,
    /// How that is known.
    pub basis: Basis,
}

impl TokenCount {
    /// Counts the tokens of a text for a model whose own published vocabulary is `own`, if it has one.
    pub fn of(text: &str, counting: Counting, own: Option<TokenEncoding>) -> Self {
        match counting {
            Counting::Estimate => Self::estimated(text),
            Counting::Exact(encoding) => Self::counted(text, encoding, own == Some(encoding)),
        }
    }

    fn estimated(text: &str) -> Self {
        Self {
            tokens: estimate(text),
            basis: Basis::Estimate,
        }
    }

    #[cfg(feature = "exact-tokens")]
    fn counted(text: &str, encoding: TokenEncoding, is_own: bool) -> Self {
        let measured = exact::measure(encoding, text);
        Self {
            tokens: measured.tokens,
            basis: match (is_own, measured.forced_cuts) {
                (true, 0) => Basis::Tokenizer,
                // Somewhere a token was cut in two, so it is off by one or two.
                (true, _) => Basis::Estimate,
                (false, _) => Basis::Neighbour,
            },
        }
    }

    #[cfg(not(feature = "exact-tokens"))]
    fn counted(text: &str, _encoding: TokenEncoding, _is_own: bool) -> Self {
        Self::estimated(text)
    }
}
