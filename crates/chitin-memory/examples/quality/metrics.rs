//! How good a search is, in four numbers.
//!
//! A hit finds a label when it is a stretch of the same note that covers the label's line. Each label is found once: a second
//! hit over the same line earns nothing. A hit may find several labels, but the k-th label that is found counts as if it
//! stood at rank k at best. So one large hit is not worth more than the ideal list, which has one label at each rank.

use crate::set::{Kind, Label, Query, Set};
use std::collections::BTreeMap;

/// Only this many hits are looked at for nDCG and for the reciprocal rank.
const DEEP: usize = 10;
/// Only this many hits are looked at for recall.
const SHALLOW: usize = 5;

/// Where a search says that something stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HitRef {
    /// The note, as the set names it.
    pub(crate) path: String,
    /// The first line, counted from 1.
    pub(crate) start_line: usize,
    /// The last line, which belongs to the hit.
    pub(crate) end_line: usize,
}

impl HitRef {
    fn covers(&self, label: &Label) -> bool {
        self.path == label.path && (self.start_line..=self.end_line).contains(&label.line)
    }
}

/// The numbers of one query, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Marks {
    /// Graded gain of the first ten hits, against the best possible order.
    pub(crate) ndcg_at_10: f64,
    /// The share of labels of grade 2 and 3 that the first five hits find. Of more than five, five are enough.
    pub(crate) recall_at_5: f64,
    /// One over the rank of the first hit that finds a label of grade 3.
    pub(crate) reciprocal_rank: f64,
}

/// Means over some queries.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Means {
    /// How many queries these are.
    pub(crate) queries: usize,
    /// The means; that of the reciprocal rank is the MRR.
    pub(crate) marks: Marks,
}

/// What became of the queries that nothing answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Nothing {
    /// How many there are.
    pub(crate) queries: usize,
    /// How many got no hit, as they should.
    pub(crate) silent: usize,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Scores {
    /// Over all queries that have an answer.
    pub(crate) all: Means,
    /// By what they try out.
    pub(crate) by_kind: BTreeMap<Kind, Means>,
    /// By the language of the query.
    pub(crate) by_language: BTreeMap<String, Means>,
    /// The queries without an answer, which are in none of the above.
    pub(crate) nothing: Nothing,
    /// The mean number of lines of the hits that were looked at. Large hits find labels easily and help a reader little.
    pub(crate) lines_per_hit: f64,
    /// Each query that has an answer, by id, to see what a change did.
    pub(crate) by_query: BTreeMap<String, Marks>,
}

/// Asks a search all queries of the set. Hits come best first.
pub(crate) fn run(set: &Set, mut search: impl FnMut(&str) -> Vec<HitRef>) -> Scores {
    let mut scores = Scores::default();
    let (mut hits_seen, mut lines_seen) = (0, 0);
    for query in &set.queries {
        let hits = search(&query.text);
        for hit in hits.iter().take(DEEP) {
            hits_seen += 1;
            lines_seen += (hit.end_line + 1).saturating_sub(hit.start_line);
        }
        if query.kind == Kind::Nothing {
            scores.nothing.queries += 1;
            scores.nothing.silent += usize::from(hits.is_empty());
            continue;
        }
        let marks = mark(query, &hits);
        let language = scores.by_language.entry(query.language.clone());
        language.or_default().add(marks);
        scores.by_kind.entry(query.kind).or_default().add(marks);
        scores.all.add(marks);
        scores.by_query.insert(query.id.clone(), marks);
    }
    scores.lines_per_hit = share(lines_seen, hits_seen);
    scores
}

/// Marks the hits of one query that has an answer.
pub(crate) fn mark(query: &Query, hits: &[HitRef]) -> Marks {
    let labels = &query.labels;
    // Per label, the rank of the first hit that finds it, counted from 1.
    let found: Vec<Option<usize>> = labels
        .iter()
        .map(|label| Some(1 + hits.iter().take(DEEP).position(|hit| hit.covers(label))?))
        .collect();

    let mut order: Vec<(usize, u8)> = labels
        .iter()
        .zip(&found)
        .filter_map(|(label, rank)| Some(((*rank)?, label.grade)))
        .collect();
    order.sort_by_key(|(rank, grade)| (*rank, std::cmp::Reverse(*grade)));
    let gained: f64 = (1..=DEEP)
        .zip(order)
        .map(|(place, (rank, grade))| gain(grade, place.max(rank)))
        .sum();
    let mut best: Vec<u8> = labels.iter().map(|label| label.grade).collect();
    best.sort_by_key(|grade| std::cmp::Reverse(*grade));
    let ideal: f64 = (1..=DEEP)
        .zip(best)
        .map(|(place, grade)| gain(grade, place))
        .sum();

    let wanted = labels.iter().filter(|label| label.grade >= 2).count();
    let soon = labels
        .iter()
        .zip(&found)
        .filter(|(label, rank)| label.grade >= 2 && rank.is_some_and(|rank| rank <= SHALLOW))
        .count();
    let first = labels
        .iter()
        .zip(&found)
        .filter_map(|(label, rank)| rank.filter(|_| label.grade == 3))
        .min();
    Marks {
        ndcg_at_10: if ideal > 0.0 { gained / ideal } else { 0.0 },
        recall_at_5: share(soon.min(SHALLOW), wanted.min(SHALLOW)),
        reciprocal_rank: first.map_or(0.0, |rank| share(1, rank)),
    }
}

/// What a grade is worth at a place: 7, 3 or 1, less the deeper it stands.
fn gain(grade: u8, place: usize) -> f64 {
    let worth = f64::from((1_u32 << grade) - 1);
    worth / (number(place) + 1.0).log2()
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        number(part) / number(whole)
    }
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

impl Means {
    fn add(&mut self, marks: Marks) {
        let before = number(self.queries);
        self.queries += 1;
        let after = number(self.queries);
        let mean = |old: f64, new: f64| (old * before + new) / after;
        let old = self.marks;
        self.marks = Marks {
            ndcg_at_10: mean(old.ndcg_at_10, marks.ndcg_at_10),
            recall_at_5: mean(old.recall_at_5, marks.recall_at_5),
            reciprocal_rank: mean(old.reciprocal_rank, marks.reciprocal_rank),
        };
    }
}

impl Nothing {
    /// The share of queries without an answer that got no hit.
    pub(crate) fn precision(self) -> f64 {
        share(self.silent, self.queries)
    }
}
