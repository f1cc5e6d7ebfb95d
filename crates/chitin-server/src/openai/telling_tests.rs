//! Close-up: whatever comes in whatever pieces, the same text is told.

use super::*;
use proptest::prelude::*;

const RULES: OutboundRules = OutboundRules::CANONICAL;

/// Cuts a text at characters.
fn cut(text: &str, every: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters
        .chunks(every.max(1))
        .map(|chunk| chunk.iter().collect())
        .collect()
}

fn shown(answers: &[String]) -> String {
    let shown = answers.iter().filter_map(|answer| {
        let shown = spoken(answer, &RULES)?.trim().to_owned();
        (!shown.is_empty()).then_some(shown)
    });
    shown.collect::<Vec<_>>().join(BETWEEN)
}

fn answer() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("NO_REPLY"),
        Just("larch"),
        Just("NO"),
        Just("é"),
        Just("**"),
        Just("two\nlines")
    ];
    proptest::collection::vec(word, 0..6).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn the_same_is_told_whole_in_pieces_and_with_pieces_missing(
        answers in proptest::collection::vec(answer(), 0..4),
        every in 1usize..6,
        missing in proptest::collection::vec(any::<bool>(), 0..12),
        in_pieces in any::<bool>(),
    ) {
        let mut telling = Telling::new(RULES);
        let mut told = String::new();
        let mut missing = missing.into_iter();
        for answer in &answers {
            for piece in cut(answer, every).iter().filter(|_| in_pieces) {
                if missing.next() == Some(true) {
                    telling.missed();
                } else {
                    told += &telling.piece(piece);
                }
            }
            told += &telling.whole(answer);
        }
        prop_assert_eq!(told.trim(), shown(&answers));
        prop_assert!(!telling.is_broken());
    }
}

#[test]
fn an_answer_that_is_given_again_in_other_words_stands_by_itself() {
    let mut telling = Telling::new(RULES);
    let mut told = telling.piece("Five larch ");
    telling.missed();
    told += &telling.piece("Two");
    told += &telling.whole("Two oak.");
    assert_eq!(told, "Five larch\n\nTwo oak.");
}
