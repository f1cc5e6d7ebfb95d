//! The tables.

/// What a new index consists of.
pub(super) const TABLES: &str = "
CREATE TABLE pieces (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    source TEXT NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    text TEXT NOT NULL,
    modified_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX pieces_of_path ON pieces (path);
CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'unicode61', content = '', contentless_delete = 1);
";
