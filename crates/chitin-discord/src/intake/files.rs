//! The files of a message, by name. Nothing is fetched.

use crate::wire::{Attachment, Message};
use chitin_gateway::Hanging;

/// How many files are named.
const MOST_NAMED: usize = 20;
/// The longest name.
const MOST_NAME: usize = 200;

/// Names the files of a message.
pub(super) fn named(message: &Message) -> Vec<Hanging> {
    files(message).map(|file| hanging(file, None)).collect()
}

/// Returns the files of a message, also those that were passed on with it.
pub(crate) fn files(message: &Message) -> impl Iterator<Item = &Attachment> {
    let passed = message.passed_on.iter();
    let passed = passed.flat_map(|snapshot| &snapshot.message.attachments);
    message.attachments.iter().chain(passed).take(MOST_NAMED)
}

pub(crate) fn hanging(file: &Attachment, text: Option<String>) -> Hanging {
    Hanging {
        name: file.filename.chars().take(MOST_NAME).collect(),
        mime: file.content_type.clone(),
        bytes: file.size,
        text,
    }
}
