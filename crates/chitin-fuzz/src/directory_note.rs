//! Files that somebody puts into a directory as messages.

use crate::novelty;
use chitin_gateway::surface::directory::MessageFile;

/// What such files are made of.
pub const DICTIONARY: &[&str] = &[
    "{\"text\":\"hi\"}",
    "\"id\":\"1\"",
    "\"peer\":{\"kind\":\"channel\",\"id\":\"yard\"}",
    "\"peer\":{\"kind\":\"dm\",\"id\":\"\"}",
    "\"thread\":\"t\"",
    "\"sender\":\"ada\"",
    "\"sender\":{\"id\":\"ada\",\"name\":\"Ada\"}",
    "\"owner\":true",
    "\"images\":[{\"data\":\"\",\"mimeType\":\"image/png\"}]",
    "\"session\":\"agent:main:main\"",
    "\"agent\":\"\"",
    "\\u0000",
    "\\n",
    "null",
    "[]",
];

/// Takes bytes as a file.
pub fn run(data: &[u8]) {
    match MessageFile::read(data, "name") {
        Ok(note) => {
            let (kind, threaded) = (note.peer().kind, note.thread.is_some());
            let pictures = note.images.len();
            let again = serde_json::to_vec(&note).expect("a note can be written");
            let read =
                MessageFile::read(&again, "another name").expect("what was read can be read again");
            assert_eq!(read, note, "what was read is read the same again");
            let incoming = note.incoming("directory");
            let id = incoming.message_id.expect("a message has a name");
            assert!(
                !id.trim().is_empty() && !id.contains('\n'),
                "an id is one line"
            );
            assert!(
                !incoming.text.trim().is_empty() || !incoming.images.is_empty(),
                "a message says something"
            );
            assert!(incoming.inbound.peer.is_some(), "a message has a place");
            novelty::note((
                kind,
                threaded,
                pictures.min(4),
                incoming.sender_name.is_some(),
            ));
        }
        Err(reason) => {
            assert!(reason.ends_with('.'), "a reason is a sentence");
            let words: String = reason
                .chars()
                .filter(|c| c.is_alphabetic())
                .take(24)
                .collect();
            novelty::note(words);
        }
    }
}
