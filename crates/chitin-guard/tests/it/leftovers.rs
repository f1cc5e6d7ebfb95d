//! Files on their way to a name: what is seen of them, and what is left of them.
#![expect(clippy::disallowed_methods, reason = "trees are looked at by hand")]

use chitin_guard::{Expected, LinkPolicy, ReadPolicy, Root, commit_all, is_leftover_name};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// The names that are really there.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

/// Tells whether the file system of the tests knows files without names.
fn has_nameless(root: &Root) -> bool {
    let probe = root.begin_file(Path::new(""), 0o600).unwrap();
    let is_empty = names(root.path()).is_empty();
    drop(probe);
    is_empty
}

#[test]
fn a_file_that_is_being_written_has_no_name_until_it_has_its_own() {
    let directory = TempDir::new().unwrap();
    let root = Root::open(directory.path()).unwrap();
    if !has_nameless(&root) {
        return;
    }
    let mut new = root.begin_file(Path::new(""), 0o644).unwrap();
    new.write_all(b"half").unwrap();
    let created = root.prepare_write(Path::new("new.md"), b"whole", Expected::Absent, 0o644);
    assert_eq!(names(directory.path()), [""; 0]);
    commit_all(vec![created.unwrap()]).unwrap();
    assert_eq!(names(directory.path()), ["new.md"]);
    root.keep_file_over(new, Path::new("new.md")).unwrap();
    let read = root
        .read(Path::new("new.md"), &ReadPolicy::inside(100))
        .unwrap();
    assert_eq!(read.bytes, b"half");
    let expected = Expected::Unchanged(read.fingerprint);
    let changed = root.prepare_write(Path::new("new.md"), b"other", expected, 0o600);
    assert_eq!(names(directory.path()), ["new.md"]);
    commit_all(vec![changed.unwrap()]).unwrap();
    root.replace(Path::new("new.md"), b"again").unwrap();
    assert_eq!(names(directory.path()), ["new.md"]);
    assert_eq!(fs::read(directory.path().join("new.md")).unwrap(), b"again");
}

#[test]
fn many_changes_that_happen_together_hold_few_descriptors() {
    let directory = TempDir::new().unwrap();
    let root = Root::open(directory.path()).unwrap();
    let open = || fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let before = open();
    let changes: Vec<_> = (0..500)
        .map(|number| {
            let name = format!("{number}.md");
            root.prepare_write(Path::new(&name), b"x", Expected::Absent, 0o644)
                .unwrap()
        })
        .collect();
    // Every change holds its directory, too.
    assert!(open() < before + 500 + 100, "{} of {before}", open());
    let shown = root.list(Path::new(""), &LinkPolicy::Refuse, 10_000);
    assert_eq!(shown.unwrap(), [], "nothing is shown before it is there");
    commit_all(changes).unwrap();
    assert_eq!(names(directory.path()).len(), 500);
}

#[test]
fn names_of_files_that_are_being_written_are_not_listed_and_found_when_nobody_writes_them() {
    let directory = TempDir::new().unwrap();
    let root = Root::open(directory.path()).unwrap();
    fs::create_dir_all(directory.path().join("deep/er")).unwrap();
    let old = SystemTime::now() - Duration::from_hours(2);
    let plant = |name: &str, modified: Option<SystemTime>| {
        let file = fs::File::create(directory.path().join(name)).unwrap();
        if let Some(modified) = modified {
            file.set_modified(modified).unwrap();
        }
    };
    let living = format!(".a.{}-1.chitin.tmp", std::process::id());
    plant(".a.4194305-1.chitin.tmp", Some(old));
    plant("deep/er/.b.md.4194305-2.chitin.tmp", Some(old));
    plant(".fresh.4194305-3.chitin.tmp", None);
    plant(&living, Some(old));
    plant(".mine.4194305-3.tmp", Some(old));
    assert!(is_leftover_name(living.as_ref()));
    let listed = root.list(Path::new(""), &LinkPolicy::Refuse, 100).unwrap();
    let mut listed: Vec<_> = listed.into_iter().map(|entry| entry.name).collect();
    listed.sort();
    assert_eq!(listed, [".mine.4194305-3.tmp", "deep"]);
    let surveyed = root.survey(Path::new("deep/er"), 100).unwrap();
    assert!(surveyed.is_empty());
    let all = root.list_with_leftovers(Path::new(""), &LinkPolicy::Refuse, 100);
    assert_eq!(all.unwrap().len(), 5);
    let left = root.leftovers(1000);
    let expected = [
        ".a.4194305-1.chitin.tmp",
        "deep/er/.b.md.4194305-2.chitin.tmp",
    ];
    assert_eq!(left, expected.map(std::path::PathBuf::from));
}
