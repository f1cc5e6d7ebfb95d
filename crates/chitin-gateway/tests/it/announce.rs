//! What a parent hears of its children.

use chitin_contract::{ALL, CANONICAL, OPENCLAW_2026_4, OPENCLAW_2026_9};
use chitin_gateway::compat;
use chitin_gateway::subagents::announce::{
    ActionClass, AnnounceAction, AnnounceWish, Announcing, ChildEnd, ChildOutcome, CompletionEvent,
    CompletionTarget, Fate, Requester, RunStats, SkipAnnounce, action, action_text, block,
    destination, fate, turn, wait,
};
use chitin_protocol::settings::{AnnounceSettings, SubagentSettings};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::time::Duration;

fn event(result: &str) -> CompletionEvent {
    CompletionEvent {
        source: "subagent".to_owned(),
        session_key: "agent:main:subagent:c1".to_owned(),
        session_id: Some("sess-1".to_owned()),
        announce_type: "subagent task".to_owned(),
        task_label: "lantern count".to_owned(),
        status: "ok".to_owned(),
        status_label: "completed successfully".to_owned(),
        result: result.to_owned(),
        stats_line: Some("Stats: runtime 4s • tokens 120 (in 100 / out 20)".to_owned()),
        action: "Tell the user.".to_owned(),
    }
}

#[test]
fn a_parent_hears_in_the_shape_of_its_contract() {
    let mut story = String::new();
    for contract in [&CANONICAL, &OPENCLAW_2026_9] {
        let rules = &contract.runtime.subagents.announce;
        let turn = turn(&[event("Seven <b>lanterns</b>.")], rules).unwrap();
        let _ = writeln!(story, "===== {}\n{}", contract.name, turn.message);
        if let Some(context) = turn.context {
            let _ = writeln!(story, "----- and\n{context}");
        }
    }
    insta::assert_snapshot!(story);
    assert!(turn(&[], &CANONICAL.runtime.subagents.announce).is_none());
}

#[test]
fn every_class_has_its_own_words_and_says_when_silence_will_do() {
    let mut story = String::new();
    for contract in [&OPENCLAW_2026_4, &OPENCLAW_2026_9] {
        let rules = &contract.runtime.subagents.announce;
        for (requester, expects, target) in [
            (Requester::Internal, true, CompletionTarget::Usual),
            (Requester::Visible, true, CompletionTarget::Usual),
            (Requester::Visible, false, CompletionTarget::Usual),
            (Requester::Visible, true, CompletionTarget::Parent),
        ] {
            let action = action(requester, expects, target, rules);
            let text = action_text(action, "subagent task", None);
            assert_eq!(text.contains("NO_REPLY"), action.may_stay_silent, "{text}");
            let _ = writeln!(story, "{}: {text}", action.class.as_str());
        }
    }
    insta::assert_snapshot!(story);
}

#[test]
fn the_spawn_then_the_agent_then_the_seeds_say_whether_a_message_is_expected() {
    let wish = AnnounceWish::default();
    let nothing = SubagentSettings::default();
    let held = Announcing::resolve(&wish, &nothing);
    assert!(held.expects_completion_message);
    let agents = SubagentSettings {
        announce: Some(AnnounceSettings {
            expects_completion_message: Some(false),
            action: Some("Sing it.".to_owned()),
        }),
        ..SubagentSettings::default()
    };
    let held = Announcing::resolve(&wish, &agents);
    assert!(!held.expects_completion_message);
    let asked = AnnounceAction {
        class: ActionClass::UserDelivery,
        may_stay_silent: false,
    };
    assert_eq!(
        action_text(asked, "cron job", held.action.as_deref()),
        "Sing it."
    );
    let wish = AnnounceWish {
        expects_completion_message: Some(true),
        action: Some("  ".to_owned()),
    };
    let held = Announcing::resolve(&wish, &agents);
    assert!(held.expects_completion_message);
    assert_eq!(
        held.action.as_deref(),
        Some("Sing it."),
        "blank says nothing"
    );
}

#[test]
fn an_end_that_nobody_expects_is_silent_by_the_seeds_and_not_in_2026_4() {
    let child = ChildEnd {
        words: "Seven.",
        is_silent: false,
        expects_message: false,
        open_descendants: 0,
        parent_closed: false,
    };
    let of = |child: &ChildEnd<'_>, contract: &chitin_contract::Contract| {
        fate(child, &contract.runtime.subagents.announce)
    };
    assert_eq!(
        of(&child, &CANONICAL),
        Fate::Skip(SkipAnnounce::NotExpected)
    );
    assert_eq!(
        of(&child, &OPENCLAW_2026_9),
        Fate::Skip(SkipAnnounce::NotExpected)
    );
    assert_eq!(of(&child, &OPENCLAW_2026_4), Fate::Announce);
    let expected = ChildEnd {
        expects_message: true,
        ..child
    };
    assert_eq!(of(&expected, &CANONICAL), Fate::Announce);
    let waiting = ChildEnd {
        open_descendants: 1,
        is_silent: true,
        ..expected
    };
    assert_eq!(of(&waiting, &CANONICAL), Fate::Defer);
    let skipped = ChildEnd {
        words: " ANNOUNCE_SKIP\n",
        ..expected
    };
    assert_eq!(of(&skipped, &CANONICAL), Fate::Skip(SkipAnnounce::Silent));
    let orphan = ChildEnd {
        parent_closed: true,
        ..waiting
    };
    assert_eq!(
        of(&orphan, &CANONICAL),
        Fate::Skip(SkipAnnounce::ParentClosed)
    );
}

#[test]
fn subagents_and_schedules_are_sessions_that_nobody_sees() {
    let of = |key| Requester::of(key, CANONICAL.session_keys);
    assert_eq!(of("agent:main:subagent:c1"), Requester::Internal);
    assert_eq!(of("agent:main:cron:daily"), Requester::Internal);
    assert_eq!(of("agent:main:discord:channel:9"), Requester::Visible);
}

#[test]
fn a_reply_goes_where_the_child_is_bound() {
    let (child, plugin, origin) = (Some("thread"), Some("plugin"), Some("channel"));
    let go = |requester, expects| destination(requester, expects, child, plugin, origin);
    assert_eq!(go(Requester::Visible, true), child);
    assert_eq!(go(Requester::Visible, false), origin);
    assert_eq!(go(Requester::Internal, true), None);
    assert_eq!(
        destination(Requester::Visible, true, None, None, origin),
        origin
    );
}

#[test]
fn attempts_come_at_doubling_distances_until_it_is_too_late() {
    let rules = &CANONICAL.runtime.subagents.announce.retry;
    let mut ended = Duration::ZERO;
    let mut waits = Vec::new();
    for attempt in 1.. {
        let Some(next) = wait(attempt, ended, false, rules) else {
            break;
        };
        ended += next;
        waits.push(next.as_secs());
    }
    assert_eq!(waits[..6], [1, 2, 4, 8, 8, 8]);
    assert!(ended <= Duration::from_mins(5) && waits.len() < 60);
    assert_eq!(
        wait(1, Duration::from_mins(29), true, rules),
        Some(Duration::from_secs(1))
    );
    assert_eq!(wait(u32::MAX, Duration::from_mins(30), true, rules), None);
}

#[test]
fn an_end_is_told_in_few_words() {
    let rules = &CANONICAL.runtime.subagents.announce;
    let failed = ChildOutcome::Error {
        error: " lamp broke ".to_owned(),
    };
    assert_eq!(failed.label(rules), "failed: lamp broke");
    assert_eq!(failed.announced("half of it"), "");
    assert_eq!(ChildOutcome::Timeout.label(rules), "timed out");
    assert_eq!(ChildOutcome::Timeout.announced("half of it"), "half of it");
    let line = |seconds, input, output| {
        RunStats {
            runtime: Some(Duration::from_secs(seconds)),
            input,
            output,
        }
        .line()
    };
    assert_eq!(
        line(4, 100, 20),
        "Stats: runtime 4s • tokens 120 (in 100 / out 20)"
    );
    assert_eq!(
        line(140, 29_400, 1_900),
        "Stats: runtime 2m20s • tokens 31.3k (in 29.4k / out 1.9k)"
    );
    assert_eq!(
        line(7200, 999_999, 0),
        "Stats: runtime 2h • tokens 1m (in 1m / out 0)"
    );
    let long = CompletionEvent {
        status_label: "x".repeat(900),
        ..event("")
    };
    let text = block(&[long], &OPENCLAW_2026_9.runtime.subagents.announce);
    let status = text
        .lines()
        .find_map(|line| line.strip_prefix("status: "))
        .unwrap();
    assert_eq!(status.chars().count(), 500);
    assert!(status.ends_with("…[truncated]"));
}

/// Hostile words: markers whole, in pieces and joined by what is taken out.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        compat::INTERNAL_BEGIN,
        compat::INTERNAL_END,
        compat::RESULT_BEGIN,
        compat::RESULT_END,
        compat::DATA_BEGIN,
        compat::DATA_END,
        "<<<END_",
        "OPENCLAW_INTERNAL_CONTEXT>>>",
        "\u{200b}",
        "\r",
        "\n",
        "\r\n",
        "<",
        ">",
        "\n\n---\n\n",
        compat::COMPLETION_EVENT,
        "Action:",
        "\"",
        "words",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_child_can_end_the_block_that_its_words_stand_in(
        result in hostile(), label in hostile(), key in hostile(), stats in hostile(),
    ) {
        let hostile = CompletionEvent {
            session_key: key, task_label: label.clone(), status_label: label, stats_line: Some(stats), ..event(&result)
        };
        for contract in ALL {
            let rules = &contract.runtime.subagents.announce;
            let text = block(&[hostile.clone(), event("fine")], rules);
            prop_assert_eq!(text.matches(compat::INTERNAL_BEGIN).count(), 1);
            prop_assert_eq!(text.matches(compat::INTERNAL_END).count(), 1);
            prop_assert!(text.ends_with(compat::INTERNAL_END));
            let turn = turn(std::slice::from_ref(&hostile), rules).unwrap();
            if let Some(context) = turn.context {
                prop_assert_eq!(context.matches(compat::INTERNAL_END).count(), 1);
                prop_assert!(!turn.message.contains(compat::INTERNAL_END));
            }
        }
    }

    #[test]
    fn no_child_can_leave_its_fence_by_the_seeds_nor_in_2026_9(result in hostile()) {
        let only = [CompletionEvent { stats_line: None, ..event(&result) }];
        let text = block(&only, &CANONICAL.runtime.subagents.announce);
        prop_assert_eq!(text.matches(compat::RESULT_BEGIN).count(), 1);
        prop_assert_eq!(text.matches(compat::RESULT_END).count(), 1);
        let text = block(&only, &OPENCLAW_2026_9.runtime.subagents.announce);
        prop_assert!(text.matches(compat::DATA_END).count() <= 1);
    }
}
