//! One message: what is not known of its place is asked for, what hangs on it is fetched, and it is handed in.

use super::attached;
use crate::account::Account;
use crate::intake::{MessageSurface, noticed};
use crate::wire::Message;
use chitin_gateway::IntakeRefusal;
use chitin_gateway::access::AccessVerdict;
use chitin_gateway::{Gateway, Noticed};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long to wait before a message is handed in again.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Hands a message in. What may pass is tried again while we run. Tells whether it is done with, one way or the other.
pub(super) async fn hear(
    account: &Account,
    gateway: &Gateway,
    cancel: &CancellationToken,
    message: &Message,
) -> bool {
    let Some(mut noticed) = notice(account, message).await else {
        return true;
    };
    // Nothing is fetched for somebody who is not heard.
    if matches!(gateway.trust().judge(&noticed), AccessVerdict::Heard { .. }) {
        let attached = attached::fetch(account, message).await;
        noticed.incoming.images = attached.images;
        noticed.files = attached.files;
    }
    let mut wait = FIRST_WAIT;
    loop {
        let Err(refusal) = gateway.notice(noticed.clone()).await else {
            return true;
        };
        let place = message.channel_id;
        if !may_pass(&refusal) {
            account.tell(&format!(
                "a message in `{place}` is not taken in: {refusal}"
            ));
            return true;
        }
        if cancel.is_cancelled() {
            account.tell(&format!(
                "a message in `{place}` could not be taken in before the end: {refusal}"
            ));
            return false;
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = cancel.cancelled() => {}
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

fn may_pass(refusal: &IntakeRefusal) -> bool {
    match refusal {
        IntakeRefusal::Closing
        | IntakeRefusal::Restarting
        | IntakeRefusal::Full { .. }
        | IntakeRefusal::TooMuch
        | IntakeRefusal::NoSpace { .. }
        | IntakeRefusal::Store(_) => true,
        IntakeRefusal::Empty
        | IntakeRefusal::TooLarge(_)
        | IntakeRefusal::UnknownAgent { .. }
        | IntakeRefusal::BadSession { .. }
        | IntakeRefusal::ChannelShut { .. }
        | IntakeRefusal::NoRoute(_)
        | IntakeRefusal::QueueFull { .. }
        | IntakeRefusal::Host(_) => false,
    }
}

/// Makes of a message what the gateway hears. What is not known of its place is asked for.
async fn notice(account: &Account, message: &Message) -> Option<Noticed> {
    if let Some(guild) = message.guild_id {
        account.know_guild(guild).await;
    }
    let place = place(account, message).await;
    let noticed = noticed(&account.ears, account.address_id(), message, place);
    if noticed.is_none() {
        tell_of_no_content(account, message);
    }
    noticed
}

/// Finds out where a message was written.
async fn place(account: &Account, message: &Message) -> MessageSurface {
    let id = message.channel_id;
    let room = match account.room(id).await {
        Ok(room) => room,
        Err(fault) => {
            account.tell(&format!(
                "it is not known what kind of channel `{id}` is: {}",
                fault.words
            ));
            return MessageSurface::default();
        }
    };
    let above = match MessageSurface::parent_of(message, &room) {
        Some(parent) => account.room(parent).await.ok(),
        None => None,
    };
    MessageSurface {
        room: Some(room),
        above,
    }
}

/// Says once that messages come without their words.
fn tell_of_no_content(account: &Account, message: &Message) {
    if message.guild_id.is_none() || account.told_of_no_content.swap(true, Ordering::Relaxed) {
        return;
    }
    account.tell(
        "a message came without its words. Switch on `Message Content Intent` for the bot on \
         https://discord.com/developers/applications and leave `channels.discord.intents.messageContent` on; until then only direct \
         messages and messages that name the bot can be read",
    );
}
