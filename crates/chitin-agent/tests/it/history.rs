//! What of a conversation is sent again: limits hold, calls and results stay together, beginnings stay the same.

use crate::history_odd::{RULES, branch, message, messages, record, turn};
use chitin_agent::compat::RESULT_MISSING;
use chitin_agent::history::{
    Assembling, Compacting, CurrentTurn, FailedResults, OutgoingRequest, PrefixChange,
    PrunedResults, Pruning, branch_tokens, cap_result, context_tokens, cut_point,
    effective_reserve, estimate, estimate_all, first_turn_marker, images_kept_from, is_marked,
    limit_start, messages_for_model, prefix_changes, preflight, prepare, prune, repair,
    repair_calls, should_compact, split, tool_result_limit, truncate_text,
};
use chitin_contract::{HistoryRules, Pairing};
use chitin_protocol::message::{Block, Content, Message, StopReason};
use chitin_protocol::text::utf16_len;
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use proptest::prelude::*;
use serde_json::json;
use std::collections::HashMap;

const RECENT: HistoryRules = HistoryRules::CANONICAL;

fn ids_called(message: &Message) -> Vec<String> {
    match message {
        Message::Assistant(answer) => {
            let blocks = answer.content.blocks().iter();
            let calls = blocks.filter_map(|block| match block {
                Block::ToolCall(call) => Some(call.id.clone()),
                Block::Other(value)
                    if value["type"] == "toolUse" || value["type"] == "toolCall" =>
                {
                    value["id"].as_str().map(str::to_owned)
                }
                _ => None,
            });
            calls.filter(|id| !id.is_empty()).collect()
        }
        _ => Vec::new(),
    }
}

fn has_failed(message: &Message) -> bool {
    matches!(
        message,
        Message::Assistant(answer)
            if matches!(answer.stop_reason, Some(StopReason::Error | StopReason::Aborted))
    )
}

fn result_ids(messages: &[Message]) -> Vec<String> {
    let results = messages.iter().map_while(|next| match next {
        Message::ToolResult(result) => Some(result.tool_call_id.clone()),
        _ => None,
    });
    results.collect()
}

/// Every call has one result right behind its answer, in order, and no result is anywhere else.
fn assert_paired(messages: &[Message]) {
    let mut at = 0;
    while at < messages.len() {
        assert!(
            !matches!(messages[at], Message::ToolResult(_)),
            "a result without its call: {messages:#?}"
        );
        let called = ids_called(&messages[at]);
        let results = result_ids(&messages[at + 1..]);
        if !has_failed(&messages[at]) {
            assert_eq!(called, results, "{messages:#?}");
        }
        at += 1 + results.len();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn repair_pairs_every_call_and_changes_nothing_twice(messages in messages()) {
        for rules in RULES {
            for policy in [FailedResults::Preserve, FailedResults::Drop] {
                let once = repair(&messages, policy, &rules.repair);
                let twice = repair(&once.messages, policy, &rules.repair);
                prop_assert_eq!(&once.messages, &twice.messages);
                prop_assert!(once.changed || once.messages == messages);
                if rules.repair.pairing == Pairing::ByOccurrence {
                    assert_paired(&once.messages);
                    prop_assert_eq!(once.changed, once.messages != messages);
                    prop_assert!(!twice.changed);
                    prop_assert_eq!(twice.added + twice.dropped_duplicates + twice.dropped_orphans, 0);
                }
            }
        }
    }

    #[test]
    fn what_a_model_is_sent_is_paired_by_any_rule(branch in branch(), window in 1u64..300_000) {
        for rules in RULES {
            let options = Assembling { window, turns: Some(3), ..Assembling::default() };
            let sent = messages_for_model(&branch, &options, &rules).messages;
            assert_paired(&sent);
            prop_assert!(sent.iter().all(|one| !has_failed(one) || ids_called(one).is_empty()));
            prop_assert!(sent.iter().all(|one| !matches!(one, Message::Other(_))));
        }
    }

    #[test]
    fn dropped_calls_are_the_ones_that_no_provider_takes(messages in messages()) {
        let report = repair_calls(&messages, None);
        let again = repair_calls(&report.messages, None);
        prop_assert_eq!(&report.messages, &again.messages);
        prop_assert!(!again.changed);
        prop_assert!(report.messages.iter().flat_map(ids_called).all(|id| !id.trim().is_empty()));
    }

    #[test]
    fn a_cut_is_never_at_a_tool_result(branch in branch(), keep in 0u32..3000) {
        for rules in RULES {
            let cut = cut_point(&branch, 0..branch.len(), f64::from(keep), &rules);
            let cuttable = |entry: &TranscriptEntry| match &entry.body {
                EntryBody::Message(message) => !matches!(message, Message::ToolResult(_)),
                _ => true,
            };
            if branch.iter().any(|entry| matches!(&entry.body, EntryBody::Message(Message::User(_) | Message::Assistant(_)))) {
                prop_assert!(cuttable(&branch[cut.first_kept]));
            }
            prop_assert!(cut.turn_start.is_none_or(|start| start <= cut.first_kept));
        }
    }

    #[test]
    fn estimates_never_fall_when_something_is_added(messages in messages(), more in message()) {
        for rules in RULES {
            let before = estimate_all(&messages, &rules.estimate);
            let after = estimate_all(messages.iter().chain([&more]), &rules.estimate);
            prop_assert_eq!(after, before + estimate(&more, &rules.estimate));
            if let Message::User(user) = &more && let Content::Text(text) = &user.content {
                let longer = Message::user(format!("{text}x"), 1);
                prop_assert!(estimate(&longer, &rules.estimate) >= estimate(&more, &rules.estimate));
            }
        }
    }

    #[test]
    fn pruning_never_grows_and_touches_only_old_results(messages in messages(), window in 1u64..4000, soft in 0u32..3000) {
        for rules in RULES {
            let config = json!({
                "mode": "cache-ttl", "softTrimRatio": 0.0, "hardClearRatio": 0.2, "minPrunableToolChars": 10,
                "keepLastAssistants": 1, "softTrim": { "maxChars": soft, "headChars": soft / 3, "tailChars": soft / 3 },
            });
            let pruning = Pruning::from_config(&config, &rules.pruning).unwrap();
            for one in prune(&messages, window, &pruning) {
                let Message::ToolResult(before) = &messages[one.index] else {
                    return Err(TestCaseError::fail("not a tool result"));
                };
                let images = before.content.blocks().iter().filter(|block| matches!(block, Block::Image(_) | Block::Other(_))).count();
                prop_assert!(utf16_len(&one.message.content.text()) <= utf16_len(&before.content.text()) + images * 8000);
                prop_assert_eq!(&one.message.tool_call_id, &before.tool_call_id);
            }
        }
    }

    #[test]
    fn a_capped_result_is_within_its_limit(text in "[a-z\n}语😀]{0,60}", times in 1usize..60, limit in 1usize..3000, blocks in 1usize..12) {
        for rules in RULES {
            let rules = rules.tool_results;
            let text = text.repeat(times);
            prop_assert!(utf16_len(&truncate_text(&text, limit, &rules)) <= limit.max(utf16_len(&text).min(limit)));
            let result = serde_json::from_value(json!({
                "role": "toolResult", "toolCallId": "a", "isError": false,
                "content": vec![json!({ "type": "text", "text": text }); blocks],
            })).unwrap();
            let Message::ToolResult(result) = result else { unreachable!() };
            if let Some(capped) = cap_result(&result, limit, &rules) {
                let texts = capped.content.blocks().iter().filter_map(Block::as_text);
                prop_assert!(texts.map(utf16_len).sum::<usize>() <= limit);
            }
        }
    }

    #[test]
    fn parts_cover_everything_and_never_part_a_call_from_its_result(messages in messages(), parts in 0usize..6) {
        for rules in RULES {
            let messages = repair(&messages, FailedResults::Drop, &RECENT.repair).messages;
            let runs = split(&messages, parts, &rules.estimate);
            prop_assert!(runs.len() <= parts.max(1));
            let covered: Vec<usize> = runs.iter().cloned().flatten().collect();
            prop_assert_eq!(covered, (0..messages.len()).collect::<Vec<_>>());
            for run in &runs[..] {
                let first = messages.get(run.start);
                prop_assert!(!matches!(first, Some(Message::ToolResult(_))));
            }
        }
    }

    #[test]
    fn a_limit_keeps_at_most_half_as_many_turns_more(messages in messages(), limit in 1usize..5) {
        for rules in RULES {
            let limited = limit_start(&messages, limit, rules.turn_limit);
            let users = messages.iter().enumerate().filter(|(at, one)| limited.keeps(*at) && one.role() == "user").count();
            prop_assert!(users <= limit + limit.div_ceil(2));
        }
    }

    #[test]
    fn nothing_panics(branch in branch(), messages in messages(), number in 0u64..500_000) {
        for rules in RULES {
            let compacting = Compacting { enabled: true, reserve_tokens: number, keep_recent_tokens: number / 7 };
            let _ = prepare(&branch, &compacting, &rules);
            let _ = branch_tokens(&branch, &rules);
            let _ = context_tokens(&messages, &rules);
            let _ = images_kept_from(&messages, &rules.images);
            let _ = should_compact(number, number / 2, &compacting);
            let found = preflight(OutgoingRequest { messages: &messages, system: "s", prompt: "p" }, number, number / 3, &rules);
            prop_assert!(found.effective_reserve_tokens + found.prompt_budget_before_reserve <= number.max(1) + 1);
        }
    }

    #[test]
    fn appending_whole_turns_changes_no_earlier_message_without_a_stated_cause(
        results in prop::collection::vec("[a-z\n]{0,300}", 1..9),
        limit in prop::option::of(1usize..5),
    ) {
        for rules in RULES {
            let mut branch: Vec<TranscriptEntry> = Vec::new();
            let mut last = messages_for_model(&branch, &Assembling { window: 100_000, turns: limit, ..Assembling::default() }, &rules);
            for (number, result) in results.iter().enumerate() {
                branch.extend(turn(number, "look", result));
                let now = messages_for_model(&branch, &Assembling { window: 100_000, turns: limit, ..Assembling::default() }, &rules);
                let causes = prefix_changes(&last, &now);
                for cause in &causes {
                    let expected = match cause {
                        PrefixChange::ImagesAged => number >= 3,
                        PrefixChange::HistoryLimitMoved => limit.is_some_and(|limit| number >= limit),
                        _ => false,
                    };
                    prop_assert!(expected, "{cause:?} at turn {number}");
                }
                prop_assert_eq!(causes.is_empty(), now.messages.starts_with(&last.messages));
                last = now;
            }
        }
    }
}

#[test]
fn a_result_that_was_shortened_stays_short_while_the_cache_is_warm() {
    let mut branch: Vec<TranscriptEntry> = Vec::new();
    for number in 0..6 {
        branch.extend(turn(number, "look", &"data ".repeat(2000)));
    }
    let pruning = Pruning::from_config(&json!({ "mode": "cache-ttl" }), &RECENT.pruning).unwrap();
    let cold = Assembling {
        window: 20_000,
        prune: Some(&pruning),
        ..Assembling::default()
    };
    let plain = messages_for_model(
        &branch,
        &Assembling {
            window: 20_000,
            ..Assembling::default()
        },
        &RECENT,
    );
    let pruned = messages_for_model(&branch, &cold, &RECENT);
    assert_eq!(prefix_changes(&plain, &pruned), [PrefixChange::Pruned]);

    branch.extend(turn(6, "go on", "short"));
    let warm = |pruned: &PrunedResults, branch: &[TranscriptEntry]| {
        let options = Assembling {
            window: 20_000,
            pruned: Some(pruned),
            ..Assembling::default()
        };
        messages_for_model(branch, &options, &RECENT)
    };
    let next = warm(&pruned.pruned, &branch);
    // The turn before last has new pictures to lose; nothing that was shortened grew again.
    assert_eq!(prefix_changes(&pruned, &next), [PrefixChange::ImagesAged]);
    assert_eq!(next.pruned, pruned.pruned);
}

#[test]
fn a_long_result_is_sent_whole_in_its_own_turn_where_the_contract_says_so() {
    let rules = HistoryRules::OPENCLAW_2026_4;
    let text = "a line of it\n".repeat(3000);
    let mut branch = turn(0, "look", "short");
    let before = branch.len();
    branch.extend(turn(1, "look again", &text));
    let at = branch
        .iter()
        .rposition(|entry| matches!(entry.message(), Some(Message::ToolResult(_))))
        .unwrap();
    let whole = HashMap::from([(branch[at].id.clone(), vec![Block::text(text.clone())])]);
    let longest = |window, running| {
        let options = Assembling {
            window,
            running,
            ..Assembling::default()
        };
        let sent = messages_for_model(&branch, &options, &rules).messages;
        let results = sent.iter().filter_map(|message| match message {
            Message::ToolResult(result) => Some(result.content.text()),
            Message::User(_) | Message::Assistant(_) | Message::Other(_) => None,
        });
        results.max_by_key(String::len).unwrap()
    };
    let running = Some(CurrentTurn {
        records_before: before,
        whole: &whole,
    });
    assert_eq!(longest(200_000, running), text);
    let cut = longest(60_000, running);
    assert!(utf16_len(&cut) <= 30_000 && utf16_len(&cut) > 29_900);
    assert!(cut.ends_with(" more characters truncated]"));
    let later = longest(200_000, None);
    assert!(utf16_len(&later) <= 16_000 && utf16_len(&later) > 15_900);
}

#[test]
fn larger_windows_have_longer_results_where_the_contract_says_so() {
    let of = |rules: &HistoryRules| {
        [32_000, 100_000, 200_000].map(|window| tool_result_limit(window, &rules.tool_results))
    };
    assert_eq!(of(&HistoryRules::OPENCLAW_2026_9), [16_000, 32_000, 64_000]);
    assert_eq!(of(&HistoryRules::OPENCLAW_2026_4), [16_000; 3]);
    assert_eq!(of(&HistoryRules::CANONICAL), [16_000; 3]);
}

#[test]
fn a_real_result_takes_the_place_of_one_that_was_made_up() {
    let call = json!({ "role": "assistant", "stopReason": "toolUse", "content": [
        { "type": "toolCall", "id": "a", "name": "read", "arguments": {} } ] });
    let real = json!({ "role": "toolResult", "toolCallId": "a", "toolName": "read", "isError": false,
        "content": [{ "type": "text", "text": "here" }] });
    let open = vec![
        record(0, &json!({ "role": "user", "content": "go" })),
        record(1, &call),
    ];
    let options = Assembling {
        window: 1000,
        ..Assembling::default()
    };
    let before = messages_for_model(&open, &options, &RECENT);
    let last = before.messages.last().and_then(Message::content).unwrap();
    assert_eq!(last.text(), RESULT_MISSING);
    let closed = [open, vec![record(2, &real)]].concat();
    let after = messages_for_model(&closed, &options, &RECENT);
    let last = after.messages.last().and_then(Message::content).unwrap();
    assert_eq!(last.text(), "here");
    assert_eq!(prefix_changes(&before, &after), [PrefixChange::Repaired]);
}

#[test]
fn a_summary_stands_for_what_it_covers_and_notes_of_programs_are_left_out() {
    let mut branch: Vec<TranscriptEntry> =
        [turn(0, "old", "old result"), turn(1, "kept", "kept result")].concat();
    let kept = branch[4].id.clone();
    branch.push(entry(json!({ "type": "compaction", "id": "c1", "summary": "what was", "firstKeptEntryId": kept, "tokensBefore": 5 })));
    branch.push(entry(
        json!({ "type": "custom", "id": "n1", "customType": "note", "data": { "secret": 1 } }),
    ));
    branch.extend(turn(2, "new", "new result"));
    let options = Assembling {
        window: 1000,
        ..Assembling::default()
    };
    let sent = messages_for_model(&branch, &options, &RECENT).messages;
    let text = serde_json::to_string(&sent).unwrap();
    assert_eq!(sent.len(), 9);
    assert!(matches!(&sent[0], Message::User(user)
        if user.content.text().ends_with("<summary>\nwhat was\n</summary>")));
    assert!(text.contains("kept result") && text.contains("new result"));
    assert!(!text.contains("old result") && !text.contains("secret"));
}

#[test]
fn calls_and_results_in_the_spelling_of_others_are_sent_in_ours() {
    let branch = [
        record(0, &json!({ "role": "user", "content": "go" })),
        record(
            1,
            &json!({ "role": "assistant", "stopReason": "toolUse", "content": [
            { "type": "tool_use", "id": "a", "name": " read ", "input": { "path": "f" } } ] }),
        ),
        record(
            2,
            &json!({ "role": "toolResult", "toolUseId": "a", "content": "text", "isError": false }),
        ),
    ];
    let options = Assembling {
        window: 1000,
        ..Assembling::default()
    };
    let sent = messages_for_model(&branch, &options, &RECENT).messages;
    assert_eq!(
        serde_json::to_value(&sent[1]).unwrap()["content"],
        json!([{ "type": "toolCall", "id": "a", "name": "read", "arguments": { "path": "f" } }])
    );
    assert!(matches!(&sent[2], Message::ToolResult(result)
        if result.tool_call_id == "a" && result.tool_name.as_deref() == Some("read")));
}

fn entry(mut value: serde_json::Value) -> TranscriptEntry {
    value["timestamp"] = json!("2026-04-01T00:00:00.000Z");
    serde_json::from_value(value).unwrap()
}

#[test]
fn an_answer_that_was_stopped_keeps_its_words_and_loses_its_half_calls() {
    let branch = [
        record(0, &json!({ "role": "user", "content": "go" })),
        record(
            1,
            &json!({ "role": "assistant", "stopReason": "aborted", "content": [
            { "type": "thinking", "thinking": "hm" }, { "type": "text", "text": "half an ans" },
            { "type": "toolCall", "id": "a", "name": "read", "arguments": {} } ] }),
        ),
        record(
            2,
            &json!({ "role": "assistant", "stopReason": "error", "content": [], "errorMessage": "x" }),
        ),
        record(3, &json!({ "role": "user", "content": "again" })),
    ];
    let options = Assembling {
        window: 1000,
        ..Assembling::default()
    };
    let sent = messages_for_model(&branch, &options, &RECENT).messages;
    let roles: Vec<&str> = sent.iter().map(Message::role).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert_eq!(
        sent[1].content().unwrap().blocks(),
        [Block::text("half an ans")]
    );
}

#[test]
fn a_summary_makes_the_marker_of_the_first_turn_void() {
    let marker = TranscriptEntry {
        extra: chitin_protocol::message::Extra::new(),
        id: "m".to_owned(),
        parent_id: None,
        timestamp: String::new(),
        body: first_turn_marker(7, "run", "session"),
    };
    assert_eq!(
        serde_json::to_value(&marker).unwrap()["customType"],
        "openclaw:bootstrap-context:full"
    );
    let mut branch = turn(0, "a", "b");
    assert!(!is_marked(&branch));
    branch.push(marker.clone());
    assert!(is_marked(&branch));
    branch.push(entry(json!({ "type": "compaction", "id": "c", "summary": "s", "firstKeptEntryId": "m", "tokensBefore": 1 })));
    assert!(!is_marked(&branch));
    branch.push(marker);
    assert!(is_marked(&branch));
}

#[test]
fn what_was_counted_before_a_summary_does_not_count_any_more() {
    let answer = json!({ "role": "assistant", "stopReason": "stop", "usage": { "totalTokens": 90_000 },
        "content": [{ "type": "text", "text": "long ago" }] });
    let mut branch = vec![
        record(0, &json!({ "role": "user", "content": "hi" })),
        record(1, &answer),
    ];
    assert_eq!(branch_tokens(&branch, &RECENT).total(), 90_000);
    branch.push(entry(json!({ "type": "compaction", "id": "c", "summary": "short", "firstKeptEntryId": "r000", "tokensBefore": 90_000 })));
    assert_eq!(branch_tokens(&branch, &RECENT).counted, 0);
    assert!(branch_tokens(&branch, &RECENT).total() < 20);
}

#[test]
fn the_reserve_leaves_room_for_the_prompt() {
    let four = HistoryRules::OPENCLAW_2026_4.compaction.reserve_cap;
    let nine = HistoryRules::OPENCLAW_2026_9.compaction.reserve_cap;
    let of = |window| {
        (
            effective_reserve(20_000, window, four),
            effective_reserve(20_000, window, nine),
        )
    };
    assert_eq!(of(200_000), (20_000, 20_000));
    assert_eq!(of(24_000), (16_000, 6000));
    assert_eq!(of(8000), (4000, 2000));
    assert_eq!(of(1), (0, 0));
}
