//! The time before each of the user's messages, where it is told to the model and not written down (R25).
//!
//! It is the time of the message's own record: a message reads the same in every later request, so that a provider's cache stays of use.

use chitin_contract::{TimePrefix, TranscriptRules};
use chitin_protocol::message::{Block, Content, Message, TextBlock, UserMessage};
use chitin_protocol::text::is_blank_js;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Says that a message holds the time already: scheduled jobs have it so.
const TELLS_TIME: &str = "Current time: ";
/// Begins a message of another session.
const OF_A_SESSION: &str = "[Inter-session message]";
/// Abbreviations that American zones are called by; other zones go by their distance from GMT.
const AMERICAN: [&str; 13] = [
    "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT", "AKST", "AKDT", "AST", "ADT", "HST",
];
/// How the names of zones begin that American English has abbreviations for.
const AMERICAN_ZONES: [&str; 14] = [
    "America/",
    "US/",
    "Canada/",
    "Mexico/",
    "Atlantic/Bermuda",
    "Pacific/Honolulu",
    "Pacific/Johnston",
    "Jamaica",
    "Navajo",
    "EST",
    "HST",
    "CST6CDT",
    "MST",
    "PST8PDT",
];
/// Zones among those that have none all the same.
const NOT_AMERICAN: [&str; 7] = [
    "America/Dawson",
    "America/Havana",
    "America/Hermosillo",
    "America/Mazatlan",
    "America/Whitehorse",
    "Canada/Yukon",
    "Mexico/BajaSur",
];
/// The Aleutian zones, whose abbreviations are spelled in an older way.
const ALEUTIAN: [&str; 3] = ["America/Adak", "America/Atka", "US/Aleutian"];
/// Zones that are level with GMT for half of the year and are not called so.
const WESTERN_EUROPEAN: [&str; 8] = [
    "Atlantic/Azores",
    "Atlantic/Canary",
    "Atlantic/Faeroe",
    "Atlantic/Faroe",
    "Atlantic/Madeira",
    "Europe/Lisbon",
    "Portugal",
    "WET",
];
/// Names of UTC.
const UNIVERSAL: [&str; 13] = [
    "UTC",
    "UCT",
    "GMT",
    "GMT0",
    "GMT+0",
    "GMT-0",
    "Universal",
    "Zulu",
    "Etc/UTC",
    "Etc/UCT",
    "Etc/GMT",
    "Etc/Universal",
    "Etc/Zulu",
];

/// Puts the time before the user's messages.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageStamp {
    zone: TimeZone,
}

impl MessageStamp {
    /// Returns the stamp of a contract that tells the time on the wire only. The zone is asked for only then: it costs a look at the disk.
    pub fn of(rules: &TranscriptRules, zone: impl FnOnce() -> TimeZone) -> Option<Self> {
        match rules.time_prefix {
            TimePrefix::Stored => None,
            TimePrefix::OnTheWire => Some(Self { zone: zone() }),
        }
    }

    /// Returns a text with the time before it; none if it stays as it is.
    pub fn stamped(&self, text: &str, at_ms: i64) -> Option<String> {
        let stays = is_blank_js(text)
            || has_time(text)
            || text.contains(TELLS_TIME)
            || text.starts_with(OF_A_SESSION);
        if stays {
            return None;
        }
        let at = Timestamp::from_millisecond(at_ms).ok()?;
        let at = at.to_zoned(self.zone.clone());
        let time = at.strftime("%a %Y-%m-%d %H:%M");
        Some(format!("[{time} {}] {text}", zone_name(&at)))
    }

    /// Puts the time before the user's messages, each its own.
    pub(super) fn apply(&self, messages: &mut [Message]) {
        for message in messages {
            if let Message::User(message) = message
                && let Some(at) = message.timestamp
            {
                self.apply_to(message, at);
            }
        }
    }

    fn apply_to(&self, message: &mut UserMessage, at_ms: i64) {
        // One block of text and plain text are one thing, and have to be the same bytes.
        if let Content::Blocks(blocks) = &message.content
            && let [Block::Text(only)] = blocks.as_slice()
        {
            message.content = Content::Text(only.text.clone());
        }
        let text: Option<&mut String> = match &mut message.content {
            Content::Text(text) => Some(text),
            Content::Blocks(blocks) => blocks.iter_mut().find_map(|block| match block {
                Block::Text(TextBlock { text, .. }) => Some(text),
                Block::Image(_) | Block::Thinking(_) | Block::ToolCall(_) | Block::Other(_) => None,
            }),
            Content::Other(_) => None,
        };
        if let Some(text) = text
            && let Some(stamped) = self.stamped(text, at_ms)
        {
            *text = stamped;
        }
    }
}

/// Tells whether a text begins with a bracket that holds a time, such as a channel puts there.
fn has_time(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let is_time = |window: &[u8]| {
        window.iter().zip(b"dddd-dd-dd dd:dd").all(|(byte, form)| {
            if *form == b'd' {
                byte.is_ascii_digit()
            } else {
                byte == form
            }
        })
    };
    line.starts_with('[') && line.as_bytes().windows(16).any(is_time)
}

/// Returns the short name of a time's zone in American English, as the release writes it.
fn zone_name(at: &Zoned) -> String {
    let zone = at.time_zone().iana_name().unwrap_or("UTC");
    let short = at.strftime("%Z").to_string();
    if ALEUTIAN.contains(&zone) {
        return short.replace('H', "HA");
    }
    let is_american = AMERICAN_ZONES.iter().any(|name| zone.starts_with(name));
    if is_american && !NOT_AMERICAN.contains(&zone) && AMERICAN.contains(&&*short) {
        return short;
    }
    let minutes = at.offset().seconds() / 60;
    if minutes == 0 {
        return match zone {
            zone if UNIVERSAL.contains(&zone) => "UTC",
            zone if WESTERN_EUROPEAN.contains(&zone) => "GMT+0",
            _ => "GMT",
        }
        .to_owned();
    }
    let sign = if minutes < 0 { '-' } else { '+' };
    let (hours, rest) = (minutes.abs() / 60, minutes.abs() % 60);
    if rest == 0 {
        format!("GMT{sign}{hours}")
    } else {
        format!("GMT{sign}{hours}:{rest:02}")
    }
}
