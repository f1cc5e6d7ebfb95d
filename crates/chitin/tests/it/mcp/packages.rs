//! With the reference server of the protocol's own people, as a package. `scripts/mcp-test` installs it and runs these tests.

use super::{AtAddress, Sums, free_port, kill, listen, processes, talk, trusted, wait_until};
use crate::run::Talk;
use crate::serve::Serving;
use serde_json::{Value, json};
use std::process::Command;

const SUMS: Sums<'static> = Sums {
    tool: "everything__get-sum",
    five: "The sum of 2 and 3 is 5.",
    forty_two: "The sum of 20 and 22 is 42.",
};

/// Node and the server's entry point.
fn package() -> (String, String) {
    let variable = |name: &str| std::env::var(name).unwrap();
    (variable("CHITIN_NODE"), variable("CHITIN_MCP_EVERYTHING"))
}

fn marker(talk: &Talk) -> String {
    format!("marker-{}", talk.env.path().display())
}

fn program(talk: &Talk) -> Value {
    let (node, entry) = package();
    json!({"command": node, "args": [entry, "stdio", marker(talk)]})
}

fn at_address(port: u16) -> AtAddress {
    let (node, entry) = package();
    let mut command = Command::new(node);
    command
        .args([&entry, "streamableHttp"])
        .env("PORT", port.to_string());
    listen(command, port)
}

#[test]
#[ignore = "needs a package: scripts/mcp-test"]
fn everything_over_stdio_in_run() {
    let talk = talk(&SUMS.in_one_turn());
    talk.configure(trusted(&json!({"servers": {"everything": program(&talk)}})));
    SUMS.run(&talk, || kill(&marker(&talk)));
    wait_until("the server ends with `run`", || {
        processes(&marker(&talk)).is_empty()
    });
}

#[test]
#[ignore = "needs a package: scripts/mcp-test"]
fn everything_over_stdio_in_serve() {
    let talk = talk(&SUMS.in_two_turns());
    talk.configure(trusted(&json!({"servers": {"everything": program(&talk)}})));
    let serving = Serving::start(&talk, &[]);
    SUMS.serve(&talk, &serving, || kill(&marker(&talk)));
    assert_eq!(serving.end(), Some(0));
    wait_until("the server ends with `serve`", || {
        processes(&marker(&talk)).is_empty()
    });
}

#[test]
#[ignore = "needs a package: scripts/mcp-test"]
fn everything_over_http_in_run() {
    let server = at_address(free_port());
    let talk = talk(&SUMS.in_one_turn());
    talk.env.file(
        "workspace/MCP.md",
        format!("- everything: {}\n", server.url()),
    );
    talk.configure(trusted(&json!({"workspace": true})));
    let mut again = None;
    SUMS.run(&talk, || again = Some(at_address(server.kill())));
}

#[test]
#[ignore = "needs a package: scripts/mcp-test"]
fn everything_over_http_in_serve() {
    let server = at_address(free_port());
    let talk = talk(&SUMS.in_two_turns());
    talk.configure(trusted(
        &json!({"servers": {"everything": {"url": server.url()}}}),
    ));
    let serving = Serving::start(&talk, &[]);
    let mut again = None;
    SUMS.serve(&talk, &serving, || again = Some(at_address(server.kill())));
}
