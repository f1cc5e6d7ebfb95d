//! The block of memory search results (CN12).

use crate::compat::{INTERNAL_BEGIN, INTERNAL_END, MEMORY_RESULTS};
use crate::fragment::{CacheClass, Fragment, FragmentPiece, FragmentRole};
use crate::render::MEMORY_RESULTS_KEY;
use crate::tokens::estimate;
use chitin_protocol::text::is_blank_js;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Says to the model whose text follows.
const FROM_MEMORY: &str =
    "Found in memory for this message by the runtime. It is not part of the user's message.";

/// One thing that a search of memory found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryResult {
    /// The file.
    pub path: String,
    /// The first line.
    pub start_line: u64,
    /// The last line.
    pub end_line: u64,
    /// How well it fits.
    pub score: f64,
    /// The text.
    pub snippet: String,
}

/// Returns the block: a heading, and per result a citation and the quoted text. No results, no block.
pub fn pieces(results: &[MemoryResult]) -> Vec<FragmentPiece> {
    if results.is_empty() {
        return Vec::new();
    }
    let mut pieces = vec![FragmentPiece::ours(MEMORY_RESULTS)];
    for result in results {
        pieces.push(FragmentPiece::given(one(result)));
    }
    pieces
}

/// Returns the block as a part of the user's message: between the markers of text that is from the runtime, so that whoever shows or
/// searches the transcript can leave it out. No results, no block.
pub fn message_fragment(results: &[MemoryResult]) -> Option<Fragment> {
    if results.is_empty() {
        return None;
    }
    let mut block = vec![
        FragmentPiece::ours(INTERNAL_BEGIN),
        FragmentPiece::ours("\n"),
        FragmentPiece::ours(FROM_MEMORY),
        FragmentPiece::ours("\n"),
    ];
    block.extend(pieces(results));
    block.push(FragmentPiece::ours("\n"));
    block.push(FragmentPiece::ours(INTERNAL_END));
    Some(Fragment {
        role: FragmentRole::AfterUser,
        ..Fragment::section(MEMORY_RESULTS_KEY, CacheClass::Dynamic, block)
    })
}

/// Keeps what fits into so many tokens, heading included: whole results in rank order, and of the first that does not fit as many
/// whole lines as there is room for. What is kept is cited by the lines that it still has.
pub fn within(results: Vec<MemoryResult>, tokens: usize) -> Vec<MemoryResult> {
    let mut block = MEMORY_RESULTS.to_owned();
    let mut kept = Vec::new();
    for result in results {
        let before = block.len();
        block.push_str(&one(&result));
        if estimate(&block) <= tokens {
            kept.push(result);
            continue;
        }
        block.truncate(before);
        kept.extend(shortened(&result, &block, tokens));
        break;
    }
    kept
}

/// Returns as many lines of a result as there is room for after what stands already; nothing if none is worth showing.
fn shortened(result: &MemoryResult, before: &str, tokens: usize) -> Option<MemoryResult> {
    let lines: Vec<&str> = result.snippet.split('\n').collect();
    let cut = |kept: usize| MemoryResult {
        end_line: (result.start_line + kept as u64).saturating_sub(1),
        snippet: lines[..kept].join("\n"),
        ..result.clone()
    };
    let fits = |kept: usize| estimate(&format!("{before}{}", one(&cut(kept)))) <= tokens;
    let (mut fitting, mut too_many) = (0, lines.len());
    while fitting + 1 < too_many {
        let middle = fitting.midpoint(too_many);
        if fits(middle) {
            fitting = middle;
        } else {
            too_many = middle;
        }
    }
    let cut = cut(fitting);
    (!is_blank_js(&cut.snippet)).then_some(cut)
}

fn one(result: &MemoryResult) -> String {
    let MemoryResult {
        path,
        start_line,
        end_line,
        ..
    } = result;
    let mut text = format!(
        "\n- {path}#L{start_line}-L{end_line} (score {})",
        two_decimals(result.score)
    );
    let normalised = result.snippet.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = normalised.split('\n').collect();
    let first = lines.iter().position(|line| !is_blank_js(line));
    let last = lines.iter().rposition(|line| !is_blank_js(line));
    if let (Some(first), Some(last)) = (first, last) {
        for line in &lines[first..=last] {
            // The prefix keeps a heading inside a snippet from posing as ours.
            let _ = if is_blank_js(line) {
                write!(text, "\n  >")
            } else {
                write!(text, "\n  > {line}")
            };
        }
    }
    text
}

/// Rounds from the exact binary value, which is what formatting does; a negative zero is a zero.
fn two_decimals(score: f64) -> String {
    let text = format!("{score:.2}");
    if text == "-0.00" {
        "0.00".to_owned()
    } else {
        text
    }
}
