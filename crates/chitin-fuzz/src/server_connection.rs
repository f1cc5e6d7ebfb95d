//! What strangers send over a connection to the server: requests one after the other, whole, broken and made of choices, and
//! the frames of a WebSocket. The server is a real one on the loopback address; it has a gateway, and no agent that answers.

use crate::net::{exchange, runtime};
use crate::recipe::Recipe;
use crate::records::any;
use crate::rpc::{object, text};
use crate::{novelty, scratch};
use chitin_agent::clock::Clock;
use chitin_agent::turn::Agent;
use chitin_contract::{CANONICAL, TranscriptRules};
use chitin_gateway::surface::Surfaces;
use chitin_gateway::{
    AccessControl, AgentAsk, AgentHost, AgentSummary, Gateway, GatewayParts, HostError,
    OutagePolicy,
};
use chitin_server::{Limits, Server, ServerSettings, WebSurface};
use chitin_store::{FileStore, JobLog, RandomIds, SessionStore};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What requests are made of.
pub const DICTIONARY: &[&str] = &[
    "GET / HTTP/1.1\r\n",
    "POST /api/messages HTTP/1.1\r\n",
    "HEAD ",
    "OPTIONS ",
    "PUT ",
    "DELETE ",
    "Host: 127.0.0.1\r\n",
    "Host: evil.example\r\n",
    "Authorization: Bearer a-token-for-fuzzing-0123456789\r\n",
    "Cookie: chitin=",
    "Origin: https://evil.example\r\n",
    "Content-Type: application/json\r\n",
    "Content-Length: 2\r\n",
    "Content-Length: 18446744073709551615\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Expect: 100-continue\r\n",
    "Connection: close\r\n",
    "Connection: Upgrade\r\nUpgrade: websocket\r\n",
    "Sec-WebSocket-Version: 13\r\n",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    "Last-Event-ID: 1\r\n",
    "\r\n\r\n",
    "{}",
    "2\r\n{}\r\n0\r\n\r\n",
    "ffffffffffffffff\r\n",
    "\u{81}\u{82}",
    "%2F",
    "%00",
    "?session=",
    "&limit=",
    "Range: bytes=0-\r\n",
    "If-None-Match: *\r\n",
    "X-Forwarded-For: 1.2.3.4\r\n",
    "Forwarded: for=1.2.3.4\r\n",
];

const TOKEN: &str = "a-token-for-fuzzing-0123456789";

const PATHS: &[&str] = &[
    "/",
    "/health",
    "/ready",
    "/metrics",
    "/openapi.json",
    "/api/login",
    "/api/logout",
    "/api/me",
    "/api/status",
    "/api/agents",
    "/api/agents/main/files",
    "/api/agents/main/file?path=a",
    "/api/agents/main/preview",
    "/api/agents/main/memory?q=a",
    "/api/agents/main/undo",
    "/api/route?channel=web",
    "/api/routes",
    "/api/channels",
    "/api/pairing",
    "/api/pairing/approve",
    "/api/messages",
    "/api/messages",
    "/api/events",
    "/api/socket",
    "/api/socket",
    "/api/sessions",
    "/api/tree",
    "/api/sessions/agent%3Amain%3Amain",
    "/api/sessions/agent%3Amain%3Amain/context",
    "/api/sessions/agent%3Amain%3Amain/stop",
    "/api/sessions/agent%3Amain%3Amain/turns",
    "/api/traces",
    "/api/traces/a",
    "/v1/chat/completions",
    "/v1/chat/completions",
    "/v1/models",
    "/v1/models/a/b",
    "/assets/../x",
    "//",
    "/%00",
    "*",
];

/// A clock of which nothing depends.
#[derive(Default)]
pub(crate) struct FuzzClock(AtomicU64);

impl Clock for FuzzClock {
    fn now_ms(&self) -> i64 {
        1_785_542_400_000
    }

    fn unique(&self) -> String {
        format!("{:08x}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// Knows one agent, which can never be had.
struct Nobody {
    state: PathBuf,
}

impl AgentHost for Nobody {
    fn agents(&self) -> Vec<AgentSummary> {
        vec![AgentSummary {
            id: "main".to_owned(),
            name: "main".to_owned(),
            workspace: "/w".to_owned(),
            is_default: true,
        }]
    }

    fn store(&self, agent_id: &str) -> Result<Arc<dyn SessionStore>, HostError> {
        let directory = FileStore::directory_of(&self.state, agent_id);
        Ok(Arc::new(FileStore::new(
            directory,
            &TranscriptRules::CANONICAL,
            RandomIds,
        )))
    }

    fn agent<'a>(&'a self, _: AgentAsk<'a>) -> BoxFuture<'a, Result<Arc<Agent>, HostError>> {
        async { Err(no_agent()) }.boxed()
    }

    fn context_report(&self, _: &str, _: &str) -> Result<Value, HostError> {
        Err(no_agent())
    }
}

fn no_agent() -> HostError {
    HostError::new("There is no agent.")
}

fn listening() -> SocketAddr {
    static SERVER: OnceLock<SocketAddr> = OnceLock::new();
    *SERVER.get_or_init(|| runtime().block_on(async { serve() }))
}

fn serve() -> SocketAddr {
    let state = scratch::fresh("server_connection");
    let config = Arc::new(json!({}));
    let clock: Arc<dyn Clock> = Arc::new(FuzzClock::default());
    let trust = AccessControl::volatile(Arc::clone(&config), Arc::clone(&clock));
    let gateway = Gateway::new(GatewayParts {
        contract: &CANONICAL,
        config,
        trust: Arc::new(trust),
        host: Arc::new(Nobody { state }),
        surfaces: Surfaces::default().with(Arc::new(WebSurface::default())),
        ledger: JobLog::volatile(),
        clock,
        zone: jiff::tz::TimeZone::UTC,
        most_open: 64,
        space: Arc::new(chitin_guard::SpaceWatch::off()),
        outage: OutagePolicy::default(),
        note: Arc::new(|_| {}),
    });
    let mut settings = ServerSettings::new(SocketAddr::from(([127, 0, 0, 1], 0)), TOKEN.into());
    settings.limits = Limits {
        body: 64 << 10,
        head: 16 << 10,
        head_time: Duration::from_secs(2),
        body_time: Duration::from_secs(2),
        failure_burst: u32::MAX,
        request_burst: u32::MAX,
        requests_per_second: u32::MAX,
        ..Limits::default()
    };
    let bound = Server::bind(settings).expect("the loopback address can be had");
    let address = bound.address();
    tokio::spawn(bound.serve(gateway, std::future::pending()));
    address
}

/// Sends the input over one connection. One that begins with a one is choices for requests.
pub fn run(data: &[u8]) {
    let sent = match data.split_first() {
        Some((1, choices)) => built(&mut Recipe::new(choices)),
        Some(_) | None => data.to_vec(),
    };
    let knows_token = memchr(&sent, TOKEN.as_bytes());
    let answer = runtime().block_on(exchange(listening(), &sent, Duration::from_millis(60)));
    let text = String::from_utf8_lossy(&answer);
    if answer.is_empty() {
        return novelty::note("nothing");
    }
    assert!(
        text.starts_with("HTTP/1."),
        "no answer of HTTP: {:?}",
        text.get(..80)
    );
    let head = text.split("\r\n\r\n").next().unwrap_or_default();
    let status = head.get(9..12).unwrap_or_default().to_owned();
    // The one thing that fails on this machine; in an answer to `HEAD` there are no words.
    let body = text.split("\r\n\r\n").nth(1).unwrap_or_default();
    let says = body.starts_with('{');
    assert!(
        status != "500" || !says || text.contains("There is no agent."),
        "an error of our own: {text}"
    );
    let secret = text.contains(TOKEN);
    assert!(!secret || knows_token, "the token is in the answer");
    novelty::note((status, text.matches("HTTP/1.").count().min(4)));
    // Still there for the next.
    let health = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    if data.first().copied().unwrap_or_default() % 16 == 1 {
        let well = runtime().block_on(exchange(listening(), health, Duration::from_secs(10)));
        assert!(
            well.starts_with(b"HTTP/1.1 200"),
            "the server is gone: {}",
            String::from_utf8_lossy(&well)
        );
    }
}

fn memchr(text: &[u8], what: &[u8]) -> bool {
    text.windows(what.len()).any(|window| window == what)
}

fn built(recipe: &mut Recipe<'_>) -> Vec<u8> {
    let mut sent = Vec::new();
    for _ in 0..4 {
        if recipe.is_done() {
            break;
        }
        request(recipe, &mut sent);
    }
    sent
}

fn request(recipe: &mut Recipe<'_>, sent: &mut Vec<u8>) {
    let method = recipe.pick(&[
        "GET", "POST", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "get",
    ]);
    let mut path = recipe.pick(PATHS).to_owned();
    if recipe.byte().is_multiple_of(4) {
        let line: String = String::from_utf8_lossy(recipe.line())
            .chars()
            .filter(|c| !c.is_whitespace() && !c.is_control())
            .collect();
        path = format!(
            "{path}{}{line}",
            recipe.pick(&["?session=", "?limit=", "/", "?after=", "?", "?job="])
        );
    }
    let is_socket = path.starts_with("/api/socket");
    let body = match recipe.byte() % 6 {
        0 => Vec::new(),
        1 => recipe.line().to_vec(),
        _ => body(recipe).to_string().into_bytes(),
    };
    sent.extend(format!("{method} {path} HTTP/1.1\r\n").into_bytes());
    let mut header =
        |name: &str, value: &str| sent.extend(format!("{name}: {value}\r\n").into_bytes());
    header(
        "Host",
        recipe.pick(&[
            "127.0.0.1",
            "localhost",
            "127.0.0.1",
            "evil.example",
            "[::1]",
            "",
        ]),
    );
    if recipe.byte() > 30 {
        header("Authorization", &format!("Bearer {TOKEN}"));
    }
    if recipe.byte() > 30 {
        header(
            "Content-Type",
            recipe.pick(&[
                "application/json",
                "application/json",
                "text/plain",
                "APPLICATION/JSON; charset=x",
                "multipart/form-data",
            ]),
        );
    }
    for _ in 0..recipe.byte() % 3 {
        let name = recipe.pick(&[
            "Origin",
            "Cookie",
            "Expect",
            "Last-Event-ID",
            "Accept",
            "X-Forwarded-For",
            "Accept-Encoding",
            "If-None-Match",
            "Range",
            "Idempotency-Key",
            "X-Chitin-Session",
            "Transfer-Encoding",
            "Content-Length",
            "X-OpenClaw-Session-Key",
            "X-OpenClaw-Agent-Id",
        ]);
        let value = match recipe.byte() % 3 {
            0 => recipe
                .pick(&[
                    "1",
                    "text/event-stream",
                    "100-continue",
                    "gzip, br",
                    "https://evil.example",
                    "http://127.0.0.1",
                    "chitin=a; b",
                    "chunked",
                    "*",
                    "agent:main:x",
                ])
                .to_owned(),
            _ => String::from_utf8_lossy(recipe.line())
                .chars()
                .filter(|c| !c.is_control())
                .collect(),
        };
        header(name, &value);
    }
    if is_socket && recipe.byte() > 10 {
        header("Connection", "Upgrade");
        header("Upgrade", "websocket");
        header("Sec-WebSocket-Version", "13");
        header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
        sent.extend(b"\r\n");
        for _ in 0..8 {
            if recipe.is_done() {
                break;
            }
            frame(recipe, sent);
        }
        return;
    }
    match recipe.byte() % 8 {
        0 => {
            header("Transfer-Encoding", "chunked");
            sent.extend(format!("\r\n{:x}\r\n", body.len()).into_bytes());
            sent.extend(&body);
            sent.extend(b"\r\n0\r\n\r\n");
        }
        1 => {
            header(
                "Content-Length",
                &(body.len() + usize::from(recipe.byte() % 8)).to_string(),
            );
            sent.extend(b"\r\n");
            sent.extend(&body);
        }
        2 => sent.extend(b"\r\n"),
        _ => {
            header("Content-Length", &body.len().to_string());
            sent.extend(b"\r\n");
            sent.extend(&body);
        }
    }
}

/// Writes a frame of a WebSocket, masked as a client must, and sometimes not.
fn frame(recipe: &mut Recipe<'_>, sent: &mut Vec<u8>) {
    let content = match recipe.byte() % 5 {
        0 => recipe.line().to_vec(),
        1 => any(recipe).to_string().into_bytes(),
        _ => command(recipe).to_string().into_bytes(),
    };
    let first = match recipe.byte() {
        0..=200 => 0x81,
        201..=215 => 0x89,
        216..=230 => 0x82,
        _ => recipe.byte(),
    };
    let masked = if recipe.byte() > 8 { 0x80 } else { 0 };
    sent.push(first);
    match u16::try_from(content.len()) {
        Ok(length @ 0..=125) => sent.push(masked | length.to_be_bytes()[1]),
        Ok(length) => {
            sent.push(masked | 0x7e);
            sent.extend(length.to_be_bytes());
        }
        Err(_) => {
            sent.push(masked | 0x7f);
            sent.extend((content.len() as u64).to_be_bytes());
        }
    }
    if masked > 0 {
        // A mask of zeros changes nothing.
        sent.extend([0; 4]);
    }
    sent.extend(content);
}

fn command(recipe: &mut Recipe<'_>) -> Value {
    let session = recipe.pick(&[
        "agent:main:main",
        "main",
        "agent:main:x",
        "agent:other:main",
        "",
        "global",
    ]);
    match recipe.byte() % 6 {
        0 => {
            json!({"type": "message", "id": any(recipe), "idempotencyKey": text(recipe), "message": message(recipe)})
        }
        1 => json!({"type": "subscribe", "id": 1, "session": session}),
        2 => object(
            recipe,
            &[
                ("type", json!("subscribe")),
                ("session", json!(session)),
                ("job", json!("a")),
                ("all", json!(true)),
                ("after", json!(1)),
            ],
        ),
        3 => json!({"type": "unsubscribe", "session": session}),
        4 => json!({"type": "stop", "session": session}),
        _ => json!({"type": recipe.pick(&["ping", "Ping", "x", ""]), "id": any(recipe)}),
    }
}

fn message(recipe: &mut Recipe<'_>) -> Value {
    let members = [
        ("text", json!(text(recipe))),
        (
            "session",
            json!(recipe.pick(&[
                "main",
                "agent:main:main",
                "agent:main:x y",
                "agent:none:main",
                ""
            ])),
        ),
        ("agent", json!(recipe.pick(&["main", "other", ""]))),
        ("wait", json!(false)),
        (
            "queue",
            json!(recipe.pick(&["followup", "steer", "interrupt", "collect", "x"])),
        ),
        ("images", any(recipe)),
        ("timeoutSeconds", any(recipe)),
    ];
    object(recipe, &members)
}

fn body(recipe: &mut Recipe<'_>) -> Value {
    match recipe.byte() % 5 {
        0 => any(recipe),
        1 => {
            let messages: Value = (0..recipe.byte() % 5)
                .map(|_| json!({"role": recipe.pick(&["user", "system", "assistant", "tool", "developer"]), "content": content(recipe)}))
                .collect();
            let members = [
                (
                    "model",
                    json!(recipe.pick(&["chitin", "chitin/main", "openclaw:main", "gpt"])),
                ),
                ("messages", messages),
                ("stream", json!(recipe.byte().is_multiple_of(2))),
                ("user", json!("ada")),
            ];
            object(recipe, &members)
        }
        2 => json!({"token": recipe.pick(&[TOKEN, "x", ""]), "password": "x"}),
        _ => message(recipe),
    }
}

fn content(recipe: &mut Recipe<'_>) -> Value {
    match recipe.byte() % 3 {
        0 => json!(text(recipe)),
        1 => {
            json!([{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": recipe.pick(&["data:image/png;base64,AAAA", "https://evil.example/x.png", "data:,"])}}])
        }
        _ => any(recipe),
    }
}
