//! Which endpoint a request is for.

use percent_encoding::percent_decode_str;

/// The longest name in a path, in bytes.
const LONGEST_NAME: usize = 1024;
/// The most pairs of a query.
const MOST_PAIRS: usize = 64;

/// An endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// Whether the server is there.
    Health,
    /// What the gateway does.
    Status,
    /// The agents.
    Agents,
    /// Who would get a message.
    Explain,
    /// A message for an agent.
    Send,
    /// A stream of what happens.
    Events,
    /// The same over a WebSocket.
    Socket,
    /// The sessions.
    Sessions,
    /// One session.
    Session(String),
    /// What the model would get in it.
    Context(String),
    /// Stops it.
    Stop(String),
    /// A message in OpenAI's shape.
    ChatCompletions,
    /// The agents in OpenAI's shape.
    Models,
    /// One of them.
    Model(String),
}

/// Why there is no endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoute {
    /// Nothing has this path.
    Unknown,
    /// It takes other methods: these.
    Method(&'static str),
}

impl Route {
    /// Finds the endpoint for a method and a path.
    pub fn find(method: &str, path: &str) -> Result<Self, NoRoute> {
        let (route, allowed) = Self::by_path(path).ok_or(NoRoute::Unknown)?;
        if allowed.split(", ").any(|one| one == method) {
            Ok(route)
        } else {
            Err(NoRoute::Method(allowed))
        }
    }

    fn by_path(path: &str) -> Option<(Self, &'static str)> {
        const READ: &str = "GET, HEAD";
        let found = match path {
            "/health" => (Self::Health, READ),
            "/api/status" => (Self::Status, READ),
            "/api/agents" => (Self::Agents, READ),
            "/api/route" => (Self::Explain, READ),
            "/api/messages" => (Self::Send, "POST"),
            "/api/events" => (Self::Events, "GET"),
            "/api/socket" => (Self::Socket, "GET"),
            "/api/sessions" => (Self::Sessions, READ),
            "/v1/chat/completions" => (Self::ChatCompletions, "POST"),
            "/v1/models" => (Self::Models, READ),
            _ => {
                if let Some(model) = path.strip_prefix("/v1/models/") {
                    return Some((Self::Model(name(model)?), READ));
                }
                let rest = path.strip_prefix("/api/sessions/")?;
                return match rest.split_once('/') {
                    None => Some((Self::Session(name(rest)?), READ)),
                    Some((key, "context")) => Some((Self::Context(name(key)?), READ)),
                    Some((key, "stop")) => Some((Self::Stop(name(key)?), "POST")),
                    Some(_) => None,
                };
            }
        };
        Some(found)
    }
}

/// Reads a name in a path.
fn name(text: &str) -> Option<String> {
    if text.len() > 3 * LONGEST_NAME {
        return None;
    }
    let name = percent_decode_str(text).decode_utf8().ok()?.into_owned();
    let fine = !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(char::is_control);
    fine.then_some(name)
}

/// What stands behind the question mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a query; what cannot be understood is left out.
    pub fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.take(MOST_PAIRS).filter_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(key)?, decoded(value)?))
        });
        Self(pairs.collect())
    }

    /// Returns the first value of a name that is not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Returns every value of a name that is not empty.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(key, value)| key == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }
}

fn decoded(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    let text = percent_decode_str(&text).decode_utf8().ok()?;
    Some(text.into_owned())
}
