//! The only place that knows `rmcp`: its types stop here.

use super::config::{ServerConfig, ServerTransport};
use super::http::SessionClient;
use super::outcome::McpResult;
use super::oversized::{LONGEST_MESSAGE, Oversized};
use super::servers::McpSurroundings;
use super::stdio::{self, LastWords};
use chitin_net::client_builder;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, Implementation,
    PaginatedRequestParams,
};
use rmcp::service::{ClientInitializeError, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Map, Value};
use std::collections::HashMap;
use tokio::io::{AsyncRead, AsyncWrite};

/// The most tools of one server.
const MOST_TOOLS: usize = 256;
/// The most pages of a list. Some servers give one tool a page.
const MOST_PAGES: usize = MOST_TOOLS + 1;
/// The longest name and schema of a tool together, in bytes. Both are sent with every request.
pub(super) const LONGEST_TOOL: usize = 256 << 10;
/// The longest description, in characters.
const DESCRIPTION: usize = 4096;

/// What is said of a server that knows nobody without a token.
const NEEDS_TOKEN: &str = "it requires a token; add an `Authorization` header to its settings";

/// A connection to a server. Dropping it ends the server, if it is a program.
pub(super) struct Connection {
    service: RunningService<RoleClient, ClientConfig>,
    /// Of a program only.
    last_words: Option<LastWords>,
    oversized: Oversized,
}

/// A tool of a server, in plain data.
#[derive(Debug, Clone)]
pub(super) struct RemoteTool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) parameters: Value,
    pub(super) only_looks: bool,
    /// Whether calling it twice does no more than calling it once.
    pub(super) repeatable: bool,
}

/// Why a call has no answer.
#[derive(Debug)]
pub(super) enum CallError {
    /// The server is gone, or does not know this connection any more.
    Gone {
        reason: String,
        delivered: Delivered,
    },
    /// It said no.
    Refused(String),
}

/// Whether a call that got no answer reached its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivered {
    /// It did not.
    No,
    /// It may have.
    Perhaps,
}

/// The tools of a server.
#[derive(Debug, Clone, Default)]
pub(super) struct ListedTools {
    /// Those that are used.
    pub(super) tools: Vec<RemoteTool>,
    /// How many more it offers, as far as it was asked.
    pub(super) omitted: usize,
    /// Whether its list goes on.
    pub(super) goes_on: bool,
    /// How many are not used because they are too long.
    pub(super) too_long: usize,
}

impl ListedTools {
    fn add(&mut self, tool: rmcp::model::Tool) {
        let schema = serde_json::to_vec(&tool.input_schema).unwrap_or_default();
        if self.tools.len() == MOST_TOOLS {
            self.omitted += 1;
        } else if tool.name.len() + schema.len() > LONGEST_TOOL {
            self.too_long += 1;
        } else {
            self.tools.push(remote(tool));
        }
    }
}

impl Connection {
    /// Connects and asks for the tools.
    pub(super) async fn open(
        config: &ServerConfig,
        surroundings: &McpSurroundings,
    ) -> Result<(Self, ListedTools), String> {
        let opening = async {
            let connection = Self::connect(config, surroundings).await?;
            let listed = connection.list().await?;
            Ok((connection, listed))
        };
        tokio::time::timeout(config.connecting, opening)
            .await
            .unwrap_or_else(|_| {
                let seconds = config.connecting.as_secs_f64();
                Err(format!("it did not respond within {seconds:.1} s"))
            })
    }

    /// Asks for the tools, page by page, for as long as they are of use.
    pub(super) async fn list(&self) -> Result<ListedTools, String> {
        let mut listed = ListedTools::default();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let ask = PaginatedRequestParams::default().with_cursor(cursor);
            let answered = tokio::select! {
                answered = self.service.list_tools(Some(ask)) => answered,
                reason = self.oversized.came() => return Err(reason),
            };
            let page = match answered {
                Ok(page) => page,
                Err(error) => return Err(self.explain(&error).await),
            };
            for tool in page.tools {
                listed.add(tool);
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(listed);
            }
            if listed.omitted > 0 {
                break;
            }
        }
        // What the other pages hold is not used, and how much it is nobody asks.
        listed.goes_on = true;
        Ok(listed)
    }

    async fn connect(
        config: &ServerConfig,
        surroundings: &McpSurroundings,
    ) -> Result<Self, String> {
        match &config.transport {
            transport @ ServerTransport::Stdio { .. } => {
                let stdio = stdio::start(transport, surroundings).await?;
                let last_words = stdio.last_words;
                match Self::over(stdio.output, stdio.input).await {
                    Ok(connection) => Ok(Self {
                        last_words: Some(last_words),
                        ..connection
                    }),
                    Err(error) => Err(last_words.explain(not_begun(&error)).await),
                }
            }
            ServerTransport::Http { url, headers } => {
                let oversized = Oversized::default();
                let http = SessionClient {
                    client: client_builder(surroundings.trust.tls_for(url.as_str())?)
                        .build()
                        .map_err(|error| format!("the HTTP client cannot be made: {error}"))?,
                    oversized: oversized.clone(),
                };
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .max_sse_event_size(LONGEST_MESSAGE);
                let mut custom = HashMap::new();
                for (name, value) in headers {
                    let bearer = value.strip_prefix("Bearer ");
                    if let Some(token) =
                        bearer.filter(|_| name.eq_ignore_ascii_case("authorization"))
                    {
                        config = config.auth_header(token);
                        continue;
                    }
                    let wrong = || format!("the header `{name}` has an invalid name or value");
                    custom.insert(
                        HeaderName::try_from(name.as_str()).map_err(|_| wrong())?,
                        HeaderValue::try_from(value.as_str()).map_err(|_| wrong())?,
                    );
                }
                let transport =
                    StreamableHttpClientTransport::with_client(http, config.custom_headers(custom));
                let service = client()
                    .serve(transport)
                    .await
                    .map_err(|error| not_begun(&error))?;
                Ok(Self {
                    service,
                    last_words: None,
                    oversized,
                })
            }
        }
    }

    /// Connects over two streams: what the server says, and what it hears.
    pub(super) async fn over(
        output: impl AsyncRead + Send + Unpin + 'static,
        input: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<Self, ClientInitializeError> {
        let oversized = Oversized::default();
        let service = client().serve((oversized.watch(output), input)).await?;
        Ok(Self {
            service,
            last_words: None,
            oversized,
        })
    }

    /// Says whether the server is known to be gone.
    pub(super) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.is_transport_closed()
    }

    /// Calls a tool. Dropping the future tells the server to stop.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<McpResult, CallError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let answered = tokio::select! {
            answered = self.service.peer().call_tool_once(params) => answered,
            reason = self.oversized.came() => return Err(CallError::Refused(reason)),
        };
        match answered {
            Ok(CallToolResponse::Complete(result)) => Ok(McpResult {
                content: result
                    .content
                    .iter()
                    .filter_map(|block| serde_json::to_value(block).ok())
                    .collect(),
                structured: result.structured_content,
                is_error: result.is_error.unwrap_or(false),
            }),
            Ok(_) => Err(CallError::Refused(
                "it requires a protocol feature that is not supported".to_owned(),
            )),
            Err(ServiceError::McpError(error)) => {
                Err(CallError::Refused(error.message.into_owned()))
            }
            Err(error @ ServiceError::TransportClosed) => Err(CallError::Gone {
                reason: self.explain(&error).await,
                delivered: Delivered::Perhaps,
            }),
            Err(ServiceError::TransportSend(error)) => {
                let delivered = delivered(error.error.as_ref());
                Err(CallError::Gone {
                    reason: self.explain(&ServiceError::TransportSend(error)).await,
                    delivered,
                })
            }
            Err(error) => Err(CallError::Refused(chain(&error))),
        }
    }

    async fn explain(&self, error: &ServiceError) -> String {
        match &self.last_words {
            Some(words) => words.explain(lost(error)).await,
            None => lost(error),
        }
    }
}

/// Returns what we say of ourselves.
fn client() -> ClientConfig {
    ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("chitin", env!("CARGO_PKG_VERSION")),
    )
}

/// Says why a conversation with a server did not begin.
pub(super) fn not_begun(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => transport(error.error.as_ref()),
        ClientInitializeError::ConnectionClosed(_) => "it exited before it responded".to_owned(),
        ClientInitializeError::JsonRpcError(error) => {
            format!("it refused to initialize: {}", error.message)
        }
        error => chain(error),
    }
}

/// Says why a conversation with a server broke off.
fn lost(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportClosed => "it closed the connection".to_owned(),
        ServiceError::TransportSend(error) => transport(error.error.as_ref()),
        error => chain(error),
    }
}

/// Says what failed between here and a server.
fn transport(error: &(dyn std::error::Error + 'static)) -> String {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) if error.is_connect() => {
            format!("could not connect to its address ({})", innermost(error))
        }
        Some(StreamableHttpError::Client(error)) if error.is_timeout() => {
            "it did not respond in time".to_owned()
        }
        Some(StreamableHttpError::AuthRequired(_)) => NEEDS_TOKEN.to_owned(),
        Some(StreamableHttpError::HttpStatus(said)) => {
            format!("it responded with HTTP {}", said.status)
        }
        Some(StreamableHttpError::UnexpectedServerResponse(said)) => unexpected(said),
        Some(StreamableHttpError::UnexpectedContentType(Some(kind))) => {
            format!("its response is `{kind}`, not JSON or a stream of events")
        }
        Some(StreamableHttpError::UnexpectedContentType(None)) => {
            "its response does not say what it is (no `Content-Type`)".to_owned()
        }
        Some(error) => chain(error),
        None => match error.downcast_ref::<std::io::Error>() {
            Some(error) => format!("the pipe to it broke ({})", innermost(error)),
            None => chain(error),
        },
    }
}

/// Says what a server responded that is no answer of the protocol.
fn unexpected(said: &str) -> String {
    match said.strip_prefix("HTTP ") {
        Some(status) if status.starts_with("401") => NEEDS_TOKEN.to_owned(),
        Some(status) => {
            // Our own form of an error about the whole request.
            let status = status.strip_prefix("4xx: ").unwrap_or(status);
            let status = status.trim_end_matches([':', ' ']);
            if status.starts_with(|c: char| c.is_ascii_digit()) {
                format!("it responded with HTTP {status}")
            } else {
                format!("it refused the request: {status}")
            }
        }
        None if said.contains("JsonRpcMessage") => {
            "its response is not a message of the protocol".to_owned()
        }
        None => format!("its response was unexpected: {said}"),
    }
}

/// Returns what is at the bottom of an error, without the number that the system has for it.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    let text = error.to_string();
    // So the other end is understood when it speaks plain HTTP.
    if text.contains("InvalidContentType") {
        return "it does not speak TLS".to_owned();
    }
    let plain = text.split(" (os error ").next().unwrap_or(&text);
    plain.to_lowercase()
}

/// Tells from the error of a transport whether the request may have reached the server.
fn delivered(error: &(dyn std::error::Error + 'static)) -> Delivered {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) if error.is_connect() => Delivered::No,
        Some(StreamableHttpError::SessionExpired | StreamableHttpError::AuthRequired(_)) => {
            Delivered::No
        }
        // The request was turned down as it is.
        Some(StreamableHttpError::UnexpectedServerResponse(said)) if said.starts_with("HTTP 4") => {
            Delivered::No
        }
        Some(_) => Delivered::Perhaps,
        // A program whose pipe is closed: nothing was written.
        None => Delivered::No,
    }
}

fn remote(tool: rmcp::model::Tool) -> RemoteTool {
    let description = tool.description.unwrap_or_default();
    let hints = tool.annotations.unwrap_or_default();
    let only_looks = hints.read_only_hint.unwrap_or(false);
    RemoteTool {
        name: tool.name.into_owned(),
        description: description.chars().take(DESCRIPTION).collect(),
        parameters: Value::Object((*tool.input_schema).clone()),
        only_looks,
        repeatable: only_looks || hints.idempotent_hint.unwrap_or(false),
    }
}

/// Returns an error with what caused it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
