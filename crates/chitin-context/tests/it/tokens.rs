//! Token counts: how good the guess is, what it promises, and that exact counts are exact.

use chitin_context::tokens::exact::{count, measure};
use chitin_context::tokens::{Basis, Counting, TokenCount, TokenEncoding, estimate, units_within};
use chitin_protocol::text::{utf16_len, utf16_prefix};
use proptest::prelude::*;
use std::fmt::Write;

macro_rules! samples {
    ($($file:literal),* $(,)?) => {
        &[$(($file, include_str!(concat!("samples/", $file)))),*]
    };
}

/// Texts of our own, one to three kilobytes each, of the kinds that workspaces hold.
const SAMPLES: &[(&str, &str)] = samples![
    "english.txt",
    "markdown.md",
    "german.txt",
    "french.txt",
    "russian.txt",
    "chinese.txt",
    "japanese.txt",
    "korean.txt",
    "arabic.txt",
    "hindi.txt",
    "code.rs.txt",
    "script.py.txt",
    "data.json",
    "paths.txt",
    "numbers.csv",
    "base64.txt",
    "emoji.txt",
];

const ENCODING: TokenEncoding = TokenEncoding::O200kBase;

/// How much more than the exact count the estimate is, in tenths of a percent.
fn error(text: &str) -> i64 {
    let signed = |tokens: usize| i64::try_from(tokens).unwrap_or(i64::MAX);
    let exact = signed(count(ENCODING, text));
    (signed(estimate(text)) - exact) * 1000 / exact
}

#[test]
fn the_guess_is_near_in_every_language_and_for_every_kind_of_text() {
    let mut table = String::from("sample          bytes  exact  guess   error\n");
    for (name, text) in SAMPLES {
        let permille = error(text);
        writeln!(
            table,
            "{name:14} {:6} {:6} {:6} {:>5}{}.{} %",
            text.len(),
            count(ENCODING, text),
            estimate(text),
            if permille < 0 { "-" } else { "+" },
            permille.abs() / 10,
            permille.abs() % 10,
        )
        .expect("a string takes all");
    }
    insta::assert_snapshot!(table);
    for (name, text) in SAMPLES {
        let permille = error(text);
        assert!(
            (-120..=150).contains(&permille),
            "{name}: {permille} permille"
        );
    }
}

#[test]
fn a_flood_of_one_character_is_not_taken_for_nothing() {
    for unit in [
        "a", "Q", "7", "!", "-", "=", ".", "中", "あ", "가", "я", "😀", "ab", "\n", " ", "\t", "═",
    ] {
        let text = unit.repeat(20_000);
        let (exact, guess) = (count(ENCODING, &text), estimate(&text));
        assert!(guess * 8 >= exact, "`{unit}`: {guess} for {exact}");
    }
}

#[test]
fn counts_say_what_they_rest_on() {
    let basis = |counting, own| TokenCount::of("Berth 14 is free.", counting, own).basis;
    assert_eq!(basis(Counting::Estimate, Some(ENCODING)), Basis::Estimate);
    assert_eq!(
        basis(Counting::Exact(ENCODING), Some(ENCODING)),
        Basis::Tokenizer
    );
    assert_eq!(basis(Counting::Exact(ENCODING), None), Basis::Neighbour);
    let count = TokenCount::of("Berth 14 is free.", Counting::Exact(ENCODING), None);
    insta::assert_json_snapshot!(count, @r#"
    {
      "tokens": 7,
      "basis": "neighbour"
    }
    "#);
}

#[test]
fn input_that_tokenizers_choke_on_is_counted_in_good_time() {
    // The tokenizer itself gives up on a million blanks.
    let floods = ["a", " ", "\n", "!", "x9", "é"].map(|unit| unit.repeat(1_000_000 / unit.len()));
    for text in &floods {
        let measured = measure(ENCODING, text);
        assert!(measured.tokens > 1000);
        assert!(measured.forced_cuts < 40);
        let labelled = TokenCount::of(text, Counting::Exact(ENCODING), Some(ENCODING));
        assert_eq!(labelled.basis, Basis::Estimate);
    }
}

#[test]
fn long_texts_are_cut_where_it_does_not_matter() {
    let (_, text) = SAMPLES[1];
    let long = text.repeat(100);
    assert!(long.len() > 100_000);
    let measured = measure(ENCODING, &long);
    assert_eq!(measured.forced_cuts, 0);
    // The sample ends with a line, so that each copy is counted on its own.
    assert_eq!(measured.tokens, 100 * count(ENCODING, text));
}

/// Text of all kinds: words, blanks, noise, and whatever else there is.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z]{1,20}",
        "[ \t\n]{1,5}",
        "[A-Za-z0-9_./-]{1,30}",
        "[äöüéß ]{1,8}",
        "[語あア한яع😀👍🏽\u{200d}]{1,8}",
        "\\PC{0,10}",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_part_never_has_more_tokens_than_the_whole(text in any_text(), at in any::<prop::sample::Index>()) {
        let prefix = &text[..text.floor_char_boundary(at.index(text.len() + 1))];
        prop_assert!(estimate(prefix) <= estimate(&text));
        prop_assert_eq!(estimate(prefix) == 0, prefix.is_empty());
    }

    #[test]
    fn joining_two_texts_adds_next_to_nothing(a in any_text(), b in any_text()) {
        let apart = estimate(&a) + estimate(&b);
        let joined = estimate(&(a + &b));
        prop_assert!(joined <= apart + 6, "{} for {}", joined, apart);
    }

    #[test]
    fn the_longest_prefix_within_a_number_of_tokens_is_found(text in any_text(), tokens in 0usize..60) {
        let units = units_within(&text, tokens);
        let prefix = utf16_prefix(&text, units);
        prop_assert_eq!(utf16_len(prefix), units);
        prop_assert!(estimate(prefix) <= tokens);
        if let Some(next) = text[prefix.len()..].chars().next() {
            prop_assert!(estimate(&text[..prefix.len() + next.len_utf8()]) > tokens);
        }
    }
}
