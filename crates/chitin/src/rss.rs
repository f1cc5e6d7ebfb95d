//! Gives memory back that a process that waits does not need.
//!
//! Most of what a process of ours holds is its own program: the kernel maps large pieces of the file around every place
//! that was touched at the start. They are pages of a file, shared by all processes and read again when they are touched
//! again, so a process that waits can let them go. What it has of its own is a few hundred kilobytes.

/// Lets go of the program's pages, which come back by themselves when they are needed, and of free memory that the
/// allocator keeps.
#[cfg(target_os = "linux")]
pub(crate) fn give_back() {
    linux::trim();
    linux::give_back();
}

/// Returns how many bytes the process has in memory.
#[cfg(target_os = "linux")]
pub(crate) fn resident() -> Option<u64> {
    linux::resident()
}

/// Other systems do not say it so plainly.
#[cfg(not(target_os = "linux"))]
pub(crate) const fn resident() -> Option<u64> {
    None
}

/// Other systems look after it themselves.
#[cfg(not(target_os = "linux"))]
pub(crate) const fn give_back() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{c_int, c_void};
    use std::ops::Range;

    /// Where the kernel says how much is in memory.
    const STATUS: &str = "/proc/self/status";

    pub(super) fn resident() -> Option<u64> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the kernel's own account of this process"
        )]
        let status = std::fs::read_to_string(STATUS).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024)
    }

    /// Has the allocator return what nobody uses.
    pub(super) fn trim() {
        #[cfg(target_env = "gnu")]
        // SAFETY: the call has no condition; it takes the allocator's own locks.
        #[expect(unsafe_code, reason = "the allocator has no safe form of this")]
        let _ = unsafe { libc::malloc_trim(0) };
    }

    pub(super) fn give_back() {
        for range in unchanged() {
            let length = range.end - range.start;
            let start = std::ptr::with_exposed_provenance_mut(range.start);
            // SAFETY: the range is a mapping of a file that cannot be written to: what is dropped is read from the file
            // again, the same bytes, when it is next touched.
            #[expect(unsafe_code, reason = "advice about memory has no safe form")]
            let _ = unsafe { libc::madvise(start, length, libc::MADV_DONTNEED) };
        }
    }

    /// Finds the parts of the program that can only be read or run. Libraries may come and go, and something else may lie where
    /// they were; the program itself stays. Its own headers say it: the kernel's account of all mappings takes longer to write
    /// and to read than what is saved by it.
    fn unchanged() -> Vec<Range<usize>> {
        let mut found = Vec::new();
        // SAFETY: the function gets the list that it expects, which outlives the call.
        #[expect(unsafe_code, reason = "the program's headers have no safe form")]
        unsafe {
            libc::dl_iterate_phdr(Some(program), (&raw mut found).cast());
        }
        found
    }

    /// Lists the parts of the first object, which is the program, and ends the walk.
    ///
    /// # Safety
    ///
    /// `found` is a list of ranges that nobody else uses.
    #[expect(unsafe_code, reason = "the program's headers have no safe form")]
    unsafe extern "C" fn program(
        object: *mut libc::dl_phdr_info,
        _: usize,
        found: *mut c_void,
    ) -> c_int {
        // SAFETY: the caller of a walk hands in an object with as many headers as it says, and the list.
        let (base, headers, found, page) = unsafe {
            let object = &*object;
            let headers =
                std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum));
            let found = &mut *found.cast::<Vec<Range<usize>>>();
            (
                object.dlpi_addr,
                headers,
                found,
                libc::sysconf(libc::_SC_PAGESIZE),
            )
        };
        let page = usize::try_from(page).unwrap_or(4096);
        let place = |address| usize::try_from(address).unwrap_or_default();
        for header in headers {
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W == 0 {
                let start = place(base + header.p_vaddr);
                let end = start + place(header.p_memsz);
                found.push(start / page * page..end.next_multiple_of(page));
            }
        }
        1
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_parts_of_the_program_that_nobody_writes_to_are_let_go() {
            static WRITTEN: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(1);
            let parts = unchanged();
            let holds = |place: usize| parts.iter().any(|part| part.contains(&place));
            assert!(holds(unchanged as fn() -> Vec<Range<usize>> as usize));
            assert!(!holds((&raw const WRITTEN) as usize));
        }

        #[test]
        fn the_program_goes_on_after_its_pages_went() {
            let before = "still here".to_owned();
            give_back();
            assert_eq!(before, "still here");
        }
    }
}
