//! What single settings may say.

use crate::compat::API;
use reqwest::Url;
use serde_json::{Map, Value};

/// What reports that a key cannot be used: the key, why, and what to do.
pub(super) type Wrong<'a> = dyn FnMut(&str, &str, Option<&str>) + 'a;

/// Checks what the gateway reads of `thread`, so that a slip is said at the start.
pub(super) fn check_limit(thread: Option<&Value>, wrong: &mut Wrong<'_>) {
    let Some(thread) = thread else {
        return;
    };
    if !thread.is_object() {
        return wrong("thread", "It is no object.", None);
    }
    let limit = &thread["initialHistoryLimit"];
    if !limit.is_null() && limit.as_u64().is_none() {
        let message = "It is no whole number from 0 on.";
        wrong("thread.initialHistoryLimit", message, None);
    }
    let scope = &thread["historyScope"];
    if !scope.is_null() && !matches!(scope.as_str(), Some("thread" | "channel")) {
        let message = "It is neither `thread` nor `channel`.";
        wrong("thread.historyScope", message, None);
    }
}

/// Checks the modes of replies that the gateway reads.
pub(super) fn check_modes(section: &Map<String, Value>, wrong: &mut Wrong<'_>) {
    let is_mode = |value: &Value| {
        let known = matches!(value.as_str(), Some("off" | "first" | "all" | "batched"));
        value.is_null() || known
    };
    let message = "It is none of `off`, `first`, `all`, `batched`.";
    if !section.get("replyToMode").is_none_or(is_mode) {
        wrong("replyToMode", message, None);
    }
    let by_type = section
        .get("replyToModeByChatType")
        .and_then(Value::as_object);
    for (kind, mode) in by_type.into_iter().flatten() {
        if !is_mode(mode) {
            wrong(&format!("replyToModeByChatType.{kind}"), message, None);
        }
    }
}

/// Tells whether a text is a path that a server can be asked for.
pub(super) fn is_path(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~');
    text.len() > 1
        && text.len() <= 256
        && text.starts_with('/')
        && text.bytes().all(plain)
        && !text.contains("//")
        && !text.contains("/.")
}

pub(super) fn api_url(text: &str) -> Option<Url> {
    let text = if text.ends_with('/') {
        text.to_owned()
    } else {
        format!("{text}/")
    };
    let url = Url::parse(&text).ok()?;
    let bare = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let safe = match url.scheme() {
        "https" => url.has_host(),
        "http" => is_loopback(&url),
        _ => false,
    };
    (bare && safe).then_some(url)
}

/// Tells whether an address is on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

pub(super) fn default_api() -> Url {
    Url::parse(API).unwrap_or_else(|_| unreachable!("the address is a constant"))
}

/// Returns so many MB in bytes; the range was checked.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range was checked"
)]
pub(super) fn megabytes(number: f64) -> usize {
    (number * 1_048_576.0) as usize
}
