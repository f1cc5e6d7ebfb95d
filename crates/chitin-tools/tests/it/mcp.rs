//! Tool servers: real ones, in Python, over pipes and over HTTP on the loopback.

use crate::exec::{Bench, text};
use crate::sandbox_lab::{KEY, is_running, read};
use chitin_net::TlsRoots;
use chitin_protocol::message::Block;
use chitin_protocol::settings::{McpServerSettings, McpSettings, SandboxSetting};
use chitin_test::needs;
use chitin_tools::exec::Redact;
use chitin_tools::mcp::{
    McpServers, McpSurroundings, ServerTransport, server_name, servers, tool_name,
};
use chitin_tools::{Tool, ToolConcurrency};
use chitin_workspace::extensions::mcp;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// What both servers do.
const COMMON: &str = r#"
import json, os, sys, time
TOOLS = [
  {"name": "add", "description": "Adds two numbers.", "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}, "annotations": {"readOnlyHint": True}},
  {"name": "env", "inputSchema": {"type": "object"}},
  {"name": "crash", "inputSchema": {"type": "object"}},
  {"name": "hang", "inputSchema": {"type": "object"}},
  {"name": "big", "inputSchema": {"type": "object"}},
  {"name": "picture", "inputSchema": {"type": "object"}},
  {"name": "no", "inputSchema": {"type": "object"}},
  {"name": "read", "inputSchema": {"type": "object"}},
  {"name": "once", "inputSchema": {"type": "object"}, "annotations": {"idempotentHint": True}},
  {"name": "weird näme!", "inputSchema": {"type": "object"}},
]
def said(text, error=False):
    return {"content": [{"type": "text", "text": text}], "isError": error}
def call(name, args):
    if name == "add": return said(str(args["a"] + args["b"]))
    if name == "env": return said(json.dumps(dict(os.environ)))
    if name == "crash":
        print("about to die", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "once":
        if os.path.exists("tried"): return said("answered")
        open("tried", "w").close()
        os._exit(3)
    if name == "hang": time.sleep(60)
    if name == "big": return said("x" * 3_000_000)
    if name == "picture": return {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}, {"type": "resource", "resource": {"uri": "a:b", "text": "inside"}}]}
    if name == "no": return said("it went wrong", True)
    if name == "read":
        try: return said(open(args["path"]).read())
        except OSError as error: return said(str(error), True)
    return said("weird")
def answer(message):
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "test", "version": "1"}}
    elif method == "tools/list": result = {"tools": TOOLS}
    elif method == "tools/call": result = call(params["name"], params.get("arguments") or {})
    elif method == "ping": result = {}
    else: return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "not known"}}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}
"#;

const STDIO: &str = r#"
open("starts", "a").write("x")
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        print(json.dumps(answer(message)), flush=True)
"#;

const HTTP: &str = r#"
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
SESSION = "s" + str(os.getpid())
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
    def empty(self, status):
        self.send_response(status); self.send_header("content-length", "0"); self.end_headers()
    def do_GET(self): self.empty(405)
    def do_DELETE(self): self.empty(200)
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("authorization") != "Bearer token" or self.headers.get("x-extra") != "1":
            return self.empty(401)
        message = json.loads(body)
        if "id" not in message: return self.empty(202)
        if message["method"] not in ("initialize", "server/discover") and self.headers.get("mcp-session-id") != SESSION:
            # As the reference server says it, without the id of the request.
            error = {"code": -32000, "message": "Bad Request: No valid session ID provided"}
            reply = json.dumps({"jsonrpc": "2.0", "error": error}).encode()
            self.send_response(400)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            return self.wfile.write(reply)
        reply = json.dumps(answer(message)).encode()
        stream = message["method"] == "tools/call"
        if stream: reply = b"event: message\ndata: " + reply + b"\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if stream else "application/json")
        self.send_header("mcp-session-id", SESSION)
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)
server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

fn surroundings(bench: &Bench) -> McpSurroundings {
    McpSurroundings {
        sandbox: Arc::clone(&bench.lab.sandbox),
        environment: BTreeMap::from([
            (
                "HOME".to_owned(),
                bench.lab.env.home().display().to_string(),
            ),
            ("ANTHROPIC_API_KEY".to_owned(), KEY.to_owned()),
        ]),
        trust: TlsRoots::default(),
    }
}

fn redact() -> Redact {
    Arc::new(|text| text.replace("secret-value", "[redacted]"))
}

fn script(bench: &Bench, extra: &str) -> McpServerSettings {
    let path = bench
        .lab
        .env
        .file("workspace/server.py", format!("{COMMON}{STDIO}{extra}"));
    McpServerSettings {
        command: Some("python3".to_owned()),
        args: vec![
            path.display().to_string(),
            format!("marker-{}", bench.lab.env.path().display()),
        ],
        env: BTreeMap::from([("GIVEN".to_owned(), "secret-value".to_owned())]),
        timeout_seconds: Some(2),
        ..McpServerSettings::default()
    }
}

fn one(bench: &Bench, server: McpServerSettings) -> McpServers {
    let settings = McpSettings {
        workspace: None,
        servers: BTreeMap::from([("my server".to_owned(), server)]),
    };
    let (configs, notes) = servers(None, None, &settings);
    assert_eq!(notes, Vec::<String>::new());
    McpServers::new(configs, &surroundings(bench))
}

fn tool<'a>(tools: &'a [Arc<dyn Tool>], name: &str) -> &'a dyn Tool {
    tools
        .iter()
        .find(|tool| tool.spec().name == name)
        .unwrap()
        .as_ref()
}

#[tokio::test]
async fn a_server_over_pipes_is_used_like_any_tool() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    let servers = one(&bench, script(&bench, ""));
    let starts = bench.lab.env.workspace().join("starts");
    assert_eq!(read(&starts), "", "nothing is started before it is needed");
    let found = servers.tools(["my-server__big"], &redact()).await;
    let names: Vec<_> = found
        .tools
        .iter()
        .map(|tool| tool.spec().name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "my-server__add",
            "my-server__env",
            "my-server__crash",
            "my-server__hang",
            "my-server__big-2",
            "my-server__picture",
            "my-server__no",
            "my-server__read",
            "my-server__once",
            "my-server__weird-n-me-",
        ]
    );
    assert_eq!(
        found.notes,
        ["The MCP server `my server` runs outside the sandbox."]
    );
    let add = tool(&found.tools, "my-server__add");
    assert_eq!(add.spec().description, "Adds two numbers.");
    assert_eq!(add.concurrency(), ToolConcurrency::Shared);
    assert_eq!(text(&bench.call(add, json!({"a": 2, "b": 3})).await), "5");
    let big = bench
        .call(tool(&found.tools, "my-server__big-2"), json!({}))
        .await;
    assert!(text(&big).contains("bytes omitted"));
    let no = bench
        .call(tool(&found.tools, "my-server__no"), json!({}))
        .await;
    assert!(no.is_error && text(&no) == "it went wrong");
    let picture = bench
        .call(tool(&found.tools, "my-server__picture"), json!({}))
        .await;
    assert_eq!(text(&picture), "inside");
    assert!(
        matches!(&picture.content[1], Block::Image(image) if image.data == "aGk=" && image.mime_type == "image/png")
    );
    assert!(bench.call(add, json!([1])).await.is_error);
    assert_eq!(read(&starts), "x");
}

#[tokio::test]
async fn a_server_gets_a_small_environment_and_its_answers_are_redacted() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    let servers = one(&bench, script(&bench, ""));
    let found = servers.tools([], &redact()).await;
    let outcome = bench
        .call(tool(&found.tools, "my-server__env"), json!({}))
        .await;
    let environment: Value = serde_json::from_str(&text(&outcome)).unwrap();
    let environment = environment.as_object().unwrap();
    assert_eq!(environment["GIVEN"], "[redacted]");
    assert_eq!(
        environment["HOME"],
        bench.lab.env.home().display().to_string()
    );
    assert!(environment.contains_key("PATH"));
    assert!(!environment.contains_key("ANTHROPIC_API_KEY"));
    assert!(!text(&outcome).contains(KEY));
}

#[tokio::test]
async fn a_crash_is_an_error_with_last_words_and_the_next_call_works() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    let servers = one(&bench, script(&bench, ""));
    let found = servers.tools([], &redact()).await;
    let (add, crash) = (
        tool(&found.tools, "my-server__add"),
        tool(&found.tools, "my-server__crash"),
    );
    let outcome = bench.call(crash, json!({})).await;
    assert!(
        outcome.is_error
            && text(&outcome).contains("about to die")
            && text(&outcome).contains("may have taken effect"),
        "{}",
        text(&outcome)
    );
    let began = Instant::now();
    assert_eq!(text(&bench.call(add, json!({"a": 1, "b": 1})).await), "2");
    assert!(began.elapsed() < Duration::from_secs(1), "no pause yet");
    let starts = bench.lab.env.workspace().join("starts");
    assert_eq!(read(&starts), "xx");
}

#[tokio::test]
async fn a_server_that_keeps_crashing_is_started_less_and_less_often() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    let servers = one(&bench, script(&bench, ""));
    let found = servers.tools([], &redact()).await;
    let (add, crash) = (
        tool(&found.tools, "my-server__add"),
        tool(&found.tools, "my-server__crash"),
    );
    // Starts at once, then after 0, 1 and 2 seconds; the pause of 4 seconds is more than a call waits for.
    for _ in 0..4 {
        let outcome = bench.call(crash, json!({})).await;
        assert!(
            text(&outcome).contains("about to die"),
            "{}",
            text(&outcome)
        );
    }
    let starts = bench.lab.env.workspace().join("starts");
    assert_eq!(read(&starts), "xxxx");
    let outcome = bench.call(add, json!({"a": 1, "b": 1})).await;
    assert!(
        outcome.is_error
            && text(&outcome).contains("it failed 4 times in a row; it is not tried again"),
        "{}",
        text(&outcome)
    );
    assert_eq!(read(&starts), "xxxx", "it is left alone for a while");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(text(&bench.call(add, json!({"a": 1, "b": 1})).await), "2");
    // A good answer ends the pauses.
    bench.call(crash, json!({})).await;
    assert_eq!(text(&bench.call(add, json!({"a": 2, "b": 1})).await), "3");
    assert_eq!(read(&starts), "xxxxxx");
}

#[tokio::test]
async fn a_call_that_may_be_repeated_survives_a_crash() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    let servers = one(&bench, script(&bench, ""));
    let found = servers.tools([], &redact()).await;
    // The first call ends the server, the second one finds the file and answers.
    let once = tool(&found.tools, "my-server__once");
    let outcome = bench.call(once, json!({})).await;
    assert_eq!(text(&outcome), "answered");
    let starts = bench.lab.env.workspace().join("starts");
    assert_eq!(read(&starts), "xx");
}

#[tokio::test]
async fn a_call_that_hangs_ends_in_time_or_when_it_is_cancelled() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    let servers = one(&bench, script(&bench, ""));
    let found = servers.tools([], &redact()).await;
    let hang = tool(&found.tools, "my-server__hang");
    let began = Instant::now();
    let outcome = bench.call(hang, json!({})).await;
    assert!(
        outcome.is_error && text(&outcome).contains("no response within 2.0 s"),
        "{}",
        text(&outcome)
    );
    let cancel = CancellationToken::new();
    cancel.cancel();
    let outcome = bench.call_until(hang, json!({}), &cancel, "main").await;
    assert!(outcome.is_error && began.elapsed() < Duration::from_secs(6));
}

#[tokio::test]
async fn servers_live_as_long_as_their_tools() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    let marker = format!("marker-{}", bench.lab.env.path().display());
    let servers = one(&bench, script(&bench, ""));
    let found = servers.tools([], &redact()).await;
    drop(servers);
    let add = tool(&found.tools, "my-server__add");
    assert_eq!(text(&bench.call(add, json!({"a": 1, "b": 1})).await), "2");
    assert!(is_running(&marker));
    drop(found);
    assert!(ends(&marker).await);
}

#[tokio::test]
async fn servers_that_are_shut_down_stay_so() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    let marker = format!("marker-{}", bench.lab.env.path().display());
    let servers = one(&bench, script(&bench, ""));
    let found = servers.tools([], &redact()).await;
    servers.shut_down().await;
    assert!(ends(&marker).await);
    let add = tool(&found.tools, "my-server__add");
    let outcome = bench.call(add, json!({"a": 1, "b": 1})).await;
    assert!(outcome.is_error && text(&outcome).contains("shut down"));
}

/// A server that answers one method in another way.
fn answering(bench: &Bench, method: &str, line: &str) -> McpServerSettings {
    let other = format!(
        "usual = answer\ndef answer(message):\n  if message[\"method\"] != \"{method}\": return usual(message)\n  {line}\n"
    );
    let path = bench
        .lab
        .env
        .file("workspace/other.py", format!("{COMMON}{other}{STDIO}"));
    McpServerSettings {
        args: vec![path.display().to_string()],
        ..script(bench, "")
    }
}

#[tokio::test]
async fn a_list_of_tools_without_end_is_left_at_its_limit() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    let page = r#"at = int((message.get("params") or {}).get("cursor") or 0)
  tools = [{"name": f"t{at}", "inputSchema": {"type": "object"}}]
  return {"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools, "nextCursor": str(at + 1)}}"#;
    let servers = one(&bench, answering(&bench, "tools/list", page));
    let found = servers.tools([], &redact()).await;
    assert_eq!(found.tools.len(), 256, "{:?}", found.notes);
    let said = "The MCP server `my server` offers at least 257 tools. The first 256 are used.";
    assert!(found.notes.contains(&said.to_owned()), "{:?}", found.notes);
}

#[tokio::test]
async fn a_tool_with_a_huge_definition_is_not_used() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    let two = r#"tools = [{"name": name, "inputSchema": {"type": "object", "description": "x" * size}} for name, size in [("huge", 300_000), ("small", 9)]]
  return {"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools}}"#;
    let servers = one(&bench, answering(&bench, "tools/list", two));
    let found = servers.tools([], &redact()).await;
    let names: Vec<_> = found.tools.iter().map(|tool| &tool.spec().name).collect();
    assert_eq!(names, ["my-server__small"]);
    let said = "The MCP server `my server` has tools with definitions of more than 256 KiB; they are not used (1).";
    assert!(found.notes.contains(&said.to_owned()), "{:?}", found.notes);
}

#[tokio::test]
async fn what_a_server_says_of_its_failure_is_bounded() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    let no = r#"return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": "no " * 1_000_000}}"#;
    let servers = one(&bench, answering(&bench, "initialize", no));
    let found = servers.tools([], &redact()).await;
    assert_eq!(found.notes.len(), 1);
    assert!(
        found.notes[0].contains("it refused to initialize: no no"),
        "{:.200}",
        found.notes[0]
    );
    assert!(found.notes[0].len() < 3_000, "{}", found.notes[0].len());
}

/// Tells whether a server ends soon.
async fn ends(marker: &str) -> bool {
    for _ in 0..500 {
        if !is_running(marker) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

#[tokio::test]
async fn a_sandboxed_server_is_held() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::with(
        SandboxSetting::Auto,
        &chitin_protocol::settings::ExecSettings::default(),
    );
    let secret = bench.lab.outside().display().to_string();
    for (sandbox, held) in [(Some(true), true), (None, false)] {
        let settings = McpServerSettings {
            sandbox,
            ..script(&bench, "")
        };
        let servers = one(&bench, settings);
        let found = servers.tools([], &redact()).await;
        assert_eq!(found.notes.is_empty(), held, "{:?}", found.notes);
        let outcome = bench
            .call(
                tool(&found.tools, "my-server__read"),
                json!({ "path": secret }),
            )
            .await;
        assert_eq!(text(&outcome) != KEY, held, "{}", text(&outcome));
    }
}

#[tokio::test]
async fn a_server_that_does_not_start_costs_a_note() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    let broken = |command: &str, args: &[&str]| McpServerSettings {
        command: Some(command.to_owned()),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        connection_timeout_ms: Some(2000),
        ..McpServerSettings::default()
    };
    let settings = McpSettings {
        workspace: None,
        servers: BTreeMap::from([
            ("a-missing".to_owned(), broken("no-such-program", &[])),
            (
                "b-dies".to_owned(),
                broken("python3", &["-c", "raise SystemExit('no luck')"]),
            ),
            ("c-silent".to_owned(), broken("sleep", &["60"])),
            ("d-babbles".to_owned(), broken("yes", &[])),
            ("e-good".to_owned(), script(&bench, "")),
        ]),
    };
    let (configs, _) = servers(None, None, &settings);
    let servers = McpServers::new(configs, &surroundings(&bench));
    let began = Instant::now();
    let found = servers.tools([], &redact()).await;
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(found.tools.len(), 10);
    assert_eq!(found.notes.len(), 5, "{:?}", found.notes);
    assert!(
        found.notes[0].contains("a-missing")
            && found.notes[0].contains("`no-such-program` was not found"),
        "{:?}",
        found.notes
    );
    assert!(found.notes[1].contains("no luck"), "{:?}", found.notes);
    assert!(
        found.notes[2].contains("did not respond"),
        "{:?}",
        found.notes
    );
}

struct HttpServer(Child, u16);

impl HttpServer {
    fn start(bench: &Bench, port: u16) -> Self {
        let path = bench
            .lab
            .env
            .file("server-http.py", format!("{COMMON}{HTTP}"));
        let mut child = Command::new("python3")
            .arg(path)
            .arg(port.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        Self(child, line.trim().parse().unwrap())
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_server_over_http_is_used_like_any_tool() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    let server = HttpServer::start(&bench, 0);
    let address = format!("http://127.0.0.1:{}/mcp", server.1);
    let settings = |token: &str| McpServerSettings {
        url: Some(address.clone()),
        headers: BTreeMap::from([
            ("Authorization".to_owned(), format!("Bearer {token}")),
            ("X-Extra".to_owned(), "1".to_owned()),
        ]),
        timeout_seconds: Some(5),
        ..McpServerSettings::default()
    };
    let servers = one(&bench, settings("token"));
    let found = servers.tools([], &redact()).await;
    assert_eq!(found.notes, Vec::<String>::new());
    let add = tool(&found.tools, "my-server__add");
    assert_eq!(
        text(&bench.call(add, json!({"a": 20, "b": 22})).await),
        "42"
    );

    // It goes away and comes back at the same address, without the session: nobody notices.
    let port = server.1;
    drop(server);
    let server = HttpServer::start(&bench, port);
    // Between two calls there is always time to see that a kept connection was closed; a call that is cut off is an error.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let no = tool(&found.tools, "my-server__no");
    assert_eq!(text(&bench.call(no, json!({})).await), "it went wrong");
    // While it is away, calls fail; afterwards they work again.
    drop(server);
    let outcome = bench.call(add, json!({"a": 1, "b": 1})).await;
    assert!(outcome.is_error, "{}", text(&outcome));
    let _again = HttpServer::start(&bench, port);
    assert_eq!(text(&bench.call(add, json!({"a": 1, "b": 1})).await), "2");

    let found = one(&bench, settings("wrong")).tools([], &redact()).await;
    assert!(
        found.tools.is_empty() && found.notes[0].contains("not available"),
        "{:?}",
        found.notes
    );
}

#[test]
fn layers_of_servers_are_put_together() {
    let file = mcp::parse(
        "- docs: https://docs.example/mcp\n- both: http://file.example/mcp\n- local: stdio",
    );
    let openclaw = json!({"servers": {
        "both": {"command": "run", "args": ["a", 1], "env": {"N": 1, "B": true, "S": "s", "O": {}}, "workingDirectory": "w", "connectionTimeoutMs": 5},
        "old": {"url": "http://old.example", "transport": "sse"},
        "off": {"command": "x", "enabled": false},
        "strange": {"url": "ftp://x"},
    }});
    let settings: McpSettings = serde_json::from_value(json!({"servers": {
        "docs": {"enabled": false},
        "mine": {"url": "http://127.0.0.1:1/mcp", "timeoutSeconds": 9},
    }}))
    .unwrap();
    let (configs, notes) = servers(Some(&file), Some(&openclaw), &settings);
    let names: Vec<_> = configs.iter().map(|config| config.name.as_str()).collect();
    assert_eq!(names, ["both", "mine"]);
    assert_eq!(
        configs[0].transport,
        ServerTransport::Stdio {
            command: "run".to_owned(),
            args: vec!["a".to_owned()],
            env: [("N", "1"), ("B", "true"), ("S", "s")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            cwd: Some("w".to_owned()),
            sandboxed: false,
        }
    );
    assert_eq!(configs[0].connecting, Duration::from_millis(5));
    assert_eq!(configs[1].calling, Duration::from_secs(9));
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(!format!("{configs:?}").contains("\"s\""));
}

#[test]
fn names_are_made_in_the_way_of_the_bundle() {
    let mut used = BTreeSet::new();
    assert_eq!(server_name("GitHub", &mut used), "GitHub");
    assert_eq!(server_name("github", &mut used), "github-2");
    assert_eq!(server_name("1st server!", &mut used), "mcp-1st-server-");
    assert_eq!(server_name("  ", &mut used), "mcp");
    assert_eq!(server_name(&"a".repeat(40), &mut used), "a".repeat(30));
    assert_eq!(
        server_name(&"a".repeat(41), &mut used),
        format!("{}-2", "a".repeat(28))
    );
    let mut used = BTreeSet::from(["s__exec".to_owned()]);
    assert_eq!(tool_name("s", "exec", &mut used), "s__exec-2");
    assert_eq!(tool_name("s", "", &mut used), "s__tool");
    assert_eq!(tool_name("s", &"b".repeat(80), &mut used).len(), 64);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_are_always_taken_by_providers_and_never_twice(
        raw in prop::collection::vec(("\\PC{0,50}", "\\PC{0,90}"), 1..12)
    ) {
        let (mut servers, mut names) = (BTreeSet::new(), BTreeSet::new());
        let mut seen = BTreeSet::new();
        for (server, tool) in raw {
            let name = tool_name(&server_name(&server, &mut servers), &tool, &mut names);
            prop_assert!(name.len() <= 64);
            prop_assert!(name.starts_with(|c: char| c.is_ascii_alphabetic()));
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
            prop_assert!(seen.insert(name.to_lowercase()));
        }
    }
}
