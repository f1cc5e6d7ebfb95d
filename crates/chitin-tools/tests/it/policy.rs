//! Who may use which tool, and why not.

use chitin_contract::{ToolRules, ToolSection};
use chitin_protocol::session_key::KeyGrammar;
use chitin_protocol::settings::ToolSettings;
use chitin_tools::policy::{
    PolicyConfig, PolicyInput, PolicyLayerKind, RemovalReason, SenderKind, ToolPolicy, ToolVerdict,
    effective_tools, groups,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const RULES: [ToolRules; 2] = [ToolRules::OPENCLAW_2026_4, ToolRules::OPENCLAW_2026_9];

fn verdict(rules: &ToolRules, config: &Value, key: &str) -> ToolVerdict {
    let config = PolicyConfig::from_value(config);
    effective_tools(rules, &PolicyInput::new(&config, KeyGrammar::Lenient, key))
}

fn canonical(config: &Value) -> ToolVerdict {
    verdict(&ToolRules::CANONICAL, config, "agent:main:main")
}

#[test]
fn every_section_is_a_group_and_every_tool_is_in_one() {
    for rules in RULES {
        let groups = groups(&rules);
        assert_eq!(groups.len(), ToolSection::ALL.len() + 1);
        let grouped: usize = groups.iter().skip(1).map(|(_, tools)| tools.len()).sum();
        assert_eq!(grouped, rules.catalogue.len());
    }
}

#[test]
fn a_missing_tool_is_explained_by_the_layer_that_took_it() {
    let coding =
        canonical(&json!({"tools": {"profile": "coding", "deny": ["group:web", " EXEC "]}}));
    assert_eq!(
        coding.explain("message"),
        "`message` is not allowed: `tools.profile (coding)` does not include it. Add `message` to `tools.alsoAllow` to use it with this profile."
    );
    assert_eq!(
        coding.explain("web_fetch"),
        "`web_fetch` is not allowed: `tools.deny` denies `group:web`."
    );
    assert_eq!(
        coding.explain("bash"),
        "`exec` is not allowed: `tools.deny` denies ` EXEC `."
    );
    assert_eq!(coding.explain("read"), "`read` is allowed.");
    assert_eq!(
        coding.explain("raed"),
        "There is no tool `raed`. Did you mean `read`?"
    );
    assert_eq!(coding.removed["message"].layer, PolicyLayerKind::Profile);
    assert_eq!(coding.removed["message"].reason, RemovalReason::NotAllowed);

    let agent =
        canonical(&json!({"agents": {"list": [{"id": "Main", "tools": {"allow": ["read"]}}]}}));
    assert_eq!(
        agent.explain("write"),
        "`write` is not allowed: `agents.list[main].tools.allow` does not include it."
    );
    let leaf = verdict(&ToolRules::CANONICAL, &json!({}), "agent:main:subagent:x");
    assert_eq!(
        leaf.explain("cron"),
        "`cron` is not allowed: subagents do not have it."
    );
}

#[test]
fn strangers_have_no_tools_of_the_owner() {
    let config = PolicyConfig::default();
    let input = PolicyInput {
        sender: SenderKind::Other,
        ..PolicyInput::new(&config, KeyGrammar::Lenient, "main")
    };
    let verdict = effective_tools(&ToolRules::CANONICAL, &input);
    assert_eq!(
        verdict.removed.keys().collect::<Vec<_>>(),
        ["cron", "gateway", "nodes"]
    );
    assert!(
        verdict
            .explain("cron")
            .ends_with("only the owner can use it.")
    );
}

#[test]
fn our_own_tools_go_where_read_goes() {
    for (config, there) in [
        (json!({}), true),
        (json!({"tools": {"profile": "coding"}}), true),
        (json!({"tools": {"profile": "minimal"}}), false),
        (json!({"tools": {"allow": ["read"]}}), true),
        (json!({"tools": {"deny": ["group:fs"]}}), false),
        (json!({"tools": {"allow": ["write"]}}), false),
    ] {
        let verdict = canonical(&config);
        assert_eq!(verdict.allows("list"), there, "{config}");
        assert_eq!(verdict.allows("search"), there, "{config}");
    }
    let verdict = canonical(&json!({"tools": {"deny": ["search"]}}));
    assert!(verdict.allows("list") && verdict.allows("read") && !verdict.allows("search"));
    // A release that lists directories itself has one such tool, under its own name.
    let newer = verdict_names(&ToolRules::OPENCLAW_2026_9);
    assert!(newer.contains(&"ls".to_owned()) && !newer.contains(&"list".to_owned()));
}

fn verdict_names(rules: &ToolRules) -> Vec<String> {
    verdict(rules, &json!({}), "main").allowed
}

#[test]
fn entries_that_name_nothing_are_told_with_what_was_meant() {
    let verdict = canonical(
        &json!({"tools": {"profile": "coding", "allow": ["read", "wirte", "sessions_*", "no-such"]}}),
    );
    let told: Vec<_> = verdict
        .unknown
        .iter()
        .map(|entry| {
            (
                entry.path.as_str(),
                entry.entry.as_str(),
                entry.nearest.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("tools.allow", "wirte", Some("write")),
            ("tools.allow", "no-such", None)
        ]
    );
}

#[test]
fn own_settings_replace_lists_and_add_to_deny() {
    let openclaw = json!({"tools": {"profile": "minimal", "deny": ["exec"], "byProvider": {"Acme": {"deny": ["edit"]}}}});
    let settings: ToolSettings = serde_json::from_value(json!({
        "profile": "coding", "deny": ["process"], "byProvider": {"acme": {"allow": ["read", "edit", "exec"]}}
    }))
    .unwrap();
    let config = PolicyConfig::from_value(&openclaw).with_settings(&settings);
    let input = PolicyInput {
        provider: Some("ACME"),
        model: Some("m"),
        ..PolicyInput::new(&config, KeyGrammar::Lenient, "main")
    };
    let verdict = effective_tools(&ToolRules::CANONICAL, &input);
    assert_eq!(verdict.allowed, ["read", "list", "search"]);
    assert_eq!(verdict.removed["process"].path, "tools.deny");
    assert_eq!(verdict.removed["edit"].path, "tools.byProvider.acme.deny");
}

#[test]
fn policies_of_group_sender_and_sandbox_are_asked_where_the_contract_knows_them() {
    let config = PolicyConfig::default();
    let deny = |name: &str| {
        Some(ToolPolicy {
            allow: None,
            deny: Some(vec![name.to_owned()]),
        })
    };
    for (rules, sender_counts) in [(&RULES[0], false), (&RULES[1], true)] {
        let input = PolicyInput {
            group: deny("read"),
            by_sender: deny("write"),
            sandbox: deny("edit"),
            ..PolicyInput::new(&config, KeyGrammar::Exact, "main")
        };
        let verdict = effective_tools(rules, &input);
        assert!(!verdict.allows("read") && !verdict.allows("edit"));
        assert_eq!(verdict.allows("write"), !sender_counts);
    }
}

proptest! {
    /// A layer can only take away: with more configuration nothing appears, and what is denied by name is gone.
    #[test]
    fn denied_is_denied_and_order_stays(
        denied in prop::sample::select(ToolRules::OPENCLAW_2026_9.catalogue.iter().map(|t| t.id).collect::<Vec<_>>()),
        allow in prop::collection::vec("[a-z_*]{1,8}|group:(fs|web|sessions|openclaw)", 0..4),
        also in prop::collection::vec("[a-z_*]{1,8}", 0..3),
        profile in prop::option::of("minimal|coding|messaging|full|other"),
        key in "agent:main:main|agent:main:subagent:x|subagent:x|[a-z:]{0,12}",
    ) {
        for rules in RULES {
            let start = verdict_names(&rules);
            let config = json!({"tools": {"profile": profile, "allow": allow, "alsoAllow": also, "deny": [denied]}});
            let verdict = verdict(&rules, &config, &key);
            prop_assert!(!verdict.allows(denied));
            let mut order = start.iter();
            prop_assert!(verdict.allowed.iter().all(|tool| order.any(|known| known == tool)));
            prop_assert_eq!(verdict.allowed.len() + verdict.removed.len(), verdict.known.len());
        }
    }
}
