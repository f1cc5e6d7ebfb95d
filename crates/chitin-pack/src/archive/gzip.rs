//! Compression whose bytes are known beforehand (rule P29).

use flate2::Compression;
use flate2::GzBuilder;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{self, BufRead, BufReader, Read, Write};

/// The level that the recorded digests were made with.
const LEVEL: u32 = 6;
/// The operating system byte for "unknown".
const OS_UNKNOWN: u8 = 255;

/// Compresses what is written to it.
pub fn compress<W: Write>(out: W) -> GzEncoder<W> {
    GzBuilder::new()
        .mtime(0)
        .operating_system(OS_UNKNOWN)
        .write(out, Compression::new(LEVEL))
}

/// Decompresses one stream and refuses anything that stands after it: two readers must never see different files.
pub fn decompress<R: Read>(source: R) -> impl Read {
    OneStream {
        inner: Some(GzDecoder::new(BufReader::with_capacity(64 * 1024, source))),
    }
}

struct OneStream<R: Read> {
    inner: Option<GzDecoder<BufReader<R>>>,
}

impl<R: Read> Read for OneStream<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(decoder) = &mut self.inner else {
            return Ok(0);
        };
        if buffer.is_empty() {
            return Ok(0);
        }
        let count = decoder.read(buffer)?;
        if count == 0
            && let Some(decoder) = self.inner.take()
            && !decoder.into_inner().fill_buf()?.is_empty()
        {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "something stands after the compressed stream",
            ));
        }
        Ok(count)
    }
}
