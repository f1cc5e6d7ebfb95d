//! Blocks of a stream.

use chitin_contract::OutboundRules;
use chitin_text::BlockStream;
use chitin_text::settings::{BlockChunking, BreakPreference};
use proptest::prelude::*;

fn chunking(min_chars: usize, max_chars: usize, flush_on_paragraph: bool) -> BlockChunking {
    BlockChunking {
        min_chars,
        max_chars,
        break_preference: BreakPreference::Paragraph,
        flush_on_paragraph,
    }
}

fn deltas() -> impl Strategy<Value = Vec<String>> {
    let words = [
        "lamp ",
        "oil. ",
        "\n",
        "\n\n",
        "```js\n",
        "\n```\n",
        "let a = 1;\n",
        "😀",
        "(dusk ",
        ") ",
        "    four\n",
    ];
    let delta = prop_oneof![
        6 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => "[a-z]{1,60}",
    ];
    proptest::collection::vec(delta, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn blocks_keep_their_limits_and_lose_no_word(
        deltas in deltas(), min in 1usize..60, more in 20usize..80, flush: bool,
    ) {
        let mut stream = BlockStream::new(chunking(min, min + more, flush), OutboundRules::CANONICAL);
        let mut given = String::new();
        for delta in &deltas {
            stream.push(delta);
            for block in stream.drain(false) {
                let length = block.encode_utf16().count();
                prop_assert!(length >= min, "{length} < {min}: {block}");
                prop_assert!(length <= min + more, "{length} > {}: {block}", min + more);
                given.push_str(&block);
            }
        }
        for block in stream.drain(true) {
            prop_assert!(block.encode_utf16().count() <= min + more, "{block}");
            given.push_str(&block);
        }
        prop_assert_eq!(stream.buffered(), "");
        // Lines that open and close code again may come more often; nothing else does.
        let words = |text: &str| text.split_whitespace().collect::<String>().replace(['`', 'j', 's'], "");
        prop_assert_eq!(words(&given), words(&deltas.concat()));
    }

    #[test]
    fn no_delta_makes_it_stumble(deltas in proptest::collection::vec(any::<String>(), 0..8), min in 0usize..20, max in 0usize..40) {
        for rules in [OutboundRules::CANONICAL, OutboundRules::OPENCLAW_2026_4, OutboundRules::OPENCLAW_2026_9] {
            let mut stream = BlockStream::new(chunking(min, max, false), rules);
            for delta in &deltas {
                stream.push(delta);
                stream.drain(false);
            }
            stream.drain(true);
        }
    }
}

#[test]
fn a_block_ends_where_a_paragraph_does() {
    let mut stream = BlockStream::new(chunking(10, 60, false), OutboundRules::CANONICAL);
    stream.push("The lamps are lit.\n\nThe oil is low.\n\nMore");
    assert_eq!(
        stream.drain(false),
        ["The lamps are lit.\n\nThe oil is low."]
    );
    assert_eq!(stream.buffered(), "More");
    assert_eq!(stream.drain(true), ["More"]);
}
