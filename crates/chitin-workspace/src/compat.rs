//! Interface strings of OpenClaw that no single part owns.

use chitin_protocol::record::FileRefusal;

/// The port that OpenClaw's own gateway listens on, unless told otherwise.
pub const OPENCLAW_PORT: u16 = 18789;

/// What 2026.9.6 puts in place of a file that it does not read.
pub fn unreadable(reason: FileRefusal, max_bytes: Option<u64>) -> String {
    let because = match reason {
        FileRefusal::LinkNotAllowed
        | FileRefusal::OutsideRoot
        | FileRefusal::Dangling
        | FileRefusal::Loop => "symlink path component not allowed".to_owned(),
        FileRefusal::NotAFile => "path does not have the required file type".to_owned(),
        FileRefusal::Hardlinked => "path must not be hardlinked".to_owned(),
        FileRefusal::TooLarge => format!("File exceeds {} bytes", max_bytes.unwrap_or_default()),
        FileRefusal::Unstable => "path changed while it was read".to_owned(),
        FileRefusal::Unreadable => "file cannot be read".to_owned(),
    };
    format!("[UNREADABLE: {because}]")
}
