//! Messages that come while a turn runs.

use chitin_contract::{OPENCLAW_2026_4, OPENCLAW_2026_9};
use chitin_gateway::queue::{
    DropPolicy, PendingMessages, QueueMode, QueueSettings, QueueWish, lane, mode,
};
use proptest::prelude::*;
use serde_json::json;

fn settings(cap: u32, drop_policy: DropPolicy) -> QueueSettings {
    QueueSettings {
        mode: QueueMode::Collect,
        debounce_ms: 1000,
        cap,
        drop_policy,
    }
}

fn filled(count: usize, settings: &QueueSettings) -> PendingMessages<String> {
    let mut pending = PendingMessages::default();
    for index in 1..=count {
        let _ = pending.push(format!("message {index}"), settings, index as u64);
    }
    pending
}

#[test]
fn a_full_queue_refuses_the_newcomer_or_lets_the_oldest_go() {
    let new = settings(2, DropPolicy::New);
    let mut pending = filled(2, &new);
    assert!(filled(1, &new).has_room(&new) && !pending.has_room(&new));
    // One that was accepted before the queue was full is kept.
    assert!(pending.push("late".to_owned(), &new, 9).is_empty());
    assert_eq!(
        pending.take_all().unwrap().items,
        ["message 1", "message 2", "late"]
    );

    let old = settings(2, DropPolicy::Old);
    let mut pending = filled(2, &old);
    assert!(pending.has_room(&old));
    let replaced = pending.push("late".to_owned(), &old, 9);
    assert_eq!(replaced, ["message 1"]);
    assert_eq!(pending.take_all().unwrap().items, ["message 2", "late"]);
}

#[test]
fn what_had_to_go_is_told_with_a_line_of_each() {
    let summarize = settings(2, DropPolicy::Summarize);
    let mut pending = filled(4, &summarize);
    let _ = pending.push(format!("a long\n{}", "word ".repeat(90)), &summarize, 9);
    let batch = pending.take_all().unwrap();
    insta::assert_snapshot!(batch.prompt().replace("word word ", ""), @"
    [3 messages left out: more came than could wait]
    The last 2 began like this:
    - message 2
    - message 3

    2 messages came while you were at work. Take them together, the oldest is first.

    [Message 1 of 2]
    message 4

    [Message 2 of 2]
    a long
    ");
    let mut pending = filled(1, &summarize);
    assert_eq!(pending.take_one().unwrap().prompt(), "message 1");
    assert!(pending.take_one().is_none());
}

#[test]
fn messages_of_another_place_wait_for_the_next_batch() {
    let settings = settings(9, DropPolicy::Old);
    let mut pending = PendingMessages::default();
    for (words, at) in [("a1", 1), ("a2", 2), ("b1", 3), ("a3", 4)] {
        let _ = pending.push(words.to_owned(), &settings, at);
    }
    let same = |one: &String, other: &String| one[..1] == other[..1];
    let batches: Vec<_> = std::iter::from_fn(|| pending.take_alike(same))
        .map(|batch| batch.items.join(" "))
        .collect();
    assert_eq!(batches, ["a1 a2", "b1", "a3"]);
}

#[test]
fn a_turn_waits_for_silence_but_not_for_ever() {
    let some = settings(20, DropPolicy::Old);
    let mut pending: PendingMessages<String> = PendingMessages::default();
    assert_eq!(pending.wait_ms(&some, 5), None);
    let _ = pending.push("one".to_owned(), &some, 100);
    assert_eq!(pending.wait_ms(&some, 600), Some(500));
    let _ = pending.push("two".to_owned(), &some, 900);
    assert_eq!(pending.wait_ms(&some, 1100), Some(800));
    assert_eq!(pending.wait_ms(&some, 1900), Some(0));
    for at in (1000..10_100).step_by(900) {
        let _ = pending.push("more".to_owned(), &some, at);
    }
    assert_eq!(pending.wait_ms(&some, 10_100), Some(0));
    let full = settings(2, DropPolicy::Old);
    assert_eq!(filled(2, &full).wait_ms(&full, 2), Some(0));
}

#[test]
fn the_nearest_wish_holds() {
    let config = json!({"messages": {"queue": {
        "mode": "collect", "cap": 5, "drop": "oldest", "debounceMs": 70,
        "byChannel": {"slack": "queue"}, "debounceMsByChannel": {"slack": 80},
    }}});
    let rules = &OPENCLAW_2026_4.runtime.dispatch.queue;
    let none = QueueWish::default();
    let of = |channel, inline: &QueueWish, session: &QueueWish| {
        QueueSettings::resolve(&config, channel, inline, session, rules)
    };
    let everywhere = of(None, &none, &none);
    assert_eq!(
        (everywhere.mode, everywhere.debounce_ms, everywhere.cap),
        (QueueMode::Collect, 70, 5)
    );
    let slack = of(Some(" Slack"), &none, &none);
    assert_eq!((slack.mode, slack.debounce_ms), (QueueMode::Steer, 80));
    let session = QueueWish::of_session(&json!({"queueMode": "abort", "queueCap": 0}), rules);
    let sessions = of(Some("slack"), &none, &session);
    assert_eq!((sessions.mode, sessions.cap), (QueueMode::Interrupt, 1));
    let inline = QueueWish {
        mode: mode::parse("followups", rules.old_words),
        ..none
    };
    let directed = of(Some("slack"), &inline, &session);
    assert_eq!(directed.mode, QueueMode::Followup);
    let newer = &OPENCLAW_2026_9.runtime.dispatch.queue;
    let newer = QueueSettings::resolve(&config, None, &none, &none, newer);
    assert_eq!(newer.debounce_ms, 500);
}

#[test]
fn a_schedules_inner_work_has_a_lane_of_its_own() {
    for contract in [&OPENCLAW_2026_4, &OPENCLAW_2026_9] {
        let rules = &contract.runtime.dispatch.lanes;
        assert_ne!(lane::global_lane(" cron ", rules), "cron");
        assert_eq!(lane::global_lane("subagent", rules), "subagent");
    }
    assert_eq!(lane::session_lane("  "), "session:main");
}

proptest! {
    #[test]
    fn no_message_is_lost_without_being_counted_and_none_overtakes_another(
        steps in prop::collection::vec((0u8..10, 1u32..6, 0u8..3), 1..200),
    ) {
        let mut pending = PendingMessages::default();
        let (mut given, mut back, mut told, mut refused) = (0u64, Vec::new(), 0u64, 0u64);
        for (step, cap, policy) in steps {
            let policy = [DropPolicy::New, DropPolicy::Old, DropPolicy::Summarize][usize::from(policy)];
            let settings = settings(cap, policy);
            if step < 8 {
                given += 1;
                if pending.has_room(&settings) {
                    let _ = pending.push(given.to_string(), &settings, given);
                    prop_assert!(pending.len() <= cap as usize);
                } else {
                    refused += 1;
                }
            } else {
                let batch = if step == 8 { pending.take_one() } else { pending.take_all() };
                if let Some(batch) = batch {
                    told += batch.dropped.total();
                    prop_assert!(batch.dropped.lines().len() <= 20);
                    back.extend(batch.items);
                }
            }
        }
        let waiting = pending.len() as u64;
        prop_assert_eq!(given, back.len() as u64 + waiting + told + pending.dropped() + refused);
        let order: Vec<u64> = back.iter().map(|item| item.parse().unwrap()).collect();
        prop_assert!(order.is_sorted());
    }
}
