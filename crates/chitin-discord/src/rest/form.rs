//! A message with files, as a form of several parts.

use serde_json::Value;

/// A file that is sent.
#[derive(Debug, Clone)]
pub(crate) struct Upload {
    pub(crate) name: String,
    pub(crate) mime: String,
    pub(crate) bytes: bytes::Bytes,
}

/// Writes a form: the message, then the files. Returns it with its type. The boundary is made of what is in it, so that it is not in it
/// by chance, nor by somebody's will.
pub(crate) fn write(message: &Value, files: &[Upload]) -> (String, Vec<u8>) {
    let message = message.to_string();
    let boundary = boundary(&message, files);
    let size: usize = files.iter().map(|file| file.bytes.len() + 512).sum();
    let mut form = Vec::with_capacity(size + message.len() + 512);
    let mut part = |head: &str, mime: &str, content: &[u8]| {
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; {head}\r\nContent-Type: {mime}\r\n\r\n"
        );
        form.extend_from_slice(head.as_bytes());
        form.extend_from_slice(content);
        form.extend_from_slice(b"\r\n");
    };
    part(
        "name=\"payload_json\"",
        "application/json",
        message.as_bytes(),
    );
    for (index, file) in files.iter().enumerate() {
        let head = format!(
            "name=\"files[{index}]\"; filename=\"{}\"",
            quoted(&file.name)
        );
        part(&head, &mime(&file.mime), &file.bytes);
    }
    form.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), form)
}

fn boundary(message: &str, files: &[Upload]) -> String {
    use sha2::{Digest, Sha256};
    let mut digest = Sha256::new();
    digest.update(message.as_bytes());
    for file in files {
        digest.update(&file.bytes);
    }
    let digest = digest.finalize();
    format!("chitin{}", crate::ids::hex(&digest, 16))
}

/// A name cannot end its quotes, nor the line.
fn quoted(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_control() || matches!(c, '"' | '\\') {
                '_'
            } else {
                c
            }
        })
        .collect()
}

/// A type that is none is any type.
fn mime(mime: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "!#$&-^_.+/; =".contains(c);
    if mime.contains('/') && mime.chars().all(plain) {
        mime.to_owned()
    } else {
        "application/octet-stream".to_owned()
    }
}
