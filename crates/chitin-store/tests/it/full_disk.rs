//! A full disk in the middle of an append: nothing acknowledged is lost, nothing else is there, and the session goes on.

use crate::children::{Role, command, words};
use crate::kit::{KEY, Kit, NOW, say, store_at};
use chitin_contract::TranscriptRules;
use chitin_store::{BranchReach, FileStore};
use chitin_test::needs;
use std::path::Path;

/// Runs a process that fills what it has, and returns how many records were acknowledged and how often it was refused.
fn fill(directory: &Path, before: &[&str]) -> Option<(usize, usize)> {
    let mut child = command(Role::Fill, directory, before).spawn().ok()?;
    let said = words(&mut child).last();
    let status = child.wait().unwrap();
    let said = said?;
    assert!(status.success());
    let (acknowledged, refused) = said.split_once(',')?;
    Some((acknowledged.parse().unwrap(), refused.parse().unwrap()))
}

fn check(store: &FileStore, acknowledged: usize) {
    let inspection = store.inspect(KEY, BranchReach::Whole).unwrap();
    assert_eq!(inspection.branch.entries.len(), acknowledged);
    assert_eq!(inspection.notes, []);
    assert!(acknowledged > 10);
}

#[test]
fn a_file_that_may_not_grow_stays_valid_and_usable() {
    let kit = Kit::new();
    // The shell's word for how large files may become, and no signal when they would become larger.
    let limited = [
        "sh",
        "-c",
        "trap '' XFSZ; ulimit -f 1000; exec \"$@\"",
        "sh",
    ];
    let (acknowledged, refused) = fill(kit.store.directory(), &limited).unwrap();
    assert_eq!(refused, 3);
    check(&kit.store, acknowledged);
    kit.open().append(say("there is room again"), NOW).unwrap();
}

#[test]
fn a_full_disk_stays_valid_and_usable() {
    let outside = tempfile::tempdir().unwrap();
    let disk = outside.path().join("disk");
    let copy = outside.path().join("copy");
    std::fs::create_dir(&disk).unwrap();
    std::fs::create_dir(&copy).unwrap();
    // A small disk in memory that only the process and its shell see; what is on it is copied out before it goes.
    let script = format!(
        "mount -t tmpfs -o size=1m tmpfs '{0}' || exit 9; \"$@\"; status=$?; cp '{0}'/* '{1}'; exit $status",
        disk.display(),
        copy.display()
    );
    let privileged = ["unshare", "-m", "sh", "-c", &script, "sh"];
    let unprivileged = ["unshare", "-rm", "sh", "-c", &script, "sh"];
    let filled = fill(&disk, &privileged).or_else(|| fill(&disk, &unprivileged));
    let Some((acknowledged, refused)) = filled else {
        // No mount without rights: the limit on files, above, is what this machine can show.
        needs::skipped("the right to mount a file system");
        return;
    };
    assert_eq!(refused, 3);
    check(&store_at(&copy, &TranscriptRules::CANONICAL), acknowledged);
}
