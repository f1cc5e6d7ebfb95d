//! Answers that mean "say nothing".

use chitin_contract::OutboundRules;
use chitin_text::silent::{
    ACK_MAX_CHARS, GateEnding, HeartbeatMode, SilentGate, is_silent_answer, spoken, strip_heartbeat,
};
use proptest::prelude::*;

const CONTRACTS: [OutboundRules; 3] = [
    OutboundRules::CANONICAL,
    OutboundRules::OPENCLAW_2026_4,
    OutboundRules::OPENCLAW_2026_9,
];

/// Feeds an answer to a gate; returns all that was shown, and how it ended.
fn through_gate(deltas: &[&str], rules: OutboundRules) -> (Vec<String>, GateEnding) {
    let mut gate = SilentGate::new(rules);
    let shown = deltas.iter().map(|delta| gate.push(delta)).collect();
    (shown, gate.finish())
}

#[test]
fn a_token_is_never_seen_while_it_is_written() {
    let deltas = ["N", "O", "_RE", "PLY", "\n"];
    let (shown, ending) = through_gate(&deltas, OutboundRules::CANONICAL);
    assert_eq!(shown.concat(), "");
    assert!(ending.silent && ending.rest.is_empty());
}

#[test]
fn words_that_only_begin_like_the_token_are_shown() {
    let (shown, ending) = through_gate(&["NO", " lamps", " today"], OutboundRules::CANONICAL);
    assert_eq!(shown.concat() + &ending.rest, "NO lamps today");
    assert!(!ending.silent);
}

#[test]
fn a_token_behind_words_is_taken_off() {
    let (shown, ending) = through_gate(&["All lit. ", "NO_", "REPLY"], OutboundRules::CANONICAL);
    assert_eq!(shown.concat() + &ending.rest, "All lit.");
    assert!(!ending.silent);
}

#[test]
fn a_heartbeat_with_little_to_say_is_skipped_and_a_message_is_not() {
    let mode = HeartbeatMode::Heartbeat {
        ack_max_chars: ACK_MAX_CHARS,
    };
    assert!(strip_heartbeat("HEARTBEAT_OK all lit", mode).skip);
    let said = strip_heartbeat("HEARTBEAT_OK all\nlit", HeartbeatMode::Message);
    assert_eq!((said.skip, said.text.as_str()), (false, "all lit"));
    assert!(!strip_heartbeat("say HEARTBEAT_OK twice", mode).stripped);
    assert!(strip_heartbeat("<b>HEARTBEAT_OK</b>", HeartbeatMode::Message).skip);
}

fn answer() -> impl Strategy<Value = Vec<String>> {
    let words = [
        "NO_REPLY",
        "no_reply",
        "NO_",
        "NO",
        "N",
        "_REPLY",
        " ",
        "\n",
        "*",
        "**",
        ".",
        "text",
        "é",
        "{\"action\":\"NO_REPLY\"}",
        "{",
        "\"",
        "1",
        "…",
    ];
    proptest::collection::vec(
        proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        0..8,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_shown_is_what_is_said_however_it_comes(words in answer(), step in 1usize..6) {
        let whole = words.concat();
        let characters: Vec<char> = whole.chars().collect();
        let deltas: Vec<String> = characters.chunks(step).map(|part| part.iter().collect()).collect();
        let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
        for rules in CONTRACTS {
            let (shown, ending) = through_gate(&deltas, rules);
            let said = spoken(&whole, &rules);
            prop_assert_eq!(shown.concat() + &ending.rest, said.clone().unwrap_or_default(), "{:?}", whole);
            prop_assert_eq!(ending.silent, said.is_none(), "{:?}", whole);
        }
    }

    #[test]
    fn no_word_of_an_answer_is_lost(text in "[a-z][a-z .]{0,39}", glued: bool) {
        for rules in CONTRACTS {
            let answer = if glued { format!("{text} NO_REPLY") } else { text.clone() };
            let said = spoken(&answer, &rules).unwrap_or_default();
            prop_assert_eq!(said, text.trim());
        }
    }

    #[test]
    fn nothing_makes_the_gate_stumble(text in any::<String>(), more in any::<String>()) {
        for rules in CONTRACTS {
            through_gate(&[&text, &more], rules);
            is_silent_answer(&text, &rules);
            strip_heartbeat(&text, HeartbeatMode::Message);
        }
    }
}
