//! What a session sees of others, and what it says to them.

use crate::announce_runs::told;
use crate::spawn_runs::{YARD, calls, child, children, results, spawns};
use crate::stage::{Setting, Stage, message};
use serde_json::{Value, json};
use std::time::Duration;

/// Lets the yard call tools one by one, with a child that is at work, and returns what they gave back.
async fn tried(setting: Setting) -> (Stage, Vec<Value>) {
    let stage = setting.stage();
    stage.say_and_wait("yard", "Go").await;
    let results = results(&stage, YARD);
    (stage, results)
}

fn keys(result: &Value) -> Vec<String> {
    let sessions = result["sessions"].as_array().unwrap().iter();
    let keys = sessions.map(|session| session["key"].as_str().unwrap());
    let mut keys: Vec<String> = keys
        .map(|key| match key.split_once(":subagent:") {
            Some((agent, _)) => format!("{agent}:subagent"),
            None => key.to_owned(),
        })
        .collect();
    keys.sort();
    keys
}

/// Says something in the gate's channel and in the main session first, so that there are sessions to see.
async fn neighbours(setting: Setting, key: &str) -> (Stage, Vec<String>) {
    let stage = setting.stage();
    stage.say_and_wait("gate", "Hello from the gate").await;
    let mut incoming = message("yard", "Go");
    incoming.session = Some(key.to_owned());
    stage.gateway.accept(incoming).await.unwrap();
    stage.rest().await;
    let listed = results(&stage, key).remove(1);
    (stage, keys(&listed))
}

#[tokio::test]
async fn a_session_sees_itself_and_what_it_began_and_more_only_if_the_user_says_so() {
    let replies = [
        json!({"when": "Hello from the gate", "text": "Hello."}),
        child("Wait", "Waited."),
        json!({"when": "[Internal task completion event]", "text": "NO_REPLY", "times": 0}),
        spawns(json!({"task": "Wait"})),
        calls("sessions_list", json!({})),
        json!({"text": "Seen."}),
    ];
    let (_, seen) = neighbours(Setting::replies(&replies), YARD).await;
    assert_eq!(seen, [YARD, "agent:main:subagent"]);
    let (_, seen) = neighbours(Setting::replies(&replies), "agent:main:main").await;
    let all = [
        "agent:main:chat:channel:gate",
        "agent:main:main",
        "agent:main:subagent",
    ];
    assert_eq!(seen, all, "the main session sees all of its agent");
    for (visibility, most) in [("self", 1), ("agent", 3)] {
        let config = json!({"tools": {"sessions": {"visibility": visibility}}});
        let setting = Setting::replies(&replies).config(config);
        let (_, seen) = neighbours(setting, YARD).await;
        assert_eq!(seen.len(), most, "{visibility}: {seen:?}");
    }
}

#[tokio::test]
async fn what_was_said_elsewhere_is_shown_without_what_tools_gave_back() {
    let stage = Setting::replies(&[
        json!({"when": "[Subagent Task]: Look", "text": "I look.", "toolCalls": [{"name": "none", "arguments": {}}]}),
        child("Look", "Nothing there."),
        json!({"when": "Show", "text": "", "toolCalls": [
            {"name": "sessions_history", "arguments": {"sessionKey": "CHILD"}},
        ]}),
        spawns(json!({"task": "Look"})),
        json!({"text": "Asked."}),
        json!({"text": "Told."}),
    ])
    .stage();
    stage.say_and_wait("yard", "Look").await;
    stage.rest().await;
    let child = children(&stage).remove(0).0;
    let ask = |arguments: Value| call(&stage, "sessions_history", YARD, arguments);
    let shown = ask(json!({"sessionKey": child})).await;
    let roles: Vec<&str> = shown["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "assistant"]);
    assert_eq!(shown["messages"][1]["calls"], json!(["none"]));
    assert_eq!(shown["messages"][2]["text"], "Nothing there.");
    let shown = ask(json!({"sessionKey": child, "includeTools": true, "limit": 2})).await;
    assert_eq!(shown["messages"][0]["role"], "tool");
    assert_eq!(shown["hasOlder"], true);
    let hidden = ask(json!({"sessionKey": "agent:main:chat:channel:gate"})).await;
    insta::assert_snapshot!(hidden["error"].as_str().unwrap(), @"There is no session `agent:main:chat:channel:gate` that this one sees. `sessions_list` lists those that it does.");
}

/// Calls a tool of the gateway as a session would.
async fn call(stage: &Stage, tool: &str, session_key: &str, arguments: Value) -> Value {
    let offers = chitin_gateway::tools::offers(&stage.gateway)(None);
    let offer = offers.iter().find_map(|offer| match offer {
        chitin_tools::ToolOffer::Own(offered) if offered.spec().name == tool => Some(offered),
        _ => None,
    });
    let context = chitin_tools::CallContext {
        workspace: &stage.env.workspace(),
        skill_roots: &[],
        state_roots: &[],
        agent: &chitin_workspace::adapter::LazyDefinition::none(),
        rights: &chitin_tools::Rights::default(),
        session_key,
        call_id: "1",
        cancel: &tokio_util::sync::CancellationToken::new(),
        max_output_bytes: 100_000,
        progress: &|_| {},
        approver: &crate::stage::Nobody,
    };
    let outcome = offer.unwrap().call(arguments, &context).await;
    outcome.details.unwrap_or_else(|| {
        let text = outcome.content[0].as_text().unwrap_or_default();
        Value::from(text)
    })
}

#[tokio::test]
async fn a_session_asks_another_and_gets_its_answer() {
    let config = json!({"tools": {"sessions": {"visibility": "agent"}}});
    let (stage, results) = tried_after_gate(
        Setting::replies(&[
            json!({"when": "Hello from the gate", "text": "Hello."}),
            json!({"when": "Is it shut?", "text": "It is shut.", "expect": {"contains": ["[Inter-session message] sourceSession=agent:main:chat:channel:yard"]}}),
            calls("sessions_send", json!({"sessionKey": "agent:main:chat:channel:gate", "message": "Is it shut?"})),
            json!({"text": "It is shut, they say."}),
        ])
        .config(config),
    )
    .await;
    assert_eq!(results[0]["status"], "ok");
    assert_eq!(results[0]["reply"], "It is shut.");
    assert_eq!(
        stage.surface.sent(),
        [
            "chat:channel:gate: Hello.",
            "chat:channel:yard: It is shut, they say."
        ],
        "what sessions say to each other is nobody else's"
    );
    assert_eq!(told(&stage, "agent:main:chat:channel:gate").len(), 2);
}

async fn tried_after_gate(setting: Setting) -> (Stage, Vec<Value>) {
    let stage = setting.stage();
    stage.say_and_wait("gate", "Hello from the gate").await;
    stage.say_and_wait("yard", "Go").await;
    stage.rest().await;
    let results = results(&stage, YARD);
    (stage, results)
}

#[tokio::test]
async fn a_session_that_is_not_seen_or_does_not_answer_is_said_to_be_so() {
    let config = json!({"tools": {"sessions": {"visibility": "agent"}}});
    let gate = "agent:main:chat:channel:gate";
    let (_, results) = tried_after_gate(
        Setting::replies(&[
            json!({"when": "Hello from the gate", "text": "Hello."}),
            json!({"when": "isUser=false\nSleep", "text": "Yawn.", "delayMs": 400, "times": 0}),
            calls(
                "sessions_send",
                json!({"sessionKey": gate, "message": "Sleep", "timeoutSeconds": 0.1}),
            ),
            calls(
                "sessions_send",
                json!({"sessionKey": gate, "message": "Sleep on", "timeoutSeconds": 0}),
            ),
            calls(
                "sessions_send",
                json!({"sessionKey": YARD, "message": "Me"}),
            ),
            calls(
                "sessions_send",
                json!({"sessionKey": "agent:main:elsewhere", "message": "Who"}),
            ),
            calls(
                "sessions_send",
                json!({"label": "nobody", "message": "Who"}),
            ),
            calls("sessions_send", json!({"message": "Who"})),
            json!({"text": "Nobody answers."}),
        ])
        .config(config),
    )
    .await;
    let statuses: Vec<&str> = results
        .iter()
        .map(|result| result["status"].as_str().unwrap())
        .collect();
    assert_eq!(
        statuses,
        ["timeout", "accepted", "error", "error", "error", "error"]
    );
}

#[tokio::test]
async fn a_child_hears_its_parent_while_it_works() {
    let stage = Setting::replies(&[
        json!({"when": "[Subagent Task]: Paint", "text": "Painting it red.", "delayMs": 500}),
        json!({"when": "Blue, not red", "text": "Painted blue."}),
        json!({"when": "[Internal task completion event]", "text": "It is blue.", "expect": {"contains": ["Painted blue."]}}),
        spawns(json!({"task": "Paint", "label": "painter"})),
        json!({"text": "Asked."}),
        calls("subagents", json!({})),
        calls("subagents", json!({"action": "steer", "target": "1", "message": "Blue, not red"})),
        json!({"text": "Told."}),
    ])
    .stage();
    stage.say_and_wait("yard", "Paint").await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    stage.say_and_wait("yard", "Blue!").await;
    stage.rest().await;
    let results = results(&stage, YARD);
    assert_eq!(results[1]["active"][0]["label"], "painter");
    assert_eq!(results[1]["active"][0]["state"], "running");
    assert_eq!(results[2]["status"], "accepted", "{results:?}");
    assert_eq!(results[2]["place"], "steers");
    assert_eq!(
        stage.surface.sent().last().unwrap(),
        "chat:channel:yard: It is blue."
    );
    let listed = call(&stage, "subagents", YARD, json!({})).await;
    assert_eq!(listed["active"], json!([]));
    assert_eq!(listed["recent"][0]["label"], "painter");
    assert_eq!(listed["recent"][0]["status"], "done");
}

#[tokio::test]
async fn a_session_hears_which_agents_it_may_begin_children_of() {
    let config = json!({"agents": {"list": [
        {"id": "main", "subagents": {"allowAgents": ["helper"]}},
        {"id": "helper"},
        {"id": "smith"}
    ]}});
    let (_, results) = tried(
        Setting::replies(&[calls("agents_list", json!({})), json!({"text": "Two."})])
            .config(config),
    )
    .await;
    assert_eq!(
        results[0],
        json!({
            "requester": "main",
            "allowAny": false,
            "agents": [{"id": "main", "default": true}, {"id": "helper", "default": false}]
        })
    );
}

#[tokio::test]
async fn what_a_model_is_told_of_spawning_follows_the_contract() {
    use chitin_contract::{CANONICAL, OPENCLAW_2026_4, OPENCLAW_2026_9};
    let mut told = Vec::new();
    for contract in [&CANONICAL, &OPENCLAW_2026_4, &OPENCLAW_2026_9] {
        let setting = Setting {
            contract,
            ..Setting::default()
        };
        let stage = setting.stage();
        let offers = chitin_gateway::tools::offers(&stage.gateway);
        for channel in [Some("chat"), None] {
            let offers = offers(channel);
            let chitin_tools::ToolOffer::Own(tool) = &offers[0] else {
                unreachable!("it is our own");
            };
            let schema = &tool.spec().parameters;
            let names = schema["properties"].as_object().unwrap().keys();
            let names: Vec<&str> = names.map(String::as_str).collect();
            let name = contract.name;
            told.push(format!("{name} {channel:?}: {}", names.join(" ")));
        }
    }
    insta::assert_snapshot!(told.join("\n"));
}
