//! `chitin agents route`: who gets a message, in which session, and why.

use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, plain};
use chitin_gateway::route::{
    BindingVerdict, Considered, Inbound, Mismatch, Peer, RouteExplanation, Routing,
};
use chitin_protocol::session_key::{ChatType, ThreadSuffix};
use chitin_runtime::Configuration;
use chitin_runtime::Host;
use serde::Serialize;
use std::fmt;

/// Explain which agent and session a message goes to.
///
/// The bindings of `openclaw.json` are gone through as the gateway does it: each is shown with what it asks for and, if it does
/// not hold, the first thing that the message lacks. Nothing is sent.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin agents route --channel discord --peer channel:42 --guild 7 --role 99
  chitin agents route --channel discord --peer channel:43 --parent channel:42
  chitin agents route --channel slack --peer channel:C1 --thread 1700000000.1 --account work
  chitin agents route --channel telegram --peer direct:5 --contract openclaw-2026.9 --json")]
pub(super) struct RouteArgs {
    /// The channel of the message, such as `discord`.
    #[arg(long, value_name = "NAME")]
    channel: String,

    /// The peer: `direct:ID`, `group:ID` or `channel:ID`.
    #[arg(long, value_name = "KIND:ID", value_parser = peer)]
    peer: Option<Peer>,

    /// The account that received it; by default `default`.
    #[arg(long, value_name = "ID")]
    account: Option<String>,

    /// The parent channel, if it is from a thread.
    #[arg(long, value_name = "KIND:ID", value_parser = peer)]
    parent: Option<Peer>,

    /// The guild.
    #[arg(long, value_name = "ID")]
    guild: Option<String>,

    /// The team.
    #[arg(long, value_name = "ID")]
    team: Option<String>,

    /// A role of the sender; repeatable.
    #[arg(long = "role", value_name = "ID")]
    roles: Vec<String>,

    /// The thread.
    #[arg(long, value_name = "ID")]
    thread: Option<String>,

    /// The sender.
    #[arg(long, value_name = "ID")]
    sender: Option<String>,

    /// The contract to use for routing.
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,
}

/// Reads `kind:id`; the id may have colons.
fn peer(text: &str) -> Result<Peer, String> {
    let (kind, id) = text
        .split_once(':')
        .ok_or("write a kind and an id, such as `channel:42`")?;
    let kind = ChatType::parse(&kind.trim().to_lowercase())
        .ok_or("the kind is `direct`, `group` or `channel`")?;
    let id = id.to_owned();
    Ok(Peer { kind, id })
}

/// The way of a message.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Way {
    contract: &'static str,
    #[serde(flatten)]
    explanation: RouteExplanation,
}

impl RouteArgs {
    pub(super) fn run(&self, host: &Host, printer: &Printer) -> Result<Way, CliError> {
        let configuration = Configuration::read(host, self.contract.as_deref(), &printer.notes())?;
        let routing = Routing::read(configuration.value(), configuration.contract);
        Ok(Way {
            contract: configuration.contract.name,
            explanation: routing.explain(&Inbound {
                channel: self.channel.clone(),
                account_id: self.account.clone(),
                peer: self.peer.clone(),
                parent_peer: self.parent.clone(),
                guild_id: self.guild.clone(),
                team_id: self.team.clone(),
                member_role_ids: self.roles.clone(),
                thread_id: self.thread.clone(),
                sender_id: self.sender.clone(),
            }),
        })
    }
}

impl Render for Way {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let told = &self.explanation;
        writeln!(out, "{}", paint.bold("Message"))?;
        writeln!(out, "    {}", plain(&message(&told.inbound), ' '))?;
        writeln!(out, "{}", paint.bold("Bindings"))?;
        if told.bindings.is_empty() {
            writeln!(out, "    none")?;
        }
        let (elsewhere, here): (Vec<_>, Vec<_>) = told
            .bindings
            .iter()
            .partition(|binding| is_elsewhere(binding));
        for considered in here {
            binding(considered, out, paint)?;
        }
        match elsewhere.len() {
            0 => {}
            1 => writeln!(out, "    {}", paint.dim("1 more is for another channel"))?,
            more => {
                let line = format!("{more} more are for other channels");
                writeln!(out, "    {}", paint.dim(&line))?;
            }
        }
        writeln!(out, "{}", paint.bold("Agent"))?;
        agent(told, out, paint)?;
        let Some(route) = &told.route else {
            return Ok(());
        };
        writeln!(out, "{}", paint.bold("Session"))?;
        let key = told.key.as_deref().unwrap_or(&route.session_key);
        writeln!(out, "    {}", paint.good(&plain(key, ' ')))?;
        for line in session(told) {
            writeln!(out, "    {}", paint.dim(&plain(&line, ' ')))?;
        }
        Ok(())
    }

    fn exit(&self) -> Exit {
        match self.explanation.route {
            Some(_) => Exit::Success,
            None => Exit::Config,
        }
    }
}

fn message(inbound: &Inbound) -> String {
    let mut parts = vec![inbound.channel.clone()];
    let mut say = |name: &str, value: Option<String>| {
        parts.extend(value.map(|value| format!("{name} {value}")));
    };
    let place = |peer: &Peer| format!("{} {}", peer.kind.as_str(), peer.id);
    say("account", inbound.account_id.clone());
    say("from", inbound.peer.as_ref().map(place));
    say("below", inbound.parent_peer.as_ref().map(place));
    say("guild", inbound.guild_id.clone());
    say("team", inbound.team_id.clone());
    let roles = &inbound.member_role_ids;
    say("roles", (!roles.is_empty()).then(|| roles.join(", ")));
    say("thread", inbound.thread_id.clone());
    say("by", inbound.sender_id.clone());
    parts.join(", ")
}

/// Tells whether a binding is for a channel that the message does not come from.
fn is_elsewhere(considered: &Considered) -> bool {
    let mismatch = considered.mismatch.as_ref();
    mismatch.is_some_and(|mismatch| mismatch.path.ends_with("].match.channel"))
}

fn binding(considered: &Considered, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    let verdict = match considered.verdict {
        BindingVerdict::Chosen => paint.good("chosen"),
        BindingVerdict::Outranked => paint.warn("outranked"),
        BindingVerdict::No => paint.dim("no"),
    };
    writeln!(
        out,
        "    {}  {} → {}  {verdict}",
        considered.path,
        plain(&considered.asks, ' '),
        plain(&considered.agent_id, ' ')
    )?;
    match (&considered.mismatch, considered.verdict) {
        (Some(mismatch), _) => writeln!(
            out,
            "        {}",
            paint.dim(&plain(&why_not(mismatch), ' '))
        ),
        (None, BindingVerdict::Chosen | BindingVerdict::Outranked) => {
            writeln!(out, "        {}", paint.dim(considered.tier.as_str()))
        }
        (None, BindingVerdict::No) => Ok(()),
    }
}

fn why_not(mismatch: &Mismatch) -> String {
    let found = match &mismatch.found {
        Some(found) => format!("it is {found}"),
        None => "the message has none".to_owned(),
    };
    format!("{} asks for {}; {found}", mismatch.path, mismatch.wanted)
}

fn agent(told: &RouteExplanation, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    let by = match &told.choice.binding {
        Some(path) => format!("{} at {path}", told.choice.matched_by.as_str()),
        None => "no binding matches: the default agent".to_owned(),
    };
    if let Some(route) = &told.route {
        let agent = paint.good(route.agent_id.as_str());
        writeln!(out, "    {agent}  {}", paint.dim(&by))?;
    } else {
        let problem = told.problem.as_deref().unwrap_or_default();
        writeln!(out, "    {}  {}", paint.bad("nobody"), plain(problem, ' '))?;
    }
    if let (true, Some(named)) = (told.choice.stand_in, &told.choice.named) {
        let note = format!("`{named}` is not configured; using the default agent");
        writeln!(out, "    {} {}", paint.warn("note:"), plain(&note, ' '))?;
    }
    if let Some(hint) = &told.hint {
        writeln!(out, "    {} {}", paint.good("hint:"), plain(hint, ' '))?;
    }
    Ok(())
}

/// Says where the parts of the key come from.
fn session(told: &RouteExplanation) -> Vec<String> {
    let Some(route) = &told.route else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    match told.inbound.peer.as_ref().map(|peer| peer.kind) {
        None | Some(ChatType::Direct) => {
            lines.push(format!("direct messages share by {}", word(told.dm_scope)));
        }
        Some(ChatType::Group | ChatType::Channel) => {
            lines.push(format!("groups share by {}", word(told.group_scope)));
        }
    }
    if let Some(person) = &told.person {
        lines.push(format!("session.identityLinks maps the sender to {person}"));
    }
    if let Some(parent) = &route.parent_session_key {
        lines.push(match told.thread_suffix {
            ThreadSuffix::Off => "a thread here is a channel of its own".to_owned(),
            ThreadSuffix::LowerCase => {
                "a thread has its own session, its id in lower case".to_owned()
            }
            ThreadSuffix::AsSpelled => "a thread has its own session, its id as spelled".to_owned(),
        });
        lines.push(format!("below {parent}"));
    }
    lines.push(format!("main conversation {}", route.main_session_key));
    lines
}

/// Returns the word that configuration has for a value.
fn word(value: impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
