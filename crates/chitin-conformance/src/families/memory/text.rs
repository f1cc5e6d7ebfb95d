//! Cutting, words and reading.

use crate::families::context::shortened;
use crate::{Check, Outcome, tree};
use anyhow::{Context, Result};
use chitin_contract::MemoryRules;
use chitin_guard::Root;
use chitin_memory::chunk::{self, ChunkOptions};
use chitin_memory::compat;
use chitin_memory::files::{self, ExtraPath};
use chitin_memory::read::{self, Window};
use chitin_memory::words::{self, Tokenizer};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Stands for an error in the words of whoever gives it.
const ANY_MESSAGE: &str = "{MESSAGE}";

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let rules = &check.contract.runtime.memory;
    let actual = match check.case.op.as_str() {
        "memory.chunk" => chunks(check.input, rules),
        "memory.ftsQuery" => {
            text(check.input, "raw").map(|raw| json!({ "query": words::fts_query(&raw) }))
        }
        "memory.keywords" => text(check.input, "query").map(|query| {
            let tokenizer = match check.input["tokenizer"].as_str() {
                Some("trigram") => Tokenizer::Trigrams,
                Some(_) | None => Tokenizer::Words,
            };
            json!({ "keywords": words::keywords_for(&query, tokenizer, &rules.lexical.words) })
        }),
        "memory.list" => list(check.input, rules),
        "memory.read" => read(check, rules),
        _ => return Outcome::NotYet,
    };
    match actual {
        Ok(actual) => Outcome::judge(check.expected, &shortened(&actual)),
        Err(error) => Outcome::Failed(format!("{error:#}")),
    }
}

fn text(input: &Value, name: &str) -> Result<String> {
    tree::text(&input[name]).with_context(|| format!("no `{name}`"))
}

fn number(input: &Value, name: &str) -> Option<usize> {
    let number = input[name].as_i64()?;
    Some(usize::try_from(number).unwrap_or(0))
}

fn chunks(input: &Value, rules: &MemoryRules) -> Result<Value> {
    let content = text(input, "content")?;
    let options = ChunkOptions {
        tokens: number(input, "tokens").context("no `tokens`")?,
        overlap: number(input, "overlap").context("no `overlap`")?,
    };
    let chunks: Vec<Value> = chunk::chunks(&content, options, &rules.chunks)
        .iter()
        .map(|chunk| {
            json!({
                "startLine": chunk.start_line,
                "endLine": chunk.end_line,
                "text": chunk.text,
                "hash": chunk::hash(&chunk.text),
            })
        })
        .collect();
    Ok(json!({ "chunks": chunks }))
}

/// Builds the tree of a case and finds its extra paths.
fn workspace(input: &Value) -> Result<(TempDir, Root, Vec<ExtraPath>)> {
    let directory = TempDir::with_prefix("memory-")?;
    tree::write_map(directory.path(), &input["tree"])?;
    let root = Root::open(directory.path())?;
    let settings: Vec<&str> = input["extraPaths"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let extra = ExtraPath::find(&root, &settings);
    Ok((directory, root, extra))
}

fn list(input: &Value, rules: &MemoryRules) -> Result<Value> {
    let (_directory, root, extra) = workspace(input)?;
    let mut paths: Vec<String> = files::list(&root, &extra, &rules.files)
        .files
        .into_iter()
        .map(|file| file.path)
        .collect();
    paths.sort();
    Ok(json!({ "files": paths }))
}

fn read(check: &Check<'_>, rules: &MemoryRules) -> Result<Value> {
    let input = check.input;
    let (_directory, root, extra) = workspace(input)?;
    let window = Window {
        from: number(input, "from"),
        lines: number(input, "lines"),
        max_chars: number(input, "maxChars"),
    };
    let path = text(input, "relPath")?;
    Ok(
        match read::read(&root, &extra, &path, window, &rules.reading) {
            Ok(mut window) => {
                // What a program says of a cut line is its own.
                for ours in [compat::LINE_CUT, compat::EXTRA_LINE_CUT] {
                    if let Some(shown) = window.text.strip_suffix(ours) {
                        window.text = format!("{shown}\n\n[{{GUIDANCE}}]");
                    }
                }
                json!({ "result": window })
            }
            Err(_) if check.expected["error"] == ANY_MESSAGE => json!({ "error": ANY_MESSAGE }),
            Err(error) => json!({ "error": error.message(&rules.reading) }),
        },
    )
}
