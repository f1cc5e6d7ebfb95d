//! Sending a message.

use crate::account::Account;
use crate::compat::{MOST_FILE_BYTES, MOST_FILES, message};
use crate::ids::Id;
use crate::places;
use crate::rest::{Body, Method, Upload};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chitin_gateway::{Address, OutgoingMessage, Sent, SurfaceError};
use chitin_protocol::session_key::ChatType;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Sends a message. The same key twice within minutes is one message: Discord remembers what we call it.
pub(crate) async fn send(
    account: &Account,
    to: &Address,
    outgoing: &OutgoingMessage,
) -> Result<Sent, SurfaceError> {
    let uploads = uploads(account, outgoing)?;
    let channel = account.channel_of(to).await?;
    let mut body = json!({
        "content": outgoing.text,
        "nonce": nonce(&outgoing.key),
        "enforce_nonce": true,
        "allowed_mentions": woken(account, channel, to, &outgoing.text),
    });
    if outgoing.silent {
        body["flags"] = json!(message::SILENT);
    }
    if let Some(reply_to) = &outgoing.reply_to {
        let reply_to = places::id(reply_to, "message")?;
        body["message_reference"] = json!({"message_id": reply_to, "fail_if_not_exists": false});
    }
    let body = if uploads.is_empty() {
        Body::Json(body)
    } else {
        let names = uploads.iter().enumerate();
        let names: Vec<Value> = names
            .map(|(id, file)| json!({"id": id, "filename": file.name}))
            .collect();
        body["attachments"] = json!(names);
        Body::Form(body, uploads)
    };
    let path = format!("channels/{channel}/messages");
    let sent = account.rest.call(Method::POST, &path, body).await?;
    let id = sent["id"].as_str().and_then(Id::parse);
    let id = id.ok_or_else(|| SurfaceError::soon("Discord did not name the message."))?;
    Ok(Sent {
        message_id: id.to_string(),
    })
}

/// Names a message for Discord, which takes 25 signs at most.
fn nonce(key: &str) -> String {
    crate::ids::hex(&Sha256::digest(key.as_bytes()), 12)
}

/// Says who is woken by a text: those whom it names, if they are in the conversation. Never everyone, never a role, whatever the text
/// says.
pub(crate) fn woken(account: &Account, channel: Id, to: &Address, text: &str) -> Value {
    let partner = match to.peer.kind {
        ChatType::Direct => Id::parse(&to.peer.id),
        ChatType::Channel | ChatType::Group => None,
    };
    let mut users: Vec<Id> = Vec::new();
    for user in named(text) {
        let here = Some(user) == partner || account.ears.rooms.has_spoken(channel, user);
        if here && !users.contains(&user) {
            users.push(user);
        }
    }
    json!({"parse": [], "users": users, "replied_user": false})
}

/// Returns the people that a text names.
fn named(text: &str) -> impl Iterator<Item = Id> {
    text.split("<@").skip(1).filter_map(|after| {
        let id = after.split('>').next()?;
        Id::parse(id.strip_prefix('!').unwrap_or(id))
    })
}

/// Makes files of what goes with a message.
fn uploads(account: &Account, outgoing: &OutgoingMessage) -> Result<Vec<Upload>, SurfaceError> {
    let mut uploads = Vec::new();
    for (index, image) in outgoing.images.iter().enumerate() {
        let bytes = STANDARD
            .decode(image.data.as_bytes())
            .map_err(|_| SurfaceError::never("A picture cannot be read."))?;
        let mime = chitin_tools::files::picture(&bytes)
            .ok_or_else(|| SurfaceError::never("A picture is of a kind that is not known."))?;
        let ending = mime.trim_start_matches("image/");
        uploads.push(Upload {
            name: format!("image-{}.{ending}", index + 1),
            mime: mime.to_owned(),
            bytes: bytes.into(),
        });
    }
    for file in &outgoing.files {
        uploads.push(Upload {
            name: file.name.clone(),
            mime: file.mime.clone(),
            bytes: bytes::Bytes::copy_from_slice(&file.bytes),
        });
    }
    if uploads.len() > MOST_FILES {
        return Err(SurfaceError::never(format!(
            "Discord takes {MOST_FILES} files with a message, and these are {}.",
            uploads.len()
        )));
    }
    let most = account.settings.media_max;
    if let Some(large) = uploads.iter().find(|file| file.bytes.len() > most) {
        return Err(SurfaceError::never(format!(
            "`{}` is too large: {} bytes, and {most} may be sent (`channels.discord.mediaMaxMb`).",
            large.name,
            large.bytes.len()
        )));
    }
    let total: usize = uploads.iter().map(|file| file.bytes.len()).sum();
    if total > MOST_FILE_BYTES {
        return Err(SurfaceError::never(format!(
            "The files are too large together: {total} bytes, and {MOST_FILE_BYTES} may be sent."
        )));
    }
    Ok(uploads)
}
