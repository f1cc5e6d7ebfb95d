//! Output without end in bounded memory.

use chitin_tools::exec::Collector;
use proptest::prelude::*;

#[test]
fn short_output_is_kept_as_it_is() {
    let mut collector = Collector::new(100);
    collector.push(b"one\n");
    collector.push("zwei ä\n".as_bytes());
    let excerpt = collector.excerpt(0, 100);
    assert_eq!(
        (excerpt.text.as_str(), excerpt.missing),
        ("one\nzwei ä\n", 0)
    );
}

#[test]
fn long_output_keeps_its_ends_and_is_cut_between_lines() {
    let mut collector = Collector::new(1000);
    for number in 0..10_000 {
        collector.push(format!("line {number}\n").as_bytes());
    }
    let excerpt = collector.excerpt(0, 1000);
    assert!(excerpt.text.starts_with("line 0\nline 1\n"));
    assert!(excerpt.text.ends_with("line 9998\nline 9999\n"));
    assert!(
        excerpt
            .text
            .lines()
            .all(|line| line.starts_with("line ") || line.starts_with("[… "))
    );
    assert!(
        excerpt
            .text
            .contains(&format!("[… {} bytes omitted …]", excerpt.missing))
    );
}

#[test]
fn an_unfinished_word_is_not_settled() {
    let mut collector = Collector::new(100);
    collector.push(b"key: sk-12");
    assert_eq!(collector.settled(), 5);
    collector.push(b"34 ");
    assert_eq!(collector.settled(), collector.total());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_more_than_asked_for_and_never_a_byte_uncounted(
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20),
        keep in 0_usize..1500,
        limit in 0_usize..1500,
        from in 0_u32..3000,
        to in 0_u32..3000,
    ) {
        let mut collector = Collector::new(keep);
        let whole = chunks.concat();
        for chunk in &chunks {
            collector.push(chunk);
        }
        prop_assert_eq!(collector.total(), whole.len() as u64);
        prop_assert!(collector.settled() <= collector.total());
        let excerpt = collector.between(from.into(), to.into(), limit);
        // A byte that is not text takes three.
        prop_assert!(excerpt.text.len() <= limit * 3 + 64, "{} for {}", excerpt.text.len(), limit);
        let to = (to as usize).min(whole.len());
        let from = (from as usize).min(to);
        prop_assert!(excerpt.missing <= (to - from) as u64);
        if to - from <= limit && whole.len() <= keep {
            prop_assert_eq!(excerpt.text, String::from_utf8_lossy(&whole[from..to]));
        }
    }

    #[test]
    fn text_stays_text_around_a_cut(text in "\\PC{200,400}") {
        let mut collector = Collector::new(90);
        collector.push(text.as_bytes());
        let excerpt = collector.excerpt(0, 90);
        let broken = |text: &str| text.contains(char::REPLACEMENT_CHARACTER);
        prop_assert!(!broken(&excerpt.text) || broken(&text));
    }
}
