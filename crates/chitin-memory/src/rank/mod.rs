//! Putting what was found in order. Nothing here looks anything up: hits in, hits out, and every hit can say what its score is
//! made of ([`ScoreParts`]).

mod bar;
pub mod bm25;
mod coverage;
mod decay;
mod diversity;
mod factors;
mod hit;
mod merge;
mod overlap;

pub use bar::passing;
pub use coverage::{QueryCoverage, QueryWord};
pub use decay::{born_ms, day_of, decay};
pub use diversity::{RankCandidate, diverse};
pub use factors::{factors, naming};
pub use hit::{Hit, NameMatch, ScorePart, ScoreParts};
pub use merge::{merge, normalised, sort, sort_by_words};
pub use overlap::{Additions, Overlap};
