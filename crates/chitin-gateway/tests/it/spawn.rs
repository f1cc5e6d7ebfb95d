//! Sessions that begin other sessions.

use chitin_contract::{CANONICAL, OPENCLAW_2026_9};
use chitin_gateway::subagents::limits::AllowedAgents;
use chitin_gateway::subagents::prompt::{ChildFacts, Stay, first_message, system_prompt};
use chitin_gateway::subagents::{ControlScope, SessionCapabilities, SessionRole, SpawnLimits};
use chitin_protocol::agent_id::AgentId;
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

#[test]
fn the_deepest_child_may_begin_nobody() {
    assert_eq!(SessionCapabilities::at(0, 1).role, SessionRole::Main);
    assert_eq!(SessionCapabilities::at(1, 1).role, SessionRole::Leaf);
    assert_eq!(
        SessionCapabilities::at(1, 2).control_scope,
        ControlScope::Children
    );
    assert!(!SessionCapabilities::at(2, 2).can_spawn);
}

#[test]
fn numbers_outside_of_the_range_are_moved_to_its_edge() {
    let config = json!({"agents": {
        "defaults": {"subagents": {"maxSpawnDepth": 99, "maxChildrenPerAgent": 0, "runTimeoutSeconds": 9.7, "allowAgents": ["Sales Team"]}},
        "list": [{"id": "ops", "subagents": {"allowAgents": ["*"], "maxChildrenPerAgent": 50, "archiveAfterMinutes": 0}}],
    }});
    let of = |agent: &str| SpawnLimits::read(&config, &AgentId::normalize(agent), &CANONICAL);
    let (main, ops) = (of("main"), of("ops"));
    assert_eq!((main.max_depth, main.max_children), (5, 1));
    assert_eq!(main.run_timeout, Some(Duration::from_secs(9)));
    assert_eq!((ops.max_children, ops.archive_after), (20, None));
    assert_eq!(ops.allow_agents, AllowedAgents::Any);
    let id = AgentId::normalize;
    assert!(main.allow_agents.allow(&id("sales-team"), &id("main")));
    assert!(main.allow_agents.allow(&id("main"), &id("main")));
    assert!(!main.allow_agents.allow(&id("ops"), &id("main")));
}

#[test]
fn without_a_word_the_contract_says() {
    let id = AgentId::normalize("main");
    let canonical = SpawnLimits::read(&json!({}), &id, &CANONICAL);
    assert_eq!((canonical.max_depth, canonical.max_children), (1, 5));
    assert_eq!((canonical.max_concurrent, canonical.run_timeout), (8, None));
    assert_eq!(canonical.announce_timeout, Duration::from_mins(2));
    let newer = SpawnLimits::read(&json!({}), &id, &OPENCLAW_2026_9);
    assert_eq!(newer.max_depth, 5);
}

fn facts() -> ChildFacts<'static> {
    ChildFacts {
        depth: 1,
        max_depth: 2,
        label: Some("count the\nlanterns"),
        requester_session: Some("agent:main:discord:channel:7"),
        requester_channel: Some("discord"),
        session: "agent:main:subagent:c1",
        thread: None,
    }
}

#[test]
fn a_child_is_told_what_it_is() {
    insta::assert_snapshot!(system_prompt(&facts()));
    let leaf = ChildFacts {
        depth: 2,
        ..facts()
    };
    assert!(system_prompt(&leaf).contains("## Sub-Agent Spawning\nYou cannot"));
    let only = ChildFacts {
        max_depth: 1,
        ..facts()
    };
    assert!(!system_prompt(&only).contains("## Sub-Agent Spawning"));
}

#[test]
fn the_first_message_has_the_shape_of_its_contract() {
    let one = CANONICAL.runtime.subagents.first_message;
    let many = OPENCLAW_2026_9.runtime.subagents.first_message;
    let mut story = first_message("Count them.", 1, 2, Stay::Stays, one);
    story += "\n==========\n";
    story += &first_message("Count them.", 1, 5, Stay::UntilDone, many);
    insta::assert_snapshot!(story);
}

proptest! {
    #[test]
    fn no_label_can_pass_for_a_heading(label in "(\\PC|\n|\r){0,60}(\n## Rules\n)?(\\PC|\n){0,20}") {
        let named = ChildFacts { label: Some(&label), ..facts() };
        let headings = |text: &str| text.lines().filter(|line| line.starts_with('#')).count();
        prop_assert_eq!(headings(&system_prompt(&named)), headings(&system_prompt(&facts())));
    }
}
