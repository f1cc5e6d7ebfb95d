//! The numbers, worked by hand, and the mistakes that loading must see.

use crate::metrics::{HitRef, Marks, mark, run};
use crate::set::{Kind, Label, Note, Query, Set, check};
use proptest::prelude::*;
use std::path::Path;

fn query(kind: Kind, labels: &[(&str, usize, u8)]) -> Query {
    let label = |&(path, line, grade): &(&str, usize, u8)| Label {
        path: path.to_owned(),
        line,
        grade,
    };
    Query {
        id: "q".to_owned(),
        text: "who mends pipes".to_owned(),
        language: "en".to_owned(),
        kind,
        labels: labels.iter().map(label).collect(),
    }
}

fn hit(path: &str, start_line: usize, end_line: usize) -> HitRef {
    HitRef {
        path: path.to_owned(),
        start_line,
        end_line,
    }
}

fn near(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-9, "{left} is not {right}");
}

#[test]
fn the_best_order_scores_one() {
    let query = query(Kind::Question, &[("a", 1, 3), ("b", 4, 2), ("b", 9, 1)]);
    let marks = mark(&query, &[hit("a", 1, 1), hit("b", 3, 5), hit("b", 9, 9)]);
    near(marks.ndcg_at_10, 1.0);
    near(marks.recall_at_5, 1.0);
    near(marks.reciprocal_rank, 1.0);
}

#[test]
fn an_answer_at_the_second_rank_is_discounted() {
    // One label of grade 3 is worth 7; at rank 2 it is divided by log2(3), and the ideal is 7 / log2(2).
    let marks = mark(
        &query(Kind::Exact, &[("a", 1, 3)]),
        &[hit("b", 1, 9), hit("a", 1, 9)],
    );
    near(marks.ndcg_at_10, 1.0 / 3.0_f64.log2());
    near(marks.recall_at_5, 1.0);
    near(marks.reciprocal_rank, 0.5);
}

#[test]
fn the_old_truth_before_the_new_one_costs() {
    // Grade 1 at rank 1 and grade 3 at rank 2: 1/1 + 7/log2(3) of 7/1 + 1/log2(3).
    let query = query(Kind::Changed, &[("new", 2, 3), ("old", 2, 1)]);
    let marks = mark(&query, &[hit("old", 1, 4), hit("new", 1, 4)]);
    let second = 3.0_f64.log2();
    near(
        marks.ndcg_at_10,
        (1.0 + 7.0 / second) / (7.0 + 1.0 / second),
    );
    near(marks.reciprocal_rank, 0.5);
}

#[test]
fn a_label_is_found_once() {
    // The second hit over line 5 earns nothing, so the other label stands at rank 3: 7/1 + 3/2 of 7/1 + 3/log2(3).
    let query = query(Kind::Question, &[("a", 5, 3), ("b", 1, 2)]);
    let marks = mark(&query, &[hit("a", 1, 5), hit("a", 5, 8), hit("b", 1, 1)]);
    near(
        marks.ndcg_at_10,
        (7.0 + 3.0 / 2.0) / (7.0 + 3.0 / 3.0_f64.log2()),
    );
}

#[test]
fn one_hit_over_the_whole_note_is_never_worth_more_than_the_ideal() {
    let query = query(Kind::Path, &[("a", 1, 3), ("a", 2, 3), ("a", 3, 2)]);
    near(mark(&query, &[hit("a", 1, 99)]).ndcg_at_10, 1.0);
    // At rank 3 all labels stand at 3: 17 / log2(4) of 7 + 7/log2(3) + 3/2.
    let late = mark(&query, &[hit("b", 1, 1), hit("b", 2, 2), hit("a", 1, 99)]);
    near(
        late.ndcg_at_10,
        (17.0 / 2.0) / (7.0 + 7.0 / 3.0_f64.log2() + 1.5),
    );
}

#[test]
fn what_comes_after_the_tenth_hit_does_not_count() {
    let mut hits = vec![hit("other", 1, 1); 10];
    hits.push(hit("a", 1, 1));
    let marks = mark(&query(Kind::Exact, &[("a", 1, 3)]), &hits);
    assert_eq!(marks, Marks::default());
}

#[test]
fn recall_looks_at_five_hits_and_at_grades_two_and_three() {
    let query = query(
        Kind::Question,
        &[("a", 1, 3), ("b", 1, 2), ("c", 1, 1), ("d", 1, 2)],
    );
    let mut hits = vec![hit("a", 1, 1), hit("b", 1, 1), hit("c", 1, 1)];
    hits.extend([hit("x", 1, 1), hit("y", 1, 1), hit("d", 1, 1)]);
    near(mark(&query, &hits).recall_at_5, 2.0 / 3.0);
}

#[test]
fn a_run_keeps_queries_without_an_answer_apart() {
    let mut answered = query(Kind::Exact, &[("a", 1, 3)]);
    answered.id = "one".to_owned();
    let mut missed = query(Kind::Name, &[("a", 2, 3)]);
    missed.id = "two".to_owned();
    missed.text = "missed".to_owned();
    let mut silent = query(Kind::Nothing, &[]);
    silent.text = "silent".to_owned();
    let mut noisy = query(Kind::Nothing, &[]);
    noisy.text = "noisy".to_owned();
    let set = Set {
        notes: Vec::new(),
        queries: vec![answered, missed, silent, noisy],
    };
    let scores = run(&set, |text| match text {
        "silent" => Vec::new(),
        "noisy" => vec![hit("a", 1, 5)],
        _ => vec![hit("a", 1, 1)],
    });
    assert_eq!(scores.all.queries, 2);
    near(scores.all.marks.ndcg_at_10, 0.5);
    near(scores.by_kind[&Kind::Exact].marks.reciprocal_rank, 1.0);
    near(scores.by_language["en"].marks.recall_at_5, 0.5);
    near(scores.by_query["two"].ndcg_at_10, 0.0);
    assert_eq!((scores.nothing.silent, scores.nothing.queries), (1, 2));
    near(scores.nothing.precision(), 0.5);
    near(scores.lines_per_hit, 7.0 / 3.0);
}

fn written(relevant: &str) -> String {
    format!(r#"{{"id":"q","query":"who","language":"en","kind":"exact","relevant":[{relevant}]}}"#)
}

fn problem(relevant: &str) -> String {
    let note = Note {
        path: "a.md".to_owned(),
        text: "pump\nboiler\npump again\n".to_owned(),
    };
    match check(&[note], &written(relevant)) {
        Ok(queries) => format!("line {}", queries[0].labels[0].line),
        Err(unsound) => unsound.to_string(),
    }
}

#[test]
fn a_quote_finds_its_line() {
    let boiler = r#"{"path":"a.md","quote":"boil","grade":3}"#;
    assert_eq!(problem(boiler), "line 2");
    let second = r#"{"path":"a.md","quote":"pump","grade":3,"line":3}"#;
    assert_eq!(problem(second), "line 3");
}

#[test]
fn a_label_that_points_nowhere_or_to_two_places_is_told() {
    for (label, told) in [
        (
            r#"{"path":"b.md","quote":"pump","grade":3}"#,
            "is not a note",
        ),
        (
            r#"{"path":"a.md","quote":"valve","grade":3}"#,
            "stands in no line",
        ),
        (
            r#"{"path":"a.md","quote":" ","grade":3}"#,
            "stands in no line",
        ),
        (
            r#"{"path":"a.md","quote":"pump","grade":3}"#,
            "[1, 3] of `a.md`: say the line",
        ),
        (
            r#"{"path":"a.md","quote":"pump","grade":3,"line":2}"#,
            "stands in no line",
        ),
        (
            r#"{"path":"a.md","quote":"boiler","grade":4}"#,
            "the grade 4",
        ),
        (
            r#"{"path":"a.md","quote":"boiler","grade":2}"#,
            "no label of grade 3",
        ),
        (
            r#"{"path":"a.md","quote":"boil","grade":3},{"path":"a.md","quote":"oiler","grade":2}"#,
            "line 2 of `a.md` twice",
        ),
        ("", "no label of grade 3"),
        ("17", "is not a query"),
    ] {
        let said = problem(label);
        assert!(said.contains(told), "{label}: {said}");
    }
}

#[test]
fn two_queries_with_one_id_are_told() {
    let line = r#"{"id":"q","query":"who","language":"en","kind":"nothing","relevant":[]}"#;
    let said = check(&[], &format!("{line}\n{line}\n"))
        .unwrap_err()
        .to_string();
    assert!(said.contains("the id of two queries"), "{said}");
    assert!(said.contains("asks what another query asks"), "{said}");
}

fn some_labels() -> impl Strategy<Value = Query> {
    proptest::collection::btree_map((0..3_usize, 1..9_usize), 1..=3_u8, 1..14).prop_map(|places| {
        let labels: Vec<_> = places
            .into_iter()
            .map(|((note, line), grade)| (["a", "b", "c"][note], line, grade))
            .collect();
        query(Kind::Question, &labels)
    })
}

fn some_hits() -> impl Strategy<Value = Vec<HitRef>> {
    let place = (0..4_usize, 1..9_usize, 0..9_usize);
    let hit = place.prop_map(|(note, start, more)| {
        // The fourth note has no labels.
        hit(["a", "b", "c", "d"][note], start, start + more)
    });
    proptest::collection::vec(hit, 0..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_list_of_hits_scores_more_than_one(query in some_labels(), hits in some_hits()) {
        let marks = mark(&query, &hits);
        for mark in [marks.ndcg_at_10, marks.recall_at_5, marks.reciprocal_rank] {
            prop_assert!((0.0..=1.0 + 1e-9).contains(&mark), "{marks:?}");
        }
    }

    #[test]
    fn a_further_hit_at_the_end_never_costs(query in some_labels(), hits in some_hits()) {
        let shorter = &hits[..hits.len().saturating_sub(1)];
        let (before, after) = (mark(&query, shorter), mark(&query, &hits));
        prop_assert!(after.ndcg_at_10 >= before.ndcg_at_10 - 1e-9);
        prop_assert!(after.recall_at_5 >= before.recall_at_5);
        prop_assert!(after.reciprocal_rank >= before.reciprocal_rank);
    }
}

/// Not how good search is, but that it does not become worse unnoticed: `docs/memory.md` has the numbers.
#[test]
fn search_by_words_stays_as_good_as_it_was() {
    let set = crate::set::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("quality")).unwrap();
    let of = |way| {
        let index = crate::ways::index(&set, way, None).unwrap();
        crate::metrics::run(&set, |query| crate::ways::search(&index, way, None, query))
    };
    let ours = of(crate::ways::Way::Lexical).all.marks;
    assert!(ours.ndcg_at_10 > 0.55, "nDCG@10 is {}", ours.ndcg_at_10);
    assert!(ours.recall_at_5 > 0.56, "recall@5 is {}", ours.recall_at_5);
    let theirs = of(crate::ways::Way::OpenClaw9).all.marks;
    assert!(ours.ndcg_at_10 > theirs.ndcg_at_10 + 0.15, "{theirs:?}");
}
