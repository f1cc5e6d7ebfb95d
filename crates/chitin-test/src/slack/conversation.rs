//! What was said: histories, threads, reactions, pins.

use super::state::{Call, State};
use serde_json::{Value, json};

/// Opens a conversation with somebody.
pub(super) fn open(state: &mut State, user: &str) -> Result<Value, String> {
    if !state.users.contains_key(user) {
        return Err("user_not_found".to_owned());
    }
    let id = format!("D{}", user.trim_start_matches('U'));
    let room = json!({"id": id, "is_im": true, "is_member": true, "user": user, "kind": "im"});
    state.rooms.entry(id.clone()).or_insert(room);
    Ok(json!({"ok": true, "channel": {"id": id}}))
}

/// Finds a message.
pub(super) fn find<'a>(
    state: &'a mut State,
    room: &str,
    ts: &str,
) -> Result<&'a mut Value, String> {
    let said = state.messages.get_mut(room);
    let mut said = said.into_iter().flatten();
    let found = said.find(|said| said["ts"] == ts);
    found.ok_or_else(|| "message_not_found".to_owned())
}

/// Answers `conversations.history`: the newest first, without what stands in threads only.
pub(super) fn history(state: &State, room: &str, call: &Call) -> Value {
    let said = state.messages.get(room).into_iter().flatten().rev();
    let beside = |said: &&Value| {
        let thread = said["thread_ts"].as_str();
        thread.is_none() || said["thread_ts"] == said["ts"] || said["subtype"] == "thread_broadcast"
    };
    let said: Vec<&Value> = said
        .filter(beside)
        .filter(|said| within(said, call))
        .collect();
    page(&said, call)
}

/// Answers `conversations.replies`: the message that began the thread, then the replies, the oldest first.
pub(super) fn replies(state: &State, room: &str, call: &Call) -> Result<Value, String> {
    let ts = call.arguments.get("ts").map_or("", String::as_str);
    let said = || state.messages.get(room).into_iter().flatten();
    if !said().any(|said| said["ts"] == ts) {
        return Err("thread_not_found".to_owned());
    }
    let thread: Vec<&Value> = said()
        .filter(|said| said["ts"] == ts || said["thread_ts"] == ts)
        .filter(|said| within(said, call))
        .collect();
    Ok(page(&thread, call))
}

/// Tells whether a message lies between `oldest` and `latest`.
fn within(said: &Value, call: &Call) -> bool {
    let ts = said["ts"].as_str().unwrap_or_default();
    // Times of this workspace are in order by their second half.
    let order = |ts: &str| ts.split('.').nth(1).map(str::to_owned);
    let inclusive = call
        .arguments
        .get("inclusive")
        .is_some_and(|said| said == "true");
    let latest = call.arguments.get("latest");
    let oldest = call.arguments.get("oldest");
    let before =
        latest.is_none_or(|latest| order(ts) < order(latest) || (inclusive && ts == latest));
    before && oldest.is_none_or(|oldest| order(ts) > order(oldest) || (inclusive && ts == oldest))
}

fn page(said: &[&Value], call: &Call) -> Value {
    let number = |name: &str, default: usize| {
        let said = call.arguments.get(name);
        said.and_then(|said| said.parse().ok()).unwrap_or(default)
    };
    let (from, limit) = (number("cursor", 0), number("limit", 100).clamp(1, 999));
    let from = from.min(said.len());
    let to = (from + limit).min(said.len());
    let more = to < said.len();
    let cursor = if more { to.to_string() } else { String::new() };
    json!({
        "ok": true, "messages": said[from..to], "has_more": more,
        "response_metadata": {"next_cursor": cursor},
    })
}

/// Answers the methods about reactions.
pub(super) fn react(said: &mut Value, method: &str, name: &str) -> Result<Value, String> {
    let mut names: Vec<Value> = said["reactions"].as_array().cloned().unwrap_or_default();
    let place = names.iter().position(|one| one["name"] == name);
    match (method, place) {
        ("reactions.add", Some(_)) => return Err("already_reacted".to_owned()),
        ("reactions.add", None)
            if name.is_empty() || name.contains(':') && !name.contains("::skin") =>
        {
            return Err("invalid_name".to_owned());
        }
        ("reactions.add", None) => names.push(json!({"name": name, "count": 1})),
        ("reactions.remove", None) => return Err("no_reaction".to_owned()),
        ("reactions.remove", Some(place)) => drop(names.remove(place)),
        _ => {}
    }
    said["reactions"] = Value::Array(names);
    Ok(json!({"ok": true, "message": said}))
}

/// Answers the methods about pins.
pub(super) fn pin(state: &mut State, room: &str, method: &str, ts: &str) -> Result<Value, String> {
    if method == "pins.list" {
        let said = state.messages.get(room).into_iter().flatten();
        let pinned = said.filter(|said| said["pinned"] == true);
        let items: Vec<Value> = pinned
            .map(|said| json!({"type": "message", "message": said}))
            .collect();
        return Ok(json!({"ok": true, "items": items}));
    }
    let said = find(state, room, ts)?;
    let wanted = method == "pins.add";
    if (said["pinned"] == true) == wanted {
        let code = if wanted { "already_pinned" } else { "no_pin" };
        return Err(code.to_owned());
    }
    said["pinned"] = json!(wanted);
    Ok(json!({"ok": true}))
}
