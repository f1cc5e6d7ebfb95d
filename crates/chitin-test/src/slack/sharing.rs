//! Files: where they are put, what is said of them, who may fetch them.

use super::request::Whole;
use super::serve::plain;
use super::state::{Call, State};
use super::{BOT_TOKEN, Shared, api};
use crate::tls::Place;
use hyper::header::HeaderValue;
use hyper::{HeaderMap, Response, StatusCode};
use serde_json::{Value, json};

/// Names a place for a file.
pub(super) fn upload_url(
    state: &mut State,
    place: Place,
    name: &str,
    length: &str,
) -> Result<Value, String> {
    let length: usize = length.parse().map_err(|_| "invalid_arguments")?;
    if name.is_empty() || length == 0 {
        return Err("invalid_arguments".to_owned());
    }
    let id = format!("F{:06}", state.number());
    let facts = json!({"id": id, "name": name, "size": length, "complete": false});
    state.files.insert(id.clone(), (Vec::new(), facts));
    Ok(json!({"ok": true, "file_id": id, "upload_url": format!("{}/upload/{id}", place.http())}))
}

/// Takes the bytes of a file. No token is wanted here, and none may come.
pub(super) fn upload(shared: &Shared, id: &str, body: Vec<u8>) -> Response<Whole> {
    shared.change(|state| match state.files.get_mut(id) {
        Some((bytes, facts)) if facts["size"] == body.len() => {
            *bytes = body;
            plain(StatusCode::OK, "OK")
        }
        Some(_) => plain(StatusCode::BAD_REQUEST, "another size was said"),
        None => plain(StatusCode::NOT_FOUND, "no such upload"),
    })
}

/// Shows files that were uploaded.
pub(super) fn complete(state: &mut State, call: &Call) -> Result<Value, String> {
    let argument = |name: &str| call.arguments.get(name).map_or("", String::as_str);
    let wanted: Vec<Value> =
        serde_json::from_str(argument("files")).map_err(|_| "invalid_arguments")?;
    let room = argument("channel_id").to_owned();
    if !state.rooms.contains_key(&room) {
        return Err("channel_not_found".to_owned());
    }
    let mut files = Vec::new();
    for file in &wanted {
        let id = file["id"].as_str().unwrap_or_default();
        let (bytes, facts) = state.files.get_mut(id).ok_or("file_not_found")?;
        if bytes.is_empty() {
            return Err("file_not_found".to_owned());
        }
        facts["complete"] = json!(true);
        files.push(facts.clone());
    }
    let mut event = api::own(argument("initial_comment"));
    event["subtype"] = json!("file_share");
    event["files"] = json!(files);
    if !argument("thread_ts").is_empty() {
        event["thread_ts"] = json!(argument("thread_ts"));
    }
    let event = api::post(state, &room, event);
    for file in &mut files {
        file["shares"] = json!({"public": {&room: [{"ts": event["ts"]}]}});
    }
    Ok(json!({"ok": true, "files": files}))
}

/// Gives a file to whoever has the token. Others get a page to log in, as from Slack.
pub(super) fn download(shared: &Shared, id: &str, headers: &HeaderMap) -> Response<Whole> {
    let token = headers
        .get("authorization")
        .and_then(|value| value.to_str().ok());
    let wanted = format!("Bearer {BOT_TOKEN}");
    let state = shared.lock();
    let Some((bytes, facts)) = state.files.get(id) else {
        return plain(StatusCode::NOT_FOUND, "no such file");
    };
    if token != Some(&wanted) {
        return plain(StatusCode::OK, "<html>log in</html>");
    }
    if let Some(elsewhere) = facts["redirect"].as_str() {
        let mut response = plain(StatusCode::FOUND, "");
        if let Ok(place) = HeaderValue::from_str(elsewhere) {
            response.headers_mut().insert("location", place);
        }
        return response;
    }
    Response::new(Whole::new(bytes.clone()))
}
