//! The tables.

use chitin_contract::{MemoryIndexRules, TitleWords, WordForms};

/// What our databases are marked with: `CHMI`.
pub(super) const APPLICATION: i64 = 0x4348_4d49;

/// The layout below. Another number, whether less or more, is not read.
pub(super) const FORMAT: i64 = 1;

/// What outlives a change of shape: vectors by what they were made from, which may have cost money.
pub(super) const KEPT: &str = "
CREATE TABLE IF NOT EXISTS embeddings (
    id INTEGER PRIMARY KEY,
    embedder TEXT NOT NULL,
    hash BLOB NOT NULL,
    used INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (embedder, hash)
) STRICT;
CREATE INDEX IF NOT EXISTS embeddings_by_use ON embeddings (used);
";

/// What is made anew when the shape changes.
pub(super) const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    generation INTEGER NOT NULL,
    removals INTEGER NOT NULL,
    next_id INTEGER NOT NULL,
    pieces INTEGER NOT NULL,
    answered INTEGER NOT NULL
) STRICT;
INSERT INTO state VALUES (1, 0, 0, 1, 0, 0);
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    path TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    hash BLOB NOT NULL,
    modified_ms INTEGER NOT NULL,
    UNIQUE (path, source)
) STRICT;
CREATE TABLE pieces (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    hash BLOB NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX pieces_of_file ON pieces (file);
CREATE TABLE vectors (
    stamp INTEGER PRIMARY KEY,
    piece INTEGER NOT NULL UNIQUE,
    data BLOB
) STRICT;
";

/// Takes away what is made anew when the shape changes.
pub(super) const DROPS: &str = "
DROP TABLE IF EXISTS words;
DROP TABLE IF EXISTS vectors;
DROP TABLE IF EXISTS pieces;
DROP TABLE IF EXISTS files;
DROP TABLE IF EXISTS state;
DROP TABLE IF EXISTS meta;
";

/// Returns what makes the table of words.
pub(super) fn words(rules: &MemoryIndexRules) -> String {
    let tokenizer = match rules.forms {
        WordForms::Apart => "unicode61",
        WordForms::Stemmed => "porter unicode61 remove_diacritics 2",
    };
    let (columns, rank) = match rules.titles {
        TitleWords::Unkept => ("text", String::new()),
        TitleWords::Weighted(weight) => (
            "text, title",
            format!("INSERT INTO words (words, rank) VALUES ('rank', 'bm25(1.0, {weight:?})');"),
        ),
    };
    format!(
        "CREATE VIRTUAL TABLE words USING fts5 ({columns}, tokenize = '{tokenizer}', content = '', contentless_delete = 1);\
         INSERT INTO words (words, rank) VALUES ('hashsize', {HASH_BYTES});{rank}"
    )
}

/// How many bytes of new words are collected before they are written out; more makes fewer merges.
const HASH_BYTES: u32 = 8 << 20;
