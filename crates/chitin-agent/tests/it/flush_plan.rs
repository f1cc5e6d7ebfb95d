//! When an agent is asked to write down what it will forget, and in which words.

use chitin_agent::history::{FlushFigures, FlushOptions, FlushState, flush_gate};
use chitin_contract::MemoryFlushRules;
use chitin_protocol::settings::MemoryFlushSettings;
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn the_day_is_the_users_and_prompts_of_their_own_get_the_rules_added() {
    if !chitin_test::needs::time_zones() {
        return;
    }
    let config = json!({"agents": {"defaults": {
        "userTimezone": " Asia/Tokyo ",
        "timeFormat": "24",
        "compaction": {"memoryFlush": {"prompt": "Save the day YYYY-MM-DD.", "softThresholdTokens": 7.9}},
    }}});
    let own = MemoryFlushSettings {
        soft_threshold_tokens: None,
        system_prompt: Some("Be brief. NO_REPLY is fine.".to_owned()),
        ..MemoryFlushSettings::default()
    };
    let options = FlushOptions::from_config(&config, &own, None).unwrap();
    let plan = options.plan(1_777_591_800_000, None, &MemoryFlushRules::OPENCLAW_2026_4);
    assert_eq!(plan.relative_path, "memory/2026-05-01.md");
    assert_eq!(plan.figures.soft_threshold_tokens, 7);
    assert!(
        plan.prompt
            .starts_with("Save the day 2026-05-01.\n\nWrite to `memory/2026-05-01.md`")
    );
    assert!(plan.prompt.ends_with(
        "\nCurrent time: Friday, May 1st, 2026 - 08:30 (Asia/Tokyo) / 2026-04-30 23:30 UTC"
    ));
    assert_eq!(plan.system_prompt.matches("NO_REPLY").count(), 1);
    // A release that hears no prompts of the user's says it in our words.
    let plan = options.plan(1_777_591_800_000, None, &MemoryFlushRules::OPENCLAW_2026_9);
    assert!(!plan.message.contains("Save the day") && !plan.message.contains("Be brief"));
    assert!(
        plan.message
            .contains("\nReference UTC: 2026-04-30 23:30 UTC")
    );
}

#[test]
fn sizes_may_be_written_with_units_and_chitins_own_word_counts_more() {
    let flush = |own: MemoryFlushSettings, said: Value| {
        let config = json!({"agents": {"defaults": {"compaction": {"memoryFlush": said}}}});
        FlushOptions::from_config(&config, &own, None)
    };
    let forced = |said: Value| {
        let said = json!({"forceFlushTranscriptBytes": said});
        let options = flush(MemoryFlushSettings::default(), said).unwrap();
        options.force_transcript_bytes
    };
    let sizes = [
        (json!("3mb"), Some(3_145_728)),
        (json!(" 1.5KB "), Some(1536)),
        (json!("1g"), Some(1 << 30)),
        (json!(12.7), Some(12)),
        (json!("0"), Some(0)),
        (json!("3 mb"), None),
        (json!("2MiB"), None),
        (json!("-3mb"), None),
        (json!(""), None),
        (json!(-1), None),
    ];
    for (said, bytes) in sizes {
        assert_eq!(forced(said.clone()), bytes, "{said}");
    }
    let off = json!({"enabled": false});
    assert_eq!(flush(MemoryFlushSettings::default(), off.clone()), None);
    let on = MemoryFlushSettings {
        enabled: Some(true),
        ..MemoryFlushSettings::default()
    };
    assert!(flush(on, off).is_some());
}

#[test]
fn a_small_window_is_flushed_only_by_releases_that_fit_the_figures_to_it() {
    let options = FlushOptions::default();
    let state = FlushState {
        tokens: 9_000,
        window: 16_000,
        ..FlushState::default()
    };
    for (rules, is_due) in [
        (MemoryFlushRules::OPENCLAW_2026_4, false),
        (MemoryFlushRules::OPENCLAW_2026_9, true),
    ] {
        let figures = options.figures(Some(state.window), &rules);
        assert_eq!(flush_gate(&state, &figures).flush, is_due, "{figures:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Never twice for the same summary, and never for a window that is all reserve.
    #[test]
    fn the_gate_opens_once_per_summary(
        tokens in 0u64..300_000,
        window in 0u64..300_000,
        transcript_bytes in 0u64..4_000_000,
        compaction_count in 0u64..4,
        flushed_at in proptest::option::of(0u64..4),
        soft_threshold_tokens in 0u64..50_000,
        reserve_floor in 0u64..400_000,
        force_transcript_bytes in 0u64..4_000_000,
    ) {
        let state = FlushState { tokens, window, transcript_bytes, compaction_count, flushed_at };
        let figures = FlushFigures { soft_threshold_tokens, force_transcript_bytes, reserve_floor };
        let gate = flush_gate(&state, &figures);
        prop_assert!(!gate.flush || flushed_at != Some(compaction_count));
        prop_assert!(!gate.preflight_compaction || window > reserve_floor);
        let done = FlushState { flushed_at: Some(compaction_count), ..state };
        prop_assert!(!flush_gate(&done, &figures).flush);
    }
}
