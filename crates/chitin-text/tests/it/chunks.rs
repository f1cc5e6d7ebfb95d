//! What a surface is sent of what an agent says.

use chitin_contract::OutboundRules;
use chitin_text::settings::{AccountRef, block_chunking, coalescing, text_limit};
use chitin_text::{ChunkLimits, ChunkMode, TextFormat, chunks};
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

const CONTRACTS: [OutboundRules; 3] = [
    OutboundRules::CANONICAL,
    OutboundRules::OPENCLAW_2026_4,
    OutboundRules::OPENCLAW_2026_9,
];

const FORMATS: [TextFormat; 5] = [
    TextFormat::Plain,
    TextFormat::Markdown,
    TextFormat::Discord,
    TextFormat::Slack,
    TextFormat::Telegram,
];

/// What a cut character would be shown as.
const BROKEN: char = '\u{fffd}';

fn limits(format: TextFormat, max_chars: usize, mode: ChunkMode) -> ChunkLimits {
    ChunkLimits {
        max_chars,
        mode,
        ..ChunkLimits::of(format)
    }
}

fn bodies(text: &str, limits: &ChunkLimits, rules: &OutboundRules) -> Vec<String> {
    let chunks = chunks(text, limits, rules);
    chunks.into_iter().map(|piece| piece.body).collect()
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Tells whether every character of one text comes in another, in order; blanks aside.
fn holds(whole: &str, words: &str) -> bool {
    let mut rest = whole.chars();
    words
        .chars()
        .filter(|c| !c.is_whitespace())
        .all(|word| rest.any(|c| c == word))
}

/// Returns the marker of the code block that is open at the end of a text.
fn open_fence(text: &str) -> Option<String> {
    let mut open: Option<String> = None;
    for line in text.lines() {
        let line = line.trim_start_matches(' ');
        let marker: String = ['`', '~']
            .iter()
            .map(|&mark| line.chars().take_while(|&c| c == mark).collect::<String>())
            .find(|marker| marker.len() >= 3)
            .unwrap_or_default();
        if marker.is_empty() {
            continue;
        }
        match &open {
            None => open = Some(marker),
            Some(opening)
                if marker.starts_with(opening.as_str())
                    && line[marker.len()..].trim().is_empty() =>
            {
                open = None;
            }
            Some(_) => {}
        }
    }
    open
}

/// Tells whether every tag is closed, in order.
fn is_well_formed(html: &str) -> bool {
    let mut open = Vec::new();
    let mut rest = html;
    while let Some((_, tag)) = rest.split_once('<') {
        let Some((tag, behind)) = tag.split_once('>') else {
            return false;
        };
        rest = behind;
        match tag.strip_prefix('/') {
            Some(name) if open.last() == Some(&name) => {
                open.pop();
            }
            Some(_) => return false,
            None => open.push(tag.split(' ').next().unwrap_or_default()),
        }
    }
    open.is_empty()
}

fn word() -> impl Strategy<Value = String> {
    let words = [
        "lamp",
        "the quay",
        "(in dusk",
        "glass)",
        "wick.",
        "😀",
        "👨‍👩‍👧",
        "e\u{301}",
        "日本語",
        "**bold**",
        "*it*",
        "_i_",
        "~~gone~~",
        "||hidden||",
        "`co de`",
        "``a`b``",
        "[map](https://example.org/map_(1))",
        "[x",
        "](y)",
        "<b>",
        "&",
        "&amp;",
        "README.md",
        "www.example.com/a?b",
        "https://e.org/a*b*",
        "**open",
        "- dash",
        "1. one",
        "\\*",
        "!",
        "\u{2028}",
        "\t",
    ];
    prop_oneof![
        8 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => "[a-z]{1,90}",
        1 => "\\PC{0,6}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    proptest::collection::vec(word(), 1..7).prop_map(|words| words.join(" "))
}

fn code() -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-z (){};=]{0,60}", 1..6).prop_map(|lines| lines.join("\n"))
}

fn block() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => line(),
        1 => line().prop_map(|line| format!("# {line}")),
        1 => (line(), line()).prop_map(|(a, b)| format!("- {a}\n  - {b}\n- c")),
        1 => (line(), line()).prop_map(|(a, b)| format!("> {a}\n> {b}")),
        2 => ("(js|py|)", code()).prop_map(|(name, code)| format!("```{name}\n{code}\n```")),
        1 => code().prop_map(|code| format!("  ~~~text\n  {code}\n  ~~~")),
        1 => code().prop_map(|code| format!("````md\n```\n{code}\n```\n````")),
    ]
}

fn document() -> impl Strategy<Value = String> {
    proptest::collection::vec(block(), 0..7).prop_map(|blocks| blocks.join("\n\n"))
}

#[test]
fn a_wide_character_at_the_end_of_a_full_message_begins_the_next_one() {
    let (first, limit) = ("x".repeat(38), 40);
    let text = format!("{first}\n😀");
    let limits = limits(TextFormat::Discord, limit, ChunkMode::Length);
    let bodies = bodies(&text, &limits, &OutboundRules::CANONICAL);
    assert_eq!(bodies, [first, "😀".to_owned()]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn no_piece_is_longer_than_its_limit(text in document(), limit in 40usize..400, newline: bool) {
        let rules = OutboundRules::CANONICAL;
        let mode = if newline { ChunkMode::Newline } else { ChunkMode::Length };
        for format in FORMATS {
            let limits = limits(format, limit, mode);
            for body in bodies(&text, &limits, &rules) {
                prop_assert!(units(&body) <= limit, "{format:?}: {} > {limit}: {body}", units(&body));
                if format == TextFormat::Discord {
                    prop_assert!(body.split('\n').count() <= limits.max_lines, "{body}");
                }
            }
        }
    }

    #[test]
    fn no_word_is_lost(text in document(), limit in 40usize..400) {
        let rules = OutboundRules::CANONICAL;
        for format in [TextFormat::Plain, TextFormat::Markdown, TextFormat::Discord] {
            for mode in [ChunkMode::Length, ChunkMode::Newline] {
                let whole = bodies(&text, &limits(format, limit, mode), &rules).concat();
                prop_assert!(holds(&whole, &text), "{format:?} {mode:?}: {whole}");
            }
        }
        let plain = |limit| {
            let chunks = chunks(&text, &limits(TextFormat::Telegram, limit, ChunkMode::Length), &rules);
            chunks.into_iter().filter_map(|piece| piece.plain).collect::<String>()
        };
        prop_assert!(holds(&plain(limit), &plain(1_000_000)));
    }

    #[test]
    fn code_blocks_are_closed_in_every_piece(text in document(), limit in 60usize..400) {
        for format in [TextFormat::Markdown, TextFormat::Discord] {
            for mode in [ChunkMode::Length, ChunkMode::Newline] {
                for body in bodies(&text, &limits(format, limit, mode), &OutboundRules::CANONICAL) {
                    prop_assert_eq!(open_fence(&body), None, "{:?} {:?}: {}", format, mode, body);
                }
            }
        }
    }

    #[test]
    fn no_character_is_cut(text in "\\PC{0,200}", limit in 2usize..40) {
        for rules in &CONTRACTS {
            for format in [TextFormat::Plain, TextFormat::Markdown, TextFormat::Discord] {
                for body in bodies(&text, &limits(format, limit, ChunkMode::Length), rules) {
                    prop_assert!(!body.contains(BROKEN) || text.contains(BROKEN), "{}", body);
                }
            }
        }
    }

    #[test]
    fn telegram_is_sent_well_formed_html(text in document(), limit in 80usize..400) {
        for rules in &CONTRACTS {
            for body in bodies(&text, &limits(TextFormat::Telegram, limit, ChunkMode::Length), rules) {
                prop_assert!(is_well_formed(&body), "{body}");
            }
        }
    }

    #[test]
    fn nothing_makes_it_stumble(text in any::<String>(), limit in 0usize..64, lines in 0usize..4) {
        for rules in &CONTRACTS {
            for format in FORMATS {
                for mode in [ChunkMode::Length, ChunkMode::Newline] {
                    let limits = ChunkLimits { format, max_chars: limit, max_lines: lines, mode };
                    chunks(&text, &limits, rules);
                }
            }
        }
    }
}

#[test]
fn a_code_block_that_is_cut_goes_on_as_code() {
    let text = "Look:\n```rust\nlet lamp = light(0);\nlet wick = oil(1);\n```\nDone.";
    let cut = bodies(
        text,
        &limits(TextFormat::Markdown, 40, ChunkMode::Length),
        &OutboundRules::CANONICAL,
    );
    insta::assert_snapshot!(cut.join("\n——\n"), @r"
    Look:
    ——
    ```rust
    let lamp = light(0);
    ```
    ——
    ```rust
    let wick = oil(1);
    ```
    Done.
    ");
}

#[test]
fn a_long_line_of_code_goes_on_in_the_next_message_for_discord() {
    let text = format!("```js\n{}\n```", "z".repeat(50));
    let limits = limits(TextFormat::Discord, 40, ChunkMode::Length);
    let cut = bodies(&text, &limits, &OutboundRules::CANONICAL);
    insta::assert_snapshot!(cut.join("\n——\n"), @r"
    ```js
    zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
    ```
    ——
    ```js
    zzzzzzzzzzzzzzzzzzzz
    ```
    ");
}

#[test]
fn a_marker_of_thousands_of_characters_keeps_to_the_limit() {
    for marker in ["~", "`"] {
        for text in [
            marker.repeat(3000),
            format!("{}\ncode\n", marker.repeat(1500)),
            format!("{}\ncode\n", marker.repeat(990)),
            format!(
                "a\n{0}\n{1}\n{0}\nb",
                marker.repeat(1100),
                "code ".repeat(800)
            ),
        ] {
            for mode in [ChunkMode::Length, ChunkMode::Newline] {
                for format in FORMATS {
                    let limits = limits(format, 2000, mode);
                    for piece in bodies(&text, &limits, &OutboundRules::CANONICAL) {
                        assert!(units(&piece) <= 2000, "{format:?}: {}", units(&piece));
                    }
                }
            }
        }
    }
}

#[test]
fn each_surface_gets_its_own_markup() {
    let text = "# Harbour\n\n**Lamps** and *oil*, see [the map](https://e.org/m) & README.md\n\n- one\n  - two\n\n> quoted\n\n```sh\nls <dir>\n```\n\n||dusk||";
    let shown = [TextFormat::Slack, TextFormat::Telegram].map(|format| {
        let body = bodies(text, &ChunkLimits::of(format), &OutboundRules::CANONICAL).join("\n——\n");
        format!("== {format:?}\n{body}")
    });
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn settings_of_the_account_come_before_those_of_the_channel() {
    let config = json!({
        "agents": {"defaults": {"blockStreamingChunk": {"minChars": 10, "breakPreference": "sentence"}}},
        "channels": {"slack": {
            "textChunkLimit": 900,
            "streaming": {"chunkMode": "newline", "block": {"coalesce": {"idleMs": 50}}},
            "accounts": {"Work": {"textChunkLimit": 300}},
        }},
    });
    let rules = &OutboundRules::CANONICAL;
    let place = |account| AccountRef {
        channel: " Slack",
        account,
    };
    assert_eq!(text_limit(&config, place("work"), Some(40), rules), 300);
    assert_eq!(text_limit(&config, place(""), Some(40), rules), 900);
    let chunking = block_chunking(&config, place("work"), None, rules);
    assert_eq!((chunking.min_chars, chunking.max_chars), (10, 300));
    assert!(chunking.flush_on_paragraph);
    let together = coalescing(&config, place("work"), None, rules);
    assert_eq!(
        (together.max_chars, together.idle_ms, together.joiner),
        (300, 50, " ")
    );
}

/// Returns the least work of a few tries: what this thread had of a processor, whatever else the machine does meanwhile.
fn work(text: &str, format: TextFormat, rules: &OutboundRules) -> Duration {
    let limits = limits(format, 500, ChunkMode::Length);
    (0..3)
        .map(|_| {
            let start = on_processor();
            std::hint::black_box(chunks(text, &limits, rules));
            on_processor().saturating_sub(start)
        })
        .min()
        .unwrap_or_default()
}

/// Returns how long this thread has run, as the kernel counts it.
fn on_processor() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds = told.split(' ').next().unwrap();
    Duration::from_nanos(nanoseconds.parse().unwrap())
}

#[test]
fn eight_times_the_text_is_about_eight_times_the_work() {
    let patterns = [
        "word (and more) ",
        "```js\ncode\n```\n\n",
        "[a](b",
        "[[[[",
        "**a *b ",
        "`a ``b ",
        "<!-- ",
        "> ",
        "- a\n",
        "[a]: b\n",
        "&lt;<b>",
        "a.md ",
        "||a",
        "http://",
        "\n\n",
        "_a_ ",
        "```",
        "((((",
        "a@b.",
        "    ",
        "&lt;",
    ];
    for rules in [OutboundRules::CANONICAL, OutboundRules::OPENCLAW_2026_9] {
        for pattern in patterns {
            for format in FORMATS {
                let text = |size: usize| pattern.repeat(size / pattern.len());
                let small = work(&text(2 * 1024), format, &rules);
                let large = work(&text(16 * 1024), format, &rules);
                let least = Duration::from_millis(2);
                assert!(
                    large < small.max(least) * 40,
                    "{format:?} {pattern:?}: {small:?} and {large:?}"
                );
            }
        }
    }
}
