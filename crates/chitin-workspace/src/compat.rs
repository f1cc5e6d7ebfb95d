//! Interface strings of OpenClaw that no single part owns.

use chitin_protocol::record::Refusal;

/// The port that OpenClaw's own gateway listens on, unless told otherwise.
pub const OPENCLAW_PORT: u16 = 18789;

/// What 2026.9.6 puts in place of a file that it does not read.
pub fn unreadable(reason: Refusal, max_bytes: Option<u64>) -> String {
    let because = match reason {
        Refusal::LinkNotAllowed | Refusal::OutsideRoot | Refusal::Dangling | Refusal::Loop => {
            "symlink path component not allowed".to_owned()
        }
        Refusal::NotAFile => "path does not have the required file type".to_owned(),
        Refusal::Hardlinked => "path must not be hardlinked".to_owned(),
        Refusal::TooLarge => format!("File exceeds {} bytes", max_bytes.unwrap_or_default()),
        Refusal::Unstable => "path changed while it was read".to_owned(),
        Refusal::Unreadable => "file cannot be read".to_owned(),
    };
    format!("[UNREADABLE: {because}]")
}
