//! Bytes to text, the same way for every file.

use crate::snapshot::FileContent;
use chitin_guard::FileRead;

/// Decodes UTF-8 with U+FFFD for each maximal broken part. Nothing is trimmed; BOM, CR and NUL stay.
pub fn decode(read: FileRead) -> FileContent {
    let (text, invalid) = match String::from_utf8(read.bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            (text, Some(error.into_bytes().into_boxed_slice()))
        }
    };
    FileContent {
        text: text.into_boxed_str(),
        invalid,
        oversize: read.oversize,
        fingerprint: read.fingerprint,
        mode: read.mode,
    }
}
