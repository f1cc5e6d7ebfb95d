//! Vectors: close in meaning, found by meaning.

use crate::notebook::{Notebook, ours, places, sorted_places};
use chitin_memory::embed::{EmbedError, Embedder, Purpose};
use chitin_memory::index::{Index, IndexNote, Rebuild, Shape};
use chitin_memory::search::{ChunkSource, Finder, Within};
use chitin_memory::vector::{Compact, Scan, VectorIndex};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Knows a few words, and which of them mean the same.
#[derive(Default)]
struct Meanings {
    /// How many texts it was asked for.
    asked: AtomicUsize,
    /// How many more it answers; 0 is all.
    patience: usize,
    mistake: Option<Mistake>,
}

#[derive(Clone, Copy)]
enum Mistake {
    TooFew,
    AnotherLength,
    NoNumber,
}

const MEANINGS: [&[&str]; 3] = [
    &["boat", "ship", "vessel"],
    &["crane", "lift"],
    &["tea", "coffee"],
];

impl Meanings {
    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

fn meaning(text: &str) -> Vec<f32> {
    let holds = |words: &&[&str]| words.iter().any(|word| text.contains(word));
    MEANINGS
        .iter()
        .map(|words| f32::from(u8::from(holds(words))))
        .collect()
}

impl Embedder for Meanings {
    fn name(&self) -> &'static str {
        "test/meanings"
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    fn batch(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let before = self.asked.fetch_add(texts.len(), Ordering::Relaxed);
        if self.patience > 0 && before + texts.len() > self.patience {
            return Err(EmbedError {
                message: "The server is tired.".to_owned(),
                passing: true,
            });
        }
        let mut vectors: Vec<_> = texts.iter().map(|text| meaning(text)).collect();
        match self.mistake {
            Some(Mistake::TooFew) => drop(vectors.pop()),
            Some(Mistake::AnotherLength) if before > 0 => vectors[0].push(1.0),
            Some(Mistake::AnotherLength) | None => {}
            Some(Mistake::NoNumber) => vectors[0][0] = f32::NAN,
        }
        Ok(vectors)
    }
}

fn shape(embedder: &Meanings) -> Shape {
    ours().embedded_by(embedder)
}

fn near(index: &Index, text: &str, within: &Within) -> Vec<String> {
    let found = index.near(&meaning(text), 1, within).unwrap();
    sorted_places(&found)
}

fn harbour() -> Notebook {
    Notebook::of(&[
        ("a.md", "A ship came in.\n\nNothing else."),
        ("b.md", "We repaired the lift."),
        ("c.md", "More coffee."),
    ])
}

#[test]
fn a_note_is_found_by_what_it_means() {
    let embedder = Meanings::default();
    let mut index = Index::volatile_of(&shape(&embedder)).unwrap();
    let report = harbour().sync_with(&mut index, &embedder);
    assert_eq!((report.embedded, report.cached), (4, 0));
    assert_eq!(near(&index, "a vessel", &Within::default()), ["a.md:1"]);
    assert_eq!(near(&index, "a crane", &Within::default()), ["b.md:1"]);
    assert_eq!(
        index.figures().unwrap().vectors,
        3,
        "one text means nothing"
    );
}

#[test]
fn what_is_found_by_meaning_follows_every_sync() {
    let embedder = Meanings::default();
    let mut notes = harbour();
    let mut index = Index::volatile_of(&shape(&embedder)).unwrap();
    notes.sync_with(&mut index, &embedder);
    near(&index, "tea", &Within::default());
    notes.delete("c.md");
    notes.write("d.md", "A cup of tea.");
    notes.sync_with(&mut index, &embedder);
    assert_eq!(near(&index, "coffee", &Within::default()), ["d.md:1"]);
}

#[test]
fn a_search_by_meaning_stays_within_its_sources_and_leaves_files_out() {
    let embedder = Meanings::default();
    let mut notes = harbour();
    notes.talk("s.jsonl", "User: the boat", &[5]);
    let mut index = Index::volatile_of(&shape(&embedder)).unwrap();
    notes.sync_with(&mut index, &embedder);
    let sessions = Within {
        sources: [ChunkSource::Sessions].into(),
        ..Within::default()
    };
    assert_eq!(near(&index, "vessel", &sessions), ["s.jsonl:5"]);
    let without = Within {
        without: ["a.md".to_owned()].into(),
        ..Within::default()
    };
    assert_eq!(near(&index, "vessel", &without), ["s.jsonl:5"]);
}

#[test]
fn no_text_is_embedded_twice() {
    let embedder = Meanings::default();
    let mut notes = harbour();
    let mut index = Index::volatile_of(&shape(&embedder)).unwrap();
    notes.sync_with(&mut index, &embedder);
    assert_eq!(embedder.asked(), 4);

    notes.sync_with(&mut index, &embedder);
    assert_eq!(embedder.asked(), 4, "nothing changed");
    notes.write("a.md", "A ship came in.\n\nOr two boats.");
    notes.sync_with(&mut index, &embedder);
    assert_eq!(embedder.asked(), 5, "one paragraph changed");
    notes.delete("b.md");
    notes.write("moved.md", "We repaired the lift.");
    let moved = notes.sync_with(&mut index, &embedder);
    assert_eq!(
        (embedder.asked(), moved.cached),
        (5, 1),
        "a file was renamed"
    );
}

#[test]
fn vectors_outlive_a_change_of_settings() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("index.sqlite");
    let embedder = Meanings::default();
    let mut first = Index::open(&path, &shape(&embedder)).unwrap().index;
    harbour().sync_with(&mut first, &embedder);
    drop(first);
    let other = shape(&embedder).with("chunk tokens", "200");
    let mut second = Index::open(&path, &other).unwrap();
    assert_eq!(second.notes, [IndexNote::Rebuilt(Rebuild::OtherShape)]);
    let report = harbour().sync_with(&mut second.index, &embedder);
    assert_eq!((report.read, report.cached, report.embedded), (3, 3, 1));
}

#[test]
fn an_embedder_that_fails_costs_no_words_and_is_asked_again_next_time() {
    let tired = Meanings {
        patience: 2,
        ..Meanings::default()
    };
    let mut index = Index::volatile_of(&shape(&tired)).unwrap();
    let report = harbour().sync_with(&mut index, &tired);
    let note = IndexNote::NotEmbedded {
        pieces: 2,
        message: "The server is tired.".to_owned(),
    };
    assert_eq!((report.embedded, report.notes), (2, vec![note]));
    assert_eq!(places(&index, "\"coffee\""), ["c.md:1"]);

    let rested = Meanings::default();
    assert_eq!(harbour().sync_with(&mut index, &rested).embedded, 2);
    assert_eq!(near(&index, "tea", &Within::default()), ["c.md:1"]);
}

#[test]
fn vectors_that_cannot_be_right_are_not_kept() {
    for (mistake, kept) in [
        (Mistake::TooFew, 0),
        (Mistake::AnotherLength, 2),
        (Mistake::NoNumber, 1),
    ] {
        let wrong = Meanings {
            mistake: Some(mistake),
            ..Meanings::default()
        };
        let mut index = Index::volatile_of(&shape(&wrong)).unwrap();
        harbour().sync_with(&mut index, &wrong);
        assert_eq!(index.figures().unwrap().vectors, kept);
        assert_eq!(places(&index, "\"coffee\""), ["c.md:1"]);
    }
}

#[test]
fn a_question_of_another_length_or_no_meaning_finds_nothing() {
    let embedder = Meanings::default();
    let mut index = Index::volatile_of(&shape(&embedder)).unwrap();
    harbour().sync_with(&mut index, &embedder);
    for question in [vec![], vec![0.0; 3], vec![1.0; 4], vec![f32::INFINITY; 3]] {
        assert_eq!(index.near(&question, 5, &Within::default()).unwrap(), []);
    }
}

/// Every way to keep vectors: whole, as signs from the first or from the fifth on, and by the extension if it is built in.
fn all_kinds() -> Vec<(&'static str, Box<dyn VectorIndex>)> {
    vec![
        ("whole", Box::new(Scan::default())),
        ("signs", Box::new(Scan::with_room(0))),
        ("signs later", Box::new(Scan::with_room(64))),
        #[cfg(feature = "sqlite-vec")]
        (
            "sqlite-vec",
            Box::new(chitin_memory::vector::SqliteVec::new().unwrap()),
        ),
    ]
}

fn vector() -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec(-1.0_f32..1.0, 16).prop_filter("has a direction", |numbers| {
        numbers.iter().any(|n| n.abs() > 0.1)
    })
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// What is found is there, allowed, once, in order; nothing better is passed over; the cosines are right to two digits.
    #[test]
    fn the_nearest_are_found_however_vectors_are_kept(
        vectors in prop::collection::vec(vector(), 1..40),
        query in vector(),
        limit in 1..10_usize,
        gone in 0..5_i64,
        barred in 0..4_i64,
    ) {
        let exact: BTreeMap<i64, &Vec<f32>> = (0..).zip(&vectors).collect();
        let compact = Compact::new(&query).unwrap();
        for (kind, mut index) in all_kinds() {
            for (id, vector) in &exact {
                prop_assert!(index.put(*id, id % 3, &Compact::new(vector).unwrap()));
            }
            prop_assert!(!index.put(1000, 0, &Compact::new(&[1.0]).unwrap()));
            index.retain(&|id| id % 5 != gone);
            let found = index.nearest(
                &compact,
                limit,
                &|group| group != barred,
                &mut |id| exact.get(&id).and_then(|vector| Compact::new(vector)),
            );
            let there = |id: &i64| id % 5 != gone && id % 3 != barred;
            let mut best: Vec<f32> = exact
                .iter()
                .filter(|(id, _)| there(id))
                .map(|(_, vector)| cosine(&query, vector))
                .collect();
            best.sort_by(|a, b| b.total_cmp(a));
            prop_assert_eq!(found.len(), limit.min(best.len()), "{}", kind);
            for ((id, near), best) in found.iter().zip(best) {
                prop_assert!(there(id), "{}: {}", kind, id);
                prop_assert!((near - cosine(&query, exact[id])).abs() < 0.02, "{}: {}", kind, near);
                prop_assert!((near - best).abs() < 0.03, "{}: {} for {}", kind, near, best);
            }
            prop_assert_eq!(index.len(), exact.keys().filter(|id| *id % 5 != gone).count());
        }
    }

    /// Whatever numbers come in, a vector comes out that can be compared, or none.
    #[test]
    fn a_compact_vector_is_never_out_of_range(numbers in prop::collection::vec(any::<f32>(), 0..40)) {
        if let Some(vector) = Compact::new(&numbers) {
            prop_assert!((vector.cosine(&vector) - 1.0).abs() < 1e-3);
            prop_assert_eq!(Compact::of_bytes(&vector.bytes()), Some(vector));
        }
    }
}
