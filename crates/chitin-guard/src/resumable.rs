//! A file that grows over several runs under a name of its own, and takes its last name when it is whole.

use super::fingerprint::file_type;
use super::root::Root;
use super::write::{WriteError, sync_directory};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;

/// How often a name may change hands while it is being opened.
const MAX_ATTEMPTS: usize = 16;

/// An unfinished file that this process alone may write to. Dropped, it stays for the next one.
#[derive(Debug)]
pub struct GrowingFile {
    file: File,
    parent: OwnedFd,
    name: OsString,
}

impl Root {
    /// Opens an unfinished file, or makes an empty one. `None` when somebody else is writing to it.
    pub fn grow_file(&self, relative: &Path, mode: u32) -> Result<Option<GrowingFile>, WriteError> {
        let fail = |error: Errno| self.write_error(relative, error);
        let (parent, name) = self.parent_of(relative)?;
        let flags = OFlags::RDWR
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY
            | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode & 0o777);
        for _ in 0..MAX_ATTEMPTS {
            let file = match rustix::fs::openat(&parent, name, flags, mode) {
                Ok(file) => file,
                Err(Errno::LOOP) => return Err(self.not_beneath(relative)),
                Err(error) => return Err(fail(error)),
            };
            let held = rustix::fs::fstat(&file).map_err(fail)?;
            if file_type(&held) != FileType::RegularFile || held.st_nlink > 1 {
                return Err(self.not_beneath(relative));
            }
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::INTR) => continue,
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(fail(error)),
            }
            // Whoever had it before may have finished it or thrown it away; then the name is free or another file's.
            match rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(named) if (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino) => {
                    return Ok(Some(GrowingFile {
                        file: file.into(),
                        parent,
                        name: name.to_owned(),
                    }));
                }
                Ok(_) | Err(Errno::NOENT) => {}
                Err(error) => return Err(fail(error)),
            }
        }
        Err(fail(Errno::AGAIN))
    }

    /// Gives a file that is whole its last name, also where a file stands under it. Once this returns, it survives a crash.
    pub fn keep_grown(&self, grown: &GrowingFile, relative: &Path) -> Result<(), WriteError> {
        let fail = |error: Errno| self.write_error(relative, error);
        let (parent, name) = self.parent_of(relative)?;
        rustix::fs::fsync(&grown.file).map_err(fail)?;
        rustix::fs::renameat(&grown.parent, &grown.name, &parent, name).map_err(fail)?;
        sync_directory(&parent);
        Ok(())
    }
}

impl GrowingFile {
    /// Returns the open file.
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Throws the file away.
    pub fn discard(self) {
        // The claim is still held: the name is this file's.
        let _ = rustix::fs::unlinkat(&self.parent, &self.name, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, linkat, mknodat, symlinkat};
    use std::io::Write;
    use tempfile::TempDir;

    fn root() -> (TempDir, Root) {
        let directory = TempDir::new().unwrap();
        let root = Root::open(directory.path()).unwrap();
        (directory, root)
    }

    #[test]
    fn a_file_grows_for_one_at_a_time_and_takes_its_last_name_whole() {
        let (_directory, root) = root();
        let (part, whole) = (Path::new("part"), Path::new("whole"));
        let first = root.grow_file(part, 0o644).unwrap().unwrap();
        first.file().write_all(b"one ").unwrap();
        assert!(root.grow_file(part, 0o644).unwrap().is_none());
        drop(first);
        root.write_new(whole, b"damaged").unwrap();
        let mut second = root.grow_file(part, 0o644).unwrap().unwrap();
        std::io::Seek::seek(&mut second.file, std::io::SeekFrom::End(0)).unwrap();
        second.file().write_all(b"two").unwrap();
        root.keep_grown(&second, whole).unwrap();
        let read = root.read(whole, &super::super::ReadPolicy::inside(100));
        assert_eq!(read.unwrap().bytes, b"one two");
        assert_eq!(root.kind(part), None);
    }

    #[test]
    fn links_second_names_and_pipes_are_refused() {
        let (directory, root) = root();
        let at = |name: &str| directory.path().join(name);
        root.write_new(Path::new("outside"), b"kept").unwrap();
        symlinkat("outside", CWD, at("link")).unwrap();
        linkat(CWD, at("outside"), CWD, at("second"), AtFlags::empty()).unwrap();
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for name in ["link", "second", "pipe", "../elsewhere", "/elsewhere"] {
            assert!(root.grow_file(Path::new(name), 0o644).is_err(), "{name}");
        }
    }
}
