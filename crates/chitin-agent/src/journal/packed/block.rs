//! Blocks: what is written at one time, compressed with the end of what its segment holds before it.

use super::{LINE_START, MOST_MADE, SUM_DIGITS, sum};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// How far back compression looks.
const WINDOW: usize = 32 * 1024;
/// How much room is made at a time.
const STEP: usize = 64 * 1024;

/// The end of what a segment holds.
#[derive(Debug, Default)]
pub(super) struct Window(Vec<u8>);

/// A line of the file, as it is written.
#[derive(Debug)]
pub(in crate::journal) struct Block {
    /// The byte of the file at which its segment begins.
    pub(super) segment: u64,
    /// Counts the blocks of a segment from 0.
    pub(super) number: u32,
    compressed: Vec<u8>,
}

#[derive(Deserialize)]
struct Shape<'a> {
    p1: (u64, u32),
    #[serde(borrow)]
    z: &'a str,
    #[serde(rename = "sum")]
    _sum: IgnoredAny,
}

impl Window {
    fn add(&mut self, text: &[u8]) {
        let text = &text[text.len().saturating_sub(WINDOW)..];
        let keep = WINDOW - text.len();
        let gone = self.0.len().saturating_sub(keep);
        self.0.drain(..gone);
        self.0.extend_from_slice(text);
    }

    /// Returns a line with a text in it. Nothing if it cannot be compressed.
    pub(super) fn sealed(&mut self, segment: u64, number: u32, text: &str) -> Option<String> {
        let compressed = self.compressed(text.as_bytes())?;
        let mut line = format!("{{\"p1\":[{segment},{number}],\"z\":\"");
        STANDARD_NO_PAD.encode_string(compressed, &mut line);
        line.push('"');
        let sum = sum(line.as_bytes());
        line.push_str(",\"sum\":\"");
        line.push_str(&sum);
        line.push_str("\"}\n");
        self.add(text.as_bytes());
        Some(line)
    }

    fn compressed(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut compress = Compress::new(Compression::default(), false);
        if !self.0.is_empty() {
            compress.set_dictionary(&self.0).ok()?;
        }
        let mut out = Vec::with_capacity(text.len() / 3 + 64);
        loop {
            let done = usize::try_from(compress.total_in()).ok()?;
            let rest = text.get(done..)?;
            match compress
                .compress_vec(rest, &mut out, FlushCompress::Finish)
                .ok()?
            {
                Status::StreamEnd => return Some(out),
                Status::Ok | Status::BufError => out.reserve(STEP),
            }
        }
    }

    /// Returns the text of a block that follows.
    pub(super) fn opened(&mut self, block: &Block) -> Option<Vec<u8>> {
        let mut decompress = Decompress::new(false);
        if !self.0.is_empty() {
            decompress.set_dictionary(&self.0).ok()?;
        }
        let mut out = Vec::with_capacity(block.compressed.len() * 4 + 64);
        loop {
            let (done, before) = (usize::try_from(decompress.total_in()).ok()?, out.len());
            let rest = block.compressed.get(done..)?;
            let status = decompress.decompress_vec(rest, &mut out, FlushDecompress::Finish);
            match status.ok()? {
                Status::StreamEnd => break,
                // Room was there, and nothing came: the block ends too early.
                Status::Ok | Status::BufError if out.len() == before && out.capacity() > before => {
                    return None;
                }
                Status::Ok | Status::BufError => out.reserve(STEP),
            }
            if out.len() > MOST_MADE {
                return None;
            }
        }
        self.add(&out);
        Some(out)
    }
}

impl Block {
    /// Tells whether a line says that it is one.
    pub(in crate::journal) fn is_one(line: &[u8]) -> bool {
        line.starts_with(LINE_START)
    }

    /// Takes a line apart. Nothing for one that is damaged.
    pub(in crate::journal) fn read(line: &[u8]) -> Option<Self> {
        let said = line.strip_suffix(b"\"}")?;
        let (rest, said) = said.split_at_checked(said.len().checked_sub(SUM_DIGITS)?)?;
        let rest = rest.strip_suffix(b",\"sum\":\"")?;
        if sum(rest).as_bytes() != said {
            return None;
        }
        let shape: Shape<'_> = serde_json::from_slice(line).ok()?;
        Some(Self {
            segment: shape.p1.0,
            number: shape.p1.1,
            compressed: STANDARD_NO_PAD.decode(shape.z).ok()?,
        })
    }

    /// Returns the byte of the file at which its segment begins.
    pub(in crate::journal) const fn segment(&self) -> u64 {
        self.segment
    }

    /// Tells whether it is the first of its segment.
    pub(in crate::journal) const fn is_first(&self) -> bool {
        self.number == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_block_that_is_cut_or_bent_is_none() {
        let line = Window::default().sealed(7, 0, "what was said").unwrap();
        let line = line.trim_end().as_bytes();
        assert_eq!(Block::read(line).unwrap().segment(), 7);
        for at in 0..line.len() {
            assert!(Block::read(&line[..at]).is_none());
            let mut bent = line.to_vec();
            bent[at] ^= 1;
            let read = Block::read(&bent);
            assert!(read.is_none(), "{}", String::from_utf8_lossy(&bent));
        }
        let mut block = Block::read(line).unwrap();
        block.compressed.pop();
        assert_eq!(Window::default().opened(&block), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn every_text_comes_back(texts in prop::collection::vec("([a-c]{0,900}\n){0,90}", 1..5)) {
            let (mut writer, mut reader) = (Window::default(), Window::default());
            for (number, text) in (0..).zip(&texts) {
                let line = writer.sealed(0, number, text).unwrap();
                let block = Block::read(line.trim_end().as_bytes()).unwrap();
                prop_assert_eq!(reader.opened(&block).unwrap(), text.as_bytes());
            }
        }
    }
}
