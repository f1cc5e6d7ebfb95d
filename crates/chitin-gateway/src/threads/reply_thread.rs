//! Where the answer to a message stands (R76, R77).

use crate::delivery::reply_to::{
    ReplyMode, SlackMessage, SlackThread, discord_thread_name, reply_mode,
};
use crate::route::Inbound;
use crate::surface::{SurfaceCapabilities, Threads};
use chitin_contract::OutboundRules;
use chitin_protocol::session_key::ChatType;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// After how many minutes of silence a thread is put away, when nothing is said.
const ARCHIVE_MIN: u32 = 60;
/// What stands for every guild or channel in a configuration.
const ANY: &str = "*";
/// What a surface declares that can open threads.
const THREAD_CREATE: &str = "thread-create";

/// The thread that an answer stands in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum AnswerThread {
    /// One whose id is known.
    In {
        /// The thread.
        thread_id: String,
    },
    /// One that is opened under the message when there is something to say.
    Open {
        /// What it is called.
        name: String,
        /// After how many minutes of silence it is put away.
        auto_archive_min: u32,
    },
}

/// A message that is to be answered.
#[derive(Debug, Clone, Copy)]
pub struct MessageToAnswer<'a> {
    /// Where it was written.
    pub inbound: &'a Inbound,
    /// The surface's name for it.
    pub message_id: Option<&'a str>,
    /// What it says.
    pub text: &'a str,
}

/// Says in which thread the answer to a message stands; none is where the message is. A message in a thread is answered there.
pub fn answer_thread(
    asked: &MessageToAnswer<'_>,
    can: &SurfaceCapabilities,
    config: &Value,
    rules: &OutboundRules,
) -> Option<AnswerThread> {
    let inbound = asked.inbound;
    let message_id = asked.message_id.filter(|id| !id.is_empty())?;
    let peer = inbound.peer.as_ref()?;
    if inbound.thread_id.is_some() || inbound.parent_peer.is_some() {
        return None;
    }
    if can.threads == Threads::Replies {
        let account = inbound.account_id.as_deref().unwrap_or_default();
        let kind = peer.kind.as_str();
        let mode: ReplyMode = reply_mode(config, &inbound.channel, account, kind, rules);
        let message = SlackMessage {
            ts: Some(message_id),
            ..SlackMessage::default()
        };
        let answer = SlackThread::of(&message, mode).answer?;
        return Some(AnswerThread::In {
            thread_id: answer.to_owned(),
        });
    }
    let opens = can.actions.iter().any(|action| action == THREAD_CREATE);
    if peer.kind != ChatType::Channel || !opens {
        return None;
    }
    let settings = settings(config, inbound, &peer.id)?;
    Some(AnswerThread::Open {
        name: discord_thread_name(asked.text, message_id),
        auto_archive_min: minutes(&settings["autoArchiveDuration"]).unwrap_or(ARCHIVE_MIN),
    })
}

/// Returns the settings of a channel that wants a thread for each message. The narrowest place that says something decides.
fn settings<'a>(config: &'a Value, inbound: &Inbound, channel: &str) -> Option<&'a Value> {
    let section = &config["channels"][inbound.channel.trim().to_lowercase()];
    let guilds = &section["guilds"];
    let guild = inbound.guild_id.as_deref().unwrap_or(ANY);
    let places = [
        &guilds[guild]["channels"][channel],
        &guilds[guild]["channels"][ANY],
        &guilds[ANY]["channels"][channel],
        &guilds[ANY]["channels"][ANY],
        &section["channels"][channel],
        &section["channels"][ANY],
        section,
    ];
    let said = places
        .into_iter()
        .find(|place| place["autoThread"].is_boolean())?;
    (said["autoThread"] == true).then_some(said)
}

/// Reads a number of minutes, which may be written as a text.
fn minutes(value: &Value) -> Option<u32> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64(),
    };
    u32::try_from(number?).ok().filter(|minutes| *minutes > 0)
}
