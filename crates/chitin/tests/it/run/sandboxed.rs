//! What a model may not do with `exec`, through the whole program: the sandbox is on unless the user says otherwise.

use super::{Talk, text};
use chitin_test::model_server::Format;
use serde_json::{Value, json};

/// Lets the model run a command; returns what it was told.
fn exec(talk_with: impl FnOnce(&Talk) -> String) -> String {
    let talk = Talk::new(
        Format::Anthropic,
        &[
            json!({"toolCalls": [{"name": "exec", "arguments": {"command": "sh ./try.sh"}}]}),
            json!({"text": "Done."}),
        ],
    );
    talk.configure(json!({"exec": {"approvals": "full"}}));
    let script = talk_with(&talk);
    talk.env.file("workspace/try.sh", script);
    let output = talk.say("Go.");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let results: Vec<Value> = talk
        .messages()
        .into_iter()
        .filter(|message| message["role"] == "toolResult")
        .collect();
    assert_eq!(results.len(), 1);
    results[0]["content"].to_string()
}

#[test]
fn a_command_sees_neither_the_key_nor_what_lies_outside_and_reaches_nobody() {
    let mut outside = None;
    let said = exec(|talk| {
        let secret = talk
            .env
            .file("home/secret.txt", "the combination is 4711\n");
        let config = talk.env.home().join(".chitin/chitin.json5");
        let port = talk.server.origin();
        let port = port.rsplit(':').next().unwrap().to_owned();
        outside = Some(talk.env.path().join("written.txt"));
        format!(
            "echo begin\ncat {} \ncat {}\nenv\ncat /proc/*/environ | tr '\\0' '\\n'\n\
             echo x > {} \n(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo connected\n\
             python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port})); print(\"connected\")'\n\
             echo inside > inside.txt && cat inside.txt\n",
            secret.display(),
            config.display(),
            outside.as_ref().unwrap().display(),
        )
    });
    assert!(said.contains("begin") && said.contains("inside"), "{said}");
    assert!(!said.contains("4711"), "a file outside was read: {said}");
    assert!(!said.contains("sk-test-not"), "the key was seen: {said}");
    assert!(
        !said.contains("connected\\n"),
        "a socket was opened: {said}"
    );
    assert!(!outside.unwrap().exists(), "a file outside was written");
}
