//! What an HTTP answer means that is not a success.

use crate::error::ModelError;
use serde_json::Value;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How many characters of a provider's message are kept.
const MOST_CHARACTERS: usize = 500;

/// How many bytes of a body are looked at.
const MOST_BYTES: usize = 64 << 10;

/// Words by which providers and local servers say that the conversation does not fit.
const TOO_LONG: [&str; 17] = [
    "context_length_exceeded",
    "context length",
    "context window",
    "context limit",
    "context size",
    "context_window_exceeded",
    "exceed_context_size",
    "maximum context",
    "max context",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input too long",
    "input length",
    "request_too_large",
    "too many input tokens",
    "reduce the length",
];

/// Words by which a provider says that the key is the problem, whatever the status.
const WRONG_KEY: [&str; 5] = [
    "authentication_error",
    "invalid_api_key",
    "invalid x-api-key",
    "api key not valid",
    "api_key_invalid",
];

/// Words by which a provider says that waiting does not help: there is no money.
const NO_MONEY: [&str; 3] = [
    "insufficient_quota",
    "billing_error",
    "credit balance is too low",
];

/// Words by which a provider says that it is overloaded, whatever the status.
const OVERLOADED: [&str; 2] = ["overloaded_error", "overloaded"];

/// What a body says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FailureBody {
    /// In words; bounded, one line.
    pub message: String,
    /// The names that the provider has for it, if any.
    pub names: String,
}

/// Says what an HTTP answer means whose status is not a success. Messages are bounded and have no control characters.
pub fn classify(
    status: u16,
    retry_after: Option<Duration>,
    body: &[u8],
    provider: &str,
) -> ModelError {
    let FailureBody { message, names } = said(body);
    let text = format!("{names} {message}").to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let provider = provider.to_owned();
    let message = if message.is_empty() {
        format!("HTTP status {status}")
    } else {
        message
    };
    match status {
        401 | 403 => ModelError::Unauthorized { provider, message },
        402 => ModelError::Rejected {
            provider,
            status,
            message,
        },
        429 if says(&NO_MONEY) => ModelError::Rejected {
            provider,
            status,
            message,
        },
        429 | 529 => ModelError::RateLimited {
            provider,
            message,
            retry_after,
        },
        413 => ModelError::TooLong { provider, message },
        _ if says(&TOO_LONG) => ModelError::TooLong { provider, message },
        400..=499 if says(&WRONG_KEY) => ModelError::Unauthorized { provider, message },
        500..=599 if says(&OVERLOADED) => ModelError::RateLimited {
            provider,
            message,
            retry_after,
        },
        408 | 409 | 425 | 500..=599 => ModelError::Upstream {
            provider,
            status,
            message,
            retry_after,
        },
        _ => ModelError::Rejected {
            provider,
            status,
            message,
        },
    }
}

/// Reads the body of an answer that is not a success, in whatever shape a provider or a proxy gives it.
pub(super) fn said(body: &[u8]) -> FailureBody {
    let body = body.get(..MOST_BYTES.min(body.len())).unwrap_or_default();
    let parsed = serde_json::from_slice::<Value>(body).unwrap_or_default();
    let parsed = parsed.get(0).unwrap_or(&parsed);
    let error = parsed.get("error").unwrap_or(parsed);
    let text = |value: &Value| match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => None,
    };
    let message = text(error)
        .or_else(|| text(&error["message"]))
        .or_else(|| text(&error["detail"]))
        .or_else(|| text(&parsed["message"]))
        .or_else(|| text(&parsed["detail"]))
        .unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    let names = ["type", "code", "status"].map(|name| text(&error[name]).unwrap_or_default());
    FailureBody {
        message: bounded(&message),
        names: bounded(&names.join(" ")),
    }
}

/// Makes one line of a foreign text: control characters go, white space is one blank, and the rest is cut.
pub(super) fn bounded(text: &str) -> String {
    let words = text
        .split(|c: char| c.is_whitespace() || c.is_control() || is_invisible(c))
        .filter(|word| !word.is_empty());
    let mut line = String::new();
    let mut count = 0;
    for word in words {
        if count > 0 {
            line.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= MOST_CHARACTERS {
                line.push('…');
                return line;
            }
            line.push(c);
            count += 1;
        }
    }
    line
}

/// Characters that turn the direction of a line around or hide in it.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Reads a `retry-after` header: seconds, or a date, which needs the present time.
pub fn retry_after(value: &str, now: Option<SystemTime>) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = http_date(value)?;
    let now = now?.duration_since(UNIX_EPOCH).ok()?.as_secs();
    Some(Duration::from_secs(at.saturating_sub(now)))
}

/// Reads a date such as `Sun, 06 Nov 1994 08:49:37 GMT` as seconds since 1970.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (_, rest) = text.split_once(", ")?;
    let mut words = rest.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':');
    let hour: u64 = clock.next()?.parse().ok()?;
    let minute: u64 = clock.next()?.parse().ok()?;
    let second: u64 = clock.next()?.parse().ok()?;
    let is_sane = (1970..=9999).contains(&year)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    if !is_sane || words.next() != Some("GMT") {
        return None;
    }
    // Days since 1970 of the Gregorian calendar, counting years from March.
    let (year, month) = if month < 3 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}
