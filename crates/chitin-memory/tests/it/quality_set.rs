//! The labelled quality set is what its README promises.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../../examples/quality/set.rs"]
mod set;

use set::{Kind, Query, Set};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn loaded() -> Set {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("quality");
    set::load(&directory).unwrap()
}

#[test]
fn every_label_of_the_set_points_at_one_line_and_the_counts_are_as_promised() {
    let set = loaded();
    assert!(set.notes.len() >= 320, "{} notes", set.notes.len());
    assert!(set.queries.len() >= 240, "{} queries", set.queries.len());
    let mut kinds = BTreeMap::new();
    for query in &set.queries {
        *kinds.entry(query.kind).or_insert(0) += 1;
    }
    for (kind, least) in [
        (Kind::Exact, 20),
        (Kind::Question, 25),
        (Kind::Paraphrase, 70),
        (Kind::Inflected, 15),
        (Kind::Name, 12),
        (Kind::Date, 12),
        (Kind::Path, 8),
        (Kind::Foreign, 40),
        (Kind::Crosslingual, 8),
        (Kind::Changed, 12),
        (Kind::Nothing, 15),
    ] {
        let count = kinds.get(&kind).copied().unwrap_or(0);
        assert!(count >= least, "{kind:?}: {count}");
    }
}

#[test]
fn queries_in_other_languages_span_all_eight() {
    let mut languages: BTreeMap<String, usize> = BTreeMap::new();
    for query in loaded().queries {
        if query.kind == Kind::Foreign {
            *languages.entry(query.language).or_default() += 1;
        }
    }
    let names: Vec<&str> = languages.keys().map(String::as_str).collect();
    assert_eq!(names, ["de", "es", "fr", "ja", "ko", "pt", "ru", "zh"]);
    for (language, count) in &languages {
        assert!(*count >= 5, "{language}: {count}");
    }
}

#[test]
fn a_changed_decision_has_a_newest_answer_and_an_older_one() {
    let set = loaded();
    let changed = set.queries.iter().filter(|q| q.kind == Kind::Changed);
    for query in changed {
        let below = query.labels.iter().any(|label| label.grade < 3);
        assert!(below, "`{}` has only one truth", query.id);
    }
}

/// Words that carry no matter.
const SMALL_WORDS: &str = "a about after all an and any are as at be before by can did do does each every for from get \
    go goes had has have he her his how i if in into is it its many me much my no not of off on one or our out over s \
    she so that the their them then there they this to two under up us was we were what when where which who why will with \
    without you";

fn content(text: &str) -> BTreeSet<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !SMALL_WORDS.split_whitespace().any(|w| w == *word))
        .map(|word| word.strip_suffix('s').unwrap_or(word).to_owned())
        .collect()
}

fn line_of<'a>(set: &'a Set, path: &str, line: usize) -> &'a str {
    let note = set.notes.iter().find(|note| note.path == path).unwrap();
    note.text.lines().nth(line - 1).unwrap()
}

#[test]
fn a_paraphrase_shares_no_content_word_with_what_it_looks_for() {
    let set = loaded();
    let paraphrases = set.queries.iter().filter(|q| q.kind == Kind::Paraphrase);
    for Query {
        id, text, labels, ..
    } in paraphrases
    {
        let asked = content(text);
        for label in labels {
            let found = content(line_of(&set, &label.path, label.line));
            let shared: Vec<_> = asked.intersection(&found).collect();
            assert!(shared.is_empty(), "`{id}` and `{}`: {shared:?}", label.path);
        }
    }
}
