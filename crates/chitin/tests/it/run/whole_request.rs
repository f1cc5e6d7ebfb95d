//! What releases of OpenClaw send beside the files: ids of calls, times, lines that move, notices. See "Corrections" in
//! `conformance/workspace/SPEC.md`.

use super::{Talk, text};
use crate::process::{command, transcript};
use chitin_contract::OddNames;
use chitin_test::model_server::Format;
use chitin_test::{TestEnv, needs};
use serde_json::{Value, json};

fn sent(talk: &Talk, number: usize) -> Value {
    serde_json::from_slice(&talk.server.requests()[number].body).unwrap()
}

/// The ids of calls and of results in a request, in order, with the results' texts.
fn ids(request: &Value) -> (Vec<String>, Vec<(String, String)>) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for message in request["messages"].as_array().unwrap() {
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            calls.push(string(&call["id"]));
        }
        if message["role"] == "tool" {
            results.push((
                string(&message["tool_call_id"]),
                string(&message["content"]),
            ));
        }
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "tool_use" {
                calls.push(string(&block["id"]));
            }
            if block["type"] == "tool_result" {
                let content = &block["content"];
                results.push((string(&block["tool_use_id"]), content.to_string()));
            }
        }
    }
    (calls, results)
}

#[test]
fn a_server_that_repeats_ids_of_calls_loses_no_result() {
    for contract in ["canonical", "openclaw-2026.4", "openclaw-2026.9"] {
        for format in [Format::Completions, Format::Anthropic] {
            let call = |path: &str| json!({"toolCalls": [{"id": "call_0", "name": "read", "arguments": {"path": path}}]});
            let script = [
                call("board.md"),
                call("USER.md"),
                json!({"text": "Both."}),
                call("SOUL.md"),
                json!({"text": "That too."}),
                json!({"text": "Yes."}),
            ];
            let talk = Talk::new(format, &script);
            talk.configure(json!({"contract": contract}));
            talk.answer("What is on the board, and for whom?");
            talk.answer("And how do you speak?");
            talk.answer("Is that all?");
            let label = format!("{contract} {format:?}");
            let (calls, results) = ids(&sent(&talk, 5));
            assert_eq!(calls.len(), 3, "{label}: {calls:?}");
            assert!(calls[0] != calls[1] && calls[1] != calls[2] && calls[0] != calls[2]);
            let of: Vec<&String> = results.iter().map(|(id, _)| id).collect();
            assert_eq!(of, calls.iter().collect::<Vec<_>>(), "{label}");
            for (at, word) in ["oak: 3", "Ingrid", "Short and warm"].iter().enumerate() {
                assert!(results[at].1.contains(word), "{label}: {results:?}");
            }
            // What was sent before is sent again as it was.
            let (earlier, _) = ids(&sent(&talk, 2));
            assert_eq!(earlier[..], calls[..2], "{label}");
            if contract != "canonical" {
                assert_eq!(calls, ["call0", "call02", "call03"], "{label}");
            }
        }
    }
}

#[test]
fn a_server_that_gives_no_ids_loses_no_result() {
    for contract in ["canonical", "openclaw-2026.4", "openclaw-2026.9"] {
        for id in ["", " "] {
            let call = |path: &str| json!({"id": id, "name": "read", "arguments": {"path": path}});
            let script = [
                json!({"toolCalls": [call("board.md"), call("USER.md")]}),
                json!({"toolCalls": [call("SOUL.md")]}),
                json!({"text": "All three."}),
            ];
            let talk = Talk::new(Format::Completions, &script);
            talk.configure(json!({"contract": contract}));
            talk.answer("Read them.");
            let label = format!("{contract} {id}");
            let (calls, results) = ids(&sent(&talk, 2));
            assert_eq!(calls.len(), 3, "{label}: {calls:?}");
            let of: Vec<&String> = results.iter().map(|(id, _)| id).collect();
            assert_eq!(of, calls.iter().collect::<Vec<_>>(), "{label}");
            for (at, word) in ["oak: 3", "Ingrid", "Short and warm"].iter().enumerate() {
                assert!(results[at].1.contains(word), "{label}: {results:?}");
            }
        }
    }
}

/// The names of calls in a request, in order.
fn called(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().unwrap().iter();
    let names = messages.flat_map(|message| {
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let blocks = message["content"].as_array().into_iter().flatten();
        let calls = calls.map(|call| &call["function"]["name"]);
        let uses = blocks.filter(|block| block["type"] == "tool_use");
        calls.chain(uses.map(|block| &block["name"]))
    });
    names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_call_with_an_odd_name_gets_its_error_where_the_release_does_not_drop_it() {
    let long = "x".repeat(200);
    let names = [" ", "check the board!", "håvn", &long, "no_such_tool"];
    for contract in chitin_contract::ALL {
        for format in [Format::Completions, Format::Anthropic] {
            let calls: Vec<Value> = names
                .iter()
                .enumerate()
                .map(|(at, name)| json!({"id": format!("call{at}"), "name": name, "arguments": {"a": 1}}))
                .collect();
            let script = [
                json!({"toolCalls": calls}),
                json!({"text": "I see."}),
                json!({"text": "Still."}),
            ];
            let talk = Talk::new(format, &script);
            talk.configure(json!({"contract": contract.name}));
            talk.answer("Look at the board.");
            talk.answer("And now?");
            let label = format!("{} {format:?}", contract.name);
            let kept = match contract.runtime.history.repair.odd_names {
                OddNames::Rename => names.len(),
                OddNames::Drop => 1,
            };
            for number in [1, 2] {
                let request = sent(&talk, number);
                let (calls, results) = ids(&request);
                assert_eq!(calls.len(), kept, "{label}: {request}");
                let of: Vec<&String> = results.iter().map(|(id, _)| id).collect();
                assert_eq!(of, calls.iter().collect::<Vec<_>>(), "{label}");
                for (_, text) in &results {
                    assert!(text.contains("does not exist"), "{label}: {results:?}");
                }
                // Every provider takes these names.
                let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                for name in called(&request) {
                    let fits = (1..=64).contains(&name.len()) && name.chars().all(letter);
                    assert!(fits, "{label}: {name}");
                }
            }
        }
    }
}

#[test]
fn a_dry_run_prints_the_request_that_the_turn_sends() {
    for contract in [
        "canonical",
        "openclaw-2026.4",
        "openclaw-2026.9",
        "atmosphere",
    ] {
        for format in [Format::Completions, Format::Anthropic] {
            let script = ["One.", "Two."].map(|text| json!({"text": text}));
            let talk = Talk::new(format, &script);
            talk.configure(json!({"contract": contract}));
            talk.answer("First");
            let dry = talk.say_with("Second", &["--dry-run", "--json"]);
            talk.answer("Second");
            let dry: Value = serde_json::from_slice(&dry.stdout).unwrap();
            let shown: Value = serde_json::from_str(dry["body"].as_str().unwrap()).unwrap();
            assert_eq!(shown, sent(&talk, 1), "{contract} {format:?}");
        }
    }
}

#[test]
fn the_composed_prompt_is_the_system_message_of_every_turn_of_a_bridge_agent() {
    let script = ["One.", "Two.", "Three."].map(|text| json!({"text": text}));
    let talk = Talk::new(Format::Completions, &script);
    talk.configure(json!({"contract": "atmosphere"}));
    talk.env.files([
        ("IDENTITY.md", "name: Ada\n"),
        ("SOUL.md", "Calm.\n"),
        ("USER.md", "Ingrid.\n"),
        ("AGENTS.md", "Keep the harbor.\n"),
    ]);
    let composed = |persona: &str| {
        format!(
            "## Identity\n\nname: Ada\n\n## Persona\n\n{persona}\n\n## User\n\nIngrid.\n\n## Operating rules\n\nKeep the harbor."
        )
    };
    // Each section can be edited by itself, and the others stay as they are.
    for (number, persona) in ["Calm.", "Calm.", "Stern."].into_iter().enumerate() {
        talk.env
            .files([("SOUL.md", format!("{persona}\n").as_str())]);
        talk.answer("Hello");
        let request = sent(&talk, number);
        let first = &request["messages"][0];
        assert_eq!(first["role"], "system");
        assert_eq!(first["content"], composed(persona), "turn {number}");
        let shown = command(&talk.env, &["context", "--text"]).output().unwrap();
        assert_eq!(text(&shown.stdout), composed(persona), "turn {number}");
    }
    // And each is a part of its own where a context is shown.
    let shown = transcript(&talk.env, &["context", "--json"]);
    for file in ["IDENTITY.md", "SOUL.md", "AGENTS.md"] {
        assert!(shown.contains(file), "{file}: {shown}");
    }
}

#[test]
fn the_time_of_its_record_stands_before_each_message_and_nothing_internal_is_sent() {
    if !needs::time_zones() {
        return;
    }
    let script = [json!({"text": "Hi."}), json!({"text": "Again."})];
    let talk = Talk::new(Format::Completions, &script);
    talk.configure(json!({"contract": "openclaw-2026.9"}));
    let dry = talk.say_with("Hello", &["--dry-run", "--json"]);
    talk.answer("Hello");
    talk.answer("And now?");
    let (first, second) = (sent(&talk, 0), sent(&talk, 1));
    for request in [&first, &second] {
        let body = request.to_string();
        assert!(!body.contains("BOUNDARY"), "a mark is sent: {body}");
    }
    let hello = first["messages"][1]["content"].as_str().unwrap();
    let (time, rest) = hello.split_once("] ").unwrap();
    // `Tue 2026-11-17 05:35 GMT+1`, in the zone of the test's environment.
    let parts: Vec<&str> = time.strip_prefix('[').unwrap().split(' ').collect();
    assert_eq!(parts.len(), 4, "{hello}");
    assert_eq!((parts[0].len(), parts[1].len(), parts[2].len()), (3, 10, 5));
    assert!(parts[3].starts_with("GMT+"), "{hello}");
    assert!(rest.starts_with("Hello\n\nRuntime: chitin "), "{hello}");
    // The line is in the first message only, and that stays as it was.
    for at in 0..2 {
        assert_eq!(second["messages"][at], first["messages"][at]);
    }
    let later = second["messages"][3]["content"].as_str().unwrap();
    assert!(
        later.starts_with('[') && later.ends_with("] And now?"),
        "{later}"
    );
    assert!(!first["messages"][0].to_string().contains("Runtime: chitin"));
    // What is written down has none of it.
    let said: Vec<Value> = talk
        .messages()
        .into_iter()
        .filter(|one| one["role"] == "user")
        .collect();
    assert_eq!(said[0]["content"], "Hello");
    assert_eq!(said[1]["content"], "And now?");
    let dry: Value = serde_json::from_slice(&dry.stdout).unwrap();
    let dry: Value = serde_json::from_str(dry["body"].as_str().unwrap()).unwrap();
    let shown = dry["messages"][1]["content"].as_str().unwrap();
    // A session gets its id when it begins, so that a look before that has none.
    let (before, after) = rest.split_once(" | sessionId=").unwrap();
    let (_, after) = after.split_once(" | ").unwrap();
    assert_eq!(
        shown.split_once("] ").unwrap().1,
        format!("{before} | {after}")
    );
}

#[test]
fn formats_that_know_breakpoints_keep_the_line_in_the_system_prompt() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Hi."})]);
    talk.configure(json!({"contract": "openclaw-2026.9"}));
    talk.answer("Hello");
    let request = sent(&talk, 0);
    assert!(!request.to_string().contains("BOUNDARY"));
    let system = request["system"].as_array().unwrap();
    assert_eq!(system.len(), 2);
    let line = "\nRuntime: chitin ";
    assert!(system[1]["text"].as_str().unwrap().contains(line));
    let shown = command(&talk.env, &["context", "workspace", "--text"])
        .output()
        .unwrap();
    let shown = text(&shown.stdout);
    assert!(
        shown.contains(line) && !shown.contains("RELOCATABLE"),
        "{shown}"
    );
}

/// The system prompt, and all that `--json` says of it.
fn shown(env: &TestEnv, contract: &str, more: &[&str]) -> Value {
    let arguments = [
        "context",
        "workspace",
        "--contract",
        contract,
        "--text",
        "--json",
    ];
    let output = command(env, &[&arguments, more].concat()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn system(env: &TestEnv, contract: &str, more: &[&str]) -> String {
    shown(env, contract, more)["system"]
        .as_str()
        .unwrap()
        .to_owned()
}

const FIRST_DAY: (&str, &str) = ("BOOTSTRAP.md", "# First day\nAsk who keeps the log.\n");

#[test]
fn a_bootstrap_file_is_hidden_once_the_workspace_is_in_use_or_set_up() {
    let pending = TestEnv::new();
    pending.files([("AGENTS.md", "Keep the board.\n"), FIRST_DAY]);
    let said = system(&pending, "openclaw-2026.9", &[]);
    assert!(
        said.contains("# First day") && said.contains("## Bootstrap Pending"),
        "{said}"
    );

    let in_use = TestEnv::new();
    in_use.files([
        ("AGENTS.md", "Keep the board.\n"),
        ("IDENTITY.md", "name: Ada\n"),
        FIRST_DAY,
    ]);
    let said = system(&in_use, "openclaw-2026.9", &[]);
    assert!(
        !said.contains("# First day") && !said.contains("## Bootstrap Pending"),
        "{said}"
    );
    assert!(
        in_use.workspace().join("BOOTSTRAP.md").exists(),
        "a look writes nothing"
    );

    pending.file(
        "workspace/.openclaw/workspace-state.json",
        r#"{"version": 1, "setupCompletedAt": "2026-04-24T08:00:00.000Z"}"#,
    );
    let said = system(&pending, "openclaw-2026.9", &[]);
    assert!(
        !said.contains("# First day") && !said.contains("## Bootstrap Pending"),
        "{said}"
    );
}

#[test]
fn a_bootstrap_file_that_is_told_apart_is_no_cut() {
    let env = TestEnv::new();
    let long = "Ask who keeps the log. ".repeat(700);
    env.files([("AGENTS.md", "Keep the board.\n"), ("BOOTSTRAP.md", &*long)]);
    let said = shown(&env, "openclaw-2026.4", &[]);
    assert_eq!(said["afterUser"], Value::Null, "{said}");
    let long = "Short and warm. ".repeat(1000);
    env.file("workspace/SOUL.md", &long);
    let said = shown(&env, "openclaw-2026.4", &[]);
    let notice = said["afterUser"].as_str().unwrap();
    assert!(
        notice.contains("SOUL.md: ") && !notice.contains("BOOTSTRAP.md"),
        "{notice}"
    );
}

#[test]
fn a_linked_memory_file_is_left_out_when_there_is_a_configuration() {
    let env = TestEnv::new();
    env.files([
        ("AGENTS.md", "Keep the board.\n"),
        ("notes/real.md", "Larch.\n"),
        ("memory/own.md", "Oak.\n"),
    ]);
    env.link("workspace/MEMORY.md", "notes/real.md");
    env.link("workspace/USER.md", "memory/own.md");
    assert!(system(&env, "openclaw-2026.9", &[]).contains("MEMORY.md\n[UNREADABLE: "));
    env.file("home/.openclaw/openclaw.json", "{}");
    let said = system(&env, "openclaw-2026.9", &[]);
    assert!(!said.contains("MEMORY.md\n"), "{said}");
    // What a link into the memory of the workspace names is only unreadable.
    assert!(said.contains("USER.md\n[UNREADABLE: "), "{said}");
    let table = transcript(
        &env,
        &["context", "workspace", "--contract", "openclaw-2026.9"],
    );
    assert!(
        table.contains("MEMORY.md: it is a link to something else than workspace memory"),
        "{table}"
    );
}

#[test]
fn a_linked_memory_file_is_unreadable_where_the_memory_plugin_is_off() {
    let env = TestEnv::new();
    env.files([
        ("AGENTS.md", "Keep the board.\n"),
        ("notes/real.md", "Larch.\n"),
    ]);
    env.link("workspace/MEMORY.md", "notes/real.md");
    for (config, is_shown) in [
        (r#"{"plugins": {"enabled": false}}"#, true),
        (r#"{"plugins": {"slots": {"memory": "none"}}}"#, true),
        (r#"{"plugins": {"slots": {"memory": "memory-wiki"}}}"#, true),
        (r#"{"plugins": {"deny": ["memory-core"]}}"#, true),
        (
            r#"{"plugins": {"entries": {"memory-core": {"enabled": false}}}}"#,
            true,
        ),
        (r#"{"plugins": {"enabled": true}}"#, false),
        (r#"{"plugins": {"allow": ["browser"]}}"#, false),
    ] {
        env.file("home/.openclaw/openclaw.json", config);
        let said = system(&env, "openclaw-2026.9", &[]);
        let mark = "MEMORY.md\n[UNREADABLE: symlink path component not allowed]";
        assert_eq!(said.contains(mark), is_shown, "{config}");
    }
}

#[test]
fn notes_of_other_projects_are_left_out_in_a_repository() {
    let env = TestEnv::new();
    let note = |text: &str, project: &str| format!("- {text} <!-- project: {project} -->\n");
    env.files([
        ("AGENTS.md", "Keep the board.\n"),
        (
            "MEMORY.md",
            &*format!(
                "- Ruth keeps the log.\n{}{}",
                note("The keel is oak.", "example.org/boats/keel"),
                note("The mast is larch.", "example.org/boats/mast")
            ),
        ),
    ]);
    let said = system(&env, "openclaw-2026.9", &[]);
    assert!(said.contains("Ruth keeps the log."), "{said}");
    assert!(
        !said.contains("keel is oak") && !said.contains("## Conversation Context"),
        "{said}"
    );
    env.file("workspace/.git/HEAD", "ref: refs/heads/main\n");
    env.file(
        "workspace/.git/config",
        "[remote \"origin\"]\n\turl = git@example.org:boats/keel.git\n",
    );
    let said = system(&env, "openclaw-2026.9", &[]);
    assert!(
        said.contains("keel is oak") && !said.contains("mast is larch"),
        "{said}"
    );
    let told =
        "\n## Conversation Context\nThis workspace is in the project `example.org/boats/keel`.";
    assert!(said.contains(told), "{said}");
    let child = system(
        &env,
        "openclaw-2026.9",
        &["--session", "agent:main:subagent:1f0c"],
    );
    assert!(child.contains("\n## Subagent Context\n"), "{child}");
    // Other contracts know no projects.
    for contract in ["openclaw-2026.4", "canonical"] {
        let said = system(&env, contract, &[]);
        assert!(
            said.contains("mast is larch") && !said.contains("in the project"),
            "{said}"
        );
    }
}

#[test]
fn a_cut_is_told_by_a_fixed_text() {
    let env = TestEnv::new();
    let long = "Short and warm. ".repeat(2000);
    env.files([("AGENTS.md", "Keep the board.\n"), ("SOUL.md", &*long)]);
    let said = system(&env, "openclaw-2026.9", &[]);
    let notice =
        "\n## Bootstrap Context Notice\n[Bootstrap truncation warning]\nSome workspace files ";
    assert!(
        said.contains(notice) && !said.contains(" raw -> "),
        "{said}"
    );
}

#[test]
fn what_seeding_would_add_is_shown_on_demand() {
    let env = TestEnv::new();
    env.files([("AGENTS.md", "Keep the board.\n")]);
    for contract in ["openclaw-2026.4", "openclaw-2026.9"] {
        assert!(system(&env, contract, &[]).contains("SOUL.md\n[MISSING] Expected at: "));
        let seeded = system(&env, contract, &["--seeded"]);
        assert!(
            !seeded.contains("[MISSING]") && seeded.contains("Keep the board."),
            "{seeded}"
        );
    }
    env.file("home/.chitin/mine/SOUL.md", "A quiet keeper of boats.\n");
    env.file("home/.chitin/chitin.json5", r#"{templates: "mine"}"#);
    let seeded = system(&env, "openclaw-2026.9", &["--seeded"]);
    assert!(
        seeded.contains("SOUL.md\nA quiet keeper of boats."),
        "{seeded}"
    );
    assert!(
        !env.workspace().join("SOUL.md").exists(),
        "a look writes nothing"
    );
}
