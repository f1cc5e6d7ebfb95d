//! Which servers there are.

use chitin_protocol::settings::{McpServerSettings, McpSettings};
use chitin_workspace::extensions::mcp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

const CONNECTING: Duration = Duration::from_secs(30);
const CALLING: Duration = Duration::from_mins(1);

/// A tool server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its name, as it is spelled.
    pub name: String,
    /// How it is reached.
    pub transport: ServerTransport,
    /// How long connecting may take.
    pub connecting: Duration,
    /// How long a call may take.
    pub calling: Duration,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum ServerTransport {
    /// A program is started; it speaks over its input and output.
    Stdio {
        /// The program.
        command: String,
        /// What it is given.
        args: Vec<String>,
        /// What is added to its environment.
        env: BTreeMap<String, String>,
        /// Where it starts; left out, the workspace.
        cwd: Option<String>,
        /// Whether it runs in the sandbox of commands.
        sandboxed: bool,
    },
    /// It listens at an address.
    Http {
        /// The address.
        url: String,
        /// What is added to the headers of every request.
        headers: BTreeMap<String, String>,
    },
}

impl fmt::Debug for ServerTransport {
    /// Leaves out values of variables and headers: keys stand there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, args, .. } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", args)
                .finish_non_exhaustive(),
            Self::Http { url, .. } => f
                .debug_struct("Http")
                .field("url", url)
                .finish_non_exhaustive(),
        }
    }
}

/// Puts the layers together: `MCP.md`, then `openclaw.json` (the value of `mcp`), then Chitin's own settings. A later layer
/// replaces a server of the same name as a whole. Returns the servers by name, and what could not be used.
pub fn servers(
    file: Option<&mcp::Servers>,
    openclaw: Option<&Value>,
    settings: &McpSettings,
) -> (Vec<ServerConfig>, Vec<String>) {
    let mut found: BTreeMap<String, McpServerSettings> = BTreeMap::new();
    let mut notes = Vec::new();
    for server in file.iter().flat_map(|file| &file.servers) {
        let settings = McpServerSettings {
            url: Some(server.uri.clone()),
            ..McpServerSettings::default()
        };
        found.insert(server.name.clone(), settings);
    }
    let openclaw = openclaw
        .and_then(|mcp| mcp.get("servers"))
        .and_then(Value::as_object);
    for (name, value) in openclaw.into_iter().flatten() {
        match from_openclaw(value) {
            Ok(settings) => {
                found.insert(name.clone(), settings);
            }
            Err(reason) => notes.push(format!("The MCP server `{name}` is not used: {reason}.")),
        }
    }
    found.extend(settings.servers.clone());
    let mut configs = Vec::new();
    for (name, settings) in found {
        if settings.enabled == Some(false) {
            continue;
        }
        match transport(&settings) {
            Ok(transport) => configs.push(ServerConfig {
                name,
                transport,
                connecting: settings
                    .connection_timeout_ms
                    .map_or(CONNECTING, Duration::from_millis),
                calling: settings
                    .timeout_seconds
                    .map_or(CALLING, |seconds| Duration::from_secs(seconds.into())),
            }),
            Err(reason) => notes.push(format!("The MCP server `{name}` is not used: {reason}.")),
        }
    }
    (configs, notes)
}

fn transport(settings: &McpServerSettings) -> Result<ServerTransport, String> {
    match (&settings.command, &settings.url) {
        (Some(command), None) if !command.trim().is_empty() => Ok(ServerTransport::Stdio {
            command: command.clone(),
            args: settings.args.clone(),
            env: settings.env.clone(),
            cwd: settings.cwd.clone(),
            sandboxed: settings.sandbox.unwrap_or(false),
        }),
        (None, Some(url)) if url.starts_with("http://") || url.starts_with("https://") => {
            Ok(ServerTransport::Http {
                url: url.clone(),
                headers: settings.headers.clone(),
            })
        }
        (None, Some(_)) => Err("its `url` is neither `http` nor `https`".to_owned()),
        (Some(_), Some(_)) => Err("it has both a `command` and a `url`".to_owned()),
        (Some(_) | None, None) => Err("it has neither a `command` nor a `url`".to_owned()),
    }
}

/// Reads a server of `openclaw.json`, where values of variables and headers may be numbers and switches too.
fn from_openclaw(value: &Value) -> Result<McpServerSettings, String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    if text("transport").as_deref() == Some("sse") {
        return Err("the transport `sse` is not supported; use `streamable-http`".to_owned());
    }
    if text("auth").as_deref() == Some("oauth") {
        return Err("OAuth is not supported".to_owned());
    }
    let texts = |key: &str| -> BTreeMap<String, String> {
        value
            .get(key)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| {
                let value = match value {
                    Value::String(text) => text.clone(),
                    Value::Number(_) | Value::Bool(_) => value.to_string(),
                    Value::Null | Value::Array(_) | Value::Object(_) => return None,
                };
                Some((name.clone(), value))
            })
            .collect()
    };
    let args = value.get("args").and_then(Value::as_array);
    let disabled = value.get("disabled").and_then(Value::as_bool);
    Ok(McpServerSettings {
        enabled: value
            .get("enabled")
            .and_then(Value::as_bool)
            .or(disabled.map(|disabled| !disabled)),
        command: text("command"),
        args: args
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        env: texts("env"),
        cwd: text("cwd").or_else(|| text("workingDirectory")),
        sandbox: None,
        url: text("url"),
        headers: texts("headers"),
        connection_timeout_ms: value.get("connectionTimeoutMs").and_then(Value::as_u64),
        timeout_seconds: None,
    })
}
