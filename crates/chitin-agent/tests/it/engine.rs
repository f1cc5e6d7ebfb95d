//! Which engine is picked, and what happens if it cannot be used.

use chitin_agent::engine::{
    Assembly, ContextEngine, EngineError, EngineFactory, EngineRegistry, Legacy, Registration,
    SessionRef, SubagentEnd, TurnEnd, slot,
};
use chitin_protocol::message::Message;
use futures_util::FutureExt;
use serde_json::json;
use std::sync::Arc;

const SESSION: SessionRef<'_> = SessionRef {
    id: "s",
    key: "agent:main:main",
    agent: &chitin_workspace::adapter::LazyDefinition::none(),
};

fn failing() -> EngineFactory {
    Box::new(|| Err("no database".to_owned()))
}

#[test]
fn the_configuration_picks_an_engine_by_its_trimmed_id() {
    assert_eq!(slot(&json!({})), "legacy");
    assert_eq!(
        slot(&json!({ "plugins": { "slots": { "contextEngine": "  " } } })),
        "legacy"
    );
    assert_eq!(
        slot(&json!({ "plugins": { "slots": { "contextEngine": 5 } } })),
        "legacy"
    );
    assert_eq!(
        slot(&json!({ "plugins": { "slots": { "contextEngine": " mine " } } })),
        "mine"
    );
}

#[test]
fn an_engine_that_cannot_be_used_gives_way_with_a_note() {
    let mut registry = EngineRegistry::new();
    assert_eq!(
        registry.register("broken", "plugin-a", failing()),
        Registration::Registered
    );
    registry.register("liar", "plugin-a", Box::new(|| Ok(Arc::new(Legacy))));
    for (id, why) in [
        ("ghost", "no engine of this id is registered"),
        ("broken", "no database"),
        ("liar", "it calls itself `legacy`"),
    ] {
        let resolved = registry.resolve(id).unwrap();
        assert_eq!(resolved.engine.info().id, "legacy");
        let note = resolved.note.unwrap();
        assert!(note.contains(why) && note.contains(id), "{note}");
    }
    assert_eq!(registry.resolve("legacy").unwrap().note, None);
}

#[test]
fn the_first_registrant_owns_an_id_and_nobody_takes_the_built_in_one() {
    let mut registry = EngineRegistry::new();
    let taken = |owner: &str| Registration::Taken {
        owner: owner.to_owned(),
    };
    assert_eq!(
        registry.register("legacy", "plugin-a", failing()),
        taken("core")
    );
    registry.register("mine", "plugin-a", failing());
    assert_eq!(
        registry.register("mine", "plugin-b", failing()),
        taken("plugin-a")
    );
    registry.quarantine("mine", "it failed at assemble");
    registry.quarantine("legacy", "never");
    assert!(
        registry
            .resolve("mine")
            .unwrap()
            .note
            .unwrap()
            .contains("it failed at assemble")
    );
    assert_eq!(registry.resolve("legacy").unwrap().note, None);
}

#[test]
fn the_built_in_engine_passes_everything_on() {
    let engine: Arc<dyn ContextEngine> = Arc::new(Legacy);
    let messages = vec![Message::user("hello", 1)];
    let assembly = Assembly {
        messages: messages.clone(),
        token_budget: 10,
        model: "a/b".to_owned(),
        prompt: None,
    };
    let context = engine
        .assemble(SESSION, assembly)
        .now_or_never()
        .unwrap()
        .unwrap();
    assert_eq!(
        (context.messages, context.estimated_tokens),
        (messages.clone(), 0)
    );
    let ingested = engine
        .ingest(SESSION, &messages[0])
        .now_or_never()
        .unwrap()
        .unwrap();
    assert!(!ingested.ingested);
    let turn = TurnEnd {
        branch: &[],
        records_before: 3,
        is_heartbeat: false,
    };
    let nothing: Result<(), EngineError> = engine.after_turn(SESSION, turn).now_or_never().unwrap();
    assert_eq!(nothing, Ok(()));
    let ended = engine.on_subagent_ended("child", SubagentEnd::Completed);
    assert_eq!(ended.now_or_never().unwrap(), Ok(()));
}
