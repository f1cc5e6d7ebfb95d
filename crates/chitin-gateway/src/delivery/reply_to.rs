//! Which message an answer replies to, and in which thread it stands (R74–R77).

use chitin_contract::{ChannelSettings, OutboundRules};
use chitin_protocol::text::{is_js_whitespace, utf16_prefix};
use chitin_text::settings::account;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest name that is made for a thread.
const THREAD_NAME: usize = 80;

/// Which answers point at the message that they answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReplyMode {
    /// None, unless the model asks for it.
    Off,
    /// The first.
    First,
    /// The first, and only when several messages are answered at once.
    Batched,
    /// All.
    #[default]
    All,
}

impl ReplyMode {
    fn read(value: Option<&Value>) -> Option<Self> {
        serde_json::from_value(value?.clone()).ok()
    }
}

/// Returns the mode of a channel for a kind of chat (`direct`, `group` or `channel`). With an account, its own settings come
/// first where a contract knows them.
pub fn reply_mode(
    config: &Value,
    channel: &str,
    account_id: &str,
    chat_type: &str,
    rules: &OutboundRules,
) -> ReplyMode {
    let name = channel.trim().to_lowercase();
    let section = config.get("channels").and_then(|all| all.get(&name));
    let Some(section) = section.filter(|_| !name.is_empty()) else {
        return ReplyMode::default();
    };
    let kind = matches!(chat_type, "direct" | "group" | "channel").then_some(chat_type);
    let of_kind = |section: &Value| {
        let modes = section.get("replyToModeByChatType");
        ReplyMode::read(modes.zip(kind).and_then(|(modes, kind)| modes.get(kind)))
    };
    let of_all = |section: &Value| ReplyMode::read(section.get("replyToMode"));
    let own = match rules.settings {
        ChannelSettings::WithLegacy => None,
        ChannelSettings::CurrentOnly if account_id.trim().is_empty() => None,
        ChannelSettings::CurrentOnly => {
            account(section, account_id).and_then(|own| of_kind(own).or_else(|| of_all(own)))
        }
    };
    let direct = match rules.settings {
        ChannelSettings::WithLegacy if kind == Some("direct") => {
            ReplyMode::read(section.pointer("/dm/replyToMode"))
        }
        ChannelSettings::WithLegacy | ChannelSettings::CurrentOnly => None,
    };
    own.or_else(|| of_kind(section))
        .or(direct)
        .or_else(|| of_all(section))
        .unwrap_or_default()
}

/// What an answer says of the message that it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'a> {
    /// The message, if any.
    pub to: Option<&'a str>,
    /// Whether the model asked for it.
    pub explicit: bool,
    /// Whether the answer is only a notice of the runtime, as about a compaction.
    pub notice: bool,
}

/// Decides, answer by answer, which ones point at the message that they answer.
#[derive(Debug, Clone)]
pub struct ReplyFilter {
    mode: ReplyMode,
    explicit_when_off: bool,
    used: bool,
}

impl ReplyFilter {
    /// Begins with the answers of one turn on a channel.
    pub fn new(mode: ReplyMode, channel: &str) -> Self {
        Self {
            mode,
            explicit_when_off: !channel.trim().is_empty(),
            used: false,
        }
    }

    /// Returns the message that an answer points at.
    pub fn apply<'a>(&mut self, reply: Reply<'a>) -> Option<&'a str> {
        let to = reply.to.filter(|to| !to.is_empty())?;
        let kept = match self.mode {
            ReplyMode::All => true,
            ReplyMode::Off => self.explicit_when_off && reply.explicit && !reply.notice,
            // A notice does not use up the one that is allowed.
            ReplyMode::First | ReplyMode::Batched if reply.notice => true,
            ReplyMode::First | ReplyMode::Batched => !std::mem::replace(&mut self.used, true),
        };
        kept.then_some(to)
    }
}

/// Returns a name for a thread on Discord: the text without mentions, or one made of the message's id.
pub fn discord_thread_name(text: &str, message_id: &str) -> String {
    let mut words = String::with_capacity(text.len().min(4 * THREAD_NAME));
    for word in without_mentions(text)
        .split(is_js_whitespace)
        .filter(|word| !word.is_empty())
    {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if words.len() > 4 * THREAD_NAME {
            break;
        }
    }
    if words.is_empty() {
        words = format!("Thread {message_id}");
    }
    utf16_prefix(&words, THREAD_NAME).to_owned()
}

/// Takes out mentions of users, roles and channels: `<@1>`, `<@!1>`, `<@&1>`, `<#1>`.
fn without_mentions(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = mention(rest).unwrap_or(0);
        if length == 0 {
            kept.push('<');
            rest = &rest[1..];
        } else {
            rest = &rest[length..];
        }
    }
    kept + rest
}

fn mention(text: &str) -> Option<usize> {
    let inner = ["<@!", "<@&", "<@", "<#"]
        .iter()
        .find_map(|opening| text.strip_prefix(opening))?;
    let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
    let closed = digits > 0 && inner[digits..].starts_with('>');
    closed.then(|| text.len() - inner.len() + digits + 1)
}

/// A message on Slack, as far as threads go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SlackMessage<'a> {
    /// Its own time, which is its id.
    pub ts: Option<&'a str>,
    /// The time of the event, if the message has none.
    pub event_ts: Option<&'a str>,
    /// The thread that it stands in.
    pub thread_ts: Option<&'a str>,
    /// Who began that thread.
    pub parent_user_id: Option<&'a str>,
}

/// Where a message on Slack stands, and where answers to it go (R77).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlackThread<'a> {
    /// The thread that the message says it stands in.
    pub incoming: Option<&'a str>,
    /// The message itself.
    pub message: Option<&'a str>,
    /// Whether somebody wrote it in a thread. A message that only begins one does not count.
    pub is_reply: bool,
    /// The message that it answers, or itself.
    pub reply_to: Option<&'a str>,
    /// The thread that an answer belongs in; none is the channel itself.
    pub answer: Option<&'a str>,
}

impl<'a> SlackThread<'a> {
    /// Decides by the message and the mode: a reply stays in its thread, any other message begins one only in mode `all`.
    pub fn of(message: &SlackMessage<'a>, mode: ReplyMode) -> Self {
        let own = message.ts.or(message.event_ts);
        let thread = message.thread_ts.filter(|thread| !thread.is_empty());
        let has_parent = message.parent_user_id.is_some_and(|user| !user.is_empty());
        let is_reply = thread.is_some() && (thread != own || has_parent);
        let answer = match mode {
            _ if is_reply => message.thread_ts,
            ReplyMode::All => own,
            ReplyMode::Off | ReplyMode::First | ReplyMode::Batched => None,
        };
        Self {
            incoming: message.thread_ts,
            message: own,
            is_reply,
            reply_to: message.thread_ts.or(own),
            answer,
        }
    }
}
