//! Questions in, the right notes out.

use crate::notes::{ALL, NOW_MS, asked, indexed, paths};
use chitin_contract::{MemoryRules, RankingSwitch};
use chitin_memory::embed::{EmbedError, Embedder, Purpose};
use chitin_memory::index::{Index, IndexedFile, NewPiece, Shape};
use chitin_memory::search::{
    ChunkSource, Finder, MAX_RESULTS, SearchMode, SearchRequest, Within, search,
};
use proptest::prelude::*;

const OWN: MemoryRules = MemoryRules::CANONICAL;

const NOTES: [(&str, &str); 6] = [
    (
        "MEMORY.md",
        "# Memory\n\n- The battery vendor is Northcell since March.\n- Tea is in the left cupboard.\n",
    ),
    (
        "memory/2023-02-01.md",
        "We moved the lab to the old rope factory. The landlord is called Henriksen.\n",
    ),
    (
        "memory/2026-04-30.md",
        "Checked the release list with Ines. The landlord wrote about the roof.\n",
    ),
    (
        "memory/projects/kestrel.md",
        "The surface drone. Its hull is printed nylon, and the mast folds.\n",
    ),
    (
        "memory/people/ines.md",
        "Runs the lab. Signs every purchase above 400 euro.\n",
    ),
    ("memory/japanese.md", "電池の交換は三月に行う。\n"),
];

#[test]
fn a_note_of_years_ago_is_found_by_its_one_rare_word() {
    let index = indexed(&NOTES, &OWN);
    let answer = asked(&index, "what was the name of Henriksen's factory?", &OWN);
    assert_eq!(paths(&answer)[0], "memory/2023-02-01.md");
    assert_eq!(answer.mode, SearchMode::Lexical);
}

#[test]
fn of_two_notes_that_fit_alike_the_newer_comes_first_and_the_older_stays() {
    let index = indexed(&NOTES, &OWN);
    let answer = asked(&index, "landlord", &OWN);
    assert_eq!(
        paths(&answer),
        ["memory/2026-04-30.md", "memory/2023-02-01.md"]
    );
}

#[test]
fn a_file_that_is_asked_for_by_name_comes_first() {
    let mut notes = NOTES.to_vec();
    notes.push((
        "memory/hull.md",
        "Kestrel kestrel kestrel: the hull of the kestrel.\n",
    ));
    for rules in [OWN, MemoryRules::OPENCLAW_2026_9] {
        let index = indexed(&notes, &rules);
        for query in ["hull", "HULL.md", "memory/hull.md", "./memory/hull.md"] {
            let answer = asked(&index, query, &rules);
            assert_eq!(paths(&answer)[0], "memory/hull.md", "{query}");
            assert!((answer.hits[0].score - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn words_that_stand_nowhere_find_nothing() {
    for rules in ALL {
        let index = indexed(&NOTES, &rules);
        assert_eq!(asked(&index, "zyxwv flurbl", &rules).hits, []);
    }
}

#[test]
fn near_copies_do_not_fill_the_list() {
    let copy = "The sonar logs are kept for ninety days on the old server.\n";
    let files = [
        ("memory/a.md", copy),
        ("memory/b.md", copy),
        ("memory/c.md", copy),
        (
            "memory/d.md",
            "Sonar logs: who may delete them is written in the contract with the port.\n",
        ),
    ];
    let place = |rules: &MemoryRules| {
        let index = indexed(&files, rules);
        let answer = asked(&index, "sonar logs", rules);
        paths(&answer)
            .iter()
            .position(|path| *path == "memory/d.md")
    };
    let mut plain = OWN;
    plain.ranking.diversity.default = RankingSwitch::Off;
    assert!(place(&OWN) <= Some(1));
    assert!(place(&OWN) <= place(&plain));
}

/// An embedder that does what it was told to.
struct Fixed(Result<Vec<f32>, &'static str>);

impl Embedder for Fixed {
    fn name(&self) -> &'static str {
        "test/fixed"
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    fn batch(&self) -> usize {
        1
    }

    fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        match &self.0 {
            Ok(vector) => Ok(vec![vector.clone(); texts.len()]),
            Err(message) => Err(EmbedError {
                message: (*message).to_owned(),
                passing: true,
            }),
        }
    }
}

#[test]
fn an_embedder_that_fails_leaves_a_search_by_words_that_says_so() {
    let index = indexed(&NOTES, &OWN);
    let ask = SearchRequest {
        query: "battery vendor",
        now_ms: NOW_MS,
        ..SearchRequest::default()
    };
    let plain = search(&index, None, &ask, &OWN).unwrap();
    for (embedder, why) in [
        (Fixed(Err("the provider is away.")), "the provider is away."),
        (Fixed(Ok(vec![f32::NAN])), "a vector that is none."),
        (Fixed(Ok(vec![1.0])), "no vectors in the index yet."),
    ] {
        let answer = search(&index, Some(&embedder), &ask, &OWN).unwrap();
        assert_eq!(answer.mode, SearchMode::Lexical);
        assert_eq!(answer.hits, plain.hits);
        let [note] = &answer.notes[..] else {
            panic!("one note: {:?}", answer.notes);
        };
        assert!(note.starts_with("Searched by words only: "), "{note}");
        assert!(note.ends_with(why), "{note}");
    }
}

#[test]
fn a_question_of_a_hundred_thousand_characters_is_cut_with_a_note() {
    for rules in ALL {
        let index = indexed(&NOTES, &rules);
        let answer = asked(&index, &"landlord ünd ".repeat(10_000), &rules);
        assert!(
            answer.notes[0].contains("only the first"),
            "{:?}",
            answer.notes
        );
    }
}

#[test]
fn nothing_to_look_for_is_an_empty_answer() {
    for rules in ALL {
        let index = indexed(&NOTES, &rules);
        for query in [
            "",
            "   ",
            "\"\" OR AND * ^ : -",
            "🛶🛶",
            "\"",
            "NEAR(",
            "((((",
        ] {
            let answer = asked(&index, query, &rules);
            assert!(answer.hits.len() <= NOTES.len(), "{query}");
        }
        assert_eq!(asked(&index, "🛶🛶", &rules).hits, []);
        let none = SearchRequest {
            query: "landlord",
            max_results: Some(0),
            ..SearchRequest::default()
        };
        assert_eq!(search(&index, None, &none, &rules).unwrap().hits, []);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_question_is_an_error_and_every_score_is_the_sum_of_its_parts(
        query in "(landlord|battery|the|memory/|ines|\\.md|\"|\\*|NEAR\\(|AND|[a-zé電池🛶 :^-]{0,6}| ){0,8}",
        max_results in prop::option::of(0..=MAX_RESULTS + 1),
        min_score in prop::option::of(-1.0..2.0_f64),
    ) {
        for rules in ALL {
            let index = indexed(&NOTES, &rules);
            let ask = SearchRequest { query: &query, max_results, min_score, now_ms: NOW_MS, ..SearchRequest::default() };
            let answer = search(&index, None, &ask, &rules).unwrap();
            if let Some(most) = max_results {
                prop_assert!(answer.hits.len() <= most);
            }
            for hit in &answer.hits {
                prop_assert!((hit.parts.total() - hit.score).abs() < 1e-9);
                prop_assert!(hit.score >= 0.0 && hit.score <= 1.3);
            }
        }
    }
}

/// What an author notes about an entry for the program is not what the entry says.
#[test]
fn remarks_about_an_entry_are_not_found_where_the_contract_knows_them() {
    let text = "- The crane is inspected in May. <!-- importance: 9 -->\n";
    for (rules, is_found) in [
        (MemoryRules::CANONICAL, false),
        (MemoryRules::OPENCLAW_2026_9, false),
        (MemoryRules::OPENCLAW_2026_4, true),
    ] {
        let mut index = Index::volatile_of(&Shape::new(rules.index)).unwrap();
        let file = IndexedFile {
            source: ChunkSource::Memory,
            path: "MEMORY.md",
            modified_ms: 0,
        };
        let piece = NewPiece {
            start_line: 1,
            end_line: 1,
            text,
            heading: None,
        };
        index.put(&file, &[piece]).unwrap();
        let found = index.words("\"importance\"", 10, &Within::default());
        assert_eq!(found.unwrap().len(), usize::from(is_found));
    }
}
