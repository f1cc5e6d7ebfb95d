//! The servers of an agent, and their tools.

use super::backoff::Backoff;
use super::config::{ServerConfig, ServerTransport};
use super::connection::{CallError, Connection, Delivered, LONGEST_TOOL, ListedTools};
use super::names::{server_name, tool_name};
use super::outcome::{McpResult, outcome};
use super::stdio::NOT_STARTED;
use crate::exec::Redact;
use crate::process::bounded;
use crate::sandbox::Sandbox;
use crate::tool::{CallContext, Tool, ToolConcurrency, ToolOutcome};
use crate::untrusted::GuardedDeed;
use chitin_net::TlsRoots;
use chitin_protocol::origin::Origin;
use chitin_protocol::tool::ToolSpec;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// The longest pause between two starts of a program that keeps crashing.
const PROGRAM_PAUSE: Duration = Duration::from_mins(1);
/// The longest pause between two attempts to reach an address. It costs little to knock.
const ADDRESS_PAUSE: Duration = Duration::from_secs(2);
/// The longest pause that a call waits for. Beyond it the call is an error that says how long.
const PATIENCE: Duration = Duration::from_secs(3);
/// How much of the reason is said why a server is not available, in bytes.
const LONGEST_REASON: usize = 2000;

/// What servers need of their surroundings.
#[derive(Clone)]
pub struct McpSurroundings {
    /// What starts programs, inside or outside of it.
    pub sandbox: Arc<Sandbox>,
    /// Chitin's own environment; a few variables of it are passed on to programs outside the sandbox.
    pub environment: BTreeMap<String, String>,
    /// Whom TLS trusts, for servers with an address.
    pub trust: TlsRoots,
}

impl fmt::Debug for McpSurroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpSurroundings").finish_non_exhaustive()
    }
}

/// The servers of an agent. Nothing is started before their tools are asked for. A server lives as long as this value or one of
/// its tools does, or until [`McpServers::shut_down`].
#[derive(Debug)]
pub struct McpServers {
    servers: Vec<Arc<Server>>,
}

/// The tools of all servers, and what could not be reached.
#[derive(Default)]
pub struct McpTools {
    /// The tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// How many servers gave their tools.
    pub available: usize,
    /// How many could not be reached.
    pub unavailable: usize,
    /// What people should know, in sentences.
    pub notes: Vec<String>,
}

impl fmt::Debug for McpTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.tools.iter().map(|tool| &tool.spec().name).collect();
        f.debug_struct("McpTools")
            .field("tools", &names)
            .field("available", &self.available)
            .field("unavailable", &self.unavailable)
            .field("notes", &self.notes)
            .finish()
    }
}

struct Server {
    config: ServerConfig,
    surroundings: McpSurroundings,
    slot: Mutex<Slot>,
}

struct Slot {
    connection: Option<Arc<Connection>>,
    listed: ListedTools,
    backoff: Backoff,
    /// Whether it is over.
    closed: bool,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.config.fmt(f)
    }
}

impl McpServers {
    /// Takes the servers in. Nothing is started yet.
    pub fn new(configs: Vec<ServerConfig>, surroundings: &McpSurroundings) -> Self {
        let server = |config: ServerConfig| {
            let longest = match config.transport {
                ServerTransport::Stdio { .. } => PROGRAM_PAUSE,
                ServerTransport::Http { .. } => ADDRESS_PAUSE,
            };
            Arc::new(Server {
                config,
                surroundings: surroundings.clone(),
                slot: Mutex::new(Slot {
                    connection: None,
                    listed: ListedTools::default(),
                    backoff: Backoff::new(longest),
                    closed: false,
                }),
            })
        };
        Self {
            servers: configs.into_iter().map(server).collect(),
        }
    }

    /// Connects to the servers that are not connected yet, all at once, and returns their tools. A server that fails costs its
    /// tools and a note, nothing else. `reserved` are names that are taken; `redact` takes secrets out of answers.
    pub async fn tools<'a>(
        &self,
        reserved: impl IntoIterator<Item = &'a str>,
        redact: &Redact,
    ) -> McpTools {
        let connected = join_all(self.servers.iter().map(|server| server.listed())).await;
        let mut names: BTreeSet<String> = reserved.into_iter().map(str::to_lowercase).collect();
        let mut prefixes = BTreeSet::new();
        let mut found = McpTools::default();
        for (server, listed) in self.servers.iter().zip(connected) {
            let prefix = server_name(&server.config.name, &mut prefixes);
            let listed = match listed {
                Ok(listed) => {
                    found.available += 1;
                    listed
                }
                Err(reason) => {
                    found.unavailable += 1;
                    let remedy = match server.config.transport {
                        ServerTransport::Stdio { .. } if reason.starts_with(NOT_STARTED) => {
                            "Check the `command` in its settings, and that the program is installed."
                        }
                        ServerTransport::Stdio { .. } => "Run its command in a shell to see more.",
                        ServerTransport::Http { .. } => {
                            "Check that it is running and that its `url` is correct."
                        }
                    };
                    // The server may have written it.
                    let (reason, _) = bounded(reason, LONGEST_REASON);
                    found.notes.push(format!(
                        "The MCP server `{}` is not available: {reason}. {remedy}",
                        server.config.name
                    ));
                    continue;
                }
            };
            if let ServerTransport::Stdio {
                sandboxed: false, ..
            } = server.config.transport
            {
                found.notes.push(format!(
                    "The MCP server `{}` runs outside the sandbox.",
                    server.config.name
                ));
            }
            if listed.omitted > 0 || listed.goes_on {
                let used = listed.tools.len();
                let least = if listed.goes_on { "at least " } else { "" };
                found.notes.push(format!(
                    "The MCP server `{}` offers {least}{} tools. The first {used} are used.",
                    server.config.name,
                    used + listed.omitted
                ));
            }
            if listed.too_long > 0 {
                found.notes.push(format!(
                    "The MCP server `{}` has tools with definitions of more than {} KiB; they are not used ({}).",
                    server.config.name,
                    LONGEST_TOOL >> 10,
                    listed.too_long
                ));
            }
            for remote in listed.tools {
                found.tools.push(Arc::new(McpTool {
                    spec: ToolSpec {
                        name: tool_name(&prefix, &remote.name, &mut names),
                        description: if remote.description.is_empty() {
                            format!("The tool `{}` of `{}`.", remote.name, server.config.name)
                        } else {
                            remote.description
                        },
                        parameters: remote.parameters,
                    },
                    name: remote.name,
                    only_looks: remote.only_looks,
                    repeatable: remote.repeatable,
                    server: Arc::clone(server),
                    redact: Arc::clone(redact),
                }));
            }
        }
        found
    }

    /// Ends all servers, and starts none again.
    pub async fn shut_down(&self) {
        for server in &self.servers {
            let mut slot = server.slot.lock().await;
            slot.connection = None;
            slot.closed = true;
        }
    }
}

impl Server {
    async fn listed(&self) -> Result<ListedTools, String> {
        self.connection().await?;
        Ok(self.slot.lock().await.listed.clone())
    }

    /// Returns the connection; starts the server where there is none. One that keeps failing is started less and less often.
    async fn connection(&self) -> Result<Arc<Connection>, String> {
        let mut slot = self.slot.lock().await;
        if slot.closed {
            return Err("it was shut down".to_owned());
        }
        if let Some(connection) = &slot.connection {
            if !connection.is_closed() {
                return Ok(Arc::clone(connection));
            }
            slot.connection = None;
            slot.backoff.failed();
        }
        let pause = slot.backoff.pause();
        if pause > PATIENCE {
            return Err(format!(
                "it failed {} times in a row; it is not tried again for {:.0} s",
                slot.backoff.failures(),
                pause.as_secs_f64().ceil()
            ));
        }
        tokio::time::sleep(pause).await;
        match Connection::open(&self.config, &self.surroundings).await {
            Ok((connection, listed)) => {
                let connection = Arc::new(connection);
                slot.connection = Some(Arc::clone(&connection));
                slot.listed = listed;
                Ok(connection)
            }
            Err(reason) => {
                slot.backoff.failed();
                Err(reason)
            }
        }
    }

    /// Calls a tool. When the server turns out to be gone, the call is made once more on a new connection, but only if the first
    /// one did not reach it or may be repeated.
    async fn call(&self, tool: &McpTool, arguments: Value) -> Result<McpResult, String> {
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            Value::Null => serde_json::Map::new(),
            _ => return Err("the arguments are not an object".to_owned()),
        };
        let mut attempts = 0;
        loop {
            attempts += 1;
            let connection = self.connection().await?;
            let calling = connection.call(&tool.name, arguments.clone());
            let Ok(answered) = tokio::time::timeout(self.config.calling, calling).await else {
                let seconds = self.config.calling.as_secs_f64();
                return Err(format!("no response within {seconds:.1} s"));
            };
            let (reason, delivered) = match answered {
                Ok(answer) => {
                    self.slot.lock().await.backoff.answered();
                    return Ok(answer);
                }
                Err(CallError::Refused(reason)) => {
                    self.slot.lock().await.backoff.answered();
                    return Err(reason);
                }
                Err(CallError::Gone { reason, delivered }) => (reason, delivered),
            };
            self.lost(&connection).await;
            let may_repeat = tool.repeatable || delivered == Delivered::No;
            if may_repeat && attempts == 1 {
                continue;
            }
            return Err(match delivered {
                Delivered::No => format!("the connection was lost: {reason}"),
                Delivered::Perhaps => format!(
                    "the connection was lost during the call, which may have taken effect ({reason}); the next call connects again"
                ),
            });
        }
    }

    /// Forgets a connection that is gone, unless another call has replaced it by now.
    async fn lost(&self, connection: &Arc<Connection>) {
        let mut slot = self.slot.lock().await;
        let is_current = |now: &Arc<Connection>| Arc::ptr_eq(now, connection);
        if slot.connection.as_ref().is_some_and(is_current) {
            slot.connection = None;
            slot.backoff.failed();
        }
    }
}

/// A tool of a server. It keeps its server alive.
struct McpTool {
    spec: ToolSpec,
    name: String,
    only_looks: bool,
    /// Whether calling it twice does no more than calling it once.
    repeatable: bool,
    server: Arc<Server>,
    redact: Redact,
}

impl McpTool {
    async fn run(&self, arguments: Value, context: &CallContext<'_>) -> ToolOutcome {
        let config = &self.server.config;
        if !context.rights.untrusted.rules.trusts_server(&config.name) {
            let what = format!("call `{}` of the MCP server `{}`", self.name, config.name);
            let deed = GuardedDeed {
                tool: &self.spec.name,
                entry: &self.spec.name,
                what: &what,
            };
            if let Err(refusal) = context.may(deed).await {
                return ToolOutcome::error(refusal);
            }
        }
        let answer = tokio::select! {
            answer = self.server.call(self, arguments) => answer,
            () = context.cancel.cancelled() => Err("the call was stopped".to_owned()),
        };
        let outcome = match answer {
            Ok(answer) => outcome(&answer, context.max_output_bytes, &self.redact),
            Err(reason) => {
                let text = format!("`{}` of `{}` failed: {reason}.", self.name, config.name);
                let text = bounded((self.redact)(&text), context.max_output_bytes);
                ToolOutcome::error(text.0)
            }
        };
        outcome
            .with_details(json!({ "mcpServer": config.name, "mcpTool": self.name }))
            .from([Origin::server(&config.name)])
    }
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn concurrency(&self) -> ToolConcurrency {
        if self.only_looks {
            ToolConcurrency::Shared
        } else {
            ToolConcurrency::Alone
        }
    }

    fn call<'a>(
        &'a self,
        arguments: Value,
        context: &'a CallContext<'a>,
    ) -> BoxFuture<'a, ToolOutcome> {
        self.run(arguments, context).boxed()
    }
}
