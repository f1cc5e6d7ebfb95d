//! Packed and laid out again: the same bytes (rule P44).

use crate::support::listing;
use chitin_pack::build::{MemoryFileMode, WorkspaceOptions, pack_workspace};
use chitin_pack::definition::PackIdentity;
use chitin_pack::materialize::{ApplyOptions, LayoutOptions, Overwrite, apply, plan};
use chitin_pack::store::Store;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// Files with their bytes and whether they may be run.
type Files = BTreeMap<String, (Vec<u8>, bool)>;

fn write(root: &Path, files: &Files) {
    for (path, (bytes, executable)) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        let mode = if *executable { 0o755 } else { 0o644 };
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }
}

fn read(root: &Path) -> Files {
    let files = listing(root)
        .into_iter()
        .filter(|(_, seen)| seen.mode & 0o170_000 == 0o100_000);
    files
        .map(|(path, seen)| (path, (seen.content, seen.mode & 0o100 != 0)))
        .collect()
}

fn file() -> impl Strategy<Value = (Vec<u8>, bool)> {
    let bytes = prop_oneof![
        Just(Vec::new()),
        Just("\u{feff}BOM\r\nand returns\r\n".as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..2000),
    ];
    (bytes, any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_workspace_comes_out_as_it_went_in(
        surfaces in prop::collection::btree_map(
            prop::sample::select(vec!["SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md"]),
            file(),
            0..8,
        ),
        below in prop::collection::btree_map(
            "(memory|skills/[a-z]{1,6})(/d[a-zé ._-]{0,11}){0,2}/f[a-z.]{0,110}",
            file(),
            0..12,
        ),
        agents in file(),
    ) {
        let directory = TempDir::new().unwrap();
        let (workspace, target) = (directory.path().join("in"), directory.path().join("out"));
        let mut given: Files = surfaces.into_iter().map(|(name, file)| (name.to_owned(), file)).collect();
        given.insert("AGENTS.md".into(), agents);
        given.extend(below);
        let skills: Vec<String> = given
            .keys()
            .filter_map(|path| path.strip_prefix("skills/")?.split_once('/'))
            .map(|(skill, _)| format!("skills/{skill}/SKILL.md"))
            .collect();
        given.extend(skills.into_iter().map(|path| (path, (b"Trim.\n".to_vec(), false))));
        write(&workspace, &given);
        let store = Arc::new(Store::create(&directory.path().join("store")).unwrap());
        let options = WorkspaceOptions {
            memory_file: MemoryFileMode::Pack,
            ..WorkspaceOptions::default()
        };
        let built = pack_workspace(&workspace, &identity(), &options, &store).unwrap();
        let artifact = store.artifact(&built.manifest.digest).unwrap();
        let planned = plan(&artifact, &LayoutOptions::default()).unwrap();
        let overwrite = Overwrite::Refuse;
        apply(&planned, &artifact, &target, ApplyOptions { overwrite }).unwrap();
        prop_assert_eq!(read(&target), given);
        prop_assert!(!planned.lossy);
        let again = pack_workspace(&target, &identity(), &options, &store).unwrap();
        prop_assert_eq!(again.manifest.digest, built.manifest.digest);
    }
}

fn identity() -> PackIdentity {
    PackIdentity {
        name: "lamp-keeper".into(),
        version: "0.3.0".into(),
        description: "Keeps the lamp.".into(),
        ..PackIdentity::default()
    }
}
