//! Opening one file: the only calls that turn a name into a descriptor. Platform differences live here.

use super::root::Backend;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, OsString};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Never blocks on a FIFO, never becomes a controlling terminal, never leaks into a child, never follows a last link.
pub(super) const FILE_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

/// Opens a directory for listing.
pub(super) const LIST_FLAGS: OFlags = FILE_FLAGS.union(OFlags::DIRECTORY);

/// Opens a directory wherever its path leads; tells whether its names may be read.
pub(super) fn directory(path: &Path) -> Result<(OwnedFd, bool), Errno> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags | OFlags::RDONLY, Mode::empty()) {
        Ok(directory) => Ok((directory, true)),
        // Names in it can still be opened one by one.
        #[cfg(target_os = "linux")]
        Err(Errno::ACCESS) => Ok((
            rustix::fs::open(path, flags | OFlags::PATH, Mode::empty())?,
            false,
        )),
        Err(error) => Err(error),
    }
}

/// Returns the path of an open directory with every link resolved.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub(super) fn real_path(directory: &OwnedFd, given: &Path) -> std::io::Result<PathBuf> {
    #[cfg(target_os = "linux")]
    if let Ok(real) = rustix::fs::readlink(
        format!("/proc/self/fd/{}", directory.as_raw_fd()),
        Vec::new(),
    ) {
        return Ok(PathBuf::from(OsString::from_vec(real.into_bytes())));
    }
    let _ = directory;
    std::fs::canonicalize(given)
}

/// Why an open gave no descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenFailure {
    Missing,
    /// A link is on the way, or the path leaves the root: a policy must decide.
    LinkOrEscape,
    NotAFile,
    /// The kernel kept seeing renames.
    Unstable,
    Io(Errno),
}

impl From<Errno> for OpenFailure {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOENT | Errno::NOTDIR => Self::Missing,
            Errno::LOOP | Errno::XDEV => Self::LinkOrEscape,
            Errno::NXIO | Errno::NODEV => Self::NotAFile,
            Errno::AGAIN => Self::Unstable,
            other => Self::Io(other),
        }
    }
}

/// Opens `relative` beneath `root`, following no link at all.
pub(super) fn beneath(
    root: BorrowedFd<'_>,
    relative: &Path,
    backend: Backend,
    flags: OFlags,
) -> Result<OwnedFd, OpenFailure> {
    #[cfg(target_os = "linux")]
    if backend == Backend::Kernel && !kernel::is_missing() {
        match kernel::open(root, relative, flags) {
            Err(Errno::NOSYS | Errno::PERM) if kernel::probe_missing(root) => {}
            result => return result.map_err(OpenFailure::from),
        }
    }
    let _ = backend;
    portable::open(root, relative, flags)
}

/// Opens a path wherever it leads. Only the policy that says so may call this.
pub(super) fn anywhere(path: &Path) -> Result<OwnedFd, OpenFailure> {
    Ok(rustix::fs::open(path, FILE_FLAGS, Mode::empty())?)
}

/// Visits the names in an open directory until `visit` says no; tells whether all were visited.
pub(super) fn each_name(
    directory: &OwnedFd,
    mut visit: impl FnMut(&CStr, FileType) -> bool,
) -> Result<bool, Errno> {
    // Some file systems do not say what a name is; then it is looked at.
    let known = |name: &CStr, kind: FileType| match kind {
        FileType::Unknown => rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_or(FileType::Unknown, |stat| {
                FileType::from_raw_mode(stat.st_mode)
            }),
        known => known,
    };
    #[cfg(target_os = "linux")]
    {
        let mut buffer = [const { std::mem::MaybeUninit::uninit() }; 8192];
        let mut reader = rustix::fs::RawDir::new(directory, &mut buffer);
        while let Some(entry) = reader.next() {
            let entry = entry?;
            if !visit(
                entry.file_name(),
                known(entry.file_name(), entry.file_type()),
            ) {
                return Ok(false);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        if !visit(
            entry.file_name(),
            known(entry.file_name(), entry.file_type()),
        ) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads an open file up to the size that it had when it was looked at, and at most `max` bytes. What is appended while
/// this runs changes the file's fingerprint and is read the next time.
pub(super) fn read_up_to(file: &OwnedFd, size: u64, max: u64) -> Result<Vec<u8>, Errno> {
    let wanted = usize::try_from(size.min(max)).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(wanted);
    while bytes.len() < wanted {
        match rustix::io::read(file, rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(wanted);
    Ok(bytes)
}

/// Tells whether an open regular file holds exactly these bytes, or starts with them if `prefix`.
pub(super) fn holds(file: &OwnedFd, mut known: &[u8], prefix: bool) -> bool {
    let mut buffer = [0_u8; 8192];
    let mut at = 0;
    loop {
        match rustix::io::pread(file, &mut buffer, at) {
            Ok(n) => {
                at += n as u64;
                let shared = n.min(known.len());
                if buffer[..shared] != known[..shared] {
                    return false;
                }
                known = &known[shared..];
                if shared < n {
                    return prefix;
                }
                if n < buffer.len() {
                    return known.is_empty();
                }
            }
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use super::{BorrowedFd, Errno, Mode, OFlags, OwnedFd, Path};
    use rustix::fs::ResolveFlags;
    use std::os::unix::ffi::OsStrExt;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Set once the kernel (or a filter in front of it) has shown that it does not know the call.
    static MISSING: AtomicBool = AtomicBool::new(false);

    const RESOLVE: ResolveFlags = ResolveFlags::BENEATH
        .union(ResolveFlags::NO_SYMLINKS)
        .union(ResolveFlags::NO_MAGICLINKS);

    /// A rename elsewhere in the tree makes the kernel give up with `EAGAIN`; that is worth a few more tries.
    const RETRIES: usize = 16;

    pub(super) fn is_missing() -> bool {
        MISSING.load(Ordering::Relaxed)
    }

    pub(super) fn open(
        root: BorrowedFd<'_>,
        relative: &Path,
        flags: OFlags,
    ) -> Result<OwnedFd, Errno> {
        // A single name cannot leave the directory it is looked up in, and the flags keep it from being followed: the
        // plain call gives the same guarantee and is a tenth cheaper. Not for directories: there the plain call says
        // "not a directory" of a link, and a link must never look like something that is missing.
        if is_single_name(relative)
            && !(flags.contains(OFlags::DIRECTORY) && relative != Path::new("."))
        {
            return rustix::fs::openat(root, relative, flags | OFlags::NOFOLLOW, Mode::empty());
        }
        // Without that flag the call itself refuses a link at the end, and says that it is one.
        let flags = flags.difference(OFlags::NOFOLLOW);
        for _ in 0..RETRIES {
            match rustix::fs::openat2(root, relative, flags, Mode::empty(), RESOLVE) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                result => return result,
            }
        }
        Err(Errno::AGAIN)
    }

    fn is_single_name(relative: &Path) -> bool {
        let name = relative.as_os_str().as_bytes();
        !name.is_empty() && name != b".." && !name.contains(&b'/')
    }

    /// Tells a missing call from a file that may not be opened: the root itself can always be reopened.
    pub(super) fn probe_missing(root: BorrowedFd<'_>) -> bool {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let missing = matches!(
            rustix::fs::openat2(root, ".", flags, Mode::empty(), RESOLVE),
            Err(Errno::NOSYS | Errno::PERM)
        );
        if missing {
            MISSING.store(true, Ordering::Relaxed);
        }
        missing
    }
}

mod portable {
    use super::{BorrowedFd, OFlags, OpenFailure, OwnedFd, Path};
    use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
    use rustix::io::Errno;
    use std::io;
    use std::path::PathBuf;

    /// `cap-std` never leaves the root but follows links inside it; the policy wants to see them first.
    pub(super) fn open(
        root: BorrowedFd<'_>,
        relative: &Path,
        flags: OFlags,
    ) -> Result<OwnedFd, OpenFailure> {
        let root = Dir::from(root.try_clone_to_owned().map_err(|e| failure(&e))?);
        let mut so_far = PathBuf::new();
        for component in relative.components() {
            so_far.push(component);
            let metadata = root.symlink_metadata(&so_far).map_err(|e| failure(&e))?;
            if metadata.is_symlink() {
                return Err(OpenFailure::LinkOrEscape);
            }
        }
        // Not `open_dir`: what that gives may be good for looking up names only, not for listing them.
        let mut options = OpenOptions::new();
        let extra = flags.difference(OFlags::RWMODE);
        options
            .read(true)
            .custom_flags(i32::try_from(extra.bits()).unwrap_or(0));
        root.open_with(relative, &options)
            .map(OwnedFd::from)
            .map_err(|e| failure(&e))
    }

    fn failure(error: &io::Error) -> OpenFailure {
        match (error.raw_os_error(), error.kind()) {
            (Some(code), _) => Errno::from_raw_os_error(code).into(),
            (None, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => OpenFailure::Missing,
            // An escape is `cap-std`'s own error, without a number of the operating system.
            (None, _) => OpenFailure::LinkOrEscape,
        }
    }
}
