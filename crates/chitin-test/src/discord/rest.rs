//! What requests are answered with.

use super::saying::{mentions, of_the_bot};
use super::state::{Asked, Posted, SentFile, State};
use super::{BOT, BOT_NAME};
use serde_json::{Value, json};

type Answer = (u16, Value);

fn unknown(what: &str, code: u64) -> Answer {
    (
        404,
        json!({"message": format!("Unknown {what}"), "code": code}),
    )
}

/// Answers a request that is let in.
pub(super) fn answer(state: &mut State, asked: &Asked, files: &[SentFile]) -> Answer {
    let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
    let segments: Vec<&str> = path.split('/').collect();
    let body = &asked.body;
    if let ["channels", channel, ..] = segments[..]
        && !state.channels.contains_key(channel)
    {
        return unknown("Channel", 10003);
    }
    match (asked.method.as_str(), &segments[..]) {
        ("GET", ["users", "@me"]) => (200, state.user(BOT)),
        ("GET", ["applications", "@me"]) => (
            200,
            json!({"id": BOT, "name": BOT_NAME, "flags": state.flags}),
        ),
        ("GET", ["gateway", "bot"]) => (
            200,
            json!({
                "url": state.place().ws(), "shards": 1,
                "session_start_limit": {"total": 1000, "remaining": 999, "reset_after": 1000, "max_concurrency": 1},
            }),
        ),
        ("GET", ["users", "@me", "guilds"]) => {
            let guilds = state.guilds.iter();
            (
                200,
                guilds
                    .map(|(id, name)| json!({"id": id, "name": name}))
                    .collect(),
            )
        }
        ("POST", ["users", "@me", "channels"]) => {
            let person = body["recipient_id"].as_str().unwrap_or_default();
            if !state.people.contains_key(person) {
                return unknown("User", 10013);
            }
            (200, state.direct(person))
        }
        ("GET", ["channels", channel]) => (200, state.channels[*channel].clone()),
        ("GET", ["channels", channel, "messages"]) => (200, page(state, channel, query)),
        ("POST", ["channels", channel, "messages"]) => post(state, channel, body, files),
        ("GET", ["channels", channel, "messages", "pins"]) => {
            let pinned = state.pins.iter().filter(|(at, _)| at == channel);
            let items: Vec<Value> = pinned
                .filter_map(|(_, id)| state.message(id))
                .map(|message| json!({"pinned_at": "2026-02-03T04:05:06Z", "message": message}))
                .collect();
            (200, json!({"items": items, "has_more": false}))
        }
        ("PUT", ["channels", channel, "messages", "pins", message]) => {
            state
                .pins
                .push(((*channel).to_owned(), (*message).to_owned()));
            (204, Value::Null)
        }
        ("DELETE", ["channels", _, "messages", "pins", message]) => {
            state.pins.retain(|(_, pinned)| pinned != message);
            (204, Value::Null)
        }
        ("POST", ["channels", channel, "threads"]) => thread(state, channel, None, body),
        ("POST", ["channels", channel, "messages", message, "threads"]) => {
            thread(state, channel, Some(message), body)
        }
        ("GET", ["channels", _, "threads", "archived", "public"]) => {
            (200, json!({"threads": [], "has_more": false}))
        }
        ("POST", ["channels", _, "typing"]) => (204, Value::Null),
        (method, ["channels", _, "messages", message, rest @ ..]) => {
            if state.message(message).is_none() {
                return unknown("Message", 10008);
            }
            of_message(state, method, message, rest, body)
        }
        ("GET", ["guilds", guild]) if state.guilds.contains_key(*guild) => {
            let mut told = state.guild(guild);
            // Asked for, a guild comes without what is in it.
            told["channels"] = Value::Null;
            told["threads"] = Value::Null;
            (200, told)
        }
        ("GET", ["guilds", guild, "threads", "active"]) => {
            let threads = state.channels.values();
            let threads: Vec<&Value> = threads
                .filter(|channel| channel["type"] == 11 && channel["guild_id"] == *guild)
                .collect();
            (200, json!({"threads": threads, "members": []}))
        }
        ("GET", ["guilds", guild, "messages", "search"]) => (200, search(state, guild, query)),
        ("GET", ["guilds", _, "members", person]) if state.people.contains_key(*person) => (
            200,
            json!({"user": state.user(person), "nick": null, "roles": ["910000000000000002"], "joined_at": "2020-01-01T00:00:00Z"}),
        ),
        _ => unknown("thing", 0),
    }
}

/// Answers what is about one message.
fn of_message(
    state: &mut State,
    method: &str,
    message: &str,
    rest: &[&str],
    body: &Value,
) -> Answer {
    match (method, rest) {
        ("GET", []) => (200, state.message(message).cloned().unwrap_or_default()),
        ("PATCH", []) => edit(state, message, body),
        ("DELETE", []) => {
            state.messages.retain(|there| there["id"] != message);
            (204, Value::Null)
        }
        ("PUT", ["reactions", emoji, "@me"]) => {
            state.reactions.push(format!("{message} {emoji}"));
            (204, Value::Null)
        }
        ("DELETE", ["reactions", emoji, "@me"]) => {
            let gone = format!("{message} {emoji}");
            state.reactions.retain(|reaction| *reaction != gone);
            (204, Value::Null)
        }
        ("GET", ["reactions", _]) => (200, json!([state.user(BOT)])),
        _ => unknown("thing", 0),
    }
}

/// Posts a message. A second one of the same name is the first.
fn post(state: &mut State, channel: &str, body: &Value, files: &[SentFile]) -> Answer {
    let text = body["content"].as_str().unwrap_or_default();
    if text.encode_utf16().count() > 2_000 || (text.is_empty() && files.is_empty()) {
        let errors = json!({"content": {"_errors": [{"code": "BASE_TYPE_BAD_LENGTH", "message": "Must be 2000 or fewer in length."}]}});
        return (
            400,
            json!({"message": "Invalid Form Body", "code": 50035, "errors": errors}),
        );
    }
    let nonce = body["nonce"]
        .as_str()
        .map(|nonce| format!("{channel} {nonce}"));
    let before = nonce.as_ref().and_then(|nonce| state.nonces.get(nonce));
    if let Some(before) = before.filter(|_| body["enforce_nonce"] == true) {
        return (200, state.message(before).cloned().unwrap_or_default());
    }
    let id = state.new_id();
    let mut message = of_the_bot(state, &id, channel, body);
    let attached: Vec<Value> = files
        .iter()
        .map(|file| json!({"id": "1", "filename": file.name, "content_type": file.mime, "size": file.bytes.len(), "url": ""}))
        .collect();
    message["attachments"] = json!(attached);
    if let Some(nonce) = nonce {
        state.nonces.insert(nonce, id.clone());
    }
    state.posted.push(Posted {
        id,
        channel: channel.to_owned(),
        text: text.to_owned(),
        before: Vec::new(),
        body: body.clone(),
        files: files.to_vec(),
    });
    state.messages.push(message.clone());
    // The bot hears itself, as everybody there does.
    state.dispatch("MESSAGE_CREATE", &message);
    (200, message)
}

fn edit(state: &mut State, id: &str, body: &Value) -> Answer {
    let text = body["content"].as_str().unwrap_or_default().to_owned();
    let mentions = mentions(state, &text);
    let Some(message) = state
        .messages
        .iter_mut()
        .find(|message| message["id"] == id)
    else {
        return unknown("Message", 10008);
    };
    if message["author"]["id"] != BOT {
        return (
            403,
            json!({"message": "Cannot edit a message authored by another user", "code": 50005}),
        );
    }
    message["content"] = json!(text);
    message["mentions"] = json!(mentions);
    let message = message.clone();
    if let Some(posted) = state.posted.iter_mut().find(|posted| posted.id == id) {
        let before = std::mem::replace(&mut posted.text, text);
        posted.before.push(before);
    }
    state.dispatch("MESSAGE_UPDATE", &message);
    (200, message)
}

fn thread(state: &mut State, channel: &str, message: Option<&str>, body: &Value) -> Answer {
    let id = match message {
        // A thread under a message has its id.
        Some(message) if state.channels.contains_key(message) => {
            let words = "A thread has already been created for this message";
            return (400, json!({"message": words, "code": 160_004}));
        }
        Some(message) => message.to_owned(),
        None => state.new_id(),
    };
    let name = body["name"].as_str().unwrap_or_default();
    let thread = state.new_thread(&id, channel, name, BOT);
    state.dispatch("THREAD_CREATE", &thread);
    if state.channels[channel]["type"] == 15 {
        if !body["message"]["content"].is_string() {
            return (400, json!({"message": "Invalid Form Body", "code": 50035}));
        }
        let first = of_the_bot(state, &id, &id, &body["message"]);
        state.messages.push(first.clone());
        state.dispatch("MESSAGE_CREATE", &first);
    } else if let Some(message) = message.and_then(|message| state.message(message)).cloned() {
        let id = state.new_id();
        let mut first = message.clone();
        first["id"] = json!(id);
        first["channel_id"] = thread["id"].clone();
        first["type"] = json!(21);
        first["content"] = json!("");
        first["referenced_message"] = message;
        state.messages.push(first.clone());
        state.dispatch("MESSAGE_CREATE", &first);
    }
    (201, thread)
}

/// Returns a page of messages, the newest first.
fn page(state: &State, channel: &str, query: &str) -> Value {
    let parameter = |name: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .into_iter()
            .find(|(key, _)| *key == name)
            .and_then(|(_, value)| value.parse::<u64>().ok())
    };
    let limit = parameter("limit").unwrap_or(50).clamp(1, 100);
    let before = parameter("before").unwrap_or(u64::MAX);
    let number = |message: &Value| {
        message["id"]
            .as_str()
            .and_then(|id| id.parse::<u64>().ok())
            .unwrap_or_default()
    };
    let messages = state.messages.iter().rev();
    messages
        .filter(|message| message["channel_id"] == channel && number(message) < before)
        .take(usize::try_from(limit).unwrap_or(100))
        .cloned()
        .collect()
}

fn search(state: &State, guild: &str, query: &str) -> Value {
    let wanted = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("content="))
        .unwrap_or_default();
    let found: Vec<Value> = state
        .messages
        .iter()
        .filter(|message| message["guild_id"] == guild)
        .filter(|message| {
            message["content"]
                .as_str()
                .unwrap_or_default()
                .contains(wanted)
        })
        .map(|message| json!([message]))
        .collect();
    json!({"total_results": found.len(), "messages": found})
}
