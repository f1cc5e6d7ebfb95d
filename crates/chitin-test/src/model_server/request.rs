//! Requests as they came over the wire.

use std::io::{self, BufRead, Read};
use std::time::Instant;

/// No request that a test sends is larger.
const LARGEST_BODY: usize = 256 * 1024 * 1024;

/// A request, byte for byte.
#[derive(Debug, Clone)]
pub struct Captured {
    /// Such as `POST`.
    pub method: String,
    /// The path.
    pub path: String,
    /// The headers in order, names as they came.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// When its first byte was there.
    pub first_byte_at: Instant,
    /// When the client closed the connection before the answer was complete.
    pub closed_at: Option<Instant>,
    /// What the script's `expect` says against the request.
    pub complaint: Option<String>,
}

impl Captured {
    /// Returns a header's value; letter case does not matter.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the body as JSON; nothing when it is not.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Reads a request; nothing when the client is gone.
pub(super) fn read(reader: &mut impl BufRead) -> io::Result<Option<Captured>> {
    if reader.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let first_byte_at = Instant::now();
    let start = line(reader)?;
    let mut words = start.split(' ').map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Err(io::Error::other("no request line"));
    };
    let mut headers = Vec::new();
    loop {
        let text = line(reader)?;
        if text.is_empty() {
            break;
        }
        if let Some((name, value)) = text.split_once(':') {
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
    }
    let mut captured = Captured {
        method,
        path,
        headers,
        body: Vec::new(),
        first_byte_at,
        closed_at: None,
        complaint: None,
    };
    captured.body = match captured.header("content-length").map(str::parse::<usize>) {
        Some(Ok(length)) if length <= LARGEST_BODY => {
            let mut body = vec![0; length];
            reader.read_exact(&mut body)?;
            body
        }
        Some(_) => return Err(io::Error::other("a content-length that is no length")),
        None if captured.header("transfer-encoding").is_some() => chunked(reader)?,
        None => Vec::new(),
    };
    Ok(Some(captured))
}

fn chunked(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let length = usize::from_str_radix(line(reader)?.trim(), 16)
            .map_err(|_| io::Error::other("a chunk without a length"))?;
        if length > LARGEST_BODY - body.len() {
            return Err(io::Error::other("the body is too large"));
        }
        let mut piece = vec![0; length];
        reader.read_exact(&mut piece)?;
        line(reader)?;
        if length == 0 {
            return Ok(body);
        }
        body.extend(piece);
    }
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    reader.take(64 * 1024).read_until(b'\n', &mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
