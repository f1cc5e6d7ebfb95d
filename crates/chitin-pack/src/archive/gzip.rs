//! Compression whose bytes are known beforehand (rule P29).

use flate2::bufread::GzDecoder;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use std::io::{self, BufRead, BufReader, Read, Write};

/// The level that the recorded digests were made with.
const LEVEL: u32 = 6;
/// No flags, no time, no extra flags, and the operating system byte for "unknown".
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// How far the compressor looks back. It reads twice that much first, and then that much each time.
const WINDOW: usize = 32 * 1024;
/// More than it can have to say about what one step gave it.
const ROOM: usize = 8 * WINDOW;

/// Compresses what is written to it.
pub fn compress<W: Write>(out: W) -> Compressor<W> {
    Compressor {
        out,
        deflate: Compress::new(Compression::new(LEVEL), false),
        crc: Crc::new(),
        waiting: Vec::with_capacity(2 * WINDOW),
        step: 2 * WINDOW,
        said: Vec::with_capacity(ROOM),
        begun: false,
    }
}

/// Compresses a stream in the steps in which the compressor itself would take it.
///
/// At this level the compressor looks one match ahead, and only as far as what it was given: fed with other pieces, or
/// with too little room for its answer, it finds other matches. So the bytes would depend on how somebody happened to
/// write. Here they do not: they are those of the whole input given at once.
pub struct Compressor<W> {
    out: W,
    deflate: Compress,
    crc: Crc,
    /// What was written and not yet given to the compressor.
    waiting: Vec<u8>,
    /// How much it takes next.
    step: usize,
    said: Vec<u8>,
    begun: bool,
}

impl<W: Write> Compressor<W> {
    /// Ends the stream and returns what it was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.give(FlushCompress::Finish)?;
        self.out.write_all(&self.crc.sum().to_le_bytes())?;
        self.out.write_all(&self.crc.amount().to_le_bytes())?;
        Ok(self.out)
    }

    fn give(&mut self, flush: FlushCompress) -> io::Result<()> {
        if !self.begun {
            self.out.write_all(&HEADER)?;
            self.begun = true;
        }
        let mut given = 0;
        loop {
            let before = self.deflate.total_in();
            let rest = &self.waiting[given..];
            let status = self.deflate.compress_vec(rest, &mut self.said, flush)?;
            given += usize::try_from(self.deflate.total_in() - before).unwrap_or(rest.len());
            self.out.write_all(&self.said)?;
            let idle = self.said.is_empty();
            self.said.clear();
            let done = match flush {
                FlushCompress::Finish => status == Status::StreamEnd,
                _ => given == self.waiting.len(),
            };
            if done {
                break;
            }
            if idle && self.deflate.total_in() == before {
                return Err(io::Error::other("the compressor does not go on"));
            }
        }
        self.crc.update(&self.waiting);
        self.waiting.clear();
        self.step = WINDOW;
        Ok(())
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.step - self.waiting.len());
        self.waiting.extend_from_slice(&bytes[..taken]);
        // The last step is the one that ends the stream, so a full one waits until there is more.
        if taken == 0 && !bytes.is_empty() {
            self.give(FlushCompress::None)?;
            return self.write(bytes);
        }
        Ok(taken)
    }

    /// Nothing is said before its time: that would change the bytes.
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W> std::fmt::Debug for Compressor<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Compressor");
        shown.field("waiting", &self.waiting.len());
        shown.finish_non_exhaustive()
    }
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
                "there is data after the compressed stream",
            ));
        }
        Ok(count)
    }
}
