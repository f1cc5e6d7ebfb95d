//! What is printed: tables that can stand in a Markdown file.

use crate::metrics::{Means, Scores};
use crate::set::Set;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes what is in the set.
pub(crate) fn count(set: &Set, out: &mut impl Write) -> io::Result<()> {
    let mut kinds = BTreeMap::new();
    for query in &set.queries {
        *kinds.entry(format!("{:?}", query.kind)).or_insert(0) += 1;
    }
    let labels: usize = set.queries.iter().map(|query| query.labels.len()).sum();
    let bytes: usize = set.notes.iter().map(|note| note.text.len()).sum();
    let kinds: Vec<String> = kinds
        .into_iter()
        .map(|(kind, count)| format!("{} {count}", kind.to_lowercase()))
        .collect();
    writeln!(
        out,
        "{} notes ({} kB), {} queries, {labels} labels: {}.\n",
        set.notes.len(),
        bytes / 1_000,
        set.queries.len(),
        kinds.join(", ")
    )
}

/// Writes the head of the table of ways.
pub(crate) fn head(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "| way | nDCG@10 | recall@5 | MRR | paraphrases, nDCG@10 | other languages, nDCG@10 | silent where nothing fits |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|")
}

/// Writes how one way did.
pub(crate) fn row(name: &str, scores: &Scores, out: &mut impl Write) -> io::Result<()> {
    let marks = scores.all.marks;
    let of = |kind: &str| {
        let found = scores
            .by_kind
            .iter()
            .find(|(known, _)| format!("{known:?}") == kind);
        found.map_or(0.0, |(_, means)| means.marks.ndcg_at_10)
    };
    writeln!(
        out,
        "| {name} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {} of {} ({:.0} %) |",
        marks.ndcg_at_10,
        marks.recall_at_5,
        marks.reciprocal_rank,
        of("Paraphrase"),
        of("Foreign"),
        scores.nothing.silent,
        scores.nothing.queries,
        scores.nothing.precision() * 100.0
    )
}

/// Writes how the way that a user gets did, kind by kind and language by language.
pub(crate) fn details(scores: &Scores, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "\n| what is asked | queries | nDCG@10 | recall@5 | MRR |"
    )?;
    writeln!(out, "|---|---|---|---|---|")?;
    for (kind, means) in &scores.by_kind {
        detail(&format!("{kind:?}").to_lowercase(), means, out)?;
    }
    for (language, means) in &scores.by_language {
        detail(&format!("in `{language}`"), means, out)?;
    }
    writeln!(out, "\nLines for each hit: {:.1}.", scores.lines_per_hit)
}

fn detail(name: &str, means: &Means, out: &mut impl Write) -> io::Result<()> {
    let marks = means.marks;
    writeln!(
        out,
        "| {name} | {} | {:.3} | {:.3} | {:.3} |",
        means.queries, marks.ndcg_at_10, marks.recall_at_5, marks.reciprocal_rank
    )
}
