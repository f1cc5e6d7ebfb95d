//! Files in, pieces of about the same size out, each with its lines.
//!
//! Text is cut between lines; only a line that is larger than a whole chunk is cut itself. The end of a chunk stands in the
//! next one too, so that what belongs together is found together. Everything is one pass over the text, and a chunk of
//! whole lines is a view of it, not a copy.

mod curated;
mod heading;
mod packer;
mod remarks;
mod weight;

pub use curated::is_curated;
pub use remarks::{Projects, Remarks, remarks, without_remarks};

use chitin_contract::{ChunkHeadings, ChunkRules, ChunkSizes, CuratedFiles};
use chitin_protocol::text::is_blank_js;
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// How large chunks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkOptions {
    /// The size of a chunk, in tokens of about four characters.
    pub tokens: usize,
    /// How much of a chunk stands in the next one too, in tokens.
    pub overlap: usize,
}

impl ChunkOptions {
    /// Returns the sizes for what is configured: the rules' own where nothing is or nothing can be.
    pub fn configured(tokens: Option<usize>, overlap: Option<usize>, rules: &ChunkRules) -> Self {
        let own = (
            ChunkRules::DEFAULT_TOKENS as usize,
            ChunkRules::DEFAULT_OVERLAP as usize,
        );
        let (tokens, overlap) = match rules.sizes {
            ChunkSizes::Configured => (tokens.unwrap_or(own.0).max(1), overlap.unwrap_or(own.1)),
            ChunkSizes::Fixed => own,
        };
        Self {
            tokens,
            overlap: overlap.min(tokens.saturating_sub(1)),
        }
    }
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk<'t> {
    /// Its first line, from 1.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// Its text.
    pub text: Cow<'t, str>,
    /// The first and last line of the entry that it is from, if the file has entries.
    pub entry: Option<(u32, u32)>,
    /// The headings above it, as `Title > Section`. For finding it; never shown.
    pub heading: Option<String>,
}

/// Cuts a text. Chunks of nothing but white space are among them; [`of_file`] leaves them out.
pub fn chunks<'t>(text: &'t str, options: ChunkOptions, rules: &ChunkRules) -> Vec<Chunk<'t>> {
    let mut headings = headings(rules);
    packer::pack(text, 1, options, rules, headings.as_mut())
}

/// Cuts a text by entry, each for itself.
pub fn entry_chunks<'t>(
    text: &'t str,
    options: ChunkOptions,
    rules: &ChunkRules,
) -> Vec<Chunk<'t>> {
    let mut headings = headings(rules);
    let mut all = Vec::new();
    for unit in curated::units(text) {
        let first = all.len();
        all.extend(packer::pack(
            unit.text,
            unit.start_line,
            options,
            rules,
            headings.as_mut(),
        ));
        if unit.is_entry {
            for chunk in &mut all[first..] {
                chunk.entry = Some((unit.start_line, unit.end_line));
            }
        }
    }
    all
}

/// Cuts a file the way its path asks for, and leaves out what is blank.
pub fn of_file<'t>(
    path: &str,
    text: &'t str,
    options: ChunkOptions,
    rules: &ChunkRules,
) -> Vec<Chunk<'t>> {
    let mut all = match rules.curated {
        CuratedFiles::ByEntry if is_curated(path) => entry_chunks(text, options, rules),
        CuratedFiles::ByEntry | CuratedFiles::LikeOthers => chunks(text, options, rules),
    };
    all.retain(|chunk| !is_blank_js(&chunk.text));
    all
}

/// Returns the SHA-256 of a text in hexadecimal digits: what a file or a chunk is known by.
pub fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

/// Returns what a chunk is known by in the stores of other programs (M16).
pub fn id(source: &str, path: &str, chunk: &Chunk<'_>, model: &str) -> String {
    hash(&format!(
        "{source}:{path}:{}:{}:{}:{model}",
        chunk.start_line,
        chunk.end_line,
        hash(&chunk.text)
    ))
}

fn headings(rules: &ChunkRules) -> Option<heading::Headings> {
    match rules.headings {
        ChunkHeadings::Known => Some(heading::Headings::default()),
        ChunkHeadings::Unknown => None,
    }
}
