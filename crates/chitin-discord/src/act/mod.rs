//! Everything that is not sending.

mod messages;
mod others;
mod past;
mod reactions;
mod threads;

use crate::account::Account;
use crate::rest::{Body, Method};
use chitin_gateway::surface::{Action, Done};
use chitin_gateway::{Address, SurfaceError};

/// Does something at a place.
pub(crate) async fn act(
    account: &Account,
    to: &Address,
    action: &Action,
) -> Result<Done, SurfaceError> {
    match action {
        Action::Edit { message_id, text } => messages::edit(account, to, message_id, text).await,
        Action::React {
            message_id,
            emoji,
            remove,
        } => reactions::react(account, to, message_id, emoji, *remove).await,
        Action::ThreadCreate {
            name,
            message_id,
            auto_archive_min,
        } => threads::create(account, to, name, message_id.as_deref(), *auto_archive_min).await,
        Action::Read { limit, before } => past::read(account, to, *limit, before.as_deref()).await,
        Action::Download { message_id, file } => {
            messages::download(account, to, message_id, file.as_deref()).await
        }
        Action::Typing => {
            let channel = account.channel_of(to).await?;
            let path = format!("channels/{channel}/typing");
            account.rest.call(Method::POST, &path, Body::None).await?;
            Ok(Done::Done)
        }
        Action::Other { name, fields } => others::act(account, to, name, fields).await,
    }
}
