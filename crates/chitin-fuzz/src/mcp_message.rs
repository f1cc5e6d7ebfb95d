//! What tool servers answer, over streams and over HTTP: the beginning of a conversation, lists of tools, results, and what nobody asked for.

use crate::net::{Asked, runtime, serve};
use crate::recipe::Recipe;
use crate::records::any;
use crate::rpc::{frame, object, text};
use crate::{novelty, scratch};
use chitin_net::TlsRoots;
use chitin_protocol::message::Block;
use chitin_tools::ToolOutcome;
use chitin_tools::exec::Redact;
use chitin_tools::mcp::{McpServers, McpSurroundings, ServerConfig, ServerTransport, speak};
use chitin_tools::sandbox::{Sandbox, SandboxConfig};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};

/// What messages are made of.
pub const DICTIONARY: &[&str] = &[
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}}]}}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}\n",
    "\"nextCursor\":\"2\"",
    "\"method\":\"notifications/tools/list_changed\"",
    "\"method\":\"ping\"",
    "\"method\":\"roots/list\"",
    "\"method\":\"sampling/createMessage\"",
    "\"error\":{\"code\":-32000,\"message\":\"no session\"}",
    "\"isError\":true",
    "\"structuredContent\":{}",
    "data: ",
    "event: message\n",
    "\n\n",
    "\n",
];

const METHODS: &[&str] = &[
    "ping",
    "roots/list",
    "sampling/createMessage",
    "elicitation/create",
    "notifications/tools/list_changed",
    "notifications/progress",
    "notifications/cancelled",
    "notifications/message",
    "tools/call",
    "initialize",
    "",
];

/// So long each step may take.
const PATIENCE: Duration = Duration::from_millis(40);

/// Lets a server say the input, whatever it is asked. One that begins with a one or a two is choices for what it answers, over
/// streams or over HTTP.
pub fn run(data: &[u8]) {
    match data.split_first() {
        Some((2, choices)) => over_http(choices),
        Some((1, choices)) => over_streams(choices, true),
        Some(_) | None => over_streams(data, false),
    }
}

/// Choices that outlive the borrow of an input.
#[derive(Clone)]
struct Choices(Arc<Mutex<Vec<u8>>>);

impl Choices {
    fn with<T>(&self, use_them: impl FnOnce(&mut Recipe<'_>) -> T) -> T {
        let mut bytes = self.0.lock().expect("nobody panicked");
        let mut recipe = Recipe::new(&bytes);
        let made = use_them(&mut recipe);
        *bytes = recipe.rest().to_vec();
        made
    }
}

fn over_streams(data: &[u8], are_choices: bool) {
    let outcomes = runtime().block_on(async {
        let (ours, theirs) = duplex(64 << 10);
        let (output, input) = split(ours);
        let server = {
            let data = data.to_vec();
            async move {
                let (hears, mut says) = split(theirs);
                if !are_choices {
                    let _ = says.write_all(&data).await;
                    return;
                }
                let choices = Choices(Arc::new(Mutex::new(data)));
                let mut lines = BufReader::new(hears).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let answer = choices.with(|recipe| answers(recipe, &line));
                    if says.write_all(answer.as_bytes()).await.is_err() {
                        break;
                    }
                }
            }
        };
        let plain: Redact = Arc::new(str::to_owned);
        let (outcomes, ()) = tokio::join!(speak(output, input, PATIENCE, &plain), server);
        outcomes
    });
    match outcomes {
        Ok(outcomes) => outcomes.iter().for_each(judge),
        Err(reason) => {
            assert!(!reason.is_empty(), "a failure without words");
            novelty::note(reason.split(':').next().map(str::len));
        }
    }
}

/// What the model gets is bounded and has something in it.
fn judge(outcome: &ToolOutcome) {
    assert!(!outcome.content.is_empty(), "an outcome with nothing in it");
    assert!(
        outcome.content.len() <= 9,
        "more blocks than a text and eight pictures"
    );
    for block in &outcome.content {
        if let Block::Image(image) = block {
            assert!(image.mime_type.starts_with("image/") && image.mime_type.len() < 100);
        }
    }
    novelty::note((outcome.is_error, outcome.content.len()));
}

/// Answers a line that was heard: with one message, with several, or with none.
fn answers(recipe: &mut Recipe<'_>, line: &str) -> String {
    let heard: Value = serde_json::from_str(line).unwrap_or_default();
    let mut said = String::new();
    for _ in 0..=recipe.byte() % 3 {
        let message = match recipe.byte() {
            0..=10 => any(recipe),
            _ => frame(recipe, &heard["id"], METHODS, |recipe| {
                result(recipe, &heard)
            }),
        };
        said.push_str(&message.to_string());
        said.push_str(if recipe.byte() > 245 { "\r\n\n" } else { "\n" });
        if heard.get("id").is_none() || recipe.byte() > 80 {
            break;
        }
    }
    said
}

fn result(recipe: &mut Recipe<'_>, heard: &Value) -> Value {
    match heard["method"].as_str() {
        Some("initialize" | "server/discover") => {
            let version =
                recipe.pick(&["2025-06-18", "2024-11-05", "2025-11-25", "2030-01-01", ""]);
            let members = [
                ("protocolVersion", json!(version)),
                (
                    "capabilities",
                    json!({"tools": {"listChanged": true}, "x": any(recipe)}),
                ),
                ("serverInfo", json!({"name": text(recipe), "version": "1"})),
                ("instructions", json!(text(recipe))),
            ];
            mostly(recipe, &members)
        }
        Some("tools/list") => {
            let tools: Value = (0..recipe.byte() % 6).map(|_| tool(recipe)).collect();
            let mut members = vec![("tools", tools)];
            if recipe.byte().is_multiple_of(3) {
                members.push(("nextCursor", json!(recipe.pick(&["2", "", "again"]))));
            }
            mostly(recipe, &members)
        }
        Some("tools/call") => {
            let content: Value = (0..recipe.byte() % 12).map(|_| block(recipe)).collect();
            let members = [
                ("content", content),
                ("isError", json!(recipe.byte().is_multiple_of(2))),
                ("structuredContent", any(recipe)),
            ];
            mostly(recipe, &members)
        }
        _ => any(recipe),
    }
}

fn mostly(recipe: &mut Recipe<'_>, members: &[(&str, Value)]) -> Value {
    match recipe.byte() % 4 {
        0 => object(recipe, members),
        _ => Value::Object(
            members
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
        ),
    }
}

fn tool(recipe: &mut Recipe<'_>) -> Value {
    let name = match recipe.byte() % 4 {
        0 => text(recipe),
        _ => recipe
            .pick(&["add", "read", "weird n\u{e4}me!", "", "ADD", "exec"])
            .to_owned(),
    };
    let schema = match recipe.byte() % 4 {
        0 => any(recipe),
        1 => json!({"type": "object", "$ref": "#", "x": any(recipe)}),
        _ => json!({"type": "object", "properties": {}}),
    };
    let members = [
        ("name", json!(name)),
        ("description", json!(text(recipe))),
        ("inputSchema", schema),
        (
            "annotations",
            json!({"readOnlyHint": recipe.byte().is_multiple_of(2), "idempotentHint": true}),
        ),
    ];
    mostly(recipe, &members)
}

fn block(recipe: &mut Recipe<'_>) -> Value {
    match recipe.byte() % 7 {
        0 | 1 => json!({"type": "text", "text": text(recipe)}),
        2 => {
            let kind = match recipe.byte() % 3 {
                0 => text(recipe),
                _ => recipe
                    .pick(&["image/png", "image/", "text/html"])
                    .to_owned(),
            };
            json!({"type": "image", "data": recipe.pick(&["AAAA", "", "not base 64"]), "mimeType": kind})
        }
        3 => {
            json!({"type": "resource", "resource": {"uri": "a:b", "text": text(recipe), "blob": "AAAA"}})
        }
        4 => json!({"type": "resource_link", "name": text(recipe), "uri": text(recipe)}),
        5 => json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}),
        _ => any(recipe),
    }
}

fn over_http(choices: &[u8]) {
    let choices = Choices(Arc::new(Mutex::new(choices.to_vec())));
    let nothing = scratch::fresh("mcp_message");
    let found = runtime().block_on(async {
        let address =
            serve(move |asked: &Asked| choices.with(|recipe| response(recipe, asked))).await;
        let config = ServerConfig {
            name: "s".to_owned(),
            transport: ServerTransport::Http {
                url: format!("http://{address}/mcp"),
                headers: BTreeMap::new(),
            },
            connecting: PATIENCE * 3,
            calling: PATIENCE,
        };
        // It starts nothing here.
        let sandbox = Sandbox::new(SandboxConfig::new(
            "/none",
            &nothing,
            nothing.join("scratch"),
        ))
        .expect("a sandbox for nothing");
        let surroundings = McpSurroundings {
            sandbox: Arc::new(sandbox),
            environment: BTreeMap::new(),
            trust: TlsRoots::default(),
        };
        let servers = McpServers::new(vec![config], &surroundings);
        let found = servers
            .tools(["read"], &(Arc::new(str::to_owned) as _))
            .await;
        servers.shut_down().await;
        found
    });
    novelty::note((found.available, found.tools.len().min(4)));
    let mut names: Vec<&str> = found
        .tools
        .iter()
        .map(|tool| tool.spec().name.as_str())
        .collect();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    assert!(
        names
            .iter()
            .all(|name| !name.is_empty() && name.len() <= 64 && name.chars().all(fits)),
        "{names:?}"
    );
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), found.tools.len(), "one name twice");
    assert!(
        found.notes.iter().all(|note| note.len() < 4096),
        "a long note"
    );
}

fn response(recipe: &mut Recipe<'_>, asked: &Asked) -> Vec<u8> {
    let heard: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
    if !asked.head.starts_with("POST") && !recipe.byte().is_multiple_of(4) {
        return b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n".to_vec();
    }
    let status = match recipe.byte() {
        0..=20 => recipe.pick(&[
            "202 Accepted",
            "400 Bad Request",
            "401 No",
            "404 Not Found",
            "500 Broken",
            "307 There\r\nLocation: /x",
            "103 Early",
        ]),
        _ => "200 OK",
    };
    let messages = answers(recipe, &String::from_utf8_lossy(&asked.body));
    let (kind, body) = match recipe.byte() % 6 {
        0 => ("text/plain", messages),
        1 | 2 => ("text/event-stream", events(recipe, &messages)),
        3 if heard.get("id").is_none() => ("application/json", String::new()),
        _ => (
            "application/json",
            messages.lines().next().unwrap_or_default().to_owned(),
        ),
    };
    let length = match recipe.byte() {
        0..=5 => body.len() + 5,
        6..=10 => body.len() / 2,
        _ => body.len(),
    };
    let session = recipe.pick(&[
        "Mcp-Session-Id: s1\r\n",
        "",
        "Mcp-Session-Id: \u{e9}\r\n",
        "WWW-Authenticate: Bearer resource_metadata=\"x\"\r\n",
    ]);
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{session}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

fn events(recipe: &mut Recipe<'_>, messages: &str) -> String {
    let mut text = String::new();
    for line in messages.lines() {
        if recipe.byte().is_multiple_of(3) {
            text.push_str(recipe.pick(&[
                ": hello\n",
                "id: 1\n",
                "retry: 18446744073709551615\n",
                "event: x\n",
                "data\n",
                "retry: 0\n",
            ]));
        }
        text.push_str("data: ");
        text.push_str(line);
        text.push_str(recipe.pick(&["\n\n", "\r\n\r\n", "\n"]));
    }
    text
}
