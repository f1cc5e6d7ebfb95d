//! A table of words, and the word vectors that one is made of.

use crate::novelty;
use chitin_memory::embed::{TableError, TableOptions, WordEmbedder, WordTable, convert};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// What tables and the files that they are made of begin with and consist of.
pub const DICTIONARY: &[&str] = &[
    "chitinwt\u{1}\0\0\0",
    "\u{4}\0\0\0",
    "\0\0\0\0",
    "\0\0\u{7f}\u{7f}",
    "the",
    "dog",
    "the 0.9 0.1\n",
    "dog 0.5 -0.9\n",
    "2 2\n",
    "{\"dimensions\":2,\"vectors\":{",
    "\"the\":[0.9,0.1,1.5,0]",
    "}}",
    ",",
    "1e39",
    "-0",
    " ",
    "\t",
    "\r\n",
];

/// The bytes of a SHA-256.
const CHECKSUM: usize = 32;

/// Longer inputs are read like shorter ones, and wide vectors take long to be turned.
const LONGEST_SOURCE: usize = 600;

const TEXT: &str = "The dog's owners didn't re-read: dogs, walking & the ÄPFEL — 何か the";

/// Takes an input as a table, as a table whose checksum is right, and as word vectors.
pub fn run(data: &[u8]) {
    read(data.to_vec());
    let content = &data[..data.len().saturating_sub(CHECKSUM)];
    read([content, &Sha256::digest(content)].concat());

    let source = &data[..data.len().min(LONGEST_SOURCE)];
    for dimensions in [1, 100] {
        let options = TableOptions {
            max_words: 3,
            dimensions,
            ..TableOptions::default()
        };
        let mut table = Vec::new();
        if let Ok(made) = convert(source, &options, &mut table) {
            assert_eq!(made.bytes, table.len() as u64);
            assert!((1..=3).contains(&made.words));
            novelty::note(("made", made.words, made.dimensions.min(4)));
            assert!(read(table), "what was made cannot be read");
        }
    }
}

/// Reads a table and uses it. Says whether it is one.
fn read(bytes: Vec<u8>) -> bool {
    let table = match WordTable::from_bytes(bytes) {
        Ok(table) => table,
        Err(error) => {
            novelty::note(match error {
                TableError::NotATable => "other",
                TableError::Version(_) => "version",
                TableError::Length { .. } => "length",
                TableError::Damaged(part) => part,
                TableError::Unreadable(_) => "unreadable",
            });
            return false;
        }
    };
    let embedder = WordEmbedder::new(Arc::new(table));
    let vector = embedder.vector(TEXT);
    assert_eq!(vector.len(), embedder.table().dimensions());
    let length: f32 = vector.iter().map(|number| number * number).sum();
    assert!(
        length == 0.0 || (length - 1.0).abs() < 1e-3,
        "a vector of length {length}"
    );
    novelty::note(("read", embedder.table().words().min(4), length > 0.0));
    true
}
