//! A file that is read piece by piece, for those who do not want all of it.

use super::fingerprint::Fingerprint;
use super::policy::ReadPolicy;
use super::root::{ReadError, Root};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// An open file that passed the guard's judgement.
#[derive(Debug)]
pub struct Reader {
    file: File,
    /// The fingerprint of the open file.
    pub fingerprint: Fingerprint,
    /// Permission bits.
    pub mode: u32,
    /// The real path of the file, when a link led there.
    pub linked_to: Option<PathBuf>,
}

impl Root {
    /// Opens a file beneath the root to read it piece by piece. Nothing beyond the policy's bound is kept from the reader,
    /// unless the policy refuses larger files.
    pub fn open_reader(&self, relative: &Path, policy: &ReadPolicy) -> Result<Reader, ReadError> {
        let opened = self.open_file(relative, &policy.links)?;
        let stat = rustix::fs::fstat(&opened.file).map_err(|e| self.io(relative, e))?;
        self.judge(relative, &stat, policy)?;
        Ok(Reader {
            file: opened.file.into(),
            fingerprint: Fingerprint::from(&stat),
            mode: stat.st_mode & 0o7777,
            linked_to: opened.linked_to,
        })
    }
}

impl Reader {
    /// Reads from a place in the file, whatever was read before; zero at its end.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, buffer, offset)
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for Reader {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}
