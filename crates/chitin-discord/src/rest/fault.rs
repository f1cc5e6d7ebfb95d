//! Why a request failed, and what that means for whoever asked.

use crate::compat::code;
use chitin_gateway::SurfaceError;
use chitin_gateway::surface::Again;
use serde_json::Value;

/// The longest that is told of Discord's own words.
const MOST_WORDS: usize = 300;

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) why: Why,
    /// Discord's own number for it.
    pub(crate) code: Option<u64>,
    /// Discord's own words, or ours when nothing came.
    pub(crate) words: String,
}

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Nothing came back.
    Network,
    /// There were too many requests; more may be made after so many milliseconds.
    TooMany(u64),
    /// Discord answered with this status.
    Status(u16),
    /// Discord answered with something that cannot be read.
    Unreadable,
}

impl Fault {
    pub(crate) fn network(words: &str) -> Self {
        Self {
            why: Why::Network,
            code: None,
            words: words.to_owned(),
        }
    }

    pub(crate) fn too_many(milliseconds: u64) -> Self {
        Self {
            why: Why::TooMany(milliseconds),
            code: None,
            words: "too many requests".to_owned(),
        }
    }

    pub(crate) fn unreadable() -> Self {
        Self {
            why: Why::Unreadable,
            code: None,
            words: "the answer cannot be read".to_owned(),
        }
    }

    /// Makes one of an answer.
    pub(crate) fn of(status: u16, body: &Value) -> Self {
        let words = body["message"].as_str().unwrap_or("no reason is given");
        let mut said = printable(words);
        // What exactly was wrong with a field stands deep in the answer.
        if let Some(detail) = first_message(&body["errors"], 0) {
            said = format!("{said} ({})", printable(detail));
        }
        Self {
            why: Why::Status(status),
            code: body["code"].as_u64(),
            words: said,
        }
    }

    /// Tells whether it is of this status.
    pub(crate) fn is(&self, status: u16) -> bool {
        self.why == Why::Status(status)
    }
}

/// Finds the first sentence in a tree of errors.
fn first_message(errors: &Value, depth: usize) -> Option<&str> {
    if depth > 8 {
        return None;
    }
    match errors {
        Value::Object(fields) => fields.get("message").and_then(Value::as_str).or_else(|| {
            fields
                .values()
                .find_map(|field| first_message(field, depth + 1))
        }),
        Value::Array(items) => items.iter().find_map(|item| first_message(item, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn printable(text: &str) -> String {
    let shown = text.chars().filter(|c| !c.is_control());
    shown.take(MOST_WORDS).collect()
}

impl From<Fault> for SurfaceError {
    fn from(fault: Fault) -> Self {
        let words = &fault.words;
        let (message, again) = match fault.why {
            Why::Network => (format!("Discord cannot be reached: {words}."), Again::Soon),
            Why::Unreadable => ("Discord's answer cannot be read.".to_owned(), Again::Soon),
            Why::TooMany(milliseconds) => (
                "Discord wants fewer requests.".to_owned(),
                Again::After(milliseconds),
            ),
            Why::Status(401) => (
                "Discord does not take the token of the bot.".to_owned(),
                Again::Never,
            ),
            Why::Status(status @ 500..) => {
                (format!("Discord has trouble ({status})."), Again::Soon)
            }
            Why::Status(status) => (of_code(fault.code, status, words), Again::Never),
        };
        Self { message, again }
    }
}

/// Says what a refusal means.
fn of_code(code: Option<u64>, status: u16, words: &str) -> String {
    match code {
        Some(code::UNKNOWN_CHANNEL) => "There is no such channel on Discord.".to_owned(),
        Some(code::UNKNOWN_MESSAGE) => "There is no such message on Discord.".to_owned(),
        Some(code::UNKNOWN_EMOJI) => "Discord does not know this emoji.".to_owned(),
        Some(code::NO_ACCESS) => "The bot cannot see this place on Discord.".to_owned(),
        Some(code::NO_PERMISSION) => {
            "The bot may not do this here. Somebody who manages the server can allow it.".to_owned()
        }
        Some(code::NOT_TO_THIS_USER) => {
            "This person takes no direct messages from the bot.".to_owned()
        }
        Some(code::TOO_LARGE) => "The files are too large for Discord.".to_owned(),
        Some(code::THREAD_ARCHIVED) => "The thread is put away and locked.".to_owned(),
        _ => match status {
            403 => format!("Discord refuses this: {words}."),
            404 => "There is no such thing on Discord.".to_owned(),
            413 => "The files are too large for Discord.".to_owned(),
            _ => format!("Discord does not take this ({status}): {words}."),
        },
    }
}
