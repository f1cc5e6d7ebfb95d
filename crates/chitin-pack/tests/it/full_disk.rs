//! No room: nothing changes. Needs the right to mount a small file system.

use crate::support::{artifact, files, listing};
use chitin_pack::ErrorClass;
use chitin_pack::layer::LayerKind;
use chitin_pack::materialize::{ApplyOptions, LayoutOptions, Overwrite, apply, plan};
use chitin_pack::store::Store;
use chitin_test::needs;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

/// A file system of one mebibyte, unmounted when dropped.
struct Small(PathBuf);

impl Small {
    fn mount(at: &Path) -> Option<Self> {
        fs::create_dir(at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(at)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        mounted
            .is_ok_and(|status| status.success())
            .then(|| Self(at.into()))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn without_room_on_the_disk_nothing_changes() {
    let directory = TempDir::new().unwrap();
    let Some(small) = Small::mount(&directory.path().join("small")) else {
        needs::skipped("the right to mount a file system");
        return;
    };
    let store = Arc::new(Store::create(&directory.path().join("store")).unwrap());
    let large = vec![b'x'; 2 * 1024 * 1024];
    let artifact = artifact(
        &store,
        &[
            files(LayerKind::Surfaces, &[("instructions.md", b"new")]),
            files(LayerKind::Memory, &[("a.md", b"a"), ("large.md", &large)]),
        ],
    );
    let plan = plan(&artifact, &LayoutOptions::default()).unwrap();
    let options = ApplyOptions {
        overwrite: Overwrite::Allow,
    };
    // Beside the target, and in place where the target is the mount point itself.
    for target in [small.0.join("out"), small.0.clone()] {
        fs::create_dir_all(&target).unwrap();
        fs::write(target.join("AGENTS.md"), "old").unwrap();
        let before = listing(&small.0);
        let error = apply(&plan, &artifact, &target, options).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Io);
        assert_eq!(listing(&small.0), before);
    }
}
