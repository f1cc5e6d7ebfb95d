//! What the prompt's own sections need to know of this machine and this configuration.

use super::definitions::KnownMcpTools;
use super::figures::ModelFigures;
use super::source::first_sentence;
use super::{Caller, TurnRequest};
use crate::display::plain;
use crate::error::{ErrorKind, RuntimeError};
use crate::factory::user_zone;
use crate::host::Host;
use crate::mcp_servers::MCP_PLUGIN;
use crate::memory::MemoryOptions;
use crate::setup::Setup;
use crate::tools::EMBEDDER;
use crate::tools::guest_tools;
use chitin_config::ChitinSettings;
use chitin_context::sections::{HostFacts, PromptFacts, ToolFact, section_keys};
use chitin_contract::ToolRules;
use chitin_gateway::cron::tool::NAME as CRON;
use chitin_gateway::tools::NAMES as SESSION_TOOLS;
use chitin_protocol::nearest::nearest;
use chitin_protocol::tool::ToolSpec;
use chitin_tools::memory_slot::MEMORY_TOOLS;
use chitin_tools::policy::{
    PolicyConfig, PolicyInput, SenderKind, effective_tools, normalize_name,
};
use std::path::Path;
use std::sync::Arc;

/// The tools that `chitin run` has, and the one that only servers have, with the first sentence of what it tells the model of each. A test compares them.
const TOOLS: [(&str, &str); 20] = [
    (
        "read",
        "Reads a text file or an image (PNG, JPEG, GIF, WebP)",
    ),
    (
        "list",
        "Lists a directory, with sizes; directories end in `/`, links in `@`",
    ),
    (
        "search",
        "Searches text files and returns `path:line: text`",
    ),
    ("write", "Creates a file or replaces its whole content"),
    ("edit", "Replaces text in a file"),
    (
        "apply_patch",
        "Changes several files at once, all or nothing",
    ),
    ("exec", "Run a shell command in the workspace"),
    (
        "process",
        "Manage commands that `exec` left running in the background",
    ),
    (
        "memory_search",
        "Finds lines in memory: `MEMORY.md`, `memory/**.md` and past conversations",
    ),
    ("memory_get", "Shows lines of a memory file"),
    (
        "session_status",
        "Shows the time, the model, how full its context window is, and the session's tokens and cost",
    ),
    (
        "sessions_list",
        "Lists the sessions that this one sees, the most recently used first: itself and those that it began, unless the user allows more",
    ),
    (
        "sessions_history",
        "Shows what was said in a session that this one sees, the newest last",
    ),
    (
        "sessions_send",
        "Says something to another session that this one sees",
    ),
    (
        "sessions_spawn",
        "Gives a task to a new session that works beside this one",
    ),
    (
        "subagents",
        "Lists the children of this session, says something to one while it works, or stops it with all that it began",
    ),
    (
        "message",
        "Sends messages and does what else the surface knows",
    ),
    (
        "agents_list",
        "Lists the agents that `sessions_spawn` may begin children of, by `agentId`",
    ),
    (
        CRON,
        "Lists, adds, updates, removes and runs your scheduled jobs",
    ),
    (
        WEB_FETCH,
        "Fetches a public web page and returns it as text",
    ),
];

/// The tools that run commands; a program without a helper for the sandbox has none.
const COMMAND_TOOLS: [&str; 2] = ["exec", "process"];

/// The one tool that has to be switched on.
const WEB_FETCH: &str = "web_fetch";

/// Gathers the facts that do not depend on the files of this turn.
pub(super) fn facts(
    turn: &TurnRequest,
    host: &Host,
    setup: &Setup,
    own: &ChitinSettings,
    model: &ModelFigures,
    offered: Option<Vec<ToolFact>>,
) -> Result<PromptFacts, RuntimeError> {
    let rules = &setup.contract().prompt;
    for key in &own.sections_off {
        if !section_keys(rules).any(|known| known == key) && !is_known_elsewhere(key) {
            let key = plain(key, '\u{fffd}');
            let error = RuntimeError::new(
                ErrorKind::Config,
                format!("There is no section called `{key}`."),
            );
            let names: Vec<&str> = section_keys(rules).collect();
            return Err(match nearest(&key, names.iter().copied()) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint(format!("there are `{}`", names.join("`, `"))),
            });
        }
    }
    let config = setup.configuration.value();
    let zone = config["agents"]["defaults"]["userTimezone"]
        .as_str()
        .map(str::to_owned)
        .or_else(|| host.time_zone());
    Ok(PromptFacts {
        tools: match offered {
            Some(offered) => offered,
            None => tools(turn, host, setup, own, model)?,
        },
        workspace: setup.directory.to_string_lossy().into(),
        time_zone: zone.map(Into::into),
        date: rules.tells_date().then(|| today(host, setup)),
        host: HostFacts {
            program: Some(concat!("chitin ", env!("CARGO_PKG_VERSION")).into()),
            name: None,
            agent: Some(setup.agent.as_str().into()),
            machine: None,
            os: Some(std::env::consts::OS.into()),
            arch: Some(std::env::consts::ARCH.into()),
            shell: shell(host),
            model: model.name().map(Into::into),
        },
        switched_off: own.sections_off.clone(),
        ..PromptFacts::default()
    })
}

/// Returns the date in the user's time zone.
fn today(host: &Host, setup: &Setup) -> Arc<str> {
    let now = jiff::Timestamp::from_millisecond(Host::now_ms()).unwrap_or_default();
    let now = now.to_zoned(user_zone(host, setup));
    now.strftime("%Y-%m-%d").to_string().into()
}

/// A key that another contract knows is no slip of the finger.
fn is_known_elsewhere(key: &str) -> bool {
    chitin_contract::ALL
        .iter()
        .any(|contract| section_keys(&contract.prompt).any(|known| known == key))
}

/// Returns the tools that the user names, or those that a run would have: the policy decides. Tools of MCP servers are those
/// that they offered last.
fn tools(
    turn: &TurnRequest,
    host: &Host,
    setup: &Setup,
    own: &ChitinSettings,
    model: &ModelFigures,
) -> Result<Vec<ToolFact>, RuntimeError> {
    let fact = |name: &str, summary: &str| ToolFact {
        name: name.into(),
        summary: summary.into(),
    };
    let rules = &setup.contract().runtime.tools;
    let others = others(turn, host, setup, rules);
    let every_other = || others.iter().flat_map(|(_, tools)| tools);
    let summary_of = |name: &str| {
        let ours = TOOLS.iter().find(|(known, _)| *known == name);
        let other = || every_other().find(|spec| spec.name == name);
        ours.map(|(_, summary)| *summary)
            .or_else(|| other().map(|spec| first_sentence(&spec.description)))
    };
    if let Some(names) = &turn.tools {
        let names = names.iter().map(|name| name.trim());
        let facts = names
            .filter(|name| !name.is_empty())
            .map(|name| fact(name, summary_of(name).unwrap_or_default()));
        return Ok(facts.collect());
    }
    let contract = setup.contract();
    let session = super::session::key(turn, setup)?;
    let config = PolicyConfig::from_value(setup.configuration.value()).with_settings(&own.tools);
    let mut input = PolicyInput::new(&config, contract.session_keys, &session);
    input.agent_id = Some(setup.agent.as_str());
    if turn.guest {
        input.sender = SenderKind::Other;
        input.guest = Some(guest_tools(setup, own, None));
    }
    let names = others.iter().map(|(plugin, tools)| {
        let names = tools.iter().map(|spec| spec.name.clone());
        ((*plugin).to_owned(), names.collect())
    });
    let names: Vec<(String, Vec<String>)> = names.collect();
    input.plugin_tools = &names;
    if let Some((provider, name)) = model.configured().and_then(|name| name.split_once('/')) {
        input.provider = Some(provider);
        input.model = Some(name);
    }
    let fetches = own.tools.web_fetch.as_ref().and_then(|fetch| fetch.enabled) == Some(true);
    let remembers = MemoryOptions::read(setup, &own.memory).enabled;
    let allowed = effective_tools(rules, &input).allowed.into_iter();
    Ok(allowed
        .filter(|name| fetches || name != WEB_FETCH)
        .filter(|name| turn.caller == Caller::Server || name != CRON)
        .filter(|name| turn.caller != Caller::Program || !SESSION_TOOLS.contains(&name.as_str()))
        .filter(|name| host.helper.is_some() || !COMMAND_TOOLS.contains(&name.as_str()))
        .filter(|name| remembers || !MEMORY_TOOLS.contains(&name.as_str()))
        .filter_map(|name| {
            let ours = if name == rules.list_tool {
                "list"
            } else {
                &name
            };
            Some(fact(&name, summary_of(ours)?))
        })
        .collect())
}

/// Returns the tools from elsewhere by what policies know their source by, in the order in which they are offered. A name of
/// our own is ours.
fn others(
    turn: &TurnRequest,
    host: &Host,
    setup: &Setup,
    rules: &ToolRules,
) -> [(&'static str, Vec<ToolSpec>); 2] {
    let sorted = |tools: Vec<ToolSpec>| {
        let mut tools: Vec<ToolSpec> = tools
            .into_iter()
            .filter(|spec| {
                let name = normalize_name(rules, &spec.name);
                TOOLS.iter().all(|(ours, _)| *ours != name)
            })
            .collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools
    };
    [
        (MCP_PLUGIN, sorted(KnownMcpTools::find(host, setup).tools)),
        (EMBEDDER, sorted(turn.added_tools.clone())),
    ]
}

fn shell(host: &Host) -> Option<Arc<str>> {
    let shell = host.env.get("SHELL")?;
    let name = Path::new(shell).file_name()?.to_string_lossy();
    Some(name.into_owned().into())
}

/// Adds to what a turn is told besides its sections how notes are tied to the project that the workspace lies in.
pub(super) fn with_project(extra: Option<Arc<str>>, project: Option<&str>) -> Option<Arc<str>> {
    let Some(project) = project else {
        return extra;
    };
    let told = format!(
        "This workspace is in the project `{project}`. End every memory entry that is only about this project with `<!-- project: {project} -->`, on \
         the same line: such entries are shown only in work on that project. Leave the comment out for people's preferences, plans and \
         everything else that is not about this project."
    );
    Some(
        extra
            .map_or_else(|| told.clone(), |extra| format!("{extra}\n\n{told}"))
            .into(),
    )
}
