//! The labelled quality set of memory search: loads it, checks it and counts it.
//!
//! `cargo run -p chitin-memory --example quality`. What the set is, and how to add to it, stands in `quality/README.md`.

mod metrics;
mod set;
#[cfg(test)]
mod tests;

use metrics::{HitRef, Means, Scores};
use set::Set;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let set = set::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("quality"))?;
    let mut out = io::stdout().lock();
    count(&set, &mut out)?;
    // Until a search is wired in, the floor: what asking nobody scores.
    let scores = metrics::run(&set, |_| Vec::<HitRef>::new());
    show(&scores, &mut out)?;
    Ok(())
}

/// Writes what is in the set.
fn count(set: &Set, out: &mut impl Write) -> io::Result<()> {
    let mut kinds = BTreeMap::new();
    let mut languages = BTreeMap::new();
    for query in &set.queries {
        *kinds.entry(format!("{:?}", query.kind)).or_insert(0) += 1;
        *languages.entry(query.language.as_str()).or_insert(0) += 1;
    }
    let bytes: usize = set.notes.iter().map(|note| note.text.len()).sum();
    let labels: usize = set.queries.iter().map(|query| query.labels.len()).sum();
    writeln!(out, "{} notes, {bytes} bytes", set.notes.len())?;
    writeln!(out, "{} queries, {labels} labels", set.queries.len())?;
    for (kind, count) in kinds {
        writeln!(out, "  {count:>4}  {kind}")?;
    }
    for (language, count) in languages {
        writeln!(out, "  {count:>4}  {language}")?;
    }
    Ok(())
}

/// Writes the result of a run.
fn show(scores: &Scores, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "                    n  nDCG@10  recall@5    MRR")?;
    row("all", &scores.all, out)?;
    for (kind, means) in &scores.by_kind {
        row(&format!("{kind:?}"), means, out)?;
    }
    for (language, means) in &scores.by_language {
        row(language, means, out)?;
    }
    let misses = scores.by_query.values();
    let misses = misses.filter(|marks| marks.ndcg_at_10 <= 0.0).count();
    writeln!(out, "queries that found nothing of use: {misses}")?;
    let nothing = scores.nothing;
    let (silent, asked) = (nothing.silent, nothing.queries);
    let precision = nothing.precision();
    writeln!(
        out,
        "silent where there is no answer: {silent} of {asked} ({precision:.3})"
    )?;
    writeln!(out, "lines for each hit: {:.1}", scores.lines_per_hit)
}

fn row(name: &str, means: &Means, out: &mut impl Write) -> io::Result<()> {
    let marks = means.marks;
    writeln!(
        out,
        "{name:<14} {:>6}  {:>7.3}  {:>8.3}  {:>5.3}",
        means.queries, marks.ndcg_at_10, marks.recall_at_5, marks.reciprocal_rank
    )
}
