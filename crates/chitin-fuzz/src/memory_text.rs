//! Memory as text: how it is cut, what of it is shown, and what a question asks for.

use crate::novelty;
use chitin_contract::MemoryRules;
use chitin_memory::chunk::{self, Chunk, ChunkOptions};
use chitin_memory::read::{self, Window};
use chitin_memory::words;

/// What notes and questions are made of.
pub const DICTIONARY: &[&str] = &[
    "- ",
    "# ",
    "###### ",
    "```\n",
    "\n",
    "\r\n",
    "\n\n\n",
    "<!-- trigger: a, b -->",
    "<!-- importance: 7 -->",
    "<!-- project: a/b -->",
    "<!--",
    "-->",
    "潮位計",
    "浮力引擎",
    "サーバー",
    "서버에서",
    "น้ำขึ้น",
    "the ",
    "이것을",
    "😀",
    "𠀀",
    "e\u{301}",
    "İ",
    "\u{200b}",
    "\u{feff}",
    "\0",
    "\"",
    "*",
    "NEAR(",
    " AND ",
    "^",
];

const RULES: [&MemoryRules; 3] = [
    &MemoryRules::CANONICAL,
    &MemoryRules::OPENCLAW_2026_4,
    &MemoryRules::OPENCLAW_2026_9,
];

/// Takes the first three bytes as sizes and the rest as a note, and as a question.
pub fn run(data: &[u8]) {
    let (sizes, rest) = data.split_at(data.len().min(3));
    let size = |at: usize| sizes.get(at).copied().map_or(0, usize::from);
    let text = String::from_utf8_lossy(rest);
    for rules in RULES {
        let options = ChunkOptions {
            tokens: size(0),
            overlap: size(1),
        };
        check_chunks(&text, &chunk::chunks(&text, options, &rules.chunks));
        check_chunks(&text, &chunk::entry_chunks(&text, options, &rules.chunks));
        check_window(&text, size(0), size(1), size(2), rules);
        for keyword in words::keywords(&text, &rules.lexical.words) {
            assert!(!keyword.is_empty(), "a keyword of nothing");
        }
    }
    check_remarks(&text);
    check_words(&text);
}

/// Every line is in some chunk, and chunks come in order.
fn check_chunks(text: &str, chunks: &[Chunk<'_>]) {
    let mut covered = 0;
    for chunk in chunks {
        assert!(chunk.start_line <= covered + 1, "lines are missing");
        assert!(chunk.end_line >= covered, "lines go back");
        assert!(
            chunk.start_line <= chunk.end_line,
            "a chunk ends before it starts"
        );
        covered = chunk.end_line;
    }
    assert_eq!(
        covered as usize,
        text.split('\n').count(),
        "the end is missing"
    );
    novelty::note((
        chunks.len().min(8),
        chunks.iter().any(|chunk| chunk.entry.is_some()),
    ));
}

/// A window is no larger than asked for, and the next one begins after it.
fn check_window(text: &str, from: usize, lines: usize, units: usize, rules: &MemoryRules) {
    let asked = Window {
        from: Some(from),
        lines: Some(lines),
        max_chars: Some(units),
    };
    let shown = read::window(text, "MEMORY.md", asked, &rules.reading);
    assert!(shown.lines.is_some_and(|shown| shown <= lines.max(1)));
    assert!(shown.next_from.is_none_or(|next| next > from));
    assert!(shown.truncated || shown.text.encode_utf16().count() <= units.max(1));
    novelty::note((
        shown.truncated,
        shown.next_from.is_some(),
        shown.lines.map(|n| n.min(3)),
    ));
}

/// What is shown has no remark left that was there, and a second look changes nothing that the first one said of it.
fn check_remarks(text: &str) {
    let told = chunk::remarks(text);
    assert!(
        told.importance
            .is_none_or(|importance| (1..=10).contains(&importance))
    );
    let shown = chunk::without_remarks(text);
    assert!(shown.len() <= text.len(), "showing added something");
    novelty::note((told.importance, told.triggers.len().min(3)));
}

/// Expressions are words in quotes and nothing else.
fn check_words(text: &str) {
    let is_plain = |word: &str| !word.is_empty() && !word.contains(['"', '\0']);
    if let Some(query) = words::fts_query(text) {
        let inner = query
            .strip_prefix('"')
            .and_then(|query| query.strip_suffix('"'));
        assert!(inner.is_some_and(|inner| inner.split("\" AND \"").all(is_plain)));
    }
    let terms = words::canonical_terms(text);
    assert!(terms.len() <= 32 && terms.iter().all(|term| is_plain(&term.text)));
    let kept = words::segmented(text);
    assert!(
        text.chars().all(|c| kept.contains(c)),
        "a character is lost"
    );
    novelty::note((terms.len().min(8), kept.len() == text.len()));
}
