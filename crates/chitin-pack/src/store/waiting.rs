//! A file without a name: bytes that wait to be read again, and are gone with the process.

use super::{BLOBS, Store, unwritable};
use crate::error::PackError;
use chitin_workspace::guard::NewFile;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes that wait.
#[derive(Debug)]
pub(crate) struct Waiting {
    file: NewFile,
    end: u64,
}

/// A part of what waits.
#[derive(Debug)]
pub(crate) struct Part<'w> {
    waiting: &'w Waiting,
    at: u64,
    left: u64,
}

impl Store {
    pub(crate) fn begin_waiting(&self) -> Result<Waiting, PackError> {
        let file = self.root.begin_file(Path::new(BLOBS), 0o600);
        Ok(Waiting {
            file: file.map_err(unwritable)?,
            end: 0,
        })
    }
}

impl Waiting {
    /// Returns where the next byte goes.
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    pub(crate) const fn part(&self, at: u64, size: u64) -> Part<'_> {
        Part {
            waiting: self,
            at,
            left: size,
        }
    }
}

impl Write for Waiting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.end += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let count = self
            .waiting
            .file
            .file()
            .read_at(&mut buffer[..most], self.at)?;
        self.at += count as u64;
        self.left -= count as u64;
        Ok(count)
    }
}
