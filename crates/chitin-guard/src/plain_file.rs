//! Files that a user names for keys, authorities, scripts and recordings. They lie anywhere, and links to them are the user's own, so there is
//! no root to stay beneath; what is opened must be a plain file of bounded size.

use rustix::fs::{FileType, Mode, OFlags};
use rustix::process::getuid;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// A file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// It cannot be opened or read.
    #[error("`{}` cannot be read: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        message: String,
    },
    /// It cannot be written.
    #[error("`{}` cannot be written: {message}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        message: String,
    },
    /// It is a directory, a device or the like.
    #[error("`{}` is not a plain file", path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// It is larger than such a file is.
    #[error("`{}` has more than {most} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        most: u64,
    },
    /// Others may read it.
    #[error("`{}` can be read by others (mode {mode:04o}): a key file must be private", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It belongs to somebody else.
    #[error("`{}` belongs to another user", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
}

/// Reads a text file of bounded size.
pub fn read(path: &Path, most: u64) -> Result<String, FileProblem> {
    read_from(&open(path)?, path, most)
}

/// Reads a file of bounded size.
pub fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, FileProblem> {
    let mut bytes = Vec::new();
    let read = open(path)?
        .take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(path, &error))?;
    if read as u64 > most {
        return Err(FileProblem::TooLarge {
            path: path.to_path_buf(),
            most,
        });
    }
    Ok(bytes)
}

/// Reads a text file that only its owner may read. The file that is looked at is the file that is read.
pub fn read_private(path: &Path, most: u64) -> Result<String, FileProblem> {
    let file = open(path)?;
    let stat = rustix::fs::fstat(&file).map_err(|error| unreadable(path, &error.into()))?;
    let mode = stat.st_mode & 0o7777;
    if mode & 0o077 != 0 {
        return Err(FileProblem::Exposed {
            path: path.to_path_buf(),
            mode,
        });
    }
    if stat.st_uid != getuid().as_raw() && stat.st_uid != 0 {
        return Err(FileProblem::Foreign {
            path: path.to_path_buf(),
        });
    }
    read_from(&file, path, most)
}

/// Puts a line at the end of a file that only its owner may read; it is made when it is not there.
pub fn append_line(path: &Path, line: &str) -> Result<(), FileProblem> {
    let flags =
        OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let fail = |error: std::io::Error| FileProblem::Unwritable {
        path: path.to_path_buf(),
        message: error.to_string(),
    };
    let mode = Mode::RUSR | Mode::WUSR;
    let file = rustix::fs::open(path, flags, mode).map_err(|error| fail(error.into()))?;
    plain(&file, path)?;
    // One write, so that two recorders do not mix their lines.
    File::from(file)
        .write_all(format!("{line}\n").as_bytes())
        .map_err(fail)
}

fn open(path: &Path) -> Result<File, FileProblem> {
    // Opening a pipe must not wait for somebody to write to it.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty())
        .map_err(|error| unreadable(path, &error.into()))?;
    plain(&file, path)?;
    Ok(File::from(file))
}

fn plain(file: impl AsFd, path: &Path) -> Result<(), FileProblem> {
    let stat = rustix::fs::fstat(file).map_err(|error| unreadable(path, &error.into()))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        _ => Err(FileProblem::NotAFile {
            path: path.to_path_buf(),
        }),
    }
}

fn read_from(file: &File, path: &Path, most: u64) -> Result<String, FileProblem> {
    let mut text = String::new();
    let read = file
        .take(most + 1)
        .read_to_string(&mut text)
        .map_err(|error| unreadable(path, &error))?;
    if read as u64 > most {
        return Err(FileProblem::TooLarge {
            path: path.to_path_buf(),
            most,
        });
    }
    Ok(text)
}

fn unreadable(path: &Path, error: &std::io::Error) -> FileProblem {
    FileProblem::Unreadable {
        path: path.to_path_buf(),
        message: error.to_string(),
    }
}
