use super::*;
use chitin_protocol::text::utf16_len;
use proptest::prelude::*;

fn cut(text: &str, limit: usize) -> String {
    let mut out = String::new();
    push_cut(&mut out, text, limit);
    out
}

#[test]
fn white_space_collapses_and_a_cut_never_ends_in_a_space() {
    assert_eq!(cut(" \t two\u{a0}\n words  ", 9), "two words");
    assert_eq!(cut("two words here", 9), "two wo...");
    assert_eq!(cut("two words here", 7), "two...");
    assert_eq!(cut("two words here", 6), "two...");
    assert_eq!(cut(" \n ", 9), "");
}

#[test]
fn a_pair_of_units_is_kept_or_left_out_whole() {
    assert_eq!(cut("ab😀cdefgh", 6), "ab...");
    assert_eq!(cut("ab😀cdefgh", 7), "ab😀...");
}

#[test]
fn what_is_cut_is_escaped_afterwards() {
    assert_eq!(cut("<&> and more", 6), "&lt;&amp;&gt;...");
}

proptest! {
    /// The table of lengths says what cutting would give, for every limit.
    #[test]
    fn lengths_are_those_of_the_text(texts in prop::collection::vec("[a-c&<'\" \n😀é\u{3000}]{0,40}", 0..4)) {
        let mut lengths = CutLengths::new(4..=30);
        for text in &texts {
            lengths.add(text, 7);
        }
        for limit in 4..=30 {
            let real: usize = texts.iter().map(|text| utf16_len(&cut(text, limit)) + 7).sum();
            prop_assert_eq!(lengths.under(limit), real, "limit {}", limit);
        }
    }
}
