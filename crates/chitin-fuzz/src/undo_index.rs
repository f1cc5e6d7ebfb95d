//! The index of a workspace's history, which is read on every turn.

use crate::novelty;
use chitin_undo::{ContentId, Index};

/// What indexes are made of.
pub const DICTIONARY: &[&str] = &[
    "chitin undo 01\n\0",
    "\u{4}\0\0\0",
    "\u{1}\0\0\0a",
    "f",
    "d",
    "l",
    "L",
    "U",
    "N",
    "a/b",
    "../a",
    "\0\0\0\0\0\0\0\0",
];

/// Reads bytes as they are, and again with the digest that they would need.
pub fn run(data: &[u8]) {
    let _ = Index::parse(data);
    let mut sealed = data.to_vec();
    sealed.extend_from_slice(&ContentId::of(data).bytes());
    match Index::parse(&sealed) {
        Ok(index) => {
            novelty::note(("an index", index.len().min(8)));
            assert_eq!(index.to_bytes(), sealed, "an index is written otherwise");
        }
        Err(error) => novelty::note(error.to_string()),
    }
}
