//! Files that go with messages: they lie in `out/` beside the record that names them.

use super::FILES;
use super::inbox::{Inbox, OUT, Record};
use super::message::MOST_BYTES;
use crate::surface::OutgoingFile;
use chitin_guard::{LinkPolicy, ReadPolicy, WriteError};
use chitin_tools::files::safe_name;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// A file as a record names it.
#[derive(Debug, Serialize, Deserialize)]
struct Beside {
    /// What it is called.
    name: String,
    /// Its MIME type.
    mime: String,
    /// Its size.
    bytes: usize,
    /// Its name in `out/`.
    file: String,
}

impl Inbox {
    /// Writes the files of a message, each whole, and returns what its record says of them.
    pub(super) fn put_files(
        &self,
        digest: &str,
        files: &[OutgoingFile],
    ) -> Result<Value, WriteError> {
        let mut beside = Vec::new();
        for (number, file) in files.iter().enumerate() {
            let name = format!("{digest}-{}-{}", number + 1, safe_name(&file.name));
            self.root
                .replace(&Path::new(OUT).join(&name), &file.bytes)?;
            beside.push(Beside {
                name: file.name.clone(),
                mime: file.mime.clone(),
                bytes: file.bytes.len(),
                file: name,
            });
        }
        Ok(serde_json::to_value(beside).unwrap_or_default())
    }

    /// Reads a file that went with a message: by its name or number, or the only one.
    pub(super) fn fetch(
        &self,
        message_id: &str,
        which: Option<&str>,
    ) -> Result<OutgoingFile, String> {
        let none = || format!("There is no file at the message `{message_id}`.");
        let read = |name: &str, most: u64| {
            let policy = ReadPolicy {
                links: LinkPolicy::Refuse,
                ..ReadPolicy::inside(most)
            };
            let read = self.root.read(&Path::new(OUT).join(name), &policy);
            read.map_err(|error| format!("It cannot be read: {error}."))
        };
        let record = self.record_of(message_id).ok_or_else(none)?;
        let record: Record = serde_json::from_slice(&read(&record, MOST_BYTES)?.bytes)
            .map_err(|error| format!("The record is not whole: {error}."))?;
        let files = record.rest.get("files").cloned().ok_or_else(none)?;
        let mut files: Vec<Beside> =
            serde_json::from_value(files).map_err(|error| format!("{error}."))?;
        let at = match which {
            Some(which) => files
                .iter()
                .position(|file| file.name == which)
                .or_else(|| which.parse::<usize>().ok()?.checked_sub(1)),
            None if files.len() == 1 => Some(0),
            None => None,
        };
        let Some(at) = at.filter(|at| *at < files.len()) else {
            let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
            return Err(format!("Say which `file`: {}.", names.join(", ")));
        };
        let file = files.swap_remove(at);
        // A record that was changed by hand leads nowhere else.
        let most = u64::try_from(FILES.bytes).unwrap_or(u64::MAX);
        if file.file.contains(['/', '\\']) {
            return Err(none());
        }
        let bytes = read(&file.file, most)?.bytes;
        Ok(OutgoingFile {
            name: file.name,
            mime: file.mime,
            bytes: Arc::from(bytes),
        })
    }
}
