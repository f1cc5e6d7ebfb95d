//! Which endpoint a request is for.

use crate::page::Page;
use percent_encoding::percent_decode_str;

/// The longest name in a path, in bytes.
const LONGEST_NAME: usize = 1024;
/// How something is read.
const READ: &str = "GET, HEAD";
/// The most pairs of a query.
const MOST_PAIRS: usize = 64;

/// An endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// A file of the page, by its place among them.
    Page(usize),
    /// Whether the server is there.
    Health,
    /// Whether it can be used.
    Ready,
    /// Numbers for those who watch.
    Metrics,
    /// Logs in on the page.
    Login,
    /// Logs out.
    Logout,
    /// Whether somebody is logged in.
    Me,
    /// What the gateway does.
    Status,
    /// The agents.
    Agents,
    /// Something of one agent.
    Agent(String, Part),
    /// Who would get a message.
    Explain,
    /// Which agent gets what, as configured.
    Routes,
    /// How the networks stand.
    Channels,
    /// Who may talk to agents.
    Pairing,
    /// Changes that.
    Pair(Pair),
    /// A message for an agent.
    Send,
    /// A stream of what happens.
    Events,
    /// The same over a WebSocket.
    Socket,
    /// The sessions.
    Sessions,
    /// The sessions, and which began which.
    Tree,
    /// One session.
    Session(String),
    /// What the model would get in it.
    Context(String),
    /// Its turns.
    Turns(String),
    /// What the model got in one of them.
    Lens(String),
    /// Stops it.
    Stop(String),
    /// What turns left behind.
    Traces,
    /// One of them.
    Trace(String),
    /// A message in OpenAI's shape.
    ChatCompletions,
    /// The agents in OpenAI's shape.
    Models,
    /// One of them.
    Model(String),
    /// Something that a network calls, by its place among them.
    Webhook(usize),
}

/// What of an agent is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Its files.
    Files,
    /// One of them.
    File,
    /// What a change would do.
    Preview,
    /// Its skills.
    Skills,
    /// What is wrong.
    Findings,
    /// Its memory.
    Memory,
}

/// What is to become of somebody who wants to talk to agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pair {
    /// They may.
    Approve,
    /// They may not.
    Reject,
    /// They may no more.
    Revoke,
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

    /// Tells whether anybody may ask, without any token.
    pub(crate) const fn is_public(&self) -> bool {
        matches!(
            self,
            Self::Page(_) | Self::Health | Self::Ready | Self::Login | Self::Me | Self::Webhook(_)
        )
    }

    fn by_path(path: &str) -> Option<(Self, &'static str)> {
        let found = match path {
            "/health" => (Self::Health, READ),
            "/ready" => (Self::Ready, READ),
            "/metrics" => (Self::Metrics, READ),
            "/api/login" => (Self::Login, "POST"),
            "/api/logout" => (Self::Logout, "POST"),
            "/api/me" => (Self::Me, READ),
            "/api/status" => (Self::Status, READ),
            "/api/agents" => (Self::Agents, READ),
            "/api/route" => (Self::Explain, READ),
            "/api/routes" => (Self::Routes, READ),
            "/api/channels" => (Self::Channels, READ),
            "/api/pairing" => (Self::Pairing, READ),
            "/api/pairing/approve" => (Self::Pair(Pair::Approve), "POST"),
            "/api/pairing/reject" => (Self::Pair(Pair::Reject), "POST"),
            "/api/pairing/revoke" => (Self::Pair(Pair::Revoke), "POST"),
            "/api/messages" => (Self::Send, "POST"),
            "/api/events" => (Self::Events, "GET"),
            "/api/socket" => (Self::Socket, "GET"),
            "/api/sessions" => (Self::Sessions, READ),
            "/api/tree" => (Self::Tree, READ),
            "/api/traces" => (Self::Traces, READ),
            "/v1/chat/completions" => (Self::ChatCompletions, "POST"),
            "/v1/models" => (Self::Models, READ),
            _ => return Self::by_name(path),
        };
        Some(found)
    }

    /// Finds an endpoint with a name in its path.
    fn by_name(path: &str) -> Option<(Self, &'static str)> {
        if let Some(model) = path.strip_prefix("/v1/models/") {
            return Some((Self::Model(name(model)?), READ));
        }
        if let Some(trace) = path.strip_prefix("/api/traces/") {
            return Some((Self::Trace(name(trace)?), READ));
        }
        if let Some(rest) = path.strip_prefix("/api/agents/") {
            let (id, part) = rest.split_once('/')?;
            let (part, allowed) = match part {
                "files" => (Part::Files, READ),
                "file" => (Part::File, "GET, HEAD, PUT"),
                "preview" => (Part::Preview, "POST"),
                "skills" => (Part::Skills, READ),
                "findings" => (Part::Findings, READ),
                "memory" => (Part::Memory, READ),
                _ => return None,
            };
            return Some((Self::Agent(name(id)?, part), allowed));
        }
        if let Some(rest) = path.strip_prefix("/api/sessions/") {
            return match rest.split_once('/') {
                None => Some((Self::Session(name(rest)?), READ)),
                Some((key, "context")) => Some((Self::Context(name(key)?), READ)),
                Some((key, "turns")) => Some((Self::Turns(name(key)?), READ)),
                Some((key, "lens")) => Some((Self::Lens(name(key)?), READ)),
                Some((key, "stop")) => Some((Self::Stop(name(key)?), "POST")),
                Some(_) => None,
            };
        }
        Page::find(path).map(|file| (Self::Page(file), READ))
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
