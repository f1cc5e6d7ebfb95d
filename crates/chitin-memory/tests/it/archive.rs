//! What past conversations say: people and agent, nobody else, and always with the line it stands on.

use chitin_contract::ArchiveRules;
use chitin_memory::archive::{ArchivedConversation, SessionText, session_text};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::borrow::Cow;

const RULES: [ArchiveRules; 3] = [
    ArchiveRules::CANONICAL,
    ArchiveRules::OPENCLAW_2026_4,
    ArchiveRules::OPENCLAW_2026_9,
];
const MAIN: ArchivedConversation<'static> = ArchivedConversation {
    agent: "main",
    file_name: "s1.jsonl",
};

fn said(role: &str, content: impl Into<Value>) -> String {
    json!({"type": "message", "message": {"role": role, "content": content.into()}}).to_string()
}

fn archived(lines: &[String], rules: &ArchiveRules) -> SessionText {
    let transcript = lines.join("\n") + "\n";
    session_text(MAIN, transcript.as_bytes(), rules, &|text| text.into())
}

/// Returns what is remembered of words of the user's.
fn user(text: &str, rules: &ArchiveRules) -> String {
    archived(&[said("user", text)], rules).text
}

#[test]
fn people_and_agent_are_remembered_with_the_lines_they_stand_on() {
    let lines = [
        json!({"type": "session", "id": "s1"}).to_string(),
        said("user", " When does\n\tthe tide turn? "),
        "not json".to_owned(),
        said(
            "assistant",
            json!([
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "At six."},
                {"type": "toolCall", "id": "1", "name": "read", "arguments": {}},
                {"type": "text", "text": "Or seven."},
            ]),
        ),
        said("toolResult", "a secret"),
        json!({"type": "compaction", "summary": "of all"}).to_string(),
        said("user", "  "),
        said("user", "Thanks."),
    ];
    for rules in &RULES {
        let archived = archived(&lines, rules);
        assert_eq!(
            archived.text,
            "User: When does the tide turn?\nAssistant: At six. Or seven.\nUser: Thanks."
        );
        assert_eq!(archived.line_map, [2, 4, 8]);
    }
    assert_eq!(archived(&lines, &RULES[1]).path, "sessions/s1.jsonl");
    assert_eq!(archived(&lines, &RULES[2]).path, "sessions/main/s1.jsonl");
}

#[test]
fn what_a_surface_wraps_around_words_goes() {
    let labelled = "Conversation info (untrusted metadata):\n```json\n{\"id\": 1}\n```\n\n[Wed 2026-04-29 10:15 UTC] hello";
    let marked = "Sender: \u{27e6}openclaw:ctx\u{27e7}\n```json\n{\"id\": 1}\n```\n\n[Wed 2026-04-29 10:15 UTC] hello";
    let [canonical, earlier, later] = &RULES;
    assert_eq!(user(labelled, earlier), "User: hello");
    assert_eq!(user(marked, later), "User: hello");
    assert_eq!(user(labelled, canonical), "User: hello");
    assert_eq!(user(marked, canonical), "User: hello");
    assert!(user(marked, earlier).contains("openclaw:ctx"));
    // A user who writes such a line, and no block below it, is heard.
    let quoted = "Sender (untrusted metadata):\nwhat is that?";
    assert_eq!(
        user(quoted, canonical),
        "User: Sender (untrusted metadata): what is that?"
    );
}

#[test]
fn words_that_nobody_said_to_anybody_go_where_the_release_leaves_them_out() {
    let from_session = json!({"type": "message", "message": {
        "role": "user", "content": "from next door", "provenance": {"kind": "inter_session"},
    }});
    let from_memory = json!({"type": "message", "message": {
        "role": "user", "content": "look this up",
        "provenance": {"kind": "internal_system", "sourceTool": "memory_search"},
    }});
    let lines = [
        said("user", "System: [10:15] node connected"),
        said("user", "[cron:tide check] look at the tide"),
        said("assistant", "HEARTBEAT_OK"),
        said("assistant", "**NO_REPLY**"),
        said("user", "Exec finished (quay, code 0) :: done"),
        from_session.to_string(),
        from_memory.to_string(),
        said("assistant", "an answer to the memory itself"),
        said("user", "NO_REPLY is a strange word"),
    ];
    let heard = archived(&lines, &ArchiveRules::OPENCLAW_2026_9);
    assert_eq!(heard.text, "User: NO_REPLY is a strange word");
    assert_eq!(heard.line_map, [9]);
    let all = archived(&lines, &ArchiveRules::OPENCLAW_2026_4);
    assert_eq!(all.line_map, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

fn redact(text: &str) -> Cow<'_, str> {
    text.replace("is s3cr3t", "is gone").into()
}

#[test]
fn secrets_are_taken_out_before_anything_is_kept() {
    let line = said("user", "the key is\n  s3cr3t");
    for rules in &RULES {
        let archived = session_text(MAIN, line.as_bytes(), rules, &redact);
        assert_eq!(archived.text, "User: the key is gone");
    }
}

#[test]
fn half_of_a_character_does_not_cost_the_message() {
    let line = r#"{"type":"message","message":{"role":"user","content":"tide \ud83d here \ud83d\ude00 \\ud800"}}"#;
    let archived = session_text(MAIN, line.as_bytes(), &RULES[0], &|text| text.into());
    assert_eq!(archived.text, "User: tide \u{fffd} here \u{1f600} \\ud800");
}

#[test]
fn a_line_too_long_to_be_a_message_is_passed_over_and_the_next_keeps_its_number() {
    let long = said("user", "x".repeat(4 * 1024 * 1024));
    let archived = archived(&[long, said("user", "after")], &RULES[0]);
    assert_eq!(
        (&*archived.text, &*archived.line_map),
        ("User: after", &[2][..])
    );
}

#[test]
fn of_a_transcript_without_end_the_end_is_remembered() {
    let filler = format!("{}\n", "y".repeat(1024 * 1024 - 1)).repeat(65);
    let first = said("user", "first");
    let transcript = format!("{first}\n{filler}{}\n", said("user", "last"));
    let archived = session_text(MAIN, transcript.as_bytes(), &RULES[0], &|text| text.into());
    assert_eq!(
        (&*archived.text, &*archived.line_map),
        ("User: last", &[67][..])
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever stands in a transcript, every line of the text has its line, none is longer than it may be, and nothing fails.
    #[test]
    fn every_line_has_its_place(lines in proptest::collection::vec(anything(), 0..12)) {
        for rules in &RULES {
            let archived = archived(&lines, rules);
            let count = if archived.text.is_empty() { 0 } else { archived.text.split('\n').count() };
            prop_assert_eq!(count, archived.line_map.len());
            prop_assert!(archived.line_map.is_sorted());
            for line in archived.text.lines() {
                let said = line.strip_prefix("User: ").or_else(|| line.strip_prefix("Assistant: "));
                prop_assert!(said.is_some_and(|said| said.encode_utf16().count() <= 800));
            }
        }
    }

    /// A long message is cut, never changed: the pieces make the text again.
    #[test]
    fn cutting_loses_no_word(words in proptest::collection::vec("[a-z\u{1f600}é]{1,400}", 1..60)) {
        let text = words.join(" ");
        let archived = archived(&[said("user", text.clone())], &RULES[0]);
        let pieces: String = archived.text.lines().map(|line| &line["User: ".len()..]).collect();
        prop_assert_eq!(pieces.replace(' ', ""), text.replace(' ', ""));
    }
}

/// A line of a transcript, or something like one.
fn anything() -> impl Strategy<Value = String> {
    let fragments = proptest::sample::select(vec![
        "Sender (untrusted metadata):",
        "Context: \u{27e6}openclaw:ctx\u{27e7}",
        "Info: \u{27e6}openclaw:ctx\u{27e7}",
        "```json",
        "```",
        "<active_memory_plugin>",
        "</active_memory_plugin>",
        "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>",
        "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>",
        "[Wed 2026-04-29 10:15",
        "NO_REPLY",
        "System: [",
        "Exec failed (",
        "",
    ]);
    let text = proptest::collection::vec(
        prop_oneof![fragments.prop_map(str::to_owned), ".{0,900}"],
        0..8,
    )
    .prop_map(|parts| parts.join("\n"));
    let role = proptest::sample::select(vec!["user", "assistant", "toolResult"]);
    prop_oneof![
        4 => (role, text).prop_map(|(role, text)| said(role, text)),
        1 => ".{0,40}".prop_map(|text: String| text.replace('\n', " ")),
    ]
}
