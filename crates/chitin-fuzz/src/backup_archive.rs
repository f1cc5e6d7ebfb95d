//! A backup, before anything of it is put in place.

use crate::novelty;
use crate::scratch;
use chitin_runtime::backup::{RestoreOptions, check_backup, restore_backup};
use std::io::Write;

/// What backups are made of.
pub const DICTIONARY: &[&str] = &[
    "chitin-backup.json",
    "home/",
    "home/../a",
    "home/a/b",
    "manifest/0001.jsonl",
    "end.json",
    "././@LongLink",
    "ustar  \0",
    "ustar\x0000",
    "0000600\0",
    "00000000000\0",
    "\"format\":\"chitin-backup\"",
    "\"version\":1",
    "\"digest\":\"",
    "\"executable\":false",
];

/// Reads bytes as the archive within the compression, where there is no checksum in the way, and as they are. What is whole is put
/// in place, and then holds as many files as it says; what is not leaves nothing.
pub fn run(data: &[u8]) {
    let _ = check_backup(data, &mut |_| {});
    let mut packed = chitin_pack::archive::compress(Vec::new());
    let packed = packed.write_all(data).and_then(|()| packed.finish());
    let packed = packed.expect("memory takes it");
    let checked = check_backup(&packed[..], &mut |_| {});
    let place = scratch::fresh("backup_archive");
    let home = place.join("home");
    let options = RestoreOptions {
        force: false,
        now: "2026-01-01T00:00:00Z",
    };
    let restored = restore_backup(&packed[..], &home, options, &mut |_| {});
    match (checked, restored) {
        (Ok(checked), Ok(restored)) => {
            novelty::note(("a backup", checked.totals.files.min(8)));
            assert_eq!(checked.totals, restored.totals, "it is another backup");
        }
        (Err(error), _) => {
            novelty::note(format!("{error:?}").chars().take(60).collect::<String>());
            assert!(!chitin_guard::exists(&home), "a bad backup left something");
        }
        // Names that this file system does not take.
        (Ok(_), Err(_)) => assert!(!chitin_guard::exists(&home), "half a home"),
    }
}
