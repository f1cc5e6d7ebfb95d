//! Directories that are replaced while somebody is looking, or writing.
#![expect(
    clippy::disallowed_methods,
    reason = "tests build trees on purpose and look at what is there afterwards"
)]

use super::place::TargetDirectory;
use super::staging::{NewMode, StageError, Staging};
use super::write::WriteError;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn tree() -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let target = directory.path().join("out");
    fs::create_dir_all(target.join("notes")).unwrap();
    fs::write(target.join("notes/mine.md"), "mine").unwrap();
    fs::write(target.join("AGENTS.md"), "old").unwrap();
    (directory, target)
}

fn stage(place: &TargetDirectory) -> Staging<'_> {
    let mut staging = place
        .stage(100, &|path, _| path == Path::new("AGENTS.md"))
        .unwrap();
    let mut file = staging
        .file(Path::new("AGENTS.md"), NewMode::Usual(0o644))
        .unwrap();
    file.write_all(b"new").unwrap();
    file.sync().unwrap();
    staging
}

fn contents(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                found.insert(path.strip_prefix(root).unwrap().to_path_buf(), text);
            }
        }
    }
    found
}

#[test]
fn what_others_did_meanwhile_is_never_lost() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 6] = [
        ("a new file", |root| {
            fs::write(root.join("fresh.md"), "fresh").unwrap();
        }),
        ("a new file below", |root| {
            fs::write(root.join("notes/fresh.md"), "fresh").unwrap();
        }),
        ("the replaced file is written to", |root| {
            fs::write(root.join("AGENTS.md"), "by hand").unwrap();
        }),
        ("a file is gone", |root| {
            fs::remove_file(root.join("notes/mine.md")).unwrap();
        }),
        ("a file is exchanged", |root| {
            fs::write(root.join("other"), "other").unwrap();
            fs::rename(root.join("other"), root.join("notes/mine.md")).unwrap();
        }),
        ("the whole directory is another", |root| {
            fs::rename(root, root.with_extension("aside")).unwrap();
            fs::create_dir(root).unwrap();
        }),
    ];
    for (what, change) in changes {
        let (directory, target) = tree();
        let place = TargetDirectory::find(&target).unwrap();
        let staging = stage(&place);
        change(&target);
        let before = contents(directory.path());
        let failed = staging.commit();
        assert!(
            matches!(failed, Err(StageError::Write(WriteError::Changed { .. }))),
            "{what}: {failed:?}"
        );
        let mut expected = before;
        expected.retain(|path, _| !path.to_string_lossy().contains(".chitin-"));
        assert_eq!(contents(directory.path()), expected, "{what}");
    }
}

#[test]
fn a_file_that_is_kept_may_be_written_to_meanwhile() {
    let (directory, target) = tree();
    let place = TargetDirectory::find(&target).unwrap();
    let staging = stage(&place);
    fs::write(target.join("notes/mine.md"), "more").unwrap();
    staging.commit().unwrap();
    let expected = [("AGENTS.md", "new"), ("notes/mine.md", "more")];
    let expected = expected.map(|(path, text)| (Path::new("out").join(path), text.to_owned()));
    assert_eq!(contents(directory.path()), BTreeMap::from(expected));
}

#[test]
fn a_file_that_is_not_to_be_replaced_is_in_nobodys_way() {
    let (directory, target) = tree();
    let place = TargetDirectory::find(&target).unwrap();
    let mut staging = stage(&place);
    let taken = staging.file(Path::new("notes/mine.md"), NewMode::Usual(0o644));
    assert!(
        matches!(taken, Err(WriteError::Changed { .. })),
        "{taken:?}"
    );
    drop(staging);
    assert_eq!(contents(directory.path()).len(), 2);
}

#[test]
fn a_name_that_is_taken_meanwhile_is_left_alone() {
    let directory = TempDir::new().unwrap();
    let target = directory.path().join("out");
    let place = TargetDirectory::find(&target).unwrap();
    let staging = stage(&place);
    fs::create_dir(&target).unwrap();
    fs::write(target.join("mine"), "mine").unwrap();
    let failed = staging.commit();
    assert!(
        matches!(failed, Err(StageError::Write(WriteError::Changed { .. }))),
        "{failed:?}"
    );
    assert_eq!(contents(directory.path()).len(), 1);
}

#[test]
fn leftovers_go_and_what_only_looks_like_them_stays() {
    let (directory, target) = tree();
    let place = TargetDirectory::find(&target).unwrap();
    let at = |name: &str| directory.path().join(name);
    let private = |name: &str| {
        use std::os::unix::fs::DirBuilderExt;
        fs::DirBuilder::new().mode(0o700).create(at(name)).unwrap();
    };
    private(".out.chitin-1-0");
    fs::create_dir_all(at(".out.chitin-1-0/tree/closed")).unwrap();
    fs::write(at(".out.chitin-1-0/tree/closed/x"), "x").unwrap();
    private(".out.chitin-1-1");
    private(".out.chitin-1-2");
    fs::write(at(".out.chitin-1-2/diary"), "mine").unwrap();
    private(".out.chitin-notes");
    private(".other.chitin-1-0");
    fs::create_dir(at(".out.chitin-2-0")).unwrap();
    let in_use = stage(&place);
    place.clear_leftovers();
    let mut names: Vec<_> = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let ours = format!(".out.chitin-{}-0", std::process::id());
    let mut expected = [
        ".other.chitin-1-0",
        ".out.chitin-1-2",
        ".out.chitin-2-0",
        ".out.chitin-notes",
        "out",
        &ours,
    ];
    expected.sort_unstable();
    assert_eq!(names, expected);
    in_use.commit().unwrap();
}

#[test]
fn a_tree_with_too_much_in_it_is_not_staged() {
    let (directory, target) = tree();
    let place = TargetDirectory::find(&target).unwrap();
    let refused = place.stage(2, &|_, _| false);
    assert!(
        matches!(refused, Err(StageError::NotPossible { .. })),
        "{refused:?}"
    );
    drop(refused);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

proptest! {
    #[test]
    fn no_spelling_of_a_place_leads_elsewhere(path in "[a/.]{1,12}") {
        let directory = TempDir::new().unwrap();
        let spelled = directory.path().join("x").join(path.trim_start_matches('/'));
        if let Ok(place) = TargetDirectory::find(&spelled)
            && place.existing().is_none()
        {
            place.stage(10, &|_, _| false).unwrap().commit().unwrap();
            prop_assert!(fs::symlink_metadata(&spelled).unwrap().is_dir());
        }
    }
}
