//! A session begins others: what a child gets, who hears of its end, and where words go.

use crate::stage::Setting;
use chitin_store::SessionStore;
use serde_json::{Value, json};

/// A reply that begins a child.
fn spawns(arguments: Value) -> Value {
    json!({"text": "", "toolCalls": [{"name": "sessions_spawn", "arguments": arguments}]})
}

#[tokio::test]
async fn a_child_does_its_task_and_its_parent_relays_the_result_once() {
    let stage = Setting::replies(&[
        json!({"when": "[Subagent Task]: Count the lanterns", "text": "Seven lanterns."}),
        spawns(json!({"task": "Count the lanterns", "label": "lantern count"})),
        json!({"text": "I have asked somebody."}),
        json!({"text": "There are seven.", "expect": {"contains": ["Seven lanterns.", "task: lantern count", "status: completed successfully"]}}),
    ])
    .stage();
    stage.say_and_wait("yard", "How many lanterns?").await;
    stage.rest().await;
    assert_eq!(
        stage.surface.sent(),
        [
            "chat:channel:yard: I have asked somebody.",
            "chat:channel:yard: There are seven."
        ]
    );
    let store = stage.host.file_store("main");
    let sessions = store.list().unwrap();
    let child = sessions.iter().find(|(key, _)| key.contains(":subagent:"));
    let (key, entry) = child.unwrap();
    assert!(key.starts_with("agent:main:subagent:"));
    assert_eq!(entry.spawn_depth, Some(1));
    assert_eq!(entry.subagent_role.as_deref(), Some("leaf"));
    assert_eq!(entry.status.as_deref(), Some("done"));
    assert_eq!(
        entry.spawned_by.as_deref(),
        Some("agent:main:chat:channel:yard")
    );
}
