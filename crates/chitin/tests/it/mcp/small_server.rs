//! With a small server of our own, in Python: no package is needed.

use super::{
    AtAddress, Sums, free_port, kill, listen, processes, requested, results, starts, talk, trusted,
    wait_until,
};
use crate::process::chitin;
use crate::run::{CACHE_BOUNDARY, Talk, text};
use crate::serve::Serving;
use chitin_test::needs;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

const SERVER: &str = include_str!("server.py");

const SUMS: Sums<'static> = Sums {
    tool: "small__add",
    five: "The sum is 5.",
    forty_two: "The sum is 42.",
};

/// Something that only the command line of this test's server holds.
fn marker(talk: &Talk) -> String {
    format!("marker-{}", talk.env.path().display())
}

/// The settings of the server as a program.
fn program(talk: &Talk) -> Value {
    let path = talk.env.file("home/server.py", SERVER);
    json!({"command": "python3", "args": [path, "stdio", marker(talk)]})
}

fn at_address(talk: &Talk, port: u16) -> AtAddress {
    let mut command = Command::new("python3");
    let path = talk.env.file("home/server.py", SERVER);
    command.current_dir(talk.env.home());
    command
        .arg(path)
        .args(["http", &port.to_string(), &marker(talk)]);
    listen(command, port)
}

#[test]
fn run_uses_a_program_and_starts_it_again_when_it_is_killed() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let talk = talk(&SUMS.in_one_turn());
    talk.configure(trusted(&json!({"servers": {"small": program(&talk)}})));
    SUMS.run(&talk, || kill(&marker(&talk)));
    assert_eq!(starts(&talk.env.workspace()), 2);
    wait_until("the server ends with `run`", || {
        processes(&marker(&talk)).is_empty()
    });
}

#[test]
fn context_counts_the_tools_that_servers_offered_last() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let talk = talk(&[json!({"text": "Good morning.", "times": 0})]);
    talk.configure(trusted(&json!({"servers": {"small": program(&talk)}})));
    let look = |more: &[&str]| {
        let shown = chitin(&talk.env, &[&["context", "workspace"], more].concat());
        assert!(shown.status.success(), "{}", text(&shown.stderr));
        (text(&shown.stdout), text(&shown.stderr))
    };
    let figures = || serde_json::from_str::<Value>(&look(&["--json"]).0).unwrap();
    // Nobody has asked the server yet, and a look starts nothing.
    assert_eq!(figures()["toolDefinitions"]["mcpServers"], 1);
    assert_eq!(figures()["request"]["complete"], false);
    assert_eq!(starts(&talk.env.workspace()), 0);

    talk.answer("Hello");
    let request = &talk.server.requests()[0].json();
    let names = |tools: &Value| -> Vec<Value> {
        let tools = tools.as_array().unwrap().iter();
        tools.map(|tool| tool["name"].clone()).collect()
    };
    let now = figures();
    assert_eq!(
        names(&now["toolDefinitions"]["tools"]),
        names(&request["tools"])
    );
    assert_eq!(now["toolDefinitions"]["mcpServers"], Value::Null);
    assert_eq!(now["request"]["complete"], true);
    let blocks = request["system"].as_array().unwrap().iter();
    let sent: String = blocks
        .map(|block| block["text"].as_str().unwrap())
        .collect();
    assert!(sent.contains("small__add"), "{sent}");
    assert_eq!(look(&["--text"]).0.replace(CACHE_BOUNDARY, ""), sent);
    let (_, notes) = look(&[]);
    assert!(notes.contains("as the servers last stated them"), "{notes}");
    assert_eq!(starts(&talk.env.workspace()), 1);

    // The policy decides about them as in a run.
    talk.configure(json!({
        "mcp": {"servers": {"small": program(&talk)}},
        "tools": {"deny": ["small__add"]},
    }));
    assert!(!look(&["--text"]).0.contains("small__add"));
    // Another server is not the one that was asked.
    talk.configure(trusted(&json!({"servers": {"other": program(&talk)}})));
    assert_eq!(figures()["toolDefinitions"]["mcpServers"], 1);
    assert!(!look(&["--text"]).0.contains("small__"));
}

#[test]
fn tools_beyond_the_limit_are_noted() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let talk = talk(&[json!({"text": "Good morning."})]);
    let mut server = program(&talk);
    server["env"] = json!({"MORE_TOOLS": "300"});
    talk.configure(trusted(&json!({"servers": {"small": server}})));
    let output = talk.say("Hello");
    let notes = text(&output.stderr);
    let note = "The MCP server `small` offers 302 tools. The first 256 are used.";
    assert!(notes.contains(note), "{notes}");
    assert!(requested(&talk).contains("small__more253"));
    assert!(!requested(&talk).contains("small__more254"));
}

#[test]
fn run_uses_an_address_of_the_workspace_when_the_user_wants_it() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let talk = talk(&[json!({"text": "Good morning."})]);
    let server = at_address(&talk, free_port());
    talk.env
        .file("workspace/MCP.md", format!("- small: {}\n", server.url()));
    // Without a word of the user, the server is not asked and a note says so.
    let output = talk.say("Hello");
    let errors = text(&output.stderr);
    assert!(
        errors.contains("`MCP.md` names 1 MCP server(s), which are not used"),
        "{errors}"
    );
    assert!(
        !requested(&talk).contains("small__pid"),
        "{}",
        requested(&talk)
    );

    let talk = super::talk(&SUMS.in_one_turn());
    talk.env
        .file("workspace/MCP.md", format!("- small: {}\n", server.url()));
    talk.configure(trusted(&json!({"workspace": true})));
    let mut again = None;
    SUMS.run(&talk, || {
        let port = server.kill();
        again = Some(at_address(&talk, port));
    });
}

#[test]
fn a_server_that_is_not_trusted_needs_the_owner_once_it_has_answered() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let untrusted = talk(&SUMS.in_one_turn());
    let servers = json!({"servers": {"small": program(&untrusted)}});
    untrusted.configure(json!({"mcp": servers}));
    untrusted.answer("Add");
    let said = results(&untrusted);
    assert_eq!(said[0], SUMS.five);
    assert!(said[1].contains("the MCP server `small`"), "{said:?}");
    assert!(said[1].contains("small__add"), "{said:?}");

    let allowed = talk(&SUMS.in_one_turn());
    let servers = json!({"servers": {"small": program(&allowed)}});
    let access = json!({"untrusted": {"allow": ["small__*"]}});
    allowed.configure(json!({"mcp": servers, "access": access}));
    allowed.answer("Add");
    assert_eq!(results(&allowed), [SUMS.five, SUMS.forty_two]);
}

#[test]
fn run_uses_a_program_of_openclaws_configuration() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let talk = talk(&SUMS.in_one_turn());
    let config = json!({"mcp": {"servers": {"small": program(&talk)}}});
    talk.env
        .file("home/.openclaw/openclaw.json", config.to_string());
    talk.configure(trusted(&json!({})));
    SUMS.run(&talk, || {});
    assert_eq!(starts(&talk.env.workspace()), 1);
}

#[test]
fn serve_starts_a_program_once_for_all_turns_models_and_children() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let child = "[Subagent Task]: Add for me";
    let spawn = json!({"task": "Add for me", "model": "yard/other-model"});
    let script = [
        json!({"when": child, "toolCalls": [{"name": "small__pid", "arguments": {}}]}),
        json!({"when": child, "times": 0, "text": "Done by the child."}),
        json!({"when": "[Internal task completion event]", "times": 0, "text": "Noted."}),
        json!({"toolCalls": [{"name": "small__pid", "arguments": {}}]}),
        json!({"toolCalls": [{"name": "sessions_spawn", "arguments": spawn}]}),
        json!({"text": "It works.", "times": 0}),
    ];
    let talk = talk(&script);
    talk.configure(trusted(&json!({"servers": {"small": program(&talk)}})));
    let serving = Serving::start(&talk, &[]);
    serving.say("yard", "Begin");
    serving.wait_until("the child is done", |_| {
        let requests = talk.server.requests();
        requests.iter().any(|request| {
            let request = request.json();
            request["model"] == "other-model" && request.to_string().contains("pid ")
        })
    });
    serving.rest();
    assert_eq!(starts(&talk.env.workspace()), 1);
    assert_eq!(processes(&marker(&talk)).len(), 1);
    assert_eq!(serving.end(), Some(0));
    wait_until("the server ends with `serve`", || {
        processes(&marker(&talk)).is_empty()
    });
}

#[test]
fn serve_ends_a_program_while_its_agent_rests() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let talk = talk(&[json!({"text": "Good morning.", "times": 0})]);
    talk.configure(json!({
        "mcp": {"servers": {"small": program(&talk)}},
        "server": {"idleAgentSeconds": 1},
    }));
    let serving = Serving::start(&talk, &[]);
    for starts_so_far in 1..=2 {
        serving.say("yard", "Hello");
        serving.rest();
        assert!(requested(&talk).contains("small__pid"));
        assert_eq!(starts(&talk.env.workspace()), starts_so_far);
        wait_until("the server ends with its agent", || {
            processes(&marker(&talk)).is_empty()
        });
    }
}

#[test]
fn serve_starts_a_program_again_when_it_is_killed_and_leaves_none_behind() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let talk = talk(&SUMS.in_two_turns());
    talk.configure(trusted(&json!({"servers": {"small": program(&talk)}})));
    let serving = Serving::start(&talk, &[]);
    SUMS.serve(&talk, &serving, || kill(&marker(&talk)));
    assert_eq!(starts(&talk.env.workspace()), 2);
    assert_eq!(processes(&marker(&talk)).len(), 1);
    serving.kill();
    wait_until("the server ends with a killed `serve`", || {
        processes(&marker(&talk)).is_empty()
    });
}

#[test]
fn serve_goes_on_with_an_address_whose_server_was_killed_and_started_again() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let talk = talk(&SUMS.in_two_turns());
    let server = at_address(&talk, free_port());
    talk.configure(trusted(
        &json!({"servers": {"small": {"url": server.url()}}}),
    ));
    let serving = Serving::start(&talk, &[]);
    let mut again = None;
    SUMS.serve(&talk, &serving, || {
        let port = server.kill();
        again = Some(at_address(&talk, port));
    });
    assert_eq!(starts(&talk.env.home()), 2);
}

#[test]
fn serve_finds_a_server_that_comes_later() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let talk = talk(&[json!({"text": "Good morning.", "times": 0})]);
    let port = free_port();
    let url = format!("http://127.0.0.1:{port}/mcp");
    talk.configure(trusted(&json!({"servers": {"small": {"url": url}}})));
    let serving = Serving::start(&talk, &[]);
    let has_tool = || {
        serving.say("yard", "Good morning");
        serving.rest();
        requested(&talk).contains("small__add")
    };
    assert!(!has_tool());
    let _server = at_address(&talk, port);
    serving.wait_until("the tools are there", |_| has_tool());
}

#[test]
fn a_server_that_does_not_start_costs_a_note_and_no_turn() {
    let talk = talk(&[json!({"text": "Good morning."})]);
    talk.configure(json!({"mcp": {"servers": {
        "gone": {"url": format!("http://127.0.0.1:{}/mcp", free_port())},
        "missing": {"command": "no-such-program"},
        "dies": {"command": "sh", "args": ["-c", "echo no database >&2; exit 3"]},
    }}}));
    let output = talk.say("Hello");
    let errors = text(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(
        errors.contains("The MCP server `gone` is not available"),
        "{errors}"
    );
    assert!(
        errors.contains("The MCP server `missing` is not available"),
        "{errors}"
    );
    assert!(
        errors.contains("could not connect to its address (connection refused)"),
        "{errors}"
    );
    assert!(errors.contains("Check that it is running"), "{errors}");
    assert!(
        errors.contains("could not start it: the program `no-such-program` was not found"),
        "{errors}"
    );
    assert!(
        errors.contains("Check the `command` in its settings"),
        "{errors}"
    );
    assert!(
        errors.contains(
            "`dies` is not available: it exited before it responded (exit code 3); its error output: no database. Run its command in a shell"
        ),
        "{errors}"
    );
    for raw in ["os error", "error sending request", "Transport ["] {
        assert!(!errors.contains(raw), "{raw}: {errors}");
    }
    assert_eq!(results(&talk), Vec::<String>::new());
}

#[test]
fn an_answer_that_is_too_long_is_said_at_once_and_the_server_stays() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let flood = json!([{"name": "small__pid", "arguments": {"flood": true}}]);
    let pid = json!([{"name": "small__pid", "arguments": {}}]);
    let talk = talk(&[
        json!({"toolCalls": flood}),
        json!({"toolCalls": pid}),
        json!({"text": "Too long."}),
    ]);
    talk.configure(trusted(&json!({"servers": {"small": program(&talk)}})));
    let output = talk.say("Go");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let results = results(&talk);
    assert!(
        results[0].contains("longer than the limit of 16 MiB"),
        "{}",
        results[0]
    );
    assert!(results[1].contains("pid "), "{}", results[1]);
    assert_eq!(starts(&talk.env.workspace()), 1);
}

/// Answers every request at an address with the same status, type and body.
fn answering(status: &'static str, kind: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = vec![0; 65536];
            let _ = stream.read(&mut request);
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
    });
    address
}

#[test]
fn a_server_that_answers_something_else_is_said_in_plain_words() {
    for (status, kind, body, wanted) in [
        (
            "200 OK",
            "text/html",
            "<html>",
            "its response is `text/html`, not JSON",
        ),
        (
            "200 OK",
            "application/json",
            "{}",
            "its response is not a message of the protocol",
        ),
        (
            "401 Unauthorized",
            "text/plain",
            "no",
            "it requires a token; add an `Authorization` header",
        ),
        (
            "405 Method Not Allowed",
            "text/plain",
            "",
            "it responded with HTTP 405 Method Not Allowed. Check",
        ),
        (
            "500 Internal Server Error",
            "text/plain",
            "oops",
            "it responded with HTTP 500. Check",
        ),
    ] {
        let talk = talk(&[json!({"text": "Good morning."})]);
        let address = answering(status, kind, body);
        talk.configure(trusted(&json!({"servers": {"odd": {"url": address}}})));
        let output = talk.say("Hello");
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(
            said.contains(&format!("The MCP server `odd` is not available: {wanted}")),
            "{said}"
        );
        for raw in ["Some(", "ServerJsonRpcMessage", "Unexpected"] {
            assert!(!said.contains(raw), "{raw}: {said}");
        }
    }
    let talk = talk(&[json!({"text": "Good morning."})]);
    let address = answering("200 OK", "text/html", "").replace("http:", "https:");
    talk.configure(trusted(&json!({"servers": {"plain": {"url": address}}})));
    let said = text(&talk.say("Hello").stderr);
    assert!(
        said.contains("could not connect to its address (it does not speak TLS)"),
        "{said}"
    );
}

#[test]
fn serve_ends_the_program_of_an_agent_that_rests_and_starts_it_again() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let talk = talk(&SUMS.in_two_turns());
    let mut settings = trusted(&json!({"servers": {"small": program(&talk)}}));
    settings["server"] = json!({"idleAgentSeconds": 1});
    talk.configure(settings);
    let serving = Serving::start(&talk, &[]);
    let add = || {
        let body = json!({"text": "Add", "wait": true});
        let (status, answer) = serving.ask("POST", "/api/messages", Some(&body));
        assert_eq!(status, 200, "{answer}");
    };
    add();
    assert_eq!(results(&talk), [SUMS.five]);
    wait_until("the server of the agent ends", || {
        processes(&marker(&talk)).is_empty()
    });
    add();
    assert_eq!(results(&talk), [SUMS.five, SUMS.forty_two]);
    assert_eq!(starts(&talk.env.workspace()), 2);
}
