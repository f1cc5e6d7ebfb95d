//! Everything that is not sending.

mod messages;
mod others;
mod past;
mod reactions;
mod threads;

use crate::account::Account;
use crate::rest::{Body, Method};
use chitin_gateway::surface::{SurfaceAction, SurfaceOutcome};
use chitin_gateway::{Address, SurfaceError};

/// Does something at a place.
pub(crate) async fn act(
    account: &Account,
    to: &Address,
    action: &SurfaceAction,
) -> Result<SurfaceOutcome, SurfaceError> {
    match action {
        SurfaceAction::Edit { message_id, text } => {
            messages::edit(account, to, message_id, text).await
        }
        SurfaceAction::React {
            message_id,
            emoji,
            remove,
        } => reactions::react(account, to, message_id, emoji, *remove).await,
        SurfaceAction::ThreadCreate {
            name,
            message_id,
            auto_archive_min,
        } => threads::create(account, to, name, message_id.as_deref(), *auto_archive_min).await,
        SurfaceAction::Read { limit, before } => {
            past::read(account, to, *limit, before.as_deref()).await
        }
        SurfaceAction::Download { message_id, file } => {
            messages::download(account, to, message_id, file.as_deref()).await
        }
        SurfaceAction::Typing => {
            let channel = account.channel_of(to).await?;
            let path = format!("channels/{channel}/typing");
            account.rest.call(Method::POST, &path, Body::None).await?;
            Ok(SurfaceOutcome::Done)
        }
        SurfaceAction::Other { name, fields } => others::act(account, to, name, fields).await,
    }
}
