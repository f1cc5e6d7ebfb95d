//! The figures of `chitin context`: the whole of what is sent, for any model.
#![expect(
    clippy::disallowed_methods,
    reason = "files are looked at and changed between the steps"
)]

mod cached;

use crate::process::{chitin, command};
use crate::run::{Talk, text};
use chitin_test::TestEnv;
use chitin_test::model_server::Format;
use serde_json::{Value, json};

fn small() -> TestEnv {
    let env = TestEnv::new();
    env.files([
        ("AGENTS.md", "# Rules\n\nKeep the board.\n"),
        ("SOUL.md", "Short and warm.\n"),
    ]);
    env
}

fn report(env: &TestEnv, arguments: &[&str]) -> Value {
    let output = chitin(
        env,
        &[&["context", "workspace", "--json"], arguments].concat(),
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(value: &Value) -> u64 {
    assert!(value.is_u64(), "no number: {value}");
    value.as_u64().unwrap()
}

#[test]
fn a_misspelt_model_gets_suggestions() {
    let env = small();
    let arguments = [
        "context",
        "workspace",
        "--model",
        "anthropic/claude-sonet-55",
    ];
    let shown = chitin(&env, &arguments);
    let said = text(&shown.stderr);
    assert!(
        said.contains("Did you mean `anthropic/claude-sonnet-5-5` or"),
        "{said}"
    );
}

#[test]
fn a_model_that_no_table_knows_stops_nothing() {
    let env = small();
    let unknown = "nobody/knows-this-1";
    let check = |arguments: &[&str]| {
        let shown = chitin(&env, &[&["context", "workspace"], arguments].concat());
        let (out, said) = (text(&shown.stdout), text(&shown.stderr));
        assert!(shown.status.success(), "{said}");
        assert!(out.contains("window and price unknown"), "{out}");
        assert!(
            said.contains("`nobody/knows-this-1`: window and price unknown"),
            "{said}"
        );
        let json = report(&env, arguments);
        assert_eq!(json["model"]["model"], unknown);
        assert!(json["model"].get("window").is_none() && json["model"].get("cost").is_none());
        assert!(number(&json["model"]["tokens"]) > 1000);
        assert!(number(&json["total"]["tokens"]) > 100);
    };
    check(&["--model", unknown]);
    env.file(
        "home/.openclaw/openclaw.json",
        json!({"agents": {"defaults": {"model": unknown}}}).to_string(),
    );
    check(&[]);
    env.file("home/.openclaw/openclaw.json", "{}");
    env.file(
        "home/.chitin/chitin.json5",
        json!({"model": unknown}).to_string(),
    );
    check(&[]);
    let page = chitin(&env, &["context", "workspace", "--html", "page.html"]);
    assert!(page.status.success(), "{}", text(&page.stderr));
    assert!(env.read("page.html").contains("window and price unknown"));
}

#[test]
fn the_configured_model_is_the_one_that_is_reckoned_with() {
    let env = small();
    let model = |arguments: &[&str]| {
        let json = report(&env, arguments);
        let name = json["model"]["model"].as_str().unwrap().to_owned();
        (name, json["model"]["named"] == true)
    };
    let (_, named) = model(&[]);
    assert!(!named, "nothing is configured: an example");
    env.file(
        "home/.openclaw/openclaw.json",
        json!({"agents": {
            "defaults": {"model": {"primary": "house/all", "fallbacks": ["house/other"]}},
            "list": [
                {"id": "main", "workspace": env.workspace()},
                {"id": "ops", "workspace": env.workspace(), "model": "house/ops"},
            ],
        }})
        .to_string(),
    );
    assert_eq!(model(&[]), ("house/all".to_owned(), true));
    assert_eq!(
        model(&["--agent", "ops"]),
        ("house/ops".to_owned(), true),
        "the agent's own"
    );
    let prompt = chitin(&env, &["context", "workspace", "--text"]);
    assert!(
        !text(&prompt.stdout).contains("house/all"),
        "as in a run, only a model that Chitin was told of is named to the model"
    );
    env.file(
        "home/.chitin/chitin.json5",
        json!({"model": "own/one"}).to_string(),
    );
    assert_eq!(model(&[]), ("own/one".to_owned(), true));
    assert_eq!(
        model(&["--model", "typed/one"]),
        ("typed/one".to_owned(), true)
    );
}

/// The tool definitions of a request, and how many messages it has besides the system prompt.
fn dry_run(talk: &Talk, words: &str) -> (Vec<Value>, usize) {
    let dry = talk.say_with(words, &["--dry-run", "--json"]);
    let shown: Value = serde_json::from_slice(&dry.stdout).unwrap();
    let body: Value = serde_json::from_str(shown["body"].as_str().unwrap()).unwrap();
    let messages = body.get("messages").or(body.get("input"));
    let messages = messages.and_then(Value::as_array).unwrap();
    let said = |message: &&Value| message["role"] != "system" && message["role"] != "developer";
    (
        body["tools"].as_array().unwrap().clone(),
        messages.iter().filter(said).count(),
    )
}

#[test]
fn tool_definitions_are_counted_as_they_are_sent() {
    for format in [
        Format::Anthropic,
        Format::Completions,
        Format::Responses,
        Format::Ollama,
    ] {
        let talk = Talk::new(format, &[]);
        talk.configure(json!({"tools": {"deny": ["process"], "webFetch": {"enabled": true}}}));
        let (sent, _) = dry_run(&talk, "hello");
        let json = report(&talk.env, &[]);
        let tools = &json["toolDefinitions"];
        assert_eq!(tools["shape"], format.api());
        let bytes: usize = sent.iter().map(|tool| tool.to_string().len()).sum();
        assert_eq!(number(&tools["bytes"]), bytes as u64, "{}", format.api());
        assert_eq!(tools["tools"].as_array().unwrap().len(), sent.len());
        assert!(number(&tools["tokens"]) > 1000, "{tools}");
        let whole = number(&json["total"]["tokens"]) + number(&tools["tokens"]);
        assert_eq!(number(&json["request"]["tokens"]), whole);
        assert_eq!(number(&json["model"]["tokens"]), whole);
        assert_eq!(json["request"]["complete"], true);
        assert_eq!(json["history"]["state"], "new");
        assert_eq!(json["history"]["tokens"], 0);
    }
}

#[test]
fn tools_that_are_not_known_are_said_and_make_the_figures_a_lower_bound() {
    let env = small();
    env.file(
        "home/.chitin/chitin.json5",
        json!({"mcp": {"servers": {"shed": {"command": "no-such-program"}}}}).to_string(),
    );
    let shown = chitin(&env, &["context", "workspace", "--tools", "read,telescope"]);
    let (out, said) = (text(&shown.stdout), text(&shown.stderr));
    assert!(out.contains("Whole request: at least "), "{out}");
    assert!(
        said.contains("the tools of 1 MCP server(s) are not known"),
        "{said}"
    );
    assert!(said.contains("the tool `telescope` is unknown"), "{said}");
    let json = report(&env, &["--tools", "read,telescope"]);
    assert_eq!(json["request"]["complete"], false);
    assert_eq!(json["toolDefinitions"]["unknown"], json!(["telescope"]));
    assert_eq!(json["toolDefinitions"]["mcpServers"], 1);
    // Those of `openclaw.json` are started by a run, too.
    env.file(
        "home/.openclaw/openclaw.json",
        json!({"mcp": {"servers": {"loft": {"command": "no-such-program"}}}}).to_string(),
    );
    let json = report(&env, &[]);
    assert_eq!(json["toolDefinitions"]["mcpServers"], 2);
}

#[test]
fn the_history_is_what_the_next_request_repeats() {
    let call = json!({"toolCalls": [{"name": "read", "arguments": {"path": "board.md"}}]});
    let script = [call, json!({"text": "Three oak."}), json!({"text": "Yes."})];
    let talk = Talk::new(Format::Anthropic, &script);
    talk.answer("What is on the board?");
    talk.answer("Sure?");
    let (_, messages) = dry_run(&talk, "And now?");
    let json = report(&talk.env, &["-m", "And now?"]);
    let history = &json["history"];
    assert_eq!(history["state"], "kept");
    assert_eq!(number(&history["messages"]), messages as u64 - 1);
    assert_eq!(history["turns"], 2);
    assert!(number(&history["tokens"]) >= 15, "{history}");
    assert!(number(&json["message"]["tokens"]) >= 2);
    let parts = [
        &json["total"],
        &json["toolDefinitions"],
        history,
        &json["message"],
    ];
    let whole: u64 = parts.iter().map(|part| number(&part["tokens"])).sum();
    assert_eq!(number(&json["request"]["tokens"]), whole);
    let other = report(&talk.env, &["--session", "agent:main:discord:channel:7"]);
    assert_eq!(other["history"]["state"], "new");

    let table = command(&talk.env, &["context", "workspace"])
        .output()
        .unwrap();
    let table = text(&table.stdout);
    assert!(
        table.contains("tool definitions") && table.contains("  history"),
        "{table}"
    );
    assert!(table.contains("(6 messages)"), "{table}");

    // A transcript that cannot be read makes the history unknown, not zero; the prompt itself needs no session.
    let file = talk.transcript_file();
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let json = report(&talk.env, &[]);
    assert_eq!(json["history"]["state"], "unknown", "{}", json["history"]);
    assert!(json["history"].get("tokens").is_none());
    assert_eq!(json["request"]["complete"], false);
    let prompt = chitin(&talk.env, &["context", "workspace", "--text"]);
    assert!(
        prompt.status.success() && prompt.stderr.is_empty(),
        "{}",
        text(&prompt.stderr)
    );
}
