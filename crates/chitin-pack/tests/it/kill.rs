//! Killed at any instant: the target is wholly old or wholly new, and other files are what they were.
#![expect(
    clippy::print_stderr,
    reason = "the test runs itself in a child, builds trees, and says what it saw"
)]

use crate::support::{Layer, files, listing, put};
use chitin_pack::Digest;
use chitin_pack::layer::LayerKind;
use chitin_pack::materialize::{
    ApplyOptions, LayoutOptions, Overwrite, apply, clear_leftovers, plan,
};
use chitin_pack::store::Store;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

const DIRECTORY: &str = "CHITIN_TEST_KILL_DIRECTORY";
const ARTIFACTS: &str = "CHITIN_TEST_KILL_ARTIFACTS";
const KILLS: u64 = 200;

/// The child: lays two artifacts out in turn until it is killed. Does nothing when nobody tells it where.
#[test]
#[ignore = "run by `whoever_is_killed_leaves_the_old_tree_or_the_new_one`"]
fn child() {
    let (Ok(directory), Ok(artifacts)) = (std::env::var(DIRECTORY), std::env::var(ARTIFACTS))
    else {
        return;
    };
    let directory = PathBuf::from(directory);
    let store = Arc::new(Store::open(&directory.join("store")).unwrap().unwrap());
    let artifacts: Vec<Digest> = artifacts
        .split(',')
        .map(|digest| digest.parse().unwrap())
        .collect();
    for digest in artifacts.iter().cycle() {
        lay(&store, digest, &directory.join("around/out"));
    }
}

fn lay(store: &Arc<Store>, digest: &Digest, target: &Path) {
    let artifact = store.artifact(digest).unwrap();
    let plan = plan(&artifact, &LayoutOptions::default()).unwrap();
    let options = ApplyOptions {
        overwrite: Overwrite::Allow,
    };
    let applied = apply(&plan, &artifact, target, options).unwrap();
    assert_eq!(
        applied.warnings,
        [],
        "the file system must know how to exchange directories"
    );
}

fn version(name: &str) -> Vec<Layer> {
    let notes: Vec<(String, String)> = (0..20)
        .map(|n| {
            (
                format!("{n:02}/note.md"),
                format!("{name} {n}\n").repeat(200),
            )
        })
        .collect();
    let notes: Vec<_> = notes
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_bytes()))
        .collect();
    let text = format!("I am {name}.\n");
    let surfaces = ["instructions.md", "persona.md", "tools.md", "user.md"];
    let surfaces: Vec<_> = surfaces
        .iter()
        .map(|surface| (*surface, text.as_bytes()))
        .collect();
    vec![
        files(LayerKind::Surfaces, &surfaces),
        files(LayerKind::Memory, &notes),
    ]
}

/// Everything but the numbers of directories, which are made anew each time, and of files that were laid out.
fn seen(target: &Path, own: &BTreeMap<String, u64>) -> BTreeMap<String, (u32, Vec<u8>, u64)> {
    listing(target)
        .into_iter()
        .map(|(path, seen)| {
            let inode = own.get(&path).map_or(0, |_| seen.inode);
            (path, (seen.mode, seen.content, inode))
        })
        .collect()
}

#[test]
fn whoever_is_killed_leaves_the_old_tree_or_the_new_one() {
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() {
        TempDir::new_in(memory)
    } else {
        TempDir::new()
    }
    .unwrap();
    let target = directory.path().join("around/out");
    for n in 0..30 {
        let path = target.join(format!("mine/{}/{n}.txt", n % 5));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("mine {n}")).unwrap();
    }
    symlink("mine/0/0.txt", target.join("link")).unwrap();
    let own: BTreeMap<String, u64> = listing(&target)
        .into_iter()
        .filter(|(_, seen)| seen.mode & 0o170_000 != 0o040_000)
        .map(|(path, seen)| (path, seen.inode))
        .collect();
    assert_eq!(own.len(), 31);
    let store = Arc::new(Store::create(&directory.path().join("store")).unwrap());
    let digests = [put(&store, &version("old")), put(&store, &version("new"))];
    let states = digests.map(|digest| {
        lay(&store, &digest, &target);
        seen(&target, &own)
    });
    assert_ne!(states[0], states[1]);
    let arguments = digests.map(|digest| digest.to_string()).join(",");
    let (mut leftovers, mut counts) = (0, [0_u32; 2]);
    for round in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::child", "--ignored"])
            .env(DIRECTORY, directory.path())
            .env(ARTIFACTS, &arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // No clock, no chance: the instants spread over some dozens of layouts, and differ from run to run anyway.
        sleep(Duration::from_micros(10_000 + round * 7919 % 40_000));
        assert_eq!(
            child.try_wait().unwrap(),
            None,
            "the child must still be at work"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        let now = seen(&target, &own);
        let state = states.iter().position(|state| *state == now);
        let state = state.unwrap_or_else(|| panic!("round {round}: neither old nor new: {now:#?}"));
        counts[state] += 1;
        for (path, inode) in &own {
            assert_eq!(now[path].2, *inode, "{path} is another file");
        }
        leftovers += usize::from(
            fs::read_dir(directory.path().join("around"))
                .unwrap()
                .count()
                > 1,
        );
    }
    eprintln!(
        "{KILLS} kills: old {}, new {}, with something left beside {leftovers}",
        counts[0], counts[1]
    );
    assert!(leftovers > 0, "no kill came while a tree was built");
    clear_leftovers(&target);
    let beside = fs::read_dir(directory.path().join("around"))
        .unwrap()
        .count();
    assert_eq!(beside, 1, "what was left is cleared away");
    for path in own.keys() {
        let names = fs::symlink_metadata(target.join(path)).unwrap().nlink();
        assert_eq!(names, 1, "{path} has no other name any more");
    }
}
