//! A child in another workspace: only one that the user lists, and then with that workspace's files, skills, tools and memory.

use super::Serving;
use crate::run::Talk;
use chitin_test::model_server::{Format, ModelServer};
use serde_json::{Value, json};

const CHILD: &str = "[Subagent Task]: Read the log";
const GRANDCHILD: &str = "[Subagent Task]: Read it again";

fn call(name: &str, arguments: &Value) -> Value {
    json!({"toolCalls": [{"name": name, "arguments": arguments}]})
}

/// The requests of the model that hold a text, as text.
fn requests(talk: &Talk, needle: &str) -> Vec<String> {
    let all = talk.server.requests().into_iter();
    all.map(|request| request.json().to_string())
        .filter(|request| request.contains(needle))
        .collect()
}

/// A workspace beside the agent's own.
fn site(talk: &Talk) -> String {
    for (name, content) in [
        ("AGENTS.md", "# Rules of the site\n"),
        ("log.md", "The gate was left open.\n"),
        ("memory/2026-03-01.md", "- The crane was painted violet.\n"),
        (
            "skills/gate/SKILL.md",
            "---\nname: gate\ndescription: How the gate is shut.\n---\n",
        ),
    ] {
        talk.env.file(&format!("home/work/site/{name}"), content);
    }
    talk.env.home().join("work/site").display().to_string()
}

#[test]
fn a_child_gets_a_workspace_that_the_user_allows_with_all_that_is_in_it() {
    let spawn = |task: &str, workspace: Option<&str>| {
        let mut arguments = json!({"task": task});
        if let Some(workspace) = workspace {
            arguments["workspace"] = workspace.into();
        }
        call("sessions_spawn", &arguments)
    };
    let by_child = |mut reply: Value| {
        reply["when"] = CHILD.into();
        reply
    };
    // The path is known only when the environment is there, so the model gets its script afterwards.
    let mut talk = Talk::new(Format::Anthropic, &[]);
    let site = site(&talk);
    let script = [
        by_child(call("read", &json!({"path": "log.md"}))),
        by_child(call("exec", &json!({"command": "echo shut > gate.txt"}))),
        by_child(call("memory_search", &json!({"query": "crane violet"}))),
        by_child(spawn("Read it again", None)),
        json!({"when": GRANDCHILD, "times": 0, "text": "Read again."}),
        json!({"when": CHILD, "times": 0, "text": "It was open."}),
        json!({"when": "[Internal task completion event]", "times": 0, "text": "Noted."}),
        spawn("Read the log", Some("/etc")),
        spawn("Read the log", Some(&site)),
        json!({"text": "It is being read.", "times": 0}),
    ];
    let script: Vec<String> = script.iter().map(ToString::to_string).collect();
    talk.server = ModelServer::start(Format::Anthropic, &script.join("\n"));
    talk.configure(json!({
        "subagents": {"workspaces": ["~/work/site"]},
    }));
    let depth = json!({"agents": {"defaults": {"subagents": {"maxSpawnDepth": 2}}}});
    talk.env
        .file("home/.openclaw/openclaw.json", depth.to_string());
    let serving = Serving::start(&talk, &[]);
    serving.say("yard", "What does the log say?");
    serving.wait_until("the grandchild is done", |_| {
        !requests(&talk, GRANDCHILD).is_empty()
    });
    serving.rest();
    // The parent sees what it may ask for, and is told why `/etc` is not among it.
    let parent = requests(&talk, "What does the log say?");
    assert!(
        parent[0].contains(&format!("\"enum\":[\"{site}\"]")),
        "{}",
        parent[0]
    );
    assert!(
        parent[1].contains("The workspace `/etc` is not allowed: `subagents.workspaces`"),
        "{}",
        parent[1]
    );
    assert!(!parent[0].contains("Rules of the site"));
    // The child's context, tools, sandbox and memory are those of the other workspace.
    let child = requests(&talk, CHILD);
    assert!(child[0].contains("Rules of the site"), "{}", child[0]);
    assert!(child[0].contains("How the gate is shut."), "{}", child[0]);
    assert!(!child[0].contains("Keep the board."), "{}", child[0]);
    assert!(child[1].contains("The gate was left open."), "{}", child[1]);
    assert_eq!(
        talk.env.read("home/work/site/gate.txt"),
        "shut\n",
        "{}",
        child[2]
    );
    assert!(child[3].contains("painted violet"), "{}", child[3]);
    // A child of the child works where its parent does.
    let grandchild = requests(&talk, GRANDCHILD);
    assert!(
        grandchild[0].contains("Rules of the site"),
        "{}",
        grandchild[0]
    );
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn without_a_list_the_tool_knows_no_workspace_and_takes_none() {
    let talk = Talk::new(
        Format::Anthropic,
        &[
            call(
                "sessions_spawn",
                &json!({"task": "Read the log", "workspace": "/etc"}),
            ),
            json!({"text": "It may not.", "times": 0}),
        ],
    );
    let serving = Serving::start(&talk, &[]);
    serving.say("yard", "What does the log say?");
    serving.wait_until("the model was told", |_| talk.server.requests().len() == 2);
    serving.rest();
    let sent = requests(&talk, "What does the log say?");
    let tools: Value = serde_json::from_str(&sent[0]).unwrap();
    let tools = tools["tools"].as_array().unwrap();
    let spawn = tools.iter().find(|tool| tool["name"] == "sessions_spawn");
    let parameters = &spawn.unwrap()["input_schema"]["properties"];
    assert!(parameters.get("cwd").is_some() && parameters.get("workspace").is_none());
    assert!(
        sent[1].contains("`subagents.workspaces` in `chitin.json5` lists none"),
        "{}",
        sent[1]
    );
    assert!(requests(&talk, CHILD).is_empty());
}
