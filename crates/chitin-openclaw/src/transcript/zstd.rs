//! Compressed records and archives.

use super::{MAX_RECORD_BYTES, Unreadable};
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// The most that comes out of one archive.
const MAX_ARCHIVE_BYTES: u64 = 16 << 30;

/// Returns what a compressed row holds.
pub(crate) fn decoded(frame: &[u8]) -> Result<Vec<u8>, Unreadable> {
    let mut decoder = StreamingDecoder::new(frame).map_err(|_| Unreadable::Damaged)?;
    let mut bytes = Vec::new();
    let mut bounded = (&mut decoder).take(MAX_RECORD_BYTES as u64 + 1);
    bounded
        .read_to_end(&mut bytes)
        .map_err(|_| Unreadable::Damaged)?;
    if bytes.len() > MAX_RECORD_BYTES {
        return Err(Unreadable::TooLong);
    }
    Ok(bytes)
}

/// Reads an archive piece by piece.
pub(crate) fn decoder<R: Read>(from: R) -> Result<impl Read, Unreadable> {
    let decoder = StreamingDecoder::new(from).map_err(|_| Unreadable::Damaged)?;
    Ok(decoder.take(MAX_ARCHIVE_BYTES))
}
