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
    use std::ops::Range;
    use std::sync::LazyLock;

    /// Where the kernel says what is mapped.
    const MAPS: &str = "/proc/self/smaps";

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

    /// The program's own mappings, which are the same from start to end: finding them takes longer than letting go of them.
    static OWN: LazyLock<Vec<Range<usize>>> = LazyLock::new(|| {
        #[expect(
            clippy::disallowed_methods,
            reason = "the kernel's own account of this process"
        )]
        let maps = std::fs::read_to_string(MAPS).unwrap_or_default();
        let program = std::env::current_exe().unwrap_or_default();
        unchanged(&maps, &program.to_string_lossy())
    });

    pub(super) fn give_back() {
        for range in OWN.iter() {
            let length = range.end - range.start;
            let start = std::ptr::with_exposed_provenance_mut(range.start);
            // SAFETY: the range is a mapping of a file that cannot be written to and of which no page was changed: what
            // is dropped is read from the file again, the same bytes, when it is next touched.
            #[expect(unsafe_code, reason = "advice about memory has no safe form")]
            let _ = unsafe { libc::madvise(start, length, libc::MADV_DONTNEED) };
        }
    }

    /// Finds the mappings of a program's file that can only be read or run, and of which no page is private. Libraries may come and
    /// go, and something else may lie where they were; the program itself stays.
    fn unchanged(maps: &str, program: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut current: Option<Range<usize>> = None;
        for line in maps.lines() {
            match line.split_once(':') {
                Some(("Anonymous", kept)) if kept.trim() == "0 kB" => found.extend(current.take()),
                // A line about the mapping above it.
                Some((name, _)) if !name.contains('-') => {}
                _ => current = file(line, program),
            }
        }
        found
    }

    /// Reads the first line of a mapping; nothing when it is no part of the program that is only read or run.
    fn file(line: &str, program: &str) -> Option<Range<usize>> {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        let rights = words.next()?;
        let (_, path) = line.split_at(line.find(['/', '[']).unwrap_or(line.len()));
        let wanted = matches!(rights, "r-xp" | "r--p") && path == program && !program.is_empty();
        wanted.then_some(start..end)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const MAPS: &str = "\
00400000-00500000 r--p 00000000 fe:00 12 /usr/bin/chitin
Rss:                  64 kB
Anonymous:             0 kB
00500000-01400000 r-xp 00100000 fe:00 12 /usr/bin/chitin
Anonymous:             0 kB
01400000-01410000 r--p 01000000 fe:00 12 /usr/bin/chitin
Anonymous:            64 kB
01410000-01420000 rw-p 01010000 fe:00 12 /usr/bin/chitin
Anonymous:             0 kB
01500000-01600000 r-xp 00000000 fe:00 13 /usr/lib/libnss.so
Anonymous:             0 kB
02000000-02100000 rw-p 00000000 00:00 0 [heap]
Anonymous:           400 kB
7f0000000000-7f0000001000 r--p 00000000 00:00 0 [vvar]
Anonymous:             0 kB
";

        #[test]
        fn only_parts_of_the_program_that_nobody_writes_to_are_let_go() {
            assert_eq!(
                unchanged(MAPS, "/usr/bin/chitin"),
                [0x0040_0000..0x0050_0000, 0x0050_0000..0x0140_0000]
            );
        }

        #[test]
        fn the_program_goes_on_after_its_pages_went() {
            let before = "still here".to_owned();
            give_back();
            assert_eq!(before, "still here");
        }
    }
}
