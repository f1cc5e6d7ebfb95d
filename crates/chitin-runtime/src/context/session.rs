//! Session keys as the user names them: checked, so that a slip of the finger is not taken for another session.

use super::{Trigger, TurnRequest};
use crate::display::plain;
use crate::error::{ErrorKind, RuntimeError};
use crate::setup::Setup;
use chitin_config::agents;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::nearest::nearest;
use chitin_protocol::session_key::{self, SessionKey};

/// Words that may follow `agent:<id>:`; others are taken for channels that we do not know.
const KNOWN: [&str; 18] = [
    "main",
    "subagent",
    "cron",
    "hook",
    "acp",
    "direct",
    "group",
    "channel",
    "discord",
    "slack",
    "telegram",
    "whatsapp",
    "signal",
    "imessage",
    "webchat",
    "matrix",
    "teams",
    "directory",
];

/// Returns the agent that a session's key names, after checking that there is one.
pub(super) fn agent_of(key: &str, setup: &Setup) -> Result<Option<AgentId>, RuntimeError> {
    let (contract, config) = (setup.contract(), setup.configuration.value());
    let key = key.trim();
    if key == "main"
        || session_key::is_subagent(key, contract.session_keys) && !key.starts_with("agent:")
    {
        return Ok(None);
    }
    let Some(parsed) = SessionKey::parse(key, contract.session_keys) else {
        let error = unknown(key, "is not a session key");
        return Err(match nearest(key.split(':').next().unwrap_or(key), KNOWN) {
            Some(near) => error.hint(format!("did you mean `agent:{}:{near}`?", setup.agent)),
            None => error.hint(format!(
                "a key looks like `main`, `agent:{0}:main` or `agent:{0}:discord:channel:42`",
                setup.agent
            )),
        });
    };
    let agent = parsed.agent();
    let roster = agents::roster(config, contract);
    let known: Vec<String> = roster
        .iter()
        .map(|entry| entry.id.to_string())
        .chain([setup.agent.to_string(), "main".to_owned()])
        .collect();
    if !roster.is_empty() && !known.iter().any(|id| *id == agent.as_str()) {
        let error = unknown(
            key,
            &format!("names the agent `{agent}`, which is not configured"),
        );
        let names = known.iter().map(String::as_str);
        return Err(match nearest(agent.as_str(), names) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint("`chitin agents` lists the agents"),
        });
    }
    let word = key.split(':').nth(2).unwrap_or_default().to_lowercase();
    if !KNOWN.contains(&&*word)
        && let Some(near) = nearest(&word, KNOWN)
    {
        return Err(unknown(
            key,
            &format!("has no known kind `{}`", plain(&word, '\u{fffd}')),
        )
        .hint(format!("did you mean `{near}`?")));
    }
    Ok(Some(agent))
}

/// Returns a key as the user names it, in full.
pub fn session_key(key: &str, setup: &Setup) -> Result<String, RuntimeError> {
    agent_of(key, setup)?;
    Ok(match key.trim() {
        "main" => format!("agent:{}:main", setup.agent),
        key => key.to_owned(),
    })
}

/// Returns the session's key: the one given, or one that fits the run.
pub(super) fn key(turn: &TurnRequest, setup: &Setup) -> Result<String, RuntimeError> {
    let agent = &setup.agent;
    if let Some(key) = &turn.session {
        return session_key(key, setup);
    }
    Ok(match turn.run {
        Trigger::User | Trigger::Heartbeat | Trigger::Announce | Trigger::Session => {
            format!("agent:{agent}:main")
        }
        Trigger::Cron => format!("agent:{agent}:cron:preview"),
        Trigger::Hook => format!("agent:{agent}:hook:preview"),
        Trigger::Subagent => format!("agent:{agent}:subagent:preview"),
    })
}

fn unknown(key: &str, what: &str) -> RuntimeError {
    RuntimeError::new(
        ErrorKind::Usage,
        format!("`{}` {what}.", plain(key, '\u{fffd}')),
    )
}
