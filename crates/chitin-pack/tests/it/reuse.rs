//! What is not read twice, and what must be.

use crate::project::{Project, contents, files};
use chitin_pack::build::{BuildOptions, Reuse};
use chitin_pack::layer::LayerKind;
use proptest::prelude::*;
use serde_json::json;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;

#[test]
fn what_did_not_change_is_not_opened_again() {
    let project = Project::new(files(&[
        ("memory/a.md", "a"),
        ("memory/b/c.md", "c"),
        ("p.md", "p"),
    ]));
    let paths = json!({"memory": "memory", "prompt": "p.md"});
    let again = || {
        project
            .build(paths.clone(), &BuildOptions::default())
            .unwrap()
    };
    Project::settle();
    let first = again();
    assert_eq!(first.reused, 0);
    let secret = project.path().join("memory/a.md");
    let second = again();
    assert_eq!(
        (second.reused, second.manifest.digest),
        (2, first.manifest.digest)
    );

    // Same size, same modification time: the change is seen all the same.
    let before = File::open(&secret)
        .unwrap()
        .metadata()
        .unwrap()
        .modified()
        .unwrap();
    project.write("memory/a.md", "b");
    File::options()
        .write(true)
        .open(&secret)
        .unwrap()
        .set_modified(before)
        .unwrap();
    let third = again();
    assert_eq!(third.reused, 1);
    assert_eq!(
        contents(&project.artifact(&third), LayerKind::Memory)["a.md"],
        "b"
    );

    // A file that may be run now makes another layer.
    Project::settle();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(
        contents(&project.artifact(&again()), LayerKind::Memory)["a.md*"],
        "b"
    );

    let nothing = BuildOptions {
        reuse: Reuse::Nothing,
        ..BuildOptions::default()
    };
    assert_eq!(project.build(paths.clone(), &nothing).unwrap().reused, 0);
}

#[test]
fn a_blob_that_went_away_is_made_again() {
    let project = Project::new(files(&[("memory/a.md", "a")]));
    let again = || {
        project
            .build(json!({"memory": "memory"}), &BuildOptions::default())
            .unwrap()
    };
    Project::settle();
    let first = again();
    let blob = first.layers[0].descriptor.digest.hex();
    fs::remove_file(project.store.path().join("blobs/sha256").join(blob)).unwrap();
    let second = again();
    assert_eq!(
        (second.reused, second.manifest.digest),
        (0, first.manifest.digest)
    );
    project.artifact(&second).verify().unwrap();
}

#[test]
fn a_file_written_in_the_same_tick_is_never_believed_unread() {
    let project = Project::new(files(&[("memory/a.md", "0000")]));
    for round in 1..200 {
        project.write("memory/a.md", &format!("{round:04}"));
        let built = project
            .build(json!({"memory": "memory"}), &BuildOptions::default())
            .unwrap();
        let found = contents(&project.artifact(&built), LayerKind::Memory);
        assert_eq!(found["a.md"], format!("{round:04}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_is_taken_from_an_earlier_build_is_what_reading_would_give(
        changes in proptest::collection::vec((0_usize..6, 0_usize..3, "[ab]{1,2}"), 1..10),
    ) {
        let project = Project::new(files(&[("memory/0", "aa"), ("memory/1", "ab"), ("memory/d/2", "b")]));
        let paths = json!({"memory": "memory"});
        let nothing = BuildOptions { reuse: Reuse::Nothing, ..BuildOptions::default() };
        for (change, at, text) in changes {
            let names = ["memory/0", "memory/1", "memory/d/2"];
            let path = project.path().join(names[at]);
            match change {
                0 => project.write(names[at], &text),
                1 => {
                    let time = fs::metadata(&path).and_then(|found| found.modified());
                    project.write(names[at], &text);
                    if let Ok(time) = time {
                        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
                    }
                }
                2 => drop(fs::set_permissions(&path, fs::Permissions::from_mode(0o700))),
                3 => drop(fs::remove_file(&path)),
                4 => drop(fs::rename(&path, project.path().join(names[(at + 1) % 3]))),
                _ => Project::settle(),
            }
            let [quick, thorough] = [&BuildOptions::default(), &nothing]
                .map(|options| project.build(paths.clone(), options).unwrap().manifest.digest);
            prop_assert_eq!(quick, thorough);
        }
    }
}
