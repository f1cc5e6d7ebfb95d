//! Bytes from one file to another.

use super::{File, damaged};
use crate::store::StoreError;

/// How much is held in memory at a time.
const CHUNK: usize = 1 << 20;

/// Copies bytes of a file to the end of another, in the kernel if it can.
pub(crate) fn copy(from: &File, begin: u64, end: u64, to: &File) -> Result<(), StoreError> {
    let copied = in_kernel(from, begin, end, to)?;
    through_memory(from, begin + copied, end, to)
}

/// Copies as much as the kernel takes on; returns how much that was.
#[cfg(target_os = "linux")]
fn in_kernel(from: &File, begin: u64, end: u64, to: &File) -> Result<u64, StoreError> {
    use rustix::io::Errno;
    let mut at = begin;
    while at < end {
        let length = usize::try_from(end - at).unwrap_or(usize::MAX).min(1 << 30);
        match rustix::fs::copy_file_range(from, Some(&mut at), to, None, length) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => return Err(to.io(error)),
            // Not between these files, or not in this kernel: there is another way, and it says what is wrong.
            Err(_) => break,
        }
    }
    Ok(at - begin)
}

#[cfg(not(target_os = "linux"))]
fn in_kernel(_: &File, _: u64, _: u64, _: &File) -> Result<u64, StoreError> {
    Ok(0)
}

fn through_memory(from: &File, begin: u64, end: u64, to: &File) -> Result<(), StoreError> {
    let mut buffer = Vec::new();
    let mut at = begin;
    while at < end {
        let take = usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK);
        buffer.resize(take, 0);
        let read = from.read_at(&mut buffer, at)?;
        if read == 0 {
            return Err(damaged(
                from.path().to_path_buf(),
                "it became shorter while it was read",
            ));
        }
        to.write_all(&buffer[..read])?;
        at += read as u64;
    }
    Ok(())
}
