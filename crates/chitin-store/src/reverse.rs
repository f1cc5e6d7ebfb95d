//! Lines of a file, the last one first.

use crate::disk::File;
use crate::store::StoreError;
use memchr::memrchr;

/// A line longer than this is damaged, and not held in memory.
pub(crate) const MAX_LINE_BYTES: u64 = 64 << 20;
/// How much is read first; then twice as much each time.
const FIRST_CHUNK: u64 = 64 << 10;
const LARGEST_CHUNK: u64 = 4 << 20;

/// Lines of a file, the last one first. Only as much is read as is asked for, rounded up.
pub(crate) struct ReverseLines<'f> {
    file: &'f File,
    /// Where in the file the buffer begins.
    offset: u64,
    buffer: Vec<u8>,
    /// What of the buffer was not handed out yet.
    unread: usize,
    /// What of that holds no line end for sure, at its end.
    searched: usize,
    /// How many bytes of an overlong line were thrown away.
    thrown: u64,
    chunk: u64,
    done: bool,
}

/// A line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReversedLine<'a> {
    /// Where it begins.
    pub(crate) offset: u64,
    /// How long it is, without its line end.
    pub(crate) bytes: u64,
    /// What it says; nothing when it is too long.
    pub(crate) text: Option<&'a [u8]>,
}

impl<'f> ReverseLines<'f> {
    /// Takes lines from before a place on. The byte before it, if it is a line end, ends the first line.
    pub(crate) fn before(file: &'f File, end: u64) -> Result<Self, StoreError> {
        let mut lines = Self {
            file,
            offset: end,
            buffer: Vec::new(),
            unread: 0,
            searched: 0,
            thrown: 0,
            chunk: FIRST_CHUNK,
            done: end == 0,
        };
        if !lines.done {
            lines.grow()?;
            if lines.buffer.last() == Some(&b'\n') {
                lines.unread -= 1;
            }
        }
        Ok(lines)
    }

    /// Returns the line before the one that was returned last.
    pub(crate) fn next_line(&mut self) -> Result<Option<ReversedLine<'_>>, StoreError> {
        if self.done {
            return Ok(None);
        }
        loop {
            let unsearched = self.unread - self.searched;
            let found = memrchr(b'\n', &self.buffer[..unsearched]);
            let start = match found {
                Some(at) => at + 1,
                None if self.offset == 0 => 0,
                None => {
                    self.searched = self.unread;
                    if self.unread as u64 > MAX_LINE_BYTES {
                        self.thrown += self.unread as u64;
                        self.unread = 0;
                        self.searched = 0;
                    }
                    self.grow()?;
                    continue;
                }
            };
            let end = self.unread;
            let bytes = (end - start) as u64 + self.thrown;
            let is_whole = self.thrown == 0;
            self.thrown = 0;
            self.searched = 0;
            match found {
                Some(at) => self.unread = at,
                None => self.done = true,
            }
            return Ok(Some(ReversedLine {
                offset: self.offset + start as u64,
                bytes,
                text: is_whole.then(|| &self.buffer[start..end]),
            }));
        }
    }

    /// Reads what comes before the buffer.
    fn grow(&mut self) -> Result<(), StoreError> {
        let take = self.chunk.min(self.offset);
        self.chunk = (self.chunk * 2).min(LARGEST_CHUNK);
        let length = usize::try_from(take).unwrap_or_default();
        let mut buffer = vec![0; length + self.unread];
        let read = self
            .file
            .read_at(&mut buffer[..length], self.offset - take)?;
        if read < length {
            return Err(crate::disk::damaged(
                self.file.path().to_path_buf(),
                "it became shorter while it was read",
            ));
        }
        buffer[length..].copy_from_slice(&self.buffer[..self.unread]);
        self.buffer = buffer;
        self.unread += length;
        self.offset -= take;
        Ok(())
    }
}
