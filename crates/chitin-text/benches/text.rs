//! How long it takes to cut a hundred kilobytes of Markdown for each surface, beside copying them.

use chitin_contract::OutboundRules;
use chitin_text::{ChunkLimits, TextFormat, chunks};
use std::sync::LazyLock;

static TEXT: LazyLock<String> = LazyLock::new(|| {
    let part = "## Harbour\n\nThe **lamps** along the quay (all of them) are lit; see [the map](https://example.org/map) \
                and `README.md`.\n\n- oil, wick and glass\n  - two of each\n\n> counted twice before dusk\n\n```js\nconst lantern = \
                light(0); // row 0\n```\n\n";
    part.repeat(100_000 / part.len() + 1)
});

const FORMATS: [TextFormat; 5] = [
    TextFormat::Plain,
    TextFormat::Markdown,
    TextFormat::Discord,
    TextFormat::Slack,
    TextFormat::Telegram,
];

fn main() {
    divan::main();
}

#[divan::bench]
fn copy() -> String {
    divan::black_box(&*TEXT).clone()
}

#[divan::bench(args = FORMATS)]
fn cut(format: TextFormat) -> usize {
    let rules = OutboundRules::CANONICAL;
    chunks(divan::black_box(&TEXT), &ChunkLimits::of(format), &rules).len()
}
