//! The order of what was found.

use chitin_contract::{BarRelief, CosineScore, DecayRules, Fusion, RankingRules};
use chitin_memory::rank::bm25::{ranks, score_of_rank};
use chitin_memory::rank::{
    Hit, NameMatch, RankCandidate, ScorePart, born_ms, diverse, merge, naming, normalised, passing,
    sort,
};
use chitin_memory::search::{ChunkSource, FoundChunk, MemoryChunk};
use proptest::prelude::*;

const OWN: RankingRules = RankingRules::CANONICAL;
const LATER: RankingRules = RankingRules::OPENCLAW_2026_9;

fn piece(id: i64, path: &str) -> MemoryChunk {
    MemoryChunk {
        id,
        source: ChunkSource::Memory,
        path: path.to_owned(),
        start_line: 1,
        end_line: 2,
        text: format!("text of {id}"),
        modified_ms: 0,
    }
}

fn by_words(id: i64, path: &str, score: f64) -> Hit {
    let mut hit = Hit::new(piece(id, path));
    hit.text_score = Some(score);
    hit.add(ScorePart::Text, score);
    hit
}

fn near(id: i64, path: &str, strength: f64) -> FoundChunk {
    FoundChunk {
        piece: piece(id, path),
        strength,
    }
}

#[test]
fn what_both_lists_have_gets_both_parts() {
    let fusion = normalised(7.0, 3.0);
    let hits = merge(
        vec![near(1, "memory/a.md", 0.6), near(2, "memory/b.md", 0.9)],
        vec![by_words(1, "memory/a.md", 0.5)],
        fusion,
        CosineScore::AsIs,
    );
    assert!((hits[0].score - 0.57).abs() < 1e-9);
    assert!((hits[0].parts.of(ScorePart::Vector) - 0.42).abs() < 1e-9);
    assert!((hits[0].parts.of(ScorePart::Text) - 0.15).abs() < 1e-9);
    assert!((hits[1].score - 0.63).abs() < 1e-9);
}

#[test]
fn places_alone_can_decide() {
    let fusion = Fusion::ReciprocalRanks {
        vector: 1.0,
        text: 1.0,
        steepness: 60.0,
    };
    let mut hits = merge(
        vec![near(1, "a", 0.01), near(2, "b", 0.009)],
        vec![
            by_words(2, "b", 0.01),
            by_words(1, "a", 0.001),
            by_words(3, "c", 0.0001),
        ],
        fusion,
        CosineScore::AsIs,
    );
    sort(&mut hits, OWN.ties);
    let ids: Vec<i64> = hits.iter().map(|hit| hit.piece.id).collect();
    assert_eq!(ids, [1, 2, 3]);
    assert!(hits[0].score <= 1.0);
}

#[test]
fn equals_stand_by_path_in_the_later_release_and_as_found_in_the_earlier() {
    let order = |rules: &RankingRules| {
        let mut hits: Vec<Hit> = ["memory/z.md", "MEMORY.md", "memory/a.md"]
            .iter()
            .zip(0..)
            .map(|(path, id)| by_words(id, path, 0.5))
            .collect();
        sort(&mut hits, rules.ties);
        hits.into_iter()
            .map(|hit| hit.piece.path)
            .collect::<Vec<_>>()
    };
    assert_eq!(order(&LATER), ["MEMORY.md", "memory/a.md", "memory/z.md"]);
    assert_eq!(
        order(&RankingRules::OPENCLAW_2026_4),
        ["memory/z.md", "MEMORY.md", "memory/a.md"]
    );
}

#[test]
fn a_file_is_as_old_as_its_name_says() {
    let born = |path: &str, rules: &DecayRules| born_ms(path, 5, rules);
    let first_of_may = Some(1_777_593_600_000);
    let early = RankingRules::OPENCLAW_2026_4.decay;
    assert_eq!(born("memory/2026-05-01.md", &early), first_of_may);
    assert_eq!(born("memory/logs/2026-05-01.md", &early), None);
    for path in [
        "memory/2026-05-01.md",
        "memory/logs/2026-05-01.md",
        "memory/2026-05-01-call.md",
    ] {
        assert_eq!(born(path, &LATER.decay), first_of_may, "{path}");
    }
    for ageless in ["MEMORY.md", "memory/tea.md", "memory/2026-05-01x.md"] {
        assert_eq!(born(ageless, &LATER.decay), None, "{ageless}");
    }
    // A day that no calendar has says nothing, so that the time of the last change does.
    assert_eq!(born("memory/2026-13-40.md", &LATER.decay), Some(5));
    assert_eq!(born("notes/tea.md", &LATER.decay), Some(5));
}

#[test]
fn a_copy_sinks_below_something_new() {
    let texts = ["same words here", "same words here", "something else"];
    let candidates: Vec<RankCandidate<'_>> = texts
        .iter()
        .zip([1.0, 0.95, 0.6])
        .map(|(text, score)| RankCandidate { score, text })
        .collect();
    let order = |lambda| diverse(&candidates, lambda, &LATER.diversity, usize::MAX, |_| true);
    assert_eq!(order(0.5), [0, 2, 1]);
    assert_eq!(order(1.0), [0, 1, 2]);
}

#[test]
fn a_query_names_a_file_by_path_name_or_stem_in_any_case() {
    assert_eq!(
        naming("./Memory/Kestrel.md", "memory/kestrel.md"),
        NameMatch::Path
    );
    assert_eq!(naming("kestrel.MD", "memory/kestrel.md"), NameMatch::Name);
    assert_eq!(naming(" Kestrel ", "memory/kestrel.md"), NameMatch::Stem);
    assert_eq!(naming("kes", "memory/kestrel.md"), NameMatch::Not);
    assert_eq!(naming("", ".md"), NameMatch::Not);
}

#[test]
fn when_nothing_is_good_enough_each_release_has_its_own_relief() {
    let weak = || vec![by_words(1, "a", 0.2), by_words(2, "b", 0.1)];
    let count = |relief| passing(weak(), 6, 0.35, 0.15, relief).len();
    assert_eq!(count(BarRelief::None), 0);
    assert_eq!(count(BarRelief::LowerBar), 1);
    assert_eq!(count(BarRelief::WordsAnyway), 2);
    let mut strong = weak();
    strong.push(by_words(3, "c", 0.9));
    assert_eq!(
        passing(strong, 6, 0.35, 0.15, BarRelief::WordsAnyway).len(),
        1
    );
}

#[test]
fn our_rank_of_paths_is_that_of_sqlite() {
    let db = rusqlite::Connection::open_in_memory().unwrap();
    db.execute_batch("CREATE VIRTUAL TABLE t USING fts5 (path)")
        .unwrap();
    let paths = [
        "memory/howto/tide table.md",
        "MEMORY.md",
        "memory/tide/tide.md",
        "memory/a.md",
    ];
    for path in paths {
        db.execute("INSERT INTO t VALUES (?)", [path]).unwrap();
    }
    let theirs: f64 = db
        .query_row(
            "SELECT rank FROM t WHERE t MATCH 'tide AND md' ORDER BY rank",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let words = |text: &str| -> Vec<String> {
        text.to_lowercase()
            .split(['/', '.', ' '])
            .map(str::to_owned)
            .collect()
    };
    let texts: Vec<Vec<String>> = paths.iter().map(|path| words(path)).collect();
    let ours = ranks(&texts, &words("tide md"));
    assert_eq!(ours[0].0, 2);
    assert!((ours[0].1 - theirs).abs() < 1e-9, "{ours:?} {theirs}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_better_rank_never_scores_less(a in -50.0..0.0_f64, b in -50.0..0.0_f64) {
        prop_assert_eq!(a < b, score_of_rank(a) > score_of_rank(b));
    }

    #[test]
    fn the_parts_are_the_score_whatever_happens_to_a_hit(
        steps in prop::collection::vec((0..12_usize, 0.0..2.0_f64, 0..4_u8), 0..12)
    ) {
        let mut hit = Hit::new(piece(1, "a"));
        for (part, amount, step) in steps {
            match step {
                0 => hit.add(ScorePart::ALL[part], amount),
                1 => hit.multiply(ScorePart::ALL[part], amount),
                2 => hit.set(ScorePart::ALL[part], amount),
                _ => hit.cap(),
            }
        }
        prop_assert!((hit.parts.total() - hit.score).abs() < 1e-9);
    }

    #[test]
    fn keeping_copies_apart_never_loses_or_doubles_anything(
        texts in prop::collection::vec(("[a-c電 .]{0,8}", 0.0..1.0_f64), 0..12),
        lambda in -0.5..1.5_f64,
        enough in 0..14_usize,
    ) {
        let candidates: Vec<RankCandidate<'_>> = texts.iter().map(|(text, score)| RankCandidate { score: *score, text }).collect();
        let all = diverse(&candidates, lambda, &OWN.diversity, usize::MAX, |_| true);
        let mut sorted = all.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..texts.len()).collect::<Vec<_>>());
        // Stopping early gives the beginning of the same order.
        let some = diverse(&candidates, lambda, &OWN.diversity, enough, |_| true);
        prop_assert!(all.starts_with(&some) || texts.len() < 2 || lambda >= 1.0);
    }
}
