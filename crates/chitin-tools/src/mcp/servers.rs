//! The servers of an agent, and their tools.

use super::config::{ServerConfig, ServerTransport};
use super::connection::{CallError, Connection, RemoteTool};
use super::names::{server_name, tool_name};
use super::outcome::{Answer, outcome};
use crate::exec::Redact;
use crate::sandbox::Sandbox;
use crate::tool::{CallContext, Concurrency, Tool, ToolOutcome};
use chitin_protocol::tool::ToolSpec;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Makes the client that servers with an address are reached by. It is asked when the first of them is.
pub type HttpClient = Arc<dyn Fn() -> Result<reqwest::Client, String> + Send + Sync>;

/// What servers need of their surroundings.
#[derive(Clone)]
pub struct McpSurroundings {
    /// What starts programs, inside or outside of it.
    pub sandbox: Arc<Sandbox>,
    /// Chitin's own environment; a few variables of it are passed on to programs outside the sandbox.
    pub environment: BTreeMap<String, String>,
    /// What reaches addresses.
    pub http: HttpClient,
    /// What takes secrets out of answers.
    pub redact: Redact,
}

impl fmt::Debug for McpSurroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpSurroundings").finish_non_exhaustive()
    }
}

/// The servers of an agent. Nothing is started before their tools are asked for; all are ended when this is dropped.
#[derive(Debug)]
pub struct McpServers {
    servers: Vec<Arc<Server>>,
}

/// The tools of all servers, and what could not be reached.
#[derive(Default)]
pub struct McpTools {
    /// The tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What people should know, in sentences.
    pub notes: Vec<String>,
}

impl fmt::Debug for McpTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.tools.iter().map(|tool| &tool.spec().name).collect();
        f.debug_struct("McpTools")
            .field("tools", &names)
            .field("notes", &self.notes)
            .finish()
    }
}

struct Server {
    config: ServerConfig,
    surroundings: McpSurroundings,
    slot: Mutex<Slot>,
}

#[derive(Default)]
struct Slot {
    connection: Option<Arc<Connection>>,
    tools: Vec<RemoteTool>,
    /// Whether it crashed since it last answered.
    crashed: bool,
    /// Whether it was started again after that.
    restarted: bool,
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
        let server = |config| {
            Arc::new(Server {
                config,
                surroundings: surroundings.clone(),
                slot: Mutex::default(),
            })
        };
        Self {
            servers: configs.into_iter().map(server).collect(),
        }
    }

    /// Connects to the servers that are not connected yet, all at once, and returns their tools. A server that fails costs its
    /// tools and a note, nothing else. `reserved` are names that are taken.
    pub async fn tools<'a>(&self, reserved: impl IntoIterator<Item = &'a str>) -> McpTools {
        let connected = join_all(self.servers.iter().map(|server| server.remote_tools())).await;
        let mut names: BTreeSet<String> = reserved.into_iter().map(str::to_lowercase).collect();
        let mut prefixes = BTreeSet::new();
        let mut found = McpTools::default();
        for (server, tools) in self.servers.iter().zip(connected) {
            let prefix = server_name(&server.config.name, &mut prefixes);
            let tools = match tools {
                Ok(tools) => tools,
                Err(reason) => {
                    found.notes.push(format!(
                        "The tool server `{}` is not there: {reason}.",
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
                    "The tool server `{}` runs outside the sandbox.",
                    server.config.name
                ));
            }
            for remote in tools {
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
                    server: Arc::clone(server),
                }));
            }
        }
        found
    }

    /// Ends all servers, and starts none again.
    pub async fn shut_down(&self) {
        for server in &self.servers {
            server.slot.lock().await.close();
        }
    }
}

impl Drop for McpServers {
    fn drop(&mut self) {
        for server in &self.servers {
            // A server that is being started right now goes with the last of its tools.
            if let Ok(mut slot) = server.slot.try_lock() {
                slot.close();
            }
        }
    }
}

impl Slot {
    fn close(&mut self) {
        self.connection = None;
        self.closed = true;
    }
}

impl Server {
    async fn remote_tools(&self) -> Result<Vec<RemoteTool>, String> {
        self.connection().await?;
        Ok(self.slot.lock().await.tools.clone())
    }

    /// Returns the connection; starts the server where there is none, but only once after a crash.
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
            slot.crashed = true;
        }
        if slot.crashed && slot.restarted {
            return Err(
                "it crashed again after it was restarted, and is left alone now".to_owned(),
            );
        }
        slot.restarted = slot.crashed;
        let (connection, tools) = Connection::open(&self.config, &self.surroundings).await?;
        let connection = Arc::new(connection);
        slot.connection = Some(Arc::clone(&connection));
        slot.tools = tools;
        Ok(connection)
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Answer, String> {
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            Value::Null => serde_json::Map::new(),
            _ => return Err("the arguments are not an object".to_owned()),
        };
        let connection = self.connection().await?;
        match connection.call(tool, arguments).await {
            Ok(answer) => {
                let mut slot = self.slot.lock().await;
                slot.crashed = false;
                slot.restarted = false;
                Ok(answer)
            }
            Err(CallError::Refused(reason)) => Err(reason),
            Err(CallError::Gone(reason)) => {
                let mut slot = self.slot.lock().await;
                // Somebody else may have connected again by now.
                if slot
                    .connection
                    .as_ref()
                    .is_some_and(|now| Arc::ptr_eq(now, &connection))
                {
                    slot.connection = None;
                    slot.crashed = true;
                }
                Err(format!("the server is gone: {reason}"))
            }
        }
    }
}

/// A tool of a server.
struct McpTool {
    spec: ToolSpec,
    name: String,
    only_looks: bool,
    server: Arc<Server>,
}

impl McpTool {
    async fn run(&self, arguments: Value, context: &CallContext<'_>) -> ToolOutcome {
        let config = &self.server.config;
        let answer = tokio::select! {
            answer = self.server.call(&self.name, arguments) => answer,
            () = context.cancel.cancelled() => Err("the call was stopped".to_owned()),
            () = tokio::time::sleep(config.calling) => {
                Err(format!("no answer within {:.1} s", config.calling.as_secs_f64()))
            }
        };
        let redact = &self.server.surroundings.redact;
        let outcome = match answer {
            Ok(answer) => outcome(&answer, context.max_output_bytes, redact),
            Err(reason) => {
                let words = format!("`{}` of `{}` failed: {reason}.", self.name, config.name);
                let words = crate::process::bounded(redact(&words), context.max_output_bytes).0;
                ToolOutcome::error(words)
            }
        };
        outcome.with_details(json!({ "mcpServer": config.name, "mcpTool": self.name }))
    }
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn concurrency(&self) -> Concurrency {
        if self.only_looks {
            Concurrency::Shared
        } else {
            Concurrency::Alone
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
