//! What an agent says, cut for every surface.

use crate::novelty;
use chitin_contract::OutboundRules;
use chitin_text::settings::{BlockChunking, BreakPreference};
use chitin_text::silent::{SilentGate, spoken};
use chitin_text::{ChunkLimits, ChunkMode, TextFormat, chunks};

/// What Markdown is made of, and what means silence.
pub const DICTIONARY: &[&str] = &[
    "```js\n",
    "\n```\n",
    "~~~",
    "    ",
    "\t",
    "\n\n",
    "\r\n",
    "> ",
    "- ",
    "1. ",
    "# ",
    "**",
    "_",
    "~~",
    "||",
    "`",
    "``",
    "[a](b)",
    "[a]: b\n",
    "![",
    "](",
    "<b>",
    "</b>",
    "<!--",
    "&amp;",
    "&lt;",
    "https://e.org/",
    "www.a.com",
    "a.md",
    "a@b.co",
    "(",
    ")",
    "\u{1f600}",
    "\u{200d}",
    "\u{301}",
    "\u{2028}",
    "NO_REPLY",
    "Reasoning:\n_",
];

const FORMATS: [TextFormat; 5] = [
    TextFormat::Plain,
    TextFormat::Markdown,
    TextFormat::Discord,
    TextFormat::Slack,
    TextFormat::Telegram,
];

/// Takes a limit in two bytes, then a text.
pub fn run(data: &[u8]) {
    let Some((&[low, high], rest)) = data.split_first_chunk::<2>() else {
        return;
    };
    let limit = usize::from(low) + 16 * usize::from(high & 15);
    let text = String::from_utf8_lossy(rest);
    let contracts = [
        OutboundRules::CANONICAL,
        OutboundRules::OPENCLAW_2026_4,
        OutboundRules::OPENCLAW_2026_9,
    ];
    for (number, rules) in contracts.iter().enumerate() {
        for format in FORMATS {
            for mode in [ChunkMode::Length, ChunkMode::Newline] {
                let limits = ChunkLimits {
                    max_chars: limit,
                    mode,
                    ..ChunkLimits::of(format)
                };
                let cut = chunks(&text, &limits, rules);
                novelty::note((number, format as u8, cut.len().min(8)));
                for piece in cut.iter().filter(|_| number == 0 && limit >= 40) {
                    let length = piece.body.encode_utf16().count();
                    assert!(length <= limit, "a piece is too long");
                }
            }
        }
        gate(&text, rules);
        stream(&text, limit, rules);
    }
}

/// What is shown while an answer comes is what is said of the whole.
fn gate(text: &str, rules: &OutboundRules) {
    let mut gate = SilentGate::new(*rules);
    let mut shown = String::new();
    for character in text.chars().take(1000) {
        shown += &gate.push(character.encode_utf8(&mut [0; 4]));
    }
    let ending = gate.finish();
    let whole: String = text.chars().take(1000).collect();
    if whole.len() <= 1024 {
        let said = spoken(&whole, rules);
        assert_eq!(shown + &ending.rest, said.clone().unwrap_or_default());
        assert_eq!(ending.silent, said.is_none());
    }
}

/// A stream ends empty.
fn stream(text: &str, limit: usize, rules: &OutboundRules) {
    let chunking = BlockChunking {
        min_chars: limit / 2,
        max_chars: limit,
        break_preference: BreakPreference::Paragraph,
        flush_on_paragraph: limit.is_multiple_of(2),
    };
    let mut stream = chitin_text::BlockStream::new(chunking, *rules);
    for line in text.split_inclusive('\n') {
        stream.push(line);
        novelty::note(("blocks", stream.drain(false).len().min(8)));
    }
    stream.drain(true);
    assert_eq!(stream.buffered(), "", "something stays in a stream");
}
