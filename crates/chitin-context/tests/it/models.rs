//! Models: which one a name means, and what a request to it costs.

use chitin_context::models::{
    self, Cost, DEFAULT, ModelFacts, RequestTokens, cost, find, window_share,
};
use chitin_context::tokens::{Basis, Counting, TokenEncoding};
use chitin_protocol::config::ModelSettings;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

fn listed(name: &str) -> Option<&'static str> {
    find(name, &BTreeMap::new()).and_then(|model| model.listed_as)
}

#[expect(clippy::expect_used, reason = "the tests name models that are there")]
fn built_in(name: &str) -> ModelFacts {
    find(name, &BTreeMap::new()).expect("a model of the list")
}

#[expect(
    clippy::expect_used,
    reason = "the tests write settings that are right"
)]
fn settings(value: serde_json::Value) -> BTreeMap<String, ModelSettings> {
    serde_json::from_value(value).expect("settings")
}

#[test]
fn a_name_means_the_longest_entry_it_begins_with() {
    let sonnet = Some("anthropic/claude-sonnet-5-5");
    assert_eq!(listed("anthropic/claude-sonnet-5-5"), sonnet);
    assert_eq!(listed("claude-sonnet-5-5"), sonnet);
    assert_eq!(listed("Claude-Sonnet-5.5"), sonnet);
    assert_eq!(listed("openrouter/anthropic/claude-sonnet-5.5"), sonnet);
    assert_eq!(
        listed("claude-sonnet-4-5-20250929"),
        Some("anthropic/claude-sonnet-4-5")
    );
    assert_eq!(listed("gpt-5-2025-08-07"), Some("openai/gpt-5"));
    assert_eq!(listed("gpt-5-mini"), Some("openai/gpt-5-mini"));
    assert_eq!(
        listed("gemini-3.1-pro-preview"),
        Some("google/gemini-3.1-pro")
    );
    assert_eq!(listed("ollama/qwen3:8b"), Some("ollama/"));
    assert_eq!(listed("ollama/gpt-oss:20b"), Some("ollama/gpt-oss"));
    assert!(listed(DEFAULT).is_some());
    assert_eq!(built_in("claude-opus-5-5").id, "anthropic/claude-opus-5-5");
}

#[test]
fn another_version_or_another_provider_is_another_model() {
    assert_eq!(listed("gpt-5.9"), None);
    assert_eq!(listed("gpt-50"), None);
    assert_eq!(listed("google/claude-sonnet-5-5"), None);
    assert_eq!(listed("qwen3:8b"), None);
    assert_eq!(listed(""), None);
}

#[test]
fn a_name_that_nobody_knows_gets_suggestions() {
    let near = |name| models::nearest(name, &BTreeMap::new());
    assert_eq!(
        near("anthropic/claude-sonet-55"),
        [
            "anthropic/claude-sonnet-5-5",
            "anthropic/claude-sonnet-5",
            "anthropic/claude-sonnet-4-5"
        ]
    );
    assert!(near("zzz").is_empty());
}

#[test]
fn configuration_corrects_and_adds() {
    let settings = settings(json!({
        "anthropic/claude-sonnet-5-5": {"inputPrice": 1.5, "contextWindow": 200_000},
        "house/brain": {"contextWindow": 8192, "inputPrice": 0.2, "outputPrice": 0.6, "tokenizer": "o200k_base"},
    }));
    let sonnet = find("claude-sonnet-5-5", &settings).expect("known");
    let prices = sonnet.prices.expect("priced");
    assert_eq!(sonnet.context_window, Some(200_000));
    assert_eq!(prices.input.micros(), 1_500_000);
    assert_eq!(
        prices.output,
        built_in("claude-sonnet-5-5").prices.expect("priced").output
    );

    let brain = find("house/brain", &settings).expect("known");
    insta::assert_json_snapshot!(brain, @r#"
    {
      "id": "house/brain",
      "listedAs": null,
      "contextWindow": 8192,
      "maxOutput": null,
      "prices": {
        "input": 0.2,
        "output": 0.6,
        "cacheWrite": 0.2,
        "cacheRead": 0.2
      },
      "longPrompt": null,
      "encoding": "o200k_base",
      "perThousand": 1000
    }
    "#);
}

#[test]
fn costs_are_exact_and_long_prompts_cost_what_they_cost() {
    let usage = RequestTokens {
        fresh: 1_000,
        cache_write: 20_000,
        cache_read: 50_000,
        output: 800,
    };
    let shown = |name: &str, usage| cost(&built_in(name), usage).expect("priced").to_string();
    // 1000 × 2 $ + 20000 × 2.50 $ + 50000 × 0.20 $ + 800 × 10 $, by the million.
    assert_eq!(shown("claude-sonnet-5-5", usage), "$0.0700");
    assert_eq!(shown("ollama/whatever", usage), "$0.0000");
    let long = RequestTokens {
        cache_read: 100_000,
        ..usage
    };
    assert_eq!(shown("claude-haiku-5-5", usage), "$0.0035");
    assert_eq!(shown("claude-haiku-5-5", long), "$0.0200");
    let one = RequestTokens {
        cache_read: 1,
        ..RequestTokens::default()
    };
    assert_eq!(shown("deepseek-v4-flash", one), "$0.000000003");
    assert_eq!(
        Cost {
            nanodollars: 12_345_678
        }
        .to_string(),
        "$0.0123"
    );
    assert_eq!(
        Cost {
            nanodollars: 12_000_000_000
        }
        .to_string(),
        "$12.0000"
    );
}

#[test]
fn shares_of_a_window_are_rounded_up() {
    let share =
        |name: &str, tokens| window_share(&built_in(name), tokens).map(|share| share.to_string());
    assert_eq!(share("claude-haiku-4-5", 25_001).as_deref(), Some("12.6 %"));
    assert_eq!(
        share("claude-haiku-4-5", 300_000).as_deref(),
        Some("150.0 %")
    );
    assert_eq!(share("ollama/whatever", 1), None);
}

#[test]
fn counts_for_a_model_say_whether_its_maker_published_how() {
    let text = "Berth 14 is free until Sunday.";
    let count = |name: &str, counting| built_in(name).count(text, counting);
    let exact = Counting::Exact(TokenEncoding::O200kBase);
    assert_eq!(count("gpt-5.4", exact).basis, Basis::Tokenizer);
    assert_eq!(count("gemini-3.1-pro", exact).basis, Basis::Neighbour);
    assert_eq!(
        count("claude-sonnet-5-5", Counting::Estimate).basis,
        Basis::Estimate
    );
    // Newer Claude models are known to make more of the same text.
    assert!(count("claude-sonnet-5-5", exact).tokens > count("claude-sonnet-4-6", exact).tokens);
}

#[test]
fn every_entry_of_the_list_is_found_by_its_own_name_and_makes_sense() {
    for id in models::known() {
        if id.ends_with('/') {
            continue;
        }
        let model = built_in(id);
        assert_eq!(model.listed_as, Some(id));
        let prices = model.prices.expect("priced");
        assert!(prices.cache_read <= prices.input, "{id}");
        assert!(prices.input <= prices.output, "{id}");
        assert!(model.max_output <= model.context_window, "{id}");
        if let Some(long) = model.long_prompt {
            assert!(long.prices.input > prices.input, "{id}");
            assert!(Some(long.above) < model.context_window, "{id}");
        }
    }
}

proptest! {
    #[test]
    fn no_name_and_no_usage_is_too_odd(name in "\\PC{0,200}", tokens in any::<[u64; 4]>()) {
        let _ = find(&name, &BTreeMap::new());
        let [fresh, cache_write, cache_read, output] = tokens;
        let usage = RequestTokens { fresh, cache_write, cache_read, output };
        prop_assert!(cost(&built_in(DEFAULT), usage).is_some());
        prop_assert!(window_share(&built_in(DEFAULT), fresh).is_some());
    }
}
