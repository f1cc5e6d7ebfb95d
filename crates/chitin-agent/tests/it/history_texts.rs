//! Texts that follow a summary: limits, file lists, failures, critical rules, identifiers.

use chitin_agent::compat::{MEDIA_AGED, SUMMARY_CUT};
use chitin_agent::history::{
    Audit, FileOperations, IdentifierPolicy, Pruning, audit, cap_summary, cap_with_suffix,
    critical_rules, failures_section, identifiers, preserve_turns, preserved_section,
    tool_failures, without_images,
};
use chitin_contract::{HistoryRules, SummaryRules};
use chitin_protocol::message::Message;
use chitin_protocol::text::utf16_len;
use proptest::prelude::*;
use serde_json::json;

const FOUR: HistoryRules = HistoryRules::OPENCLAW_2026_4;
const NINE: HistoryRules = HistoryRules::OPENCLAW_2026_9;

proptest! {
    #[test]
    fn a_summary_is_within_its_limit_and_the_suffix_survives(body in "[a-z语😀\n]{0,300}", suffix in "[A-Z😀\n]{0,120}", limit in 1usize..300) {
        prop_assert!(utf16_len(&cap_summary(&body, limit)) <= limit);
        let both = cap_with_suffix(&body, &suffix, limit);
        prop_assert!(utf16_len(&both) <= limit);
        if utf16_len(&suffix) < limit {
            prop_assert!(both.ends_with(&suffix));
        } else {
            prop_assert!(suffix.ends_with(&both));
        }
    }

    #[test]
    fn lists_of_files_are_within_their_limits(paths in prop::collection::vec("[a-z/]{1,200}", 0..40)) {
        for rules in [FOUR.summary, NINE.summary] {
            let files = FileOperations { read: paths.clone(), written: paths.iter().take(9).cloned().collect(), edited: Vec::new() };
            prop_assert!(utf16_len(&files.section(&rules)) <= SummaryRules::FILE_LISTS_CHARS);
            prop_assert!(files.read_only().iter().all(|path| !files.modified().contains(path)));
        }
    }
}

#[test]
fn files_are_listed_once_sorted_and_counted_when_there_are_too_many() {
    let files = FileOperations {
        read: ["b.txt", "a.txt", "w.txt"].map(str::to_owned).to_vec(),
        written: vec!["w.txt".to_owned()],
        edited: vec!["e.txt".to_owned(), "w.txt".to_owned()],
    };
    assert_eq!(
        files.section(&FOUR.summary),
        "\n\n<read-files>\na.txt\nb.txt\n\n</read-files>\n\n<modified-files>\ne.txt\nw.txt\n\n</modified-files>"
    );
    assert_eq!(
        files.section(&NINE.summary),
        "\n\n<read-files>\na.txt\nb.txt\n</read-files>\n\n<modified-files>\ne.txt\nw.txt\n</modified-files>"
    );
    let many = FileOperations {
        read: (0..100)
            .map(|number| format!("directory/file-{number:03}.txt"))
            .collect(),
        ..FileOperations::default()
    };
    let section = many.section(&FOUR.summary);
    let listed = section.matches("directory/").count();
    assert!(
        section.contains(&format!("\n...and {} more\n", 100 - listed)),
        "{section}"
    );
}

fn result(id: &str, text: &str, details: &serde_json::Value) -> Message {
    serde_json::from_value(
        json!({ "role": "toolResult", "toolCallId": id, "toolName": "exec", "isError": true,
        "content": [{ "type": "text", "text": text }], "details": details }),
    )
    .unwrap()
}

#[test]
fn failures_are_told_once_on_one_line_and_not_too_many() {
    let mut messages = vec![
        result(
            "a",
            "no such\n  file",
            &json!({ "status": "failed", "exitCode": 2 }),
        ),
        result("a", "again", &json!(null)),
        result("b", "  ", &json!({ "exitCode": 1 })),
        result("c", "", &json!(null)),
        result("d", &"x".repeat(500), &json!(null)),
    ];
    let section = failures_section(&tool_failures(&messages));
    let lines: Vec<&str> = section.lines().collect();
    assert_eq!(
        lines[..6],
        [
            "",
            "",
            "## Tool Failures",
            "- exec (status=failed exitCode=2): no such file",
            "- exec (exitCode=1): failed",
            "- exec: failed (no output)",
        ]
    );
    assert_eq!(lines[6], format!("- exec: {}...", "x".repeat(237)));
    messages.extend((0..10).map(|number| result(&format!("m{number}"), "y", &json!(null))));
    let section = failures_section(&tool_failures(&messages));
    assert!(section.ends_with("\n- ...and 6 more"), "{section}");
}

#[test]
fn critical_rules_come_from_the_newer_sections_or_else_from_the_older() {
    let newer = "# A\n## Session Startup\nread SOUL.md\n### Detail\nmore\n## Other\nno\n## red lines\n```\n## not a heading\n```\nnever\n";
    assert_eq!(
        critical_rules(newer),
        "\n\n<workspace-critical-rules>\n## Session Startup\nread SOUL.md\n### Detail\nmore\n\n## red lines\n```\n## not a heading\n```\nnever\n</workspace-critical-rules>"
    );
    assert_eq!(
        critical_rules("## Safety\nbe kind\n# Not level two\n"),
        "\n\n<workspace-critical-rules>\n## Safety\nbe kind\n# Not level two\n</workspace-critical-rules>"
    );
    assert_eq!(critical_rules("## Elsewhere\nx"), "");
    let long = critical_rules(&format!("## Safety\n{}", "x".repeat(3000)));
    assert!(long.ends_with("x\n...[truncated]...\n</workspace-critical-rules>"));
}

#[test]
fn newest_turns_are_kept_with_the_results_of_their_calls() {
    let messages: Vec<Message> = serde_json::from_value(json!([
        { "role": "user", "content": "first" },
        { "role": "toolResult", "toolCallId": "lost", "content": "orphan", "isError": false },
        { "role": "assistant", "content": [{ "type": "text", "text": "one" }] },
        { "role": "user", "content": format!("second {}", "x".repeat(700)) },
        { "role": "assistant", "content": [{ "type": "toolCall", "id": "c", "name": "read", "arguments": {} }, { "type": "toolCall", "id": "d", "name": "read", "arguments": {} }] },
        { "role": "toolResult", "toolCallId": "c", "toolName": " ", "content": [{ "type": "text", "text": "found" }], "isError": false },
        { "role": "custom", "customType": "x", "content": "note" },
    ]))
    .unwrap();
    let parted = preserve_turns(&messages, 1);
    assert_eq!(parted.preserved, [3, 4, 5]);
    assert_eq!(parted.summarizable, [0, 2, 6]);
    let section = preserved_section(parted.preserved.iter().map(|at| &messages[*at]));
    assert_eq!(
        section,
        format!(
            "\n\n## Recent turns preserved verbatim\n- User: second {}...\n- Assistant: [non-text content: toolCall x2]\n- Tool result (tool): found",
            "x".repeat(593)
        )
    );
    // Fewer turns than asked for: everything that was asked, and the newest of the rest.
    assert_eq!(preserve_turns(&messages, 3).preserved, [0, 2, 3, 4, 5]);
}

#[test]
fn a_check_names_missing_sections_identifiers_and_the_last_ask() {
    let against = Audit {
        identifiers: &[
            "a".repeat(9),
            "/x/y".to_owned(),
            "https://h.example/p".to_owned(),
            "z/w".to_owned(),
        ],
        latest_ask: Some("Please recalibrate the winch motor"),
        policy: IdentifierPolicy::Strict,
    };
    let findings = audit(
        "## Decisions\n ## Open TODOs \n## Constraints/Rules\n## Pending user asks\nmotor\n",
        against,
    );
    assert_eq!(
        findings.reasons,
        [
            "missing_section:## Exact identifiers".to_owned(),
            format!(
                "missing_identifiers:{},/x/y,https://h.example/p",
                "a".repeat(9)
            ),
            "latest_user_ask_not_reflected".to_owned(),
        ]
    );
    let off = Audit {
        policy: IdentifierPolicy::Off,
        latest_ask: Some("the of to"),
        ..against
    };
    assert_eq!(audit("the of", off).reasons.len(), 5);
}

#[test]
fn identifiers_are_what_must_not_be_changed() {
    let text = "See (https://h.example/a?b=1), commit deadbeef01 in /srv/data/log.txt; db.example:5432 and 1234567. Not and/or, 12:30, v1.2.";
    assert_eq!(
        identifiers(text),
        [
            "https://h.example/a?b=1",
            "DEADBEEF01",
            "/srv/data/log.txt",
            "db.example:5432",
            "1234567"
        ]
    );
}

#[test]
fn old_references_to_media_go_with_the_pictures_where_the_rules_say_so() {
    let message = Message::user(
        "see [media attached 1/2: /tmp/a.png (image/png)] and [Image: source: x.png], media://inbound/abc-1. [other: kept]",
        1,
    );
    let aged = without_images(&message, &NINE.images).unwrap();
    assert_eq!(
        aged.content().unwrap().text(),
        format!("see {MEDIA_AGED} and {MEDIA_AGED}, {MEDIA_AGED} [other: kept]")
    );
    assert_eq!(without_images(&message, &FOUR.images), None);
    assert!(SUMMARY_CUT.starts_with("\n\n["));
}

#[test]
fn pruning_waits_for_the_cache_to_run_out() {
    let pruning = |ttl: &str| {
        Pruning::from_config(&json!({ "mode": "cache-ttl", "ttl": ttl }), &FOUR.pruning).unwrap()
    };
    assert!(!pruning("10m").is_due(Some(599_999), "openai"));
    assert!(pruning("10m").is_due(Some(600_000), "openai"));
    assert!(pruning("1h30m").is_due(Some(5_400_000), "openai"));
    assert!(!pruning("7").is_due(None, "openai"));
    // What cannot be read leaves the provider's own time.
    assert!(pruning("soon").is_due(Some(300_000), "openai"));
    assert!(!pruning("soon").is_due(Some(300_000), "anthropic"));
    assert_eq!(
        Pruning::from_config(&json!({ "mode": "off" }), &FOUR.pruning),
        None
    );
}
