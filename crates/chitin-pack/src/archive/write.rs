//! Files in, archive out.

use super::header::{self, BLOCK, HeaderKind, TRAILER};
use super::path::{self, SeenPaths};
use crate::error::{ErrorClass, PackError};
use std::io::{self, Read, Write};

const ZEROS: [u8; TRAILER] = [0; TRAILER];

/// Writes files, which must come sorted by the bytes of their paths, each directory before the first file in it.
#[derive(Debug)]
pub struct TarWriter<W> {
    out: W,
    previous: String,
    seen: SeenPaths,
    buffer: Vec<u8>,
}

impl<W: Write> TarWriter<W> {
    /// Begins an archive.
    pub fn new(out: W) -> Self {
        Self {
            out,
            previous: String::new(),
            seen: SeenPaths::default(),
            buffer: vec![0; 64 * 1024],
        }
    }

    /// Adds a file of exactly `size` bytes.
    pub fn file(
        &mut self,
        path: &str,
        executable: bool,
        size: u64,
        content: &mut (impl Read + ?Sized),
    ) -> Result<(), PackError> {
        path::check(path)?;
        self.seen.add(path)?;
        if let Some(parent) = self.seen.file_above(path) {
            let message = format!("`{parent}` is both a file and a directory");
            return Err(PackError::new(ErrorClass::DuplicatePath, message));
        }
        debug_assert!(
            path.as_bytes() > self.previous.as_bytes(),
            "`{path}` comes too late"
        );
        for (end, _) in path.match_indices('/') {
            let directory = &path[..=end];
            if !self.previous.starts_with(directory) {
                self.entry(directory, HeaderKind::Directory, false, 0)?;
            }
        }
        path.clone_into(&mut self.previous);
        self.entry(path, HeaderKind::File, executable, size)?;
        self.content(path, size, content)
    }

    /// Adds bytes that are whole entries already, as they are. The next file comes after `last`, whose directories are there.
    pub(crate) fn raw(&mut self, entries: &mut impl Read, last: &str) -> Result<(), PackError> {
        last.clone_into(&mut self.previous);
        let copied = io::copy(entries, &mut self.out);
        copied.map(|_| ()).map_err(unwritten)
    }

    /// Ends the archive.
    pub fn finish(mut self) -> Result<W, PackError> {
        self.seen.finish()?;
        self.out.write_all(&ZEROS).map_err(unwritten)?;
        Ok(self.out)
    }

    fn entry(
        &mut self,
        path: &str,
        kind: HeaderKind,
        executable: bool,
        size: u64,
    ) -> Result<(), PackError> {
        if let Some(header) = header::build(path, kind, executable, size) {
            return self.out.write_all(&header).map_err(unwritten);
        }
        let facts = extended("path", path);
        let length = facts.len() as u64;
        let short = shortened(path);
        let headers = [
            header::build("././@PaxHeader", HeaderKind::Extended, false, length),
            header::build(&short, kind, executable, size),
        ];
        let [Some(extended), Some(plain)] = headers else {
            let message = format!("`{}` does not fit into an archive", path.escape_debug());
            return Err(PackError::new(ErrorClass::PathTooLong, message));
        };
        self.out.write_all(&extended).map_err(unwritten)?;
        self.out.write_all(facts.as_bytes()).map_err(unwritten)?;
        self.pad(length)?;
        self.out.write_all(&plain).map_err(unwritten)
    }

    fn content(
        &mut self,
        path: &str,
        size: u64,
        content: &mut (impl Read + ?Sized),
    ) -> Result<(), PackError> {
        let changed = || {
            PackError::new(
                ErrorClass::Io,
                format!("`{}` changed while it was packed", path.escape_debug()),
            )
            .hint("pack again when no other program writes to the directory")
        };
        let mut left = size;
        loop {
            let count = match content.read(&mut self.buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let message = format!("`{}` cannot be read", path.escape_debug());
                    return Err(PackError::new(ErrorClass::Io, message).caused_by(error));
                }
            };
            if count == 0 {
                break;
            }
            left = left.checked_sub(count as u64).ok_or_else(changed)?;
            self.out
                .write_all(&self.buffer[..count])
                .map_err(unwritten)?;
        }
        if left > 0 {
            return Err(changed());
        }
        self.pad(size)
    }

    fn pad(&mut self, size: u64) -> Result<(), PackError> {
        let over = usize::try_from(size % BLOCK as u64).unwrap_or(0);
        if over > 0 {
            self.out.write_all(&ZEROS[over..BLOCK]).map_err(unwritten)?;
        }
        Ok(())
    }
}

fn unwritten(error: io::Error) -> PackError {
    PackError::new(ErrorClass::Io, "a layer cannot be written").caused_by(error)
}

/// One record of an extended header: its own length, counted with the digits of that length, then key and value.
fn extended(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len();
    while rest.len() + length.to_string().len() != length {
        length = rest.len() + length.to_string().len();
    }
    format!("{length}{rest}")
}

/// The beginning of a path, as much as a name field holds of whole characters.
fn shortened(path: &str) -> String {
    let mut end = path.len().min(100);
    while !path.is_char_boundary(end) {
        end -= 1;
    }
    path[..end].to_owned()
}
