//! The labelled quality set of memory search: checks it, and measures how well each way of searching does on it.
//!
//! `cargo run --release -p chitin-memory --example quality [WORD_TABLE]`, or `scripts/memory-quality`, which makes the table. What the
//! set is, and how to add to it, stands in `quality/README.md`.

mod metrics;
mod report;
mod set;
#[cfg(test)]
mod tests;
mod ways;

use chitin_guard::Root;
use chitin_memory::embed::{Embedder, WordEmbedder, WordTable};
use std::io;
use std::path::Path;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let set = set::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("quality"))?;
    let mut out = io::stdout().lock();
    report::count(&set, &mut out)?;
    let table = std::env::args().nth(1);
    let embedder = table.map(|path| words(Path::new(&path))).transpose()?;
    let embedder = embedder.as_deref();
    let mut whole = None;
    report::head(&mut out)?;
    for way in ways::ALL {
        if way.needs_vectors() && embedder.is_none() {
            continue;
        }
        let index = ways::index(&set, way, embedder)?;
        let scores = metrics::run(&set, |query| ways::search(&index, way, embedder, query));
        report::row(way.name(), &scores, &mut out)?;
        if way.is_default(embedder.is_some()) {
            whole = Some(scores);
        }
    }
    match whole {
        Some(scores) => Ok(report::details(&scores, &mut out)?),
        None => Ok(()),
    }
}

fn words(path: &Path) -> Result<Arc<dyn Embedder>, Box<dyn std::error::Error>> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err("the table of words is no file".into());
    };
    let directory = if directory.as_os_str().is_empty() {
        Path::new(".")
    } else {
        directory
    };
    let table = WordTable::open(&Root::open(directory)?, Path::new(name))?;
    Ok(Arc::new(WordEmbedder::new(Arc::new(table))))
}
