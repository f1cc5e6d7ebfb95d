//! Whatever bytes come, the text is valid, clean and within its bounds.

use chitin_tools::output::{Bounded, Capture, Cleaner, Controls, OutputLimits, clean};
use chitin_tools::redact::Redactor;
use proptest::prelude::*;

fn bounded(text: &str, limits: OutputLimits) -> String {
    let mut bounded = Bounded::new(limits);
    bounded.push(text);
    bounded.finish().text
}

#[test]
fn what_fits_is_left_alone() {
    assert_eq!(bounded("one\ntwo", OutputLimits::bytes(7)), "one\ntwo");
    assert_eq!(
        bounded("one\ntwo\n", OutputLimits::bytes(100).lines(2)),
        "one\ntwo\n"
    );
    assert_eq!(bounded("", OutputLimits::bytes(0)), "");
}

#[test]
fn head_and_tail_stay_and_the_note_says_what_is_gone() {
    let lines: Vec<String> = (1..=100).map(|n| format!("line {n}\n")).collect();
    let lines = lines.concat();
    let limits = OutputLimits {
        head_percent: 50,
        ..OutputLimits::bytes(10_000).lines(5)
    };
    assert_eq!(
        bounded(&lines, limits),
        "line 1\nline 2\n[… 761 bytes, about 96 lines, omitted …]\nline 99\nline 100\n"
    );
    let long = bounded(&"x".repeat(1000), OutputLimits::bytes(200));
    assert!(long.starts_with("xxx") && long.ends_with("xxx") && long.contains("omitted"));
}

#[test]
fn terminals_and_carriage_returns_leave_no_trace() {
    let cleaned = |bytes: &[u8]| clean(bytes, Controls::Strip);
    assert_eq!(
        cleaned(b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07ok\x1b(B\x00\x7f"),
        "red ok"
    );
    assert_eq!(cleaned(b"10%\r20%\r\ndone\r"), "10%\n20%\ndone\n");
    assert_eq!(cleaned("tab\t\u{85}\u{9b}ä".as_bytes()), "tab\tä");
    assert_eq!(cleaned(b"a\xff\xe2\x82"), "a\u{fffd}\u{fffd}");
    assert_eq!(
        clean(b"a\x1b[b\r\nc\rd", Controls::Show),
        "a\\x1b[b\nc\\x0dd"
    );
}

#[test]
fn an_escape_sequence_without_end_does_not_swallow_everything() {
    let text = format!("\x1b]0;{}the end", "x".repeat(100_000));
    assert!(clean(text.as_bytes(), Controls::Strip).ends_with("the end"));
}

#[test]
fn ten_megabytes_leave_a_thousand_bytes() {
    let redactor = Redactor::default();
    let mut capture = Capture::new(OutputLimits::bytes(1000), &redactor);
    let chunk = vec![b'x'; 65_536];
    for _ in 0..160 {
        capture.push(&chunk);
    }
    let kept = capture.finish();
    assert_eq!(kept.total_bytes, 160 * 65_536);
    assert!(kept.text.len() <= 1000);
}

/// Cuts a text into pieces of the given lengths, over and over.
fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut pieces = Vec::new();
    for cut in cuts.iter().cycle().take(bytes.len() + 1) {
        let (piece, after) = rest.split_at((*cut).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

proptest! {
    #[test]
    fn the_bound_holds_for_any_bytes(
        bytes in prop::collection::vec(any::<u8>(), 0..3000),
        cuts in prop::collection::vec(0_usize..400, 1..6),
        max_bytes in 0_usize..600,
        max_lines in 0_usize..30,
        head_percent in 0_u8..=120,
    ) {
        let limits = OutputLimits { max_bytes, max_lines, head_percent };
        let redactor = Redactor::default();
        let mut capture = Capture::new(limits, &redactor);
        for piece in pieces(&bytes, &cuts) {
            capture.push(piece);
        }
        let kept = capture.finish();
        prop_assert!(kept.text.len() <= max_bytes);
        prop_assert!(kept.text.lines().count() <= max_lines);
        prop_assert!(kept.text.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
    }

    #[test]
    fn pieces_make_no_difference(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\r'), Just(b'\n'), Just(0x1b), Just(0xc3)], 0..300),
        cuts in prop::collection::vec(0_usize..9, 1..5),
        max_bytes in 0_usize..400,
    ) {
        for controls in [Controls::Strip, Controls::Show] {
            let mut cleaner = Cleaner::new(controls);
            let mut text: String = pieces(&bytes, &cuts).into_iter().map(|piece| cleaner.push(piece)).collect();
            text.push_str(&cleaner.finish());
            prop_assert_eq!(&text, &clean(&bytes, controls));
        }
        let text = clean(&bytes, Controls::Strip);
        let limits = OutputLimits::bytes(max_bytes).lines(10);
        let mut in_pieces = Bounded::new(limits);
        text.split_inclusive(' ').for_each(|piece| in_pieces.push(piece));
        let mut at_once = Bounded::new(limits);
        at_once.push(&text);
        prop_assert_eq!(in_pieces.finish(), at_once.finish());
    }

    #[test]
    fn nothing_is_left_out_that_fits(text in "[a-z\n]{0,300}") {
        let mut bounded = Bounded::new(OutputLimits::bytes(300));
        bounded.push(&text);
        let kept = bounded.finish();
        prop_assert_eq!(kept.left_out, 0);
        prop_assert_eq!(kept.text, text);
    }
}
