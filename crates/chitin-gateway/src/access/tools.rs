//! Which tools somebody has at a place (R64, layers 7 and 8).

use super::allowlist::{ANYBODY, is_same_name, same};
use super::plain;
use super::rooms::{Room, kind};
use super::settings::Section;
use crate::intake::Noticed;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::session_key::ChatType;
use chitin_protocol::text::trim_js;
use chitin_tools::policy::ToolPolicy;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a configuration says of the tools of somebody at a place. It goes with them: to the sessions that their words begin, too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolLimits {
    /// What is said of the room, or of somebody in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<ToolPolicy>,
    /// What is said of somebody wherever they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<ToolPolicy>,
}

/// Finds what is said of the tools of a message's sender; nothing when nothing is.
pub fn tool_limits(config: &Value, noticed: &Noticed, agent_id: &str) -> Option<ToolLimits> {
    let channel = plain(&noticed.incoming.inbound.channel);
    let section = Section::for_message(config, noticed);
    let room = match kind(noticed) {
        ChatType::Direct => None,
        ChatType::Group | ChatType::Channel => {
            let room = Room::look_up(&section, noticed);
            // The narrowest place that says anything decides, and there what is said of the sender.
            room.tools.iter().find_map(|place| {
                let own = by_sender(&place["toolsBySender"], &channel, noticed);
                own.or_else(|| (!place["tools"].is_null()).then_some(&place["tools"]))
            })
        }
    };
    let own = agent(config, agent_id)
        .and_then(|agent| by_sender(&agent["tools"]["toolsBySender"], &channel, noticed));
    let sender = own.or_else(|| by_sender(&config["tools"]["toolsBySender"], &channel, noticed));
    let limits = ToolLimits {
        room: room.and_then(ToolPolicy::read),
        sender: sender.and_then(ToolPolicy::read),
    };
    (limits != ToolLimits::default()).then_some(limits)
}

/// Finds what is said of an agent, in either form of the configuration.
fn agent<'a>(config: &'a Value, agent_id: &str) -> Option<&'a Value> {
    let is_it = |id: &str| AgentId::normalize(id).as_str() == agent_id;
    let list = config["agents"]["list"].as_array().into_iter().flatten();
    let mut listed = list.filter(|agent| agent["id"].as_str().is_some_and(is_it));
    let entries = config["agents"]["entries"].as_object();
    let mut entries = entries.into_iter().flatten().filter(|(id, _)| is_it(id));
    listed
        .next()
        .or_else(|| entries.next().map(|(_, agent)| agent))
}

/// Finds what is said of a sender: by network and id, by id, by number, by the names, or of everybody.
fn by_sender<'a>(map: &'a Value, channel: &str, noticed: &Noticed) -> Option<&'a Value> {
    let map = map.as_object()?;
    let id = noticed.incoming.inbound.sender_id.as_deref().map(trim_js)?;
    let shown = noticed.incoming.sender_name.as_deref().unwrap_or_default();
    let scoped = format!("{channel}:{id}");
    let ways: [&dyn Fn(&str) -> bool; 6] = [
        &|key| strip(key, "channel:").is_some_and(|key| same(key, &scoped)),
        &|key| match key.split_once(':') {
            // A key without any word before it is an id; so is one whose word is no word of ours.
            Some((word, rest)) if WORDS.contains(&word.to_ascii_lowercase().as_str()) => {
                word.eq_ignore_ascii_case("id") && same(rest.trim(), id)
            }
            Some(_) | None => key != ANYBODY && same(key, id),
        },
        &|key| {
            strip(key, "e164:")
                .is_some_and(|number| digits(number) == digits(id) && !digits(id).is_empty())
        },
        &|key| {
            strip(key, "username:").is_some_and(|name| {
                noticed
                    .sender_names
                    .iter()
                    .any(|known| is_same_name(name, known))
            })
        },
        &|key| strip(key, "name:").is_some_and(|name| is_same_name(name, shown)),
        &|key| key == ANYBODY,
    ];
    ways.iter().find_map(|is_meant| {
        let mut entries = map.iter().filter(|(_, value)| !value.is_null());
        let found = entries.find(|(key, _)| is_meant(key.trim()));
        found.map(|(_, value)| value)
    })
}

/// The words that a key may begin with.
const WORDS: [&str; 5] = ["channel", "id", "e164", "username", "name"];

fn strip<'a>(key: &'a str, word: &str) -> Option<&'a str> {
    let start = key.get(..word.len())?;
    start
        .eq_ignore_ascii_case(word)
        .then(|| key[word.len()..].trim())
}

/// Returns the digits of a telephone number.
fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}
