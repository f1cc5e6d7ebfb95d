//! The methods of the Web API that apps like ours use.

use super::state::{Call, State};
use super::{APP_TOKEN, BOT_ID, BOT_TOKEN, BOT_USER, TEAM, conversation, sharing};
use crate::tls::Place;
use serde_json::{Value, json};

/// The longest text that a message may be changed to.
const LONGEST_UPDATE: usize = 4_000;

/// Answers a call.
pub(super) fn call(state: &mut State, place: Place, call: &Call) -> Value {
    let wanted = match call.method.as_str() {
        "apps.connections.open" => APP_TOKEN,
        _ => BOT_TOKEN,
    };
    if let Some(code) = &state.revoked {
        return refused(code);
    }
    match call.token.as_str() {
        "" => return refused("not_authed"),
        token if token == wanted => {}
        APP_TOKEN | BOT_TOKEN => return refused("not_allowed_token_type"),
        _ => return refused("invalid_auth"),
    }
    answer(state, place, call).unwrap_or_else(|code| refused(&code))
}

fn answer(state: &mut State, place: Place, call: &Call) -> Result<Value, String> {
    let argument = |name: &str| call.arguments.get(name).map_or("", String::as_str);
    let room = |state: &State| {
        let id = argument("channel");
        let found = state.rooms.get(id).ok_or("channel_not_found")?;
        if found["is_archived"] == true {
            return Err("is_archived");
        }
        if found["is_member"] != true {
            return Err("not_in_channel");
        }
        Ok(id.to_owned())
    };
    match call.method.as_str() {
        "auth.test" => Ok(json!({
            "ok": true, "url": "https://yard.slack.example/", "team": "Yard", "user": "chitin",
            "team_id": TEAM, "user_id": BOT_USER, "bot_id": BOT_ID,
        })),
        "apps.connections.open" => {
            let ticket = format!("ticket-{}", state.number());
            state.tickets.push(ticket.clone());
            Ok(json!({"ok": true, "url": format!("{}/link?ticket={ticket}", place.ws())}))
        }
        "users.info" => {
            let user = state.users.get(argument("user"));
            let user = user.ok_or("user_not_found")?;
            Ok(json!({"ok": true, "user": user}))
        }
        "conversations.info" => {
            let room = state.rooms.get(argument("channel"));
            let room = room.ok_or("channel_not_found")?;
            Ok(json!({"ok": true, "channel": room}))
        }
        "conversations.open" => conversation::open(state, argument("users")),
        "conversations.history" => {
            let room = room(state)?;
            Ok(conversation::history(state, &room, call))
        }
        "conversations.replies" => {
            let room = room(state)?;
            conversation::replies(state, &room, call)
        }
        "chat.postMessage" => {
            let room = room(state)?;
            if argument("text").is_empty() {
                return Err("no_text".to_owned());
            }
            let mut event = own(argument("text"));
            if !argument("thread_ts").is_empty() {
                event["thread_ts"] = json!(argument("thread_ts"));
            }
            let event = post(state, &room, event);
            Ok(json!({"ok": true, "channel": room, "ts": event["ts"], "message": event}))
        }
        "chat.update" => {
            let room = room(state)?;
            if argument("text").chars().count() > LONGEST_UPDATE {
                return Err("msg_too_long".to_owned());
            }
            let said = conversation::find(state, &room, argument("ts"))?;
            if said["bot_id"] != BOT_ID {
                return Err("cant_update_message".to_owned());
            }
            said["text"] = json!(argument("text"));
            said["edits"] = json!(said["edits"].as_u64().unwrap_or(0) + 1);
            Ok(json!({"ok": true, "channel": room, "ts": argument("ts"), "text": argument("text")}))
        }
        "chat.delete" => {
            let room = room(state)?;
            let said = conversation::find(state, &room, argument("ts"))?;
            if said["bot_id"] != BOT_ID {
                return Err("cant_delete_message".to_owned());
            }
            let said = state.messages.entry(room).or_default();
            said.retain(|said| said["ts"] != argument("ts"));
            Ok(json!({"ok": true}))
        }
        "reactions.add" | "reactions.remove" | "reactions.get" => {
            let room = room(state)?;
            let said = conversation::find(state, &room, argument("timestamp"))?;
            conversation::react(said, &call.method, argument("name"))
        }
        "pins.add" | "pins.remove" | "pins.list" => {
            let room = room(state)?;
            conversation::pin(state, &room, &call.method, argument("timestamp"))
        }
        "emoji.list" => {
            Ok(json!({"ok": true, "emoji": {"larch": "https://emoji.example/larch.png"}}))
        }
        "files.getUploadURLExternal" => {
            sharing::upload_url(state, place, argument("filename"), argument("length"))
        }
        "files.completeUploadExternal" => sharing::complete(state, call),
        "files.info" => {
            let file = state.files.get(argument("file"));
            let (_, facts) = file.ok_or("file_not_found")?;
            Ok(json!({"ok": true, "file": facts}))
        }
        _ => Err("unknown_method".to_owned()),
    }
}

/// Makes a message of the app's.
pub(super) fn own(text: &str) -> Value {
    json!({"type": "message", "user": BOT_USER, "bot_id": BOT_ID, "text": text})
}

/// Posts a message of the app's; the app hears of it, as on Slack.
pub(super) fn post(state: &mut State, room: &str, event: Value) -> Value {
    let event = state.keep(room, event);
    if state.echo {
        state.tell(&event);
    }
    event
}

pub(super) fn refused(code: &str) -> Value {
    json!({"ok": false, "error": code})
}
