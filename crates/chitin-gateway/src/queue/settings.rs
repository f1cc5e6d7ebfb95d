//! What holds for the messages of a session (R81).

use super::mode;
use chitin_contract::{DropPolicy, GlobalDebounce, QueueMode, QueueRules};
use chitin_protocol::text::trim_js;
use serde::Serialize;
use serde_json::Value;

/// How many messages may ever wait in one session, whatever is configured.
const MOST_CAP: u32 = 1000;
/// The longest debounce, in milliseconds, whatever is configured.
const MOST_DEBOUNCE_MS: u64 = 10 * 60 * 1000;

/// What holds for the messages of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueSettings {
    /// What becomes of a message that comes while a turn runs.
    pub mode: QueueMode,
    /// How long to wait for more, in milliseconds.
    pub debounce_ms: u64,
    /// How many messages wait at most.
    pub cap: u32,
    /// What goes when more come.
    pub drop_policy: DropPolicy,
}

/// What somebody said about it: a directive in the message, or the session itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueWish {
    /// The mode.
    pub mode: Option<QueueMode>,
    /// The debounce, in milliseconds.
    pub debounce_ms: Option<u64>,
    /// The cap.
    pub cap: Option<u32>,
    /// The drop policy.
    pub drop_policy: Option<DropPolicy>,
}

impl QueueWish {
    /// Reads what the entry of a session says.
    pub fn of_session(entry: &Value, rules: &QueueRules) -> Self {
        let mode = entry["queueMode"].as_str();
        Self {
            mode: mode.and_then(|text| mode::parse(text, rules.old_words)),
            debounce_ms: milliseconds(&entry["queueDebounceMs"]),
            cap: cap(&entry["queueCap"]),
            drop_policy: entry["queueDrop"].as_str().and_then(mode::parse_drop),
        }
    }
}

impl QueueSettings {
    /// Says what holds: the message's own wish first, then the session's, the channel's, everybody's, and the contract's.
    pub fn resolve(
        config: &Value,
        channel: Option<&str>,
        inline: &QueueWish,
        session: &QueueWish,
        rules: &QueueRules,
    ) -> Self {
        let queue = &config["messages"]["queue"];
        let channel = channel.map(|channel| trim_js(channel).to_lowercase());
        let of_channel = |key: &str| {
            let channel = channel.as_deref().filter(|channel| !channel.is_empty());
            channel.map_or(&Value::Null, |channel| &queue[key][channel])
        };
        let mode = |value: &Value| mode::parse(value.as_str()?, rules.old_words);
        let everybodys_debounce = || match rules.global_debounce {
            GlobalDebounce::Read => milliseconds(&queue["debounceMs"]),
            GlobalDebounce::Ignored => None,
        };
        Self {
            mode: inline
                .mode
                .or(session.mode)
                .or_else(|| mode(of_channel("byChannel")))
                .or_else(|| mode(&queue["mode"]))
                .unwrap_or(rules.default_mode),
            debounce_ms: inline
                .debounce_ms
                .or(session.debounce_ms)
                .or_else(|| milliseconds(of_channel("debounceMsByChannel")))
                .or_else(everybodys_debounce)
                .unwrap_or(rules.default_debounce_ms)
                .min(MOST_DEBOUNCE_MS),
            cap: inline
                .cap
                .or(session.cap)
                .or_else(|| cap(&queue["cap"]))
                .unwrap_or(QueueRules::DEFAULT_CAP)
                .clamp(1, MOST_CAP),
            drop_policy: inline
                .drop_policy
                .or(session.drop_policy)
                .or_else(|| mode::parse_drop(queue["drop"].as_str()?))
                .unwrap_or(rules.default_drop),
        }
    }
}

/// A finite number, at least zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative; the cast saturates"
)]
fn milliseconds(value: &Value) -> Option<u64> {
    let number = value.as_f64()?;
    number.is_finite().then(|| number.max(0.0) as u64)
}

/// A finite number, at least one.
fn cap(value: &Value) -> Option<u32> {
    let number = milliseconds(value)?.max(1);
    Some(u32::try_from(number).unwrap_or(u32::MAX))
}
