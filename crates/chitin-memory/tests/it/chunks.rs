//! Cutting texts.

use chitin_contract::ChunkRules;
use chitin_memory::chunk::{
    self, Chunk, ChunkOptions, Projects, chunks, entry_chunks, of_file, remarks, without_remarks,
};
use proptest::prelude::*;
use std::borrow::Cow;
use std::time::{Duration, Instant};

const OLD: ChunkRules = ChunkRules::OPENCLAW_2026_4;
const NEW: ChunkRules = ChunkRules::OPENCLAW_2026_9;
const OURS: ChunkRules = ChunkRules::CANONICAL;

const SMALL: ChunkOptions = ChunkOptions {
    tokens: 8,
    overlap: 2,
};

fn told(chunks: &[Chunk<'_>]) -> Vec<String> {
    chunks
        .iter()
        .map(|chunk| format!("{}-{} {}", chunk.start_line, chunk.end_line, chunk.text))
        .collect()
}

#[test]
fn the_end_of_a_chunk_stands_in_the_next_one_too() {
    let text = "the first line\nshort\nthe third line\nlast";
    assert_eq!(
        told(&chunks(text, SMALL, &OLD)),
        [
            "1-2 the first line\nshort",
            "1-3 the first line\nshort\nthe third line",
            "3-4 the third line\nlast",
        ]
    );
    // The later release never carries more than the overlap.
    assert_eq!(
        told(&chunks(text, SMALL, &NEW)),
        [
            "1-2 the first line\nshort",
            "2-4 short\nthe third line\nlast"
        ]
    );
}

#[test]
fn a_line_larger_than_a_chunk_is_cut_but_no_character_is() {
    let text = format!("x{}", "😀".repeat(20));
    for rules in [&OLD, &NEW, &OURS] {
        let cut = chunks(
            &text,
            ChunkOptions {
                tokens: 8,
                overlap: 0,
            },
            rules,
        );
        assert_eq!(cut.len(), 2);
        let joined: String = cut.iter().map(|chunk| chunk.text.as_ref()).collect();
        assert_eq!(joined, text);
    }
}

#[test]
fn rare_characters_weigh_more_in_the_later_release() {
    let text = "㐀㐀㐀㐀";
    let pieces = |rules| {
        chunks(
            text,
            ChunkOptions {
                tokens: 8,
                overlap: 0,
            },
            rules,
        )
        .len()
    };
    assert_eq!(pieces(&OLD), 1);
    assert_eq!(pieces(&NEW), 2);
}

#[test]
fn chunks_of_whole_lines_are_views_of_the_text() {
    let text = "one\ntwo\n\nthree\n".repeat(50);
    for chunk in chunks(&text, SMALL, &OURS) {
        assert!(matches!(chunk.text, Cow::Borrowed(_)));
    }
}

#[test]
fn sizes_are_the_rules_own_where_none_can_be_configured() {
    let asked = |rules| ChunkOptions::configured(Some(50), Some(90), rules);
    assert_eq!(
        asked(&OLD),
        ChunkOptions {
            tokens: 50,
            overlap: 49
        }
    );
    assert_eq!(
        asked(&NEW),
        ChunkOptions {
            tokens: 400,
            overlap: 80
        }
    );
}

#[test]
fn entries_of_curated_files_are_chunks_of_their_own() {
    let text = "# People\n- Ada likes tea\n  and maps\n- Bo sails\n";
    let options = ChunkOptions::configured(None, None, &NEW);
    assert_eq!(
        told(&of_file("MEMORY.md", text, options, &NEW)),
        [
            "1-1 # People",
            "2-3 - Ada likes tea\n  and maps",
            "4-5 - Bo sails\n"
        ]
    );
    assert_eq!(of_file("MEMORY.md", text, options, &OLD).len(), 1);
    assert_eq!(of_file("memory/people.md", text, options, &NEW).len(), 1);
    let entries: Vec<_> = entry_chunks(text, options, &NEW)
        .iter()
        .map(|chunk| chunk.entry)
        .collect();
    assert_eq!(entries, [None, Some((2, 3)), Some((4, 5))]);
}

#[test]
fn blank_text_makes_no_chunk_of_a_file() {
    let options = ChunkOptions::configured(None, None, &OURS);
    assert!(of_file("memory/a.md", " \n\n\t\r\n", options, &OURS).is_empty());
}

#[test]
fn a_chunk_knows_the_headings_above_it() {
    let text = "# Boat\nhas a red hull and two sails\n## Engine\n```\n# not a heading\n```\nforty hours of work\n# House\nroof leaks";
    let options = ChunkOptions {
        tokens: 8,
        overlap: 0,
    };
    let headings: Vec<_> = chunks(text, options, &OURS)
        .into_iter()
        .map(|chunk| (chunk.start_line, chunk.heading.unwrap()))
        .collect();
    let expected = [
        (1, "Boat"),
        (2, "Boat"),
        (3, "Boat > Engine"),
        (6, "Boat > Engine"),
        (9, "House"),
    ];
    assert_eq!(
        headings,
        expected.map(|(line, heading)| (line, heading.to_owned()))
    );
    assert!(
        chunks(text, options, &NEW)
            .iter()
            .all(|chunk| chunk.heading.is_none())
    );
}

#[test]
fn remarks_are_facts_and_never_shown() {
    let entry = "- Renew the permit <!-- importance: 8 --> <!-- trigger: harbour, permit -->\n  by May <!-- project: Quay/Log -->";
    let told = remarks(entry);
    assert_eq!(told.importance, Some(8));
    assert_eq!(told.triggers, ["harbour", "permit"]);
    assert_eq!(told.projects, Projects::Named(vec!["quay/Log".to_owned()]));
    assert_eq!(without_remarks(entry), "- Renew the permit\n  by May");
    assert_eq!(
        without_remarks("plain <!-- note -->  "),
        "plain <!-- note -->  "
    );
}

#[test]
fn an_importance_inside_a_sentence_is_part_of_it() {
    assert_eq!(
        remarks("write `<!-- importance: 9 -->` at the end").importance,
        None
    );
    assert_eq!(remarks("- a <!-- importance: 11 -->").importance, None);
}

#[test]
fn a_chunk_is_known_by_its_place_text_and_model() {
    let chunk = &chunks("tea", SMALL, &OLD)[0];
    let id = chunk::id("memory", "MEMORY.md", chunk, "fts-only");
    assert_eq!(
        id,
        chunk::hash(&format!(
            "memory:MEMORY.md:1:1:{}:fts-only",
            chunk::hash("tea")
        ))
    );
}

#[test]
fn a_huge_line_and_a_huge_text_take_no_longer_than_their_size() {
    let line = "潮x".repeat(100_000);
    let text = "- a note of no importance\n".repeat(100_000);
    let options = ChunkOptions::configured(None, None, &OURS);
    let started = Instant::now();
    for rules in [&OLD, &NEW, &OURS] {
        assert!(chunks(&line, options, rules).len() > 100);
        assert!(chunks(&text, options, rules).len() > 1000);
        assert!(entry_chunks(&text, options, rules).len() >= 1000);
    }
    // Generous: unoptimised builds on busy machines. Anything quadratic takes minutes.
    assert!(started.elapsed() < Duration::from_secs(30));
}

/// Lines of all kinds, and the breaks between them.
fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-c \t#-]{0,50}|[潮㐀😀é\r]{0,30}|- [a-z]{0,9}", 0..12)
        .prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_is_lost_and_lines_stay_in_order(
        text in texts(), tokens in 0_usize..20, overlap in 0_usize..20,
    ) {
        let lines: Vec<&str> = text.split('\n').collect();
        for rules in [&OLD, &NEW, &OURS] {
            for cut in [
                chunks(&text, ChunkOptions { tokens, overlap }, rules),
                entry_chunks(&text, ChunkOptions { tokens, overlap }, rules),
            ] {
                let mut covered = 0;
                let mut kept = String::new();
                for chunk in &cut {
                    prop_assert!(chunk.start_line as usize <= covered + 1);
                    prop_assert!(chunk.end_line as usize >= covered);
                    covered = chunk.end_line as usize;
                    kept.push_str(&chunk.text);
                }
                prop_assert_eq!(covered, lines.len());
                for line in lines.iter().filter(|line| line.is_ascii() && line.len() <= 30) {
                    prop_assert!(kept.contains(line));
                }
            }
        }
    }

    #[test]
    fn remarks_never_stay_in_what_is_shown(text in "[a-z<>!:; \n-]{0,40}") {
        let text = format!("{text}<!-- trigger: x -->{text}");
        prop_assert!(!without_remarks(&text).contains("trigger: x -->"));
        let _ = remarks(&text);
    }
}
