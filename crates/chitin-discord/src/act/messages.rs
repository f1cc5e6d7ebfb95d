//! Messages that are there: changing ours, taking ours away, fetching what hangs on one.

use crate::account::Account;
use crate::ids::Id;
use crate::places;
use crate::rest::{Body, Fault, Method};
use crate::send;
use crate::wire::Message;
use chitin_gateway::surface::{OutgoingFile, SurfaceOutcome};
use chitin_gateway::{Address, SurfaceError};
use serde_json::json;

pub(super) async fn edit(
    account: &Account,
    to: &Address,
    message: &str,
    text: &str,
) -> Result<SurfaceOutcome, SurfaceError> {
    let message = places::id(message, "message")?;
    let channel = account.channel_of(to).await?;
    let woken = send::woken(account, channel, to, text);
    let body = json!({"content": text, "allowed_mentions": woken});
    let path = format!("channels/{channel}/messages/{message}");
    account
        .rest
        .call(Method::PATCH, &path, Body::Json(body))
        .await?;
    Ok(SurfaceOutcome::Done)
}

/// Takes a message of ours away. Others' messages stay, even where we could.
pub(super) async fn delete(
    account: &Account,
    to: &Address,
    message: &str,
) -> Result<SurfaceOutcome, SurfaceError> {
    let message = places::id(message, "message")?;
    let channel = account.channel_of(to).await?;
    let me = account.me().await?;
    if get(account, channel, message).await?.author.id != me.id {
        return Err(SurfaceError::never(
            "Only messages of the bot itself can be deleted.",
        ));
    }
    let path = format!("channels/{channel}/messages/{message}");
    account.rest.call(Method::DELETE, &path, Body::None).await?;
    Ok(SurfaceOutcome::Done)
}

pub(super) async fn download(
    account: &Account,
    to: &Address,
    message: &str,
    wanted: Option<&str>,
) -> Result<SurfaceOutcome, SurfaceError> {
    let message = places::id(message, "message")?;
    let channel = account.channel_of(to).await?;
    let message = get(account, channel, message).await?;
    let passed = message.passed_on.iter();
    let passed = passed.flat_map(|snapshot| &snapshot.message.attachments);
    let files: Vec<_> = message.attachments.iter().chain(passed).collect();
    let found = match wanted.map(str::trim) {
        None if files.len() == 1 => files.first(),
        None => None,
        Some(wanted) => {
            let by_name = files.iter().find(|file| file.filename == wanted);
            let number = wanted.parse::<usize>().ok();
            by_name.or_else(|| files.get(number?.checked_sub(1)?))
        }
    };
    let Some(file) = found else {
        let names: Vec<&str> = files.iter().map(|file| file.filename.as_str()).collect();
        return Err(SurfaceError::never(match names.len() {
            0 => "No file hangs on this message.".to_owned(),
            _ => format!("Say which file, by name or number: {}.", names.join(", ")),
        }));
    };
    let most = account.settings.media_max;
    if usize::try_from(file.size).map_or(true, |size| size > most) {
        return Err(SurfaceError::never(format!(
            "`{}` is too large: {} bytes, and {most} are fetched (`channels.discord.mediaMaxMb`).",
            file.filename, file.size
        )));
    }
    let bytes = account.files.get(&file.url, most).await?;
    let said = file.content_type.as_deref();
    let mime = chitin_tools::files::picture(&bytes)
        .or(said)
        .unwrap_or("application/octet-stream");
    // A name from the network is a name and nothing else.
    let name = file.filename.rsplit(['/', '\\']).next().unwrap_or_default();
    Ok(SurfaceOutcome::File {
        file: OutgoingFile {
            name: name.to_owned(),
            mime: mime.to_owned(),
            bytes: bytes.into(),
        },
    })
}

/// Asks for a message.
pub(super) async fn get(account: &Account, channel: Id, message: Id) -> Result<Message, Fault> {
    let path = format!("channels/{channel}/messages/{message}");
    let message = account.rest.get(&path).await?;
    serde_json::from_value(message).map_err(|_| Fault::unreadable())
}
