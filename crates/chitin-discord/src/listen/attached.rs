//! What hangs on a message: pictures are fetched, short texts are, anything else is only named.

use crate::account::Account;
use crate::fetch;
use crate::intake::{files, hanging};
use crate::wire::{Attachment, Message};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chitin_gateway::Hanging;
use chitin_gateway::intake::MOST_IMAGES;
use chitin_protocol::message::ImageBlock;

/// The longest text that is fetched, in bytes.
const MOST_TEXT: usize = 32 * 1024;

/// What hangs on a message.
#[derive(Default)]
pub(super) struct Attached {
    pub(super) images: Vec<ImageBlock>,
    pub(super) files: Vec<Hanging>,
}

/// Fetches what is worth it.
pub(super) async fn fetch(account: &Account, message: &Message) -> Attached {
    let mut attached = Attached::default();
    for file in files(message) {
        let mime = file.content_type.as_deref();
        if fetch::says_picture(&file.filename, mime)
            && attached.images.len() < MOST_IMAGES
            && let Some(image) = image(account, file).await
        {
            attached.images.push(image);
            continue;
        }
        let text = if fetch::says_text(&file.filename, mime) {
            text(account, file).await
        } else {
            None
        };
        attached.files.push(hanging(file, text));
    }
    attached
}

async fn image(account: &Account, file: &Attachment) -> Option<ImageBlock> {
    let bytes = bytes(account, file, account.settings.media_max).await?;
    let mime = chitin_tools::files::picture(&bytes)?;
    Some(ImageBlock {
        data: STANDARD.encode(bytes),
        mime_type: mime.to_owned(),
        ..ImageBlock::default()
    })
}

async fn text(account: &Account, file: &Attachment) -> Option<String> {
    fetch::text(bytes(account, file, MOST_TEXT).await?)
}

/// Fetches a file that is small enough. What is too large is named, and can be asked for.
async fn bytes(account: &Account, file: &Attachment, most: usize) -> Option<Vec<u8>> {
    let size = usize::try_from(file.size).ok()?;
    if size > most {
        return None;
    }
    match account.files.get(&file.url, most).await {
        Ok(bytes) => Some(bytes),
        Err(fault) => {
            account.tell(&format!(
                "a file of a message cannot be fetched: {}",
                fault.words
            ));
            None
        }
    }
}
