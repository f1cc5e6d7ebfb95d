//! A session begins others: what a child gets, and what it may not ask for.

use crate::stage::{Setting, Stage, message};
use chitin_contract::OPENCLAW_2026_4;
use chitin_gateway::Address;
use chitin_gateway::route::{Inbound, Peer};
use chitin_gateway::surface::SurfaceAction;
use chitin_protocol::message::Message;
use chitin_protocol::session_key::ChatType;
use chitin_protocol::transcript::EntryBody;
use chitin_store::{SessionEntry, SessionStore};
use serde_json::{Value, json};

pub(crate) const YARD: &str = "agent:main:chat:channel:yard";

/// A reply that begins a child.
pub(crate) fn spawns(arguments: Value) -> Value {
    calls("sessions_spawn", arguments)
}

/// A reply that calls a tool.
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments are written where they are used"
)]
pub(crate) fn calls(tool: &str, arguments: Value) -> Value {
    json!({"text": "", "toolCalls": [{"name": tool, "arguments": arguments}]})
}

/// What a child with a task replies.
pub(crate) fn child(task: &str, text: &str) -> Value {
    json!({"when": format!("[Subagent Task]: {task}"), "text": text})
}

/// Returns what tools gave back in a session, in order.
pub(crate) fn results(stage: &Stage, session_key: &str) -> Vec<Value> {
    let store = stage.host.file_store("main");
    let entries = store.read(session_key).unwrap().entries;
    let results = entries.into_iter().filter_map(|entry| match entry.body {
        EntryBody::Message(Message::ToolResult(result)) => {
            let text = result.content.text();
            Some(serde_json::from_str(&text).unwrap_or(Value::from(text)))
        }
        _ => None,
    });
    results.collect()
}

/// Returns the children of all sessions, as the store knows them.
pub(crate) fn children(stage: &Stage) -> Vec<(String, SessionEntry)> {
    let sessions = stage.host.file_store("main").list().unwrap();
    sessions
        .into_iter()
        .filter(|(key, _)| key.contains(":subagent:"))
        .collect()
}

#[tokio::test]
async fn a_child_does_its_task_and_its_parent_relays_the_result_once() {
    let stage = Setting::replies(&[
        child("Count the lanterns", "Seven lanterns."),
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
    let (key, entry) = children(&stage).remove(0);
    assert!(key.starts_with("agent:main:subagent:"));
    assert_eq!(entry.spawn_depth, Some(1));
    assert_eq!(entry.subagent_role.as_deref(), Some("leaf"));
    assert_eq!(entry.subagent_control_scope.as_deref(), Some("none"));
    assert_eq!(entry.label.as_deref(), Some("lantern count"));
    assert_eq!(entry.status.as_deref(), Some("done"));
    assert_eq!(entry.spawned_by.as_deref(), Some(YARD));
    let accepted = results(&stage, YARD).remove(0);
    assert_eq!(accepted["status"], "accepted");
    assert_eq!(accepted["childSessionKey"], key.as_str());
    assert_eq!(accepted["mode"], "run");
    assert_eq!(accepted["modelApplied"], true);
}

#[tokio::test]
async fn a_child_gets_its_own_prompt_few_files_and_no_tools_that_are_not_for_it() {
    let setting = Setting::replies(&[
        json!({
            "when": "[Subagent Task]: Sweep",
            "text": "Swept.",
            "expect": {
                "contains": ["# Subagent Context", "## Session Context", "Keep the yard tidy", "Calm and brief"],
                // E3: the rules and the persona, nothing that is between the user and the main session.
                "lacks": ["The spare key", "Water the moss", "\"name\":\"sessions_spawn\"", "\"name\":\"sessions_send\"", "\"name\":\"agents_list\""]
            }
        }),
        spawns(json!({"task": "Sweep"})),
        json!({"text": "Given away."}),
        json!({"text": "It is swept."}),
    ]);
    setting
        .env
        .file("workspace/MEMORY.md", "The spare key is under the pot.\n");
    setting
        .env
        .file("workspace/HEARTBEAT.md", "Water the moss.\n");
    let stage = setting.stage();
    stage.say_and_wait("yard", "Sweep").await;
    stage.rest().await;
    assert_eq!(stage.surface.sent().len(), 2, "{:?}", stage.surface.sent());
}

#[tokio::test]
async fn a_forked_child_begins_with_its_parents_conversation() {
    let stage = Setting::replies(&[
        json!({
            "when": "[Subagent Task]: Write it down",
            "text": "Written.",
            "expect": {"contains": ["The gate code is 4711"]}
        }),
        json!({"text": "Noted."}),
        spawns(json!({"task": "Write it down", "context": "fork"})),
        json!({"text": "Somebody writes it down."}),
        json!({"text": "Done."}),
    ])
    .stage();
    stage.say_and_wait("yard", "The gate code is 4711").await;
    stage.say_and_wait("yard", "Write that down").await;
    stage.rest().await;
    let (_, entry) = children(&stage).remove(0);
    assert_eq!(entry.forked_from_parent, Some(true));
    assert_eq!(entry.status.as_deref(), Some("done"));
    assert_eq!(entry.spawn_depth, Some(1));
    assert_eq!(
        stage.surface.sent().last().unwrap(),
        "chat:channel:yard: Done."
    );
}

/// Says something in a thread of the yard.
async fn say_in_thread(stage: &Stage, thread: &str, text: &str) -> String {
    let mut incoming = message("yard", text);
    incoming.inbound = Inbound {
        thread_id: Some(thread.to_owned()),
        ..incoming.inbound
    };
    let accepted = stage.gateway.accept(incoming).await.unwrap();
    stage.rest().await;
    accepted.session_key
}

#[tokio::test]
async fn a_child_with_a_thread_stays_there_and_its_parent_speaks_for_its_first_run() {
    let stage = Setting::replies(&[
        child("Plan the fence", "Oak, forty posts."),
        json!({"when": "Why oak?", "text": "It lasts."}),
        spawns(json!({"task": "Plan the fence", "label": "Fence", "thread": true})),
        json!({"text": "Planning in a thread."}),
        json!({"text": "The plan: oak, forty posts."}),
    ])
    .stage();
    stage.say_and_wait("yard", "Plan the fence").await;
    stage.rest().await;
    assert_eq!(
        stage.surface.acted(),
        [(
            "chat:channel:yard".to_owned(),
            SurfaceAction::ThreadCreate {
                name: "Fence".to_owned(),
                message_id: None,
                auto_archive_min: None
            }
        )]
    );
    assert_eq!(
        stage.surface.sent(),
        [
            "chat:channel:yard: Planning in a thread.",
            "chat:channel:yard:thread:t1: The plan: oak, forty posts.",
        ],
        "the child itself says nothing there (seed 004)"
    );
    let session = say_in_thread(&stage, "t1", "Why oak?").await;
    assert_eq!(session, children(&stage)[0].0, "the thread is the child's");
    assert_eq!(
        stage.surface.sent().last().unwrap(),
        "chat:channel:yard:thread:t1: It lasts.",
        "spoken to, it speaks for itself"
    );
    assert_eq!(stage.surface.sent().len(), 3, "and nobody relays that");
}

#[tokio::test]
async fn a_child_whose_progress_is_wanted_speaks_in_its_thread_and_the_end_is_told_in_the_channel()
{
    let stage = Setting::replies(&[
        json!({"when": "[Subagent Task]: Dig", "text": "Half done.", "toolCalls": [{"name": "none", "arguments": {}}]}),
        json!({"when": "Half done.", "text": "Dug."}),
        spawns(json!({"task": "Dig", "thread": true, "progress": true, "mode": "run"})),
        json!({"text": "Digging in a thread."}),
        json!({"text": "The hole is there."}),
    ])
    .stage();
    stage.say_and_wait("yard", "Dig").await;
    stage.rest().await;
    let mut sent = stage.surface.sent();
    sent.sort();
    assert_eq!(
        sent,
        [
            "chat:channel:yard: Digging in a thread.",
            "chat:channel:yard: The hole is there.",
            "chat:channel:yard:thread:t1: Dug.",
            "chat:channel:yard:thread:t1: Half done.",
        ]
    );
    let session = say_in_thread(&stage, "t1", "Hello?").await;
    assert!(
        session.ends_with("thread:t1"),
        "the run is over, and the thread is nobody's: {session}"
    );
}

#[tokio::test]
async fn a_child_that_nobody_relays_posts_its_reply_in_its_own_thread() {
    for mode in ["session", "run"] {
        let stage = Setting::replies(&[
            json!({"when": "[Subagent Task]: Plan the fence", "text": "Oak, forty posts.",
                "expect": {"contains": ["- Your thread: chat:channel:yard:thread:t1."]}}),
            spawns(json!({"task": "Plan the fence", "thread": true, "mode": mode, "expectsCompletionMessage": false})),
            json!({"text": "Planning in a thread."}),
        ])
        .stage();
        stage.say_and_wait("yard", "Plan the fence").await;
        stage.rest().await;
        let mut sent = stage.surface.sent();
        sent.sort();
        assert_eq!(
            sent,
            [
                "chat:channel:yard: Planning in a thread.",
                "chat:channel:yard:thread:t1: Oak, forty posts.",
            ],
            "{mode}"
        );
        let accepted = results(&stage, YARD).remove(0);
        let note = accepted["note"].as_str().unwrap();
        assert!(note.contains("posts its reply in its thread"), "{note}");
    }
}

#[tokio::test]
async fn a_child_that_nobody_relays_says_in_its_thread_that_it_failed() {
    let stage = Setting::replies(&[
        json!({"when": "[Subagent Task]: Break", "error": {"status": 400, "message": "no such field"}}),
        spawns(json!({"task": "Break", "thread": true, "expectsCompletionMessage": false})),
        json!({"text": "Asked."}),
    ])
    .stage();
    stage.say_and_wait("yard", "Do it").await;
    stage.rest().await;
    let sent = stage.surface.sent();
    let failed = sent.iter().filter(|sent| {
        sent.starts_with("chat:channel:yard:thread:t1: This did not work:")
            && sent.contains("no such field")
    });
    assert_eq!(failed.count(), 1, "{sent:?}");
}

#[tokio::test]
async fn a_child_that_posts_its_own_reply_also_posts_what_its_own_children_find() {
    let config = json!({"agents": {"defaults": {"subagents": {"maxSpawnDepth": 2}}}});
    let stage = Setting::replies(&[
        child("Count the posts", "Forty."),
        json!({"when": "[Internal task completion event]", "text": "Oak, forty posts."}),
        json!({"when": "[Subagent Task]: Plan the fence", "text": "", "toolCalls": [
            {"name": "sessions_spawn", "arguments": {"task": "Count the posts"}}]}),
        json!({"when": "[Subagent Task]: Plan the fence", "text": "I let the posts be counted."}),
        spawns(
            json!({"task": "Plan the fence", "thread": true, "expectsCompletionMessage": false}),
        ),
        json!({"text": "Planning in a thread."}),
    ])
    .config(config)
    .stage();
    stage.say_and_wait("yard", "Plan the fence").await;
    stage.rest().await;
    let sent = stage.surface.sent();
    assert!(
        sent.contains(&"chat:channel:yard:thread:t1: Oak, forty posts.".to_owned()),
        "{sent:?}"
    );
}

#[tokio::test]
async fn under_2026_4_a_child_with_a_thread_speaks_for_itself_and_its_parent_hears_nothing() {
    let mut setting = Setting::replies(&[
        child("Plan the fence", "Oak, forty posts."),
        spawns(json!({"task": "Plan the fence", "thread": true})),
        json!({"text": "Planning in a thread."}),
    ]);
    setting.contract = &OPENCLAW_2026_4;
    let stage = setting.stage();
    stage.say_and_wait("yard", "Plan the fence").await;
    stage.rest().await;
    let mut sent = stage.surface.sent();
    sent.sort();
    assert_eq!(
        sent,
        [
            "chat:channel:yard: Planning in a thread.",
            "chat:channel:yard:thread:t1: Oak, forty posts.",
        ]
    );
}

#[tokio::test]
async fn what_cannot_be_begun_is_refused_as_a_result_that_says_why() {
    let asked = [
        json!({"task": "  "}),
        json!({"task": "x", "replyTo": "77"}),
        json!({"task": "x", "threadId": "77"}),
        json!({"task": "x", "runtime": "acp"}),
        json!({"task": "x", "resumeSessionId": "s"}),
        json!({"task": "x", "sandbox": "require"}),
        json!({"task": "x", "streamTo": "parent"}),
        json!({"task": "x", "mode": "session"}),
        json!({"task": "x", "progress": true}),
        json!({"task": "x", "agentId": "smith"}),
        json!({"task": "x", "agentId": "ghost"}),
        json!({"task": "x", "agentId": "helper", "context": "fork"}),
        json!({"task": "x", "cwd": "../elsewhere"}),
        json!({"task": "x", "cwd": "/etc"}),
        json!({"task": "x", "cwd": "link"}),
        json!({"task": "x", "runTimeoutSeconds": -1}),
        json!({"task": "x", "attachments": [{"name": "../x", "content": ""}]}),
        json!({"task": "x", "attachments": [{"name": "a", "content": "?", "encoding": "base64"}]}),
        json!({"task": "x", "attachments": [{"name": "a", "content": "1"}, {"name": "a", "content": "2"}]}),
        json!({"task": "x", "attachments": [{"name": "a", "content": "x".repeat(65)}]}),
        json!({"task": "x", "colour": "red"}),
    ];
    let mut replies: Vec<Value> = asked.iter().cloned().map(spawns).collect();
    replies.push(json!({"text": "None of it."}));
    let config = json!({
        "agents": {"list": [
            {"id": "main", "subagents": {"allowAgents": ["helper", "ghost"]}},
            {"id": "helper"},
            {"id": "smith"}
        ]},
        "tools": {"sessions_spawn": {"attachments": {"maxFileBytes": 64}}}
    });
    let setting = Setting::replies(&replies).config(config);
    std::os::unix::fs::symlink("/etc", setting.env.workspace().join("link")).unwrap();
    let stage = setting.stage();
    stage.say_and_wait("yard", "Try everything").await;
    let told: Vec<String> = results(&stage, YARD)
        .iter()
        .map(|result| match result {
            Value::String(text) => text.clone(),
            result => format!("{}: {}", result["status"], result["error"]),
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
    assert!(children(&stage).is_empty(), "nothing was begun");
}

#[tokio::test]
async fn a_model_that_begins_children_in_a_loop_meets_its_limits_and_the_rest_goes_on() {
    let mut replies: Vec<Value> = vec![
        json!({"when": "[Subagent Task]: Hold on", "text": "Held.", "delayMs": 3000, "times": 0}),
        json!({"when": "Who is there?", "text": "I am."}),
        json!({"when": "[Internal task completion event]", "text": "NO_REPLY", "times": 0}),
    ];
    let tasks = (0..40).map(|number| format!("Hold on, number {number}"));
    replies.extend(tasks.map(|task| spawns(json!({"task": task}))));
    replies.push(json!({"text": "Enough."}));
    let stage = Setting::replies(&replies).stage();
    stage.say("yard", "Go mad").await;
    stage.say_and_wait("gate", "Who is there?").await;
    stage.rest().await;
    let results = results(&stage, YARD);
    let count = |status: &str| {
        let with = results.iter().filter(|result| result["status"] == status);
        with.count()
    };
    assert_eq!(results.len(), 40);
    assert_eq!(count("accepted"), children(&stage).len());
    assert!(count("accepted") >= 5);
    assert!(count("forbidden") >= 1, "{results:?}");
    assert_eq!(count("accepted") + count("forbidden"), 40);
    let sent = stage.surface.sent();
    assert!(sent.contains(&"chat:channel:gate: I am.".to_owned()));
    assert!(sent.contains(&"chat:channel:yard: Enough.".to_owned()));
}

#[tokio::test]
async fn a_child_may_not_begin_others_unless_the_depth_allows_it() {
    // The stored depth wins over what the key looks like.
    let stage = Setting::replies(&[
        child("Sweep", "Swept."),
        spawns(json!({"task": "Sweep"})),
        json!({"text": "Given away."}),
        json!({"text": "It is swept."}),
    ])
    .stage();
    stage.say_and_wait("yard", "Sweep").await;
    stage.rest().await;
    let (key, _) = children(&stage).remove(0);
    let request = serde_json::from_value(json!({"task": "More"})).unwrap();
    let refusal = stage.gateway.spawn(&key, request).await.unwrap_err();
    insta::assert_snapshot!(refusal.error, @"This session is 1 deep, and children go no deeper than 1 (`maxSpawnDepth`). Do the task here.");
    let store = stage.host.file_store("main");
    store
        .annotate(YARD, &mut |entry| entry.spawn_depth = Some(3))
        .unwrap();
    let request = serde_json::from_value(json!({"task": "More"})).unwrap();
    let refusal = stage.gateway.spawn(YARD, request).await.unwrap_err();
    assert!(refusal.error.starts_with("This session is 3 deep"));
}

#[tokio::test]
async fn files_for_a_child_lie_in_a_directory_of_their_own_and_it_is_told_where() {
    let stage = Setting::replies(&[
        json!({
            "when": "[Subagent Task]: Read the list",
            "text": "Read.",
            "expect": {"contains": ["Files that go with the task are in `.openclaw/attachments/", "- list.txt (10 bytes)"]}
        }),
        spawns(json!({
            "task": "Read the list",
            "attachments": [
                {"name": "list.txt", "content": "five larch"},
                {"name": "seal.bin", "content": "AAEC", "encoding": "base64", "mimeType": "application/octet-stream"}
            ]
        })),
        json!({"text": "Given away."}),
        json!({"text": "It is read."}),
    ])
    .stage();
    stage.say_and_wait("yard", "Read").await;
    stage.rest().await;
    let attached = &results(&stage, YARD)[0]["attachments"];
    assert_eq!(attached["count"], 2);
    assert_eq!(attached["totalBytes"], 13);
    let directory = attached["relDir"].as_str().unwrap();
    let directory = stage.env.workspace().join(directory);
    assert_eq!(
        std::fs::read(directory.join("list.txt")).unwrap(),
        b"five larch"
    );
    assert_eq!(
        std::fs::read(directory.join("seal.bin")).unwrap(),
        [0, 1, 2]
    );
    assert_eq!(stage.surface.sent().len(), 2);
}

#[tokio::test]
async fn a_child_of_another_agent_has_that_agents_session_and_a_directory_below_its_workspace() {
    let config = json!({
        "agents": {"list": [
            {"id": "main", "subagents": {"allowAgents": ["*"]}},
            {"id": "helper"}
        ]}
    });
    let setting = Setting::replies(&[
        child("Sort", "Sorted."),
        spawns(json!({"task": "Sort", "agentId": "helper", "cwd": "shed", "thinking": "low"})),
        json!({"text": "Given away."}),
        json!({"text": "It is sorted."}),
    ])
    .config(config);
    setting.env.file("workspace/shed/AGENTS.md", "# Shed\n");
    let stage = setting.stage();
    stage.say_and_wait("yard", "Sort").await;
    stage.rest().await;
    let sessions = stage.host.file_store("helper").list().unwrap();
    let (key, entry) = &sessions[0];
    assert!(key.starts_with("agent:helper:subagent:"));
    assert!(
        entry
            .spawned_workspace_dir
            .as_deref()
            .unwrap()
            .ends_with("/workspace/shed")
    );
    let asked = stage.host.asked();
    let shed = asked.iter().find(|ask| ask.agent_id == "helper").unwrap();
    assert_eq!(shed.workspace, None);
    assert!(shed.working_directory.as_ref().unwrap().ends_with("shed"));
    assert_eq!(shed.thinking.as_deref(), Some("low"));
    assert_eq!(shed.depth, Some(1));
    assert_eq!(
        stage.surface.sent().last().unwrap(),
        "chat:channel:yard: It is sorted."
    );
}

#[tokio::test]
async fn a_place_that_is_no_place_has_no_thread() {
    let stage = Setting::default().stage();
    let request = serde_json::from_value(json!({"task": "x", "thread": true})).unwrap();
    let refusal = stage.gateway.spawn(YARD, request).await.unwrap_err();
    insta::assert_snapshot!(refusal.error, @"This session speaks nowhere just now, so that there is no place for a thread. Leave `thread` out.");
    let place = Address {
        channel: "chat".to_owned(),
        account_id: None,
        peer: Peer {
            kind: ChatType::Channel,
            id: "yard".to_owned(),
        },
        thread_id: None,
    };
    assert!(stage.surface.acted().is_empty(), "nothing at {place}");
    assert!(children(&stage).is_empty());
}

#[tokio::test]
async fn a_child_that_is_long_done_is_put_away_when_another_begins() {
    let stage = Setting::replies(&[
        child("First", "One."),
        child("Second", "Two."),
        json!({"when": "[Internal task completion event]", "text": "NO_REPLY", "times": 0}),
    ])
    .stage();
    let begin = |task: &str| {
        let request = serde_json::from_value(json!({"task": task})).unwrap();
        stage.gateway.spawn(YARD, request)
    };
    let first = begin("First").await.unwrap().child_session_key;
    stage.rest().await;
    assert_eq!(children(&stage)[0].0, first);
    stage.clock.push(2 * 60 * 60 * 1000);
    let second = begin("Second").await.unwrap().child_session_key;
    for _ in 0..200 {
        if children(&stage).len() == 1 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    stage.rest().await;
    let left: Vec<String> = children(&stage).into_iter().map(|(key, _)| key).collect();
    assert_eq!(left, [second]);
}

#[tokio::test]
async fn a_stranger_gets_no_more_rights_through_a_child_or_the_news_of_it() {
    let stage = Setting::replies(&[
        child("Sweep", "Swept."),
        spawns(json!({"task": "Sweep"})),
        json!({"text": "Given away."}),
        json!({"text": "It is swept."}),
    ])
    .stage();
    let mut stranger = message("yard", "Sweep");
    stranger.is_owner = false;
    stage.gateway.accept(stranger).await.unwrap();
    stage.rest().await;
    let asked: Vec<Option<bool>> = stage.host.asked().iter().map(|ask| ask.owner).collect();
    assert_eq!(asked, [Some(false); 3], "the message, the child, the news");
}
