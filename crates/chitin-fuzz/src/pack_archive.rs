//! The archive of a layer, as somebody else may have made it.

use crate::recipe::Recipe;
use crate::{novelty, tar};
use chitin_pack::archive::{ArchiveEntryKind, ArchiveLimits, decompress, read};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Component, Path};

/// What headers, paths and extended headers are made of.
pub const DICTIONARY: &[&str] = &[
    "\0",
    "/",
    "../",
    "./",
    "..",
    "\\",
    "a",
    "A",
    "\u{e9}",
    "ustar\u{0}00",
    "0",
    "1",
    "2",
    "5",
    "x",
    "g",
    "L",
    "0000644\0",
    "0000755\0",
    "00000000001\0",
    "00000000777\0",
    "77777777777\0",
    "11 path=a\n",
    "14 path=../x\n",
    "9 size=1\n",
    "13 linkpath=a\n",
];

/// More than this no input may give.
const LIMITS: ArchiveLimits = ArchiveLimits {
    bytes: 64 * 1024,
    entries: 64,
};

/// Takes an archive: made of choices where the first byte is a one, else as it is, with the sums of its headers put right, and
/// as a compressed stream.
pub fn run(data: &[u8]) {
    if let Some((1, choices)) = data.split_first() {
        return check(tar::built(&mut Recipe::new(choices)).as_slice());
    }
    check(data);
    check(repaired(data).as_slice());
    check(decompress(data));
}

fn check(source: impl Read) {
    let mut files = BTreeSet::new();
    let mut directories = BTreeSet::new();
    let mut bytes = 0;
    let mut count = 0;
    let result = read(source, LIMITS, |entry, content| {
        count += 1;
        let path = Path::new(&entry.path);
        assert!(
            path.components()
                .all(|part| matches!(part, Component::Normal(_))),
            "`{}` is not safe",
            entry.path.escape_debug()
        );
        let same: Vec<&str> = entry.path.split('/').collect();
        assert_eq!(
            path.iter().count(),
            same.len(),
            "`{}` has empty parts",
            entry.path
        );
        assert!(!entry.path.contains(['\\', '\0']), "an odd character");
        let folded = entry.path.to_lowercase();
        let ArchiveEntryKind::File { size, .. } = entry.kind else {
            return Ok(());
        };
        for (end, _) in folded.match_indices('/') {
            directories.insert(folded[..end].to_owned());
        }
        assert!(files.insert(folded), "`{}` comes twice", entry.path);
        // Every other file is left unread, which must not disturb the next.
        if count % 2 == 1 {
            let mut all = Vec::new();
            if content.read_to_end(&mut all).is_ok() && all.len() as u64 != size {
                // It is cut off, and the reader says so when it goes on.
                assert!((all.len() as u64) < size, "more than the header says");
            }
        }
        bytes += size;
        Ok(())
    });
    assert!(count <= LIMITS.entries, "too many entries");
    match result {
        Ok(()) => {
            assert!(bytes <= LIMITS.bytes, "too many bytes");
            assert!(
                files.is_disjoint(&directories),
                "a file is a directory, too"
            );
            novelty::note(count);
        }
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error without words");
            novelty::note(error.class().as_str());
        }
    }
}

/// Puts the sums of headers right: otherwise hardly a changed one would get past the first check.
fn repaired(data: &[u8]) -> Vec<u8> {
    let mut tar = data.to_vec();
    let mut at = 0;
    while let Some(header) = tar.get_mut(at..at + 512) {
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let digits = header[124..135]
            .iter()
            .take_while(|byte| (b'0'..=b'7').contains(*byte));
        let size = digits.fold(0_usize, |size, digit| {
            (size * 8 + usize::from(digit - b'0')).min(1 << 20)
        });
        if header[..148].iter().all(|byte| *byte == 0)
            && header[156..].iter().all(|byte| *byte == 0)
        {
            header.fill(0);
        }
        at += 512 + size.div_ceil(512) * 512;
    }
    tar
}
